"""A review in the browser: a Chinese topic, English papers, every number behind it on its page."""

import csv
import io
import json
import re
import zipfile

import bibtexparser
import docx
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import new_page, running_app
from tests.e2e.steps import SAMPLES
from tests.fixtures.arxiv_server import FEED, loopback_arxiv, ok
from tests.fixtures.model_server import LoopbackServer, Reply
from tests.fixtures.reviewed import entry

PAPERS = (
    ("2405.00001", "fusion", "How two rankings are fused", "We fuse dense and sparse rankings."),
    ("2405.00002", "citations", "Citations that stay", "We store citations with their passages."),
    ("2405.00003", "localfirst", "Local first", "We keep the database on the reader's computer."),
)
TOPIC = "论文检索中的排序融合与引用"
SAID = "引用与它的段落一起保存。"


@pytest.fixture(scope="module")
def arxiv():
    with loopback_arxiv() as server:
        entries = "".join(entry(n, title, about) for n, _, title, about in PAPERS)
        server.answers = [ok(FEED.format(total=len(PAPERS), entries=entries))]
        for number, name, *_ in PAPERS:
            server.pages[f"/pdf/{number}v1"] = [ok((SAMPLES / f"{name}.pdf").read_bytes())]
        yield server


@pytest.fixture(scope="module")
def model():
    server = LoopbackServer()
    server.reply = Reply(_answered)
    yield server
    server.stop()


def _answered(body) -> str:
    shape = body.get("response_format", {}).get("json_schema", {}).get("schema", {}).get("title")
    if shape == "Translation":
        return '{"query": "rank fusion citations"}'
    if shape == "Review":
        sentences = [
            {"text": "稠密排序与稀疏排序被融合在一起。", "papers": [1]},
            {"text": SAID, "papers": [2]},
            {"text": "数据库就在读者自己的电脑上。", "papers": [3, 77]},
        ]
        return json.dumps({"themes": [{"title": "融合与引用", "sentences": sentences}]})
    return json.dumps({"method": ["We store every citation with its passage."], "sentences": []})


@pytest.fixture(scope="module")
def app(tmp_path_factory, arxiv, model):
    addresses = {"ARXIV_API_URL": arxiv.url, "ARXIV_URL": arxiv.site, "ARXIV_SECONDS": "0"}
    folder = tmp_path_factory.mktemp("review")
    with running_app(folder, LLM_BASE_URL=model.url, LLM_MODEL="loopback", **addresses) as address:
        yield address


def downloaded(page: Page, name: str) -> bytes:
    with page.expect_download() as download:
        page.get_by_role("button", name=name, exact=True).click()
    return download.value.path().read_bytes()


def test_from_a_chinese_topic_to_a_review_whose_numbers_open_their_passages(app, browser, arxiv):
    page = new_page(browser, locale="zh-CN")
    page.goto(f"{app}/review?topic={TOPIC}")
    box = page.get_by_role("textbox", name="主题")
    expect(box).to_have_value(TOPIC)
    page.get_by_role("button", name="查找论文").click()
    expect(page.get_by_text("找到 3 篇论文")).to_be_visible()
    assert "review=" in page.url
    address = re.sub(r"&.*", "", page.url)

    page.get_by_role("button", name="用这 3 篇论文写综述").click()
    expect(page.get_by_text("已读", exact=False).first).to_be_visible()
    page.goto(f"{app}/library")  # the work goes on without its page
    page.goto(address)
    expect(page.get_by_text("参考文献")).to_be_visible()
    expect(page.get_by_text(SAID)).to_be_visible()
    expect(page.get_by_text("删去 1 个编造的编号")).to_be_visible()
    expect(page.get_by_text("[77]")).to_have_count(0)
    expect(page.get_by_text("3 篇读了全文").first).to_be_visible()
    asked = [path for path in arxiv.paths if path.startswith("/pdf/")]
    assert sorted(asked) == sorted(f"/pdf/{number}v1" for number, *_ in PAPERS)

    page.locator("p button.cite", has_text="[3]").first.click()
    expect(page.locator(".lectern-page img")).to_be_visible()
    mark = page.locator('.lectern-page .tag[aria-current="true"]')
    expect(mark).to_have_text("[3]")
    page.reload()
    expect(page.locator('.lectern-page .tag[aria-current="true"]')).to_have_text("[3]")

    page.goto(address)
    page.locator(".st-key-review-head").get_by_role("button").first.click()
    document = docx.Document(io.BytesIO(downloaded(page, "Word")))
    assert any(SAID[:8] in paragraph.text for paragraph in document.paragraphs)
    bib = bibtexparser.parse_string(downloaded(page, "BibTeX").decode())
    assert sorted(entry["eprint"] for entry in bib.entries) == [n for n, *_ in PAPERS]
    with zipfile.ZipFile(io.BytesIO(downloaded(page, "LaTeX 与 BibTeX"))) as archive:
        assert sorted(archive.namelist()) == ["references.bib", "review.tex"]
    rows = list(csv.reader(downloaded(page, "证据表（CSV）").decode("utf-8-sig").splitlines()))
    assert len(rows) > 3
    assert SAID[:8] in downloaded(page, "Markdown").decode()
    whole = json.loads(downloaded(page, "全部内容（JSON）"))
    assert [r["n"] for r in whole["references"]] == [1, 2, 3]
    page.context.close()


def test_a_review_is_deleted_and_had_back_and_is_nobody_elses(app, browser):
    page = new_page(browser)
    page.goto(f"{app}/review")
    page.get_by_role("link", name=TOPIC).first.click()
    expect(page.get_by_text("References")).to_be_visible()
    page.locator(".st-key-delete-review button").first.click()
    expect(page.get_by_text("There are no reviews yet.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("References")).to_be_visible()
    page.goto(f"{app}/review?review=00000000-0000-4000-8000-00000000dead")
    expect(page.get_by_text("There is no such review.")).to_be_visible()
    page.context.close()
