"""The work on a review in the browser: chosen papers, a stop, going on, what an abstract is worth."""

import re
import time

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import running_app
from tests.fixtures.arxiv_server import loopback_arxiv
from tests.fixtures.reviewed import serve

TOPIC = "rank fusion and memory of reading agents"
VERIFIED = re.compile(r"verified \d+ of \d+ sentences")

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def arxiv():
    with loopback_arxiv() as state:
        yield state


@pytest.fixture(scope="module")
def app(tmp_path_factory, arxiv):
    addresses = {"ARXIV_API_URL": arxiv.url, "ARXIV_URL": arxiv.site, "ARXIV_SECONDS": "0"}
    with running_app(tmp_path_factory.mktemp("work"), **addresses) as address:
        yield address


def find(page: Page, app: str) -> None:
    """Begin a review and wait for the papers found."""
    page.goto(f"{app}/review?topic={TOPIC}")
    expect(page.get_by_role("textbox", name="Topic")).to_have_value(TOPIC)
    page.get_by_role("button", name="Find papers").click()
    expect(write_button(page, 8)).to_be_enabled()


def write_button(page: Page, count: int):
    return page.get_by_role("button", name=re.compile(rf"Write the review from {count} papers"))


def test_a_review_is_stopped_left_and_gone_on_with(app, page, arxiv):
    serve(arxiv, only_abstract=(1,), down=(5,))
    answer = arxiv.answer

    def late(path, asked):
        if path.startswith("/html/"):
            time.sleep(1.5)
        return answer(path, asked)

    arxiv.answer = late
    find(page, app)
    page.wait_for_url(re.compile("review="))
    address = page.url
    page.get_by_test_id("stDataFrame").click(position={"x": 16, "y": 52})
    expect(write_button(page, 7)).to_be_enabled()
    page.reload()
    write_button(page, 7).click()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Go on")).to_be_visible()
    arxiv.answer = answer
    page.goto(f"{app}/review")
    expect(page.get_by_text("stopped ·")).to_be_visible()
    page.goto(address)
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_text(VERIFIED)).to_be_visible()

    expect(page.get_by_text("1 by its abstract only")).to_be_visible()
    caution = page.locator(".lectern-answer .verdict.caution").first
    expect(caution).to_contain_text("abstract only")
    caution.focus()
    expect(page.locator(".lectern-tip:visible")).to_contain_text("look it up in the full text")
    expect(page.get_by_text("1 paper could not be read")).to_be_visible()
    serve(arxiv)
    page.get_by_role("button", name="Try the papers that failed again").click()
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    expect(page.get_by_text("6 papers in full")).to_be_visible()
    expect(page.get_by_text("could not be read")).to_have_count(0)


def test_a_passage_marked_beside_a_review_is_asked_about(app, page):
    page.goto(f"{app}/review")
    page.get_by_role("link", name=TOPIC).first.click()
    text = page.locator(".lectern-answer").first
    button = text.get_by_role("button", name=re.compile("^Citation 3:")).first
    expect(button).to_have_text("[3]")
    button.press("Enter")
    marked = page.locator(".lectern-page mark.current")
    expect(marked).to_be_visible()
    expect(page.locator(".lectern-page .tag[aria-current]")).to_have_text("[3]")
    marked.select_text()
    page.get_by_role("button", name="Ask about this").click()
    page.wait_for_url(re.compile("/ask"))
    expect(page.locator(".st-key-passage")).to_be_visible()
