"""The Search page in the browser: a Chinese topic, English papers, two orders, one into the library."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import new_page, running_app
from tests.fixtures.arxiv_server import SLOW, loopback_arxiv, ok, paper_page, told
from tests.fixtures.results import RESULTS

FUSION = RESULTS[0][1]
HOSTILE = "Rank fusion with $\\lambda$-weights <b>and</b> [links](http://evil.example)"
NOBODY = "http://127.0.0.1:9"


@pytest.fixture(scope="module")
def arxiv():
    with loopback_arxiv() as server:
        yield server


@pytest.fixture(scope="module")
def app(tmp_path_factory, arxiv):
    addresses = {"ARXIV_API_URL": arxiv.url, "ARXIV_URL": arxiv.site, "OPENALEX_URL": NOBODY}
    with running_app(tmp_path_factory.mktemp("search"), ARXIV_SECONDS="0", **addresses) as address:
        yield address


@pytest.fixture(autouse=True)
def results(arxiv):
    arxiv.answers = [ok(told(*RESULTS))]
    arxiv.pages = {"/html/2301.00001": [ok(paper_page(6, FUSION))]}


def search(page: Page, topic: str) -> None:
    """Type a topic and press Enter."""
    box = page.get_by_role("textbox", name="Topic")
    box.fill(topic)
    box.press("Enter")


def titles(page: Page) -> list[str]:
    """Return the titles of the cards as they stand, without their numbers."""
    texts = page.locator("[class*='st-key-found-head-'] strong").all_inner_texts()
    return [re.sub(r"^#\d+ |\u2060", "", text) for text in texts]


def first_is(page: Page, title: str) -> None:
    head = page.locator("[class*='st-key-found-head-'] strong").first
    expect(head).to_contain_text(title)


def test_a_chinese_topic_finds_english_papers_and_one_comes_into_the_library(app, page, arxiv):
    page.goto(app)
    page.get_by_role("main").get_by_role("link", name="Search for papers").click()
    expect(page.get_by_text("Type a topic, in English or Chinese")).to_be_visible()
    search(page, "稠密检索与稀疏检索的融合")
    expect(page.get_by_text("1–6 of 6")).to_be_visible()
    expect(page.get_by_text(re.compile("Searched for: .*dense retrieval"))).to_be_visible()
    assert re.search("dense retrieval", arxiv.asked[-1]["search_query"])
    assert "topic=" in page.url

    together = titles(page)
    assert HOSTILE in together, "a title is shown as it is written"
    expect(page.get_by_role("link", name="links")).to_have_count(0)
    tools = page.locator(".st-key-search-tools")
    tools.get_by_role("radio", name="By words").click()
    page.wait_for_url(re.compile("order=words"))
    first_is(page, FUSION)
    by_words = titles(page)
    tools.get_by_role("radio", name="By meaning").click()
    page.wait_for_url(re.compile("order=meaning"))
    first_is(page, "Rank fusion with")
    assert sorted(titles(page)) == sorted(by_words) == sorted(together)
    assert titles(page) != by_words
    tools.get_by_role("radio", name="Side by side").click()
    columns = page.locator(".st-key-search-beside").get_by_role("list")
    expect(columns).to_have_count(2)
    for at in (0, 1):
        expect(columns.nth(at).get_by_role("listitem")).to_have_count(6)

    card = page.locator("[class*='st-key-found-']", has_text=FUSION).first
    card.get_by_text("Whole abstract").click()
    expect(card.get_by_text("is never worse than either").last).to_be_visible()
    card.get_by_role("button", name="Add", exact=True).click()
    badge = card.get_by_role("link", name="In your library")
    expect(badge).to_be_visible()
    expect(page.get_by_text("1 paper added")).to_be_visible()
    badge.click()
    page.wait_for_url(re.compile(r"/library\?.*paper="))
    expect(page.get_by_role("heading", name=FUSION)).to_be_visible()
    page.get_by_role("link", name="Search", exact=True).click()
    expect(page.get_by_role("link", name="In your library")).to_be_visible()


def test_pages_reload_and_back(app, page, arxiv):
    pages = [[(f"24{n:02d}.{k:05d}v1", f"Paper {n}-{k}", "It.") for k in range(10)] for n in (1, 2)]
    arxiv.answers = [ok(told(*rows, total=14)) for rows in (pages[0], pages[1][:4])]
    page.goto(f"{app}/search?topic=pages&number=10")
    expect(page.get_by_text("1–10 of 14").first).to_be_visible()
    expect(page.get_by_role("textbox", name="Topic")).to_have_value("pages")
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("11–14 of 14").first).to_be_visible()
    page.wait_for_url(re.compile("offset=10"))
    expect(page.get_by_role("button", name="Next")).to_be_disabled()
    page.reload()
    expect(page.get_by_text("11–14 of 14").first).to_be_visible()
    page.get_by_role("button", name="Previous").click()
    expect(page.get_by_text("1–10 of 14").first).to_be_visible()
    assert len([one for one in arxiv.asked if one.get("search_query") == "all:pages"]) == 2


def test_offline_says_so_and_what_still_works(app, page, arxiv):
    page.goto(f"{app}/search?topic=fusion&source=openalex")
    expect(page.get_by_text("OpenAlex cannot be reached.")).to_be_visible()
    expect(page.get_by_text("works without a network")).to_be_visible()
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    arxiv.answers = [SLOW, ok(told(*RESULTS))]
    search(page, "slow")
    expect(
        page.get_by_text(re.compile(r"OpenAlex cannot be reached\. Trying again"))
    ).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("It was stopped.")).to_be_visible()
    page.goto(f"{app}/search?topic=still+there")
    expect(page.get_by_text("1–6 of 6")).to_be_visible()


def test_on_a_phone_in_chinese_and_the_dark(app, browser):
    phone = {"width": 390, "height": 844}
    page = new_page(browser, viewport=phone, locale="zh-CN", color_scheme="dark")
    page.goto(f"{app}/search?topic=rank+fusion&order=beside")
    expect(page.get_by_text("第 1–6 篇，共 6 篇")).to_be_visible()
    left, right = (page.locator(".st-key-search-beside").get_by_role("list").nth(n) for n in (0, 1))
    assert right.bounding_box()["y"] > left.bounding_box()["y"] + left.bounding_box()["height"]
    main = page.get_by_test_id("stMain")
    assert main.evaluate("all => all.scrollWidth <= all.clientWidth")
    order = page.locator(".st-key-search-tools").get_by_role("radiogroup")
    assert order.evaluate("all => all.scrollWidth <= all.clientWidth"), "no order is out of sight"
    page.context.close()
