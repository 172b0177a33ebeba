"""The reading memory in the browser: read one paper, then another beside it; forget, undo, vote."""

import json
import re
from datetime import date

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import running_app
from tests.e2e.steps import answer, preload
from tests.fixtures.arxiv_server import loopback_arxiv

FUSION = "How Lectern Fuses Dense and Lexical Retrieval"
CITATIONS = "Citations One Can Check: From a Sentence to a Box on a Page"


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    folder = tmp_path_factory.mktemp("memory")
    preload(folder, "fusion", "citations")
    with (
        loopback_arxiv() as arxiv,
        running_app(folder, ARXIV_API_URL=arxiv.url, ARXIV_SECONDS="0") as address,
    ):
        yield address


def open_paper(page: Page, app: str, title: str) -> None:
    page.goto(f"{app}/library")
    page.get_by_role("textbox", name="Search titles, authors and abstracts").fill(title)
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 paper", exact=True)).to_be_visible()
    expect(page.get_by_test_id("stDataFrame")).to_have_count(1)  # the one before is gone
    page.get_by_test_id("stDataFrame").click(position={"x": 16, "y": 52})
    expect(page.get_by_role("button", name="Ask about it")).to_be_visible()


def mark_read(page: Page, app: str, title: str) -> None:
    """Have a paper among the readings, whether it was before or not."""
    open_paper(page, app, title)
    button = page.get_by_role("button", name="Mark as read")
    link = page.get_by_role("link", name=re.compile("Read on"))
    expect(button.or_(link)).to_be_visible()
    if button.count():
        button.click()
    expect(link).to_be_visible()


def summarise(page: Page, app: str, title: str):
    """Have a paper summarised from the library; return the answer."""
    open_paper(page, app, title)
    page.get_by_role("button", name="Summary for you").click()
    page.get_by_role("button", name=re.compile("Summarise this paper for me")).click()
    return answer(page, 0)


def test_the_second_paper_is_explained_against_the_first_until_that_is_forgotten(app, page):
    page.goto(f"{app}/memory")
    expect(page.get_by_text("Nothing has been read yet.")).to_be_visible()
    first = summarise(page, app, FUSION)
    expect(first.get_by_role("heading", name="A guide to a first reading")).to_be_visible()
    second = summarise(page, app, CITATIONS)
    expect(second.get_by_role("heading", name=f"Beside “{FUSION}”")).to_be_visible()
    expect(second.get_by_text(f"You read this on {date.today()}").first).to_be_visible()
    expect(second.get_by_text("first reading")).to_have_count(0)

    page.get_by_role("button", name="thumb_down").or_(
        page.get_by_role("radio", name="Thumbs down")
    ).first.click()
    page.get_by_role("link", name=re.compile(f"{re.escape(FUSION)}, read on")).click()
    page.wait_for_url(re.compile("/memory"))
    expect(page.get_by_text("Weight 0.75: 0 times useful, 1 time not useful")).to_be_visible()
    page.get_by_role("button", name="Take back all votes on it").click()
    expect(page.get_by_text("Weight 1.00: 0 times useful, 0 times not useful")).to_be_visible()

    page.get_by_role("button", name="Forget").click()
    expect(page.get_by_text(f"Removed: {FUSION}")).to_be_visible()
    third = summarise(page, app, CITATIONS)
    expect(third.get_by_role("heading", name="A guide to a first reading")).to_be_visible()
    expect(third.get_by_role("heading", name=re.compile("^Beside"))).to_have_count(0)
    page.goto(f"{app}/memory")
    expect(page.get_by_text("1 reading · Tick one to open it.")).to_be_visible()


def test_readings_are_marked_edited_taken_away_and_brought_back(app, page):
    mark_read(page, app, CITATIONS)
    mark_read(page, app, FUSION)
    page.get_by_role("link", name=re.compile("Read on")).click()
    page.wait_for_url(re.compile("/memory"))
    page.get_by_role("button", name=re.compile("Edit")).click()
    page.get_by_role("textbox", name="Summary, in your own words").fill("It joins two rankings.")
    page.get_by_role("button", name="Save").click()
    expect(
        page.locator(".st-key-recollection").get_by_text("It joins two rankings.")
    ).to_be_visible()

    page.get_by_role("button", name="Close").click()
    page.get_by_text("Keep, take away, delete").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Export as JSON").click()
    exported = download.value.path().read_bytes()
    summaries = [row["summary"] for row in json.loads(exported)["readings"]]
    assert "It joins two rankings." in summaries
    page.get_by_role("button", name=re.compile("Delete all")).click()
    page.get_by_role("button", name="Delete all readings").click()
    expect(page.get_by_text("Nothing has been read yet.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text(f"{len(summaries)} readings · ")).to_be_visible()
    for content, said in (
        (b"[]", "This is no file of readings"),
        (exported.replace(b"It joins", b"Ha. It joins").replace(b'"read_at": "20', b'"read_at": "21'),
         f"{len(summaries)} readings were added."),
    ):  # fmt: skip
        page.goto(f"{app}/memory")
        page.get_by_text("Keep, take away, delete").click()
        expect(page.get_by_role("button", name="Import", exact=True)).to_be_visible()
        file = {"name": "readings.json", "mimeType": "application/json", "buffer": content}
        page.locator("input[type=file]").set_input_files([file])
        expect(page.get_by_role("button", name="Remove readings.json")).to_be_visible()
        page.get_by_role("button", name="Import", exact=True).click()
        expect(page.get_by_text(said)).to_be_visible()


def test_the_map_opens_a_paper_and_a_removed_paper_can_be_forgotten_too(app, page):
    mark_read(page, app, CITATIONS)
    mark_read(page, app, FUSION)
    page.goto(f"{app}/memory")
    page.get_by_text("Read next").click()
    page.get_by_role("button", name="Look on arXiv").click()
    expect(page.get_by_text("On fusion 2301.00001v2")).to_be_visible()
    expect(page.get_by_role("button", name="Add to the library")).to_have_count(2)
    page.get_by_text("Map and topics").click()
    expect(page.get_by_text("Papers read by")).to_be_visible()
    page.get_by_role("link", name=FUSION).first.click()
    expect(
        page.locator(".st-key-recollection").get_by_role("link", name="Open the paper")
    ).to_be_visible()
    page.get_by_role("link", name="Open the paper").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    page.get_by_role("button", name="Forget what was read there too").click()
    expect(page.get_by_role("button", name="Forget what was read there too")).to_have_count(0)
    page.get_by_role("link", name="Memory").click()
    expect(page.get_by_text("1 reading · Tick one to open it.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("2 readings · ")).to_be_visible()


def test_while_remembering_is_paused_nothing_is_added(app, page):
    page.goto(f"{app}/memory")
    page.get_by_text("Keep, take away, delete").click()
    page.get_by_text("Remember what is read for me").click()
    expect(page.get_by_text("Remembering is paused")).to_be_visible()
    before = page.get_by_text(re.compile(r"\d readings? ·")).inner_text()
    summarise(page, app, CITATIONS)
    page.goto(f"{app}/memory")
    expect(page.get_by_text("Remembering is paused")).to_be_visible()
    expect(page.get_by_text(before)).to_be_visible()
