"""A paper goes in, a question comes out answered with evidence: in the browser, for real."""

import re
import time
from pathlib import Path

import psutil
import pypdfium2
import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import running_app
from tests.e2e.steps import SAMPLES, answer, ask, cite, upload

SUGGESTED = "What is stored with every citation?"
SAMPLE = SAMPLES / "fusion.pdf"
ROWS = re.compile(r"^\d+ papers?$")


def test_first_run_says_what_to_do(app, page):
    page.goto(app)
    expect(page.get_by_text("Ask your papers, see the evidence")).to_be_visible()
    expect(
        page.get_by_role("button", name=re.compile("Try with the sample papers"))
    ).to_be_visible()
    page.get_by_role("link", name=re.compile("Add your own papers")).click()
    expect(page.get_by_role("button", name="Add", exact=True)).to_be_visible()


def test_upload_ask_and_see_the_evidence(app, page):
    page.goto(f"{app}/library")
    upload(page, SAMPLE)
    expect(page.get_by_text("1 paper", exact=True)).to_be_visible()
    page.goto(f"{app}/ask")
    ask(page, "How are the weights chosen?")
    cite(page, 0, 2)
    _the_drawn_box_holds_the_quote(page, SAMPLE)
    ask(page, "为什么把两个列表接起来没有用？")
    cite(page, 1, 1)
    _the_drawn_box_holds_the_quote(page, SAMPLE)
    page.reload()
    expect(answer(page, 1)).to_be_visible()
    expect(page.locator(".lectern-page .tag[aria-current]")).to_have_text("[1]")


def test_what_is_not_a_pdf_is_refused_in_one_sentence(app, page, tmp_path):
    page.goto(f"{app}/library")
    fake = tmp_path / "假的.pdf"
    fake.write_text("not a PDF at all")
    upload(page, fake)
    expect(page.get_by_test_id("stAlert").get_by_text("假的.pdf")).to_be_visible()
    expect(page.get_by_text("Traceback")).to_have_count(0)


def test_the_sample_papers_are_one_click_away(tmp_path, page):
    with running_app(tmp_path, DATABASE_URL="") as address:
        page.goto(address)
        page.get_by_role("button", name=re.compile("Try with the sample papers")).click()
        page.get_by_role("button", name=re.compile(re.escape(SUGGESTED))).click()
        cite(page, 0, 1)
        _the_drawn_box_holds_the_quote(page, SAMPLES / "citations.pdf")
    _nothing_left_running(tmp_path)


def test_a_question_does_not_interrupt_papers_being_added(tmp_path, page):
    with running_app(tmp_path) as address:
        page.goto(f"{address}/library")
        upload(page, SAMPLE)
        expect(page.get_by_text("1 paper", exact=True)).to_be_visible()
        upload(page, *sorted(SAMPLES.glob("*.pdf")))
        page.get_by_role("link", name=re.compile("Ask$")).click()
        ask(page, "What is compared in the experiments?")
        expect(answer(page, 0)).to_contain_text("[1]")
        page.get_by_role("link", name=re.compile("Library$")).click()
        expect(page.get_by_text("4 papers", exact=True)).to_be_visible()


def test_no_request_leaves_this_computer(app, page):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    for path in ("", "/ask", "/library", "/system"):
        page.goto(app + path)
        expect(page.get_by_role("main").get_by_role("heading").first).to_be_visible()
    assert [url for url in asked if not url.startswith((app, "data:", "blob:"))] == []


def test_a_removed_paper_can_be_had_back(app, page):
    page.goto(f"{app}/library")
    upload(page, SAMPLE)
    expect(page.get_by_text("1 paper", exact=True)).to_be_visible()
    page.get_by_test_id("stDataFrame").click(position={"x": 16, "y": 52})
    page.get_by_role("button", name=re.compile("Remove$")).click()
    expect(page.get_by_text(ROWS)).to_have_count(0)
    page.get_by_role("button", name=re.compile("Undo$")).click()
    expect(page.get_by_text("1 paper", exact=True)).to_be_visible()


WEB_PAGE = """<html><head><title>On lanterns</title></head><body><article>
<h1>On lanterns</h1><h2>Counting</h2>
<p>The keeper counts <b>forty lanterns</b> every evening.</p><p>Then he sleeps until the morning.</p>
<h2>Oil</h2><p>Each lantern burns a cup of oil a night, and the oil is brought by boat.</p>
</article></body></html>"""


def test_a_paper_that_is_a_web_page_shows_its_passage_as_text(app, page, tmp_path):
    file = tmp_path / "lanterns.html"
    file.write_text(WEB_PAGE, encoding="utf-8")
    page.goto(f"{app}/library")
    upload(page, file)
    expect(page.get_by_text("2 papers", exact=True)).to_be_visible()
    page.goto(f"{app}/ask")
    ask(page, "How many lanterns does the keeper count?")
    answer(page, 0).get_by_role("button", name=re.compile("^Citation 1:")).first.click()
    marked = page.locator(".lectern-page .reading mark.current")
    expect(marked).to_contain_text("forty lanterns every evening")
    expect(page.locator(".lectern-page img")).to_be_hidden()


def _the_drawn_box_holds_the_quote(page, path):
    """Read back, by pdfium, what is printed under the current mark as the browser drew it."""
    sheet = page.locator(".lectern-page .sheet").bounding_box()
    number = int(page.locator(".lectern-page input").input_value())
    boxes = page.locator(".lectern-page .mark.current").all()
    assert boxes
    printed = "".join(_printed(path, number, box.bounding_box(), sheet) for box in boxes)
    n = page.locator(".lectern-page .tag[aria-current]").inner_text()
    cited = page.locator(".lectern-answer .sentence.current").first.inner_text()
    wanted = _letters(cited.split(n)[0])
    assert wanted, cited
    shared = sum(wanted[at : at + 8] in _letters(printed) for at in range(len(wanted) - 7))
    assert shared >= 0.8 * (len(wanted) - 7), (cited, printed)


def _printed(path, number, box, sheet):
    with pypdfium2.PdfDocument(path) as document:
        page = document[number - 1]
        width, height = page.get_size()
        left = (box["x"] - sheet["x"]) / sheet["width"] * width
        right = left + box["width"] / sheet["width"] * width
        top = height - (box["y"] - sheet["y"]) / sheet["height"] * height
        low = top - box["height"] / sheet["height"] * height
        text = page.get_textpage()
        found = text.get_text_bounded(left - 2, low - 1, right + 2, top + 1)
        text.close()
        page.close()
        return found


def _letters(text):
    return "".join(c for c in text.casefold() if c.isalnum())


def _nothing_left_running(folder):
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        left = [process for process in psutil.process_iter() if _works_in(process, folder)]
        if not left:
            return
        time.sleep(0.2)
    pytest.fail(f"still running: {left}")


def _works_in(process, folder):
    try:
        return Path(process.cwd()).is_relative_to(folder)
    except psutil.Error:
        return False
