"""Every intent in the browser: chosen, run without a model, looked at, taken away, run again."""

import csv
import re

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import new_page, running_app
from tests.e2e.steps import answer, ask, cite, preload

CLAIMS = "Check these claims: BM25 reaches an nDCG@10 of 0.847 on SciFact. Pigs can fly."


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    folder = tmp_path_factory.mktemp("intents")
    preload(folder, "fusion", "citations")
    with running_app(folder) as address:
        yield address


def choose(page, title):
    page.locator(".st-key-way-box").get_by_role("button").first.click()
    page.get_by_role("radio", name=re.compile(f"^{title}")).click(force=True)
    expect(page.locator(".st-key-way-box").get_by_role("button").first).to_contain_text(title)


def about(page, title):
    page.locator(".st-key-scope-box").get_by_role("button").first.click()
    box = page.get_by_role("combobox")
    box.fill(title)
    box.press("Enter")
    page.keyboard.press("Escape")
    expect(page.locator(".st-key-scope-box").get_by_role("button").first).to_contain_text(title)


def test_extracted_facts_are_a_table_with_evidence_and_csv(app, page):
    page.goto(f"{app}/ask")
    choose(page, "Extract the facts")
    page.get_by_role("button", name=re.compile("Extract the task")).click()
    table = answer(page, 0).get_by_role("table").first
    expect(table.get_by_role("rowheader", name="Method")).to_be_visible()
    cite(page, 0, 1)
    expect(table.locator(".sentence.current")).not_to_have_count(0)
    with page.expect_download() as download:
        page.get_by_role("button", name=re.compile("Table as CSV$")).first.click()
    with download.value.path().open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    assert "Method" in [row[0] for row in rows]
    assert {len(row) for row in rows} == {len(rows[0])}


def test_claims_are_judged_with_their_passages(app, page):
    page.goto(f"{app}/ask")
    choose(page, "Check claims")
    ask(page, CLAIMS)
    claims = answer(page, 0).locator(".claims > li")
    expect(claims).to_have_count(2)
    expect(claims.nth(0).locator(".verdict.supported")).to_be_visible()
    expect(claims.nth(0).locator("blockquote").first).to_contain_text("0.847")
    expect(claims.nth(1).locator(".verdict.unsupported")).to_be_visible()


def test_papers_stand_side_by_side(app, page):
    page.goto(f"{app}/ask")
    choose(page, "Compare papers")
    page.get_by_role("button", name=re.compile("^help.*[Cc]ompare|[Cc]ompare")).last.click()
    table = answer(page, 0).get_by_role("table").first
    expect(table.get_by_role("columnheader")).to_have_count(2)
    cite(page, 0, 1)


@pytest.mark.parametrize("title", ["Read deeply", "Review critically"])
def test_notes_on_one_paper(app, page, title):
    page.goto(f"{app}/ask")
    about(page, "How Lectern Fuses")
    choose(page, title)
    page.locator('[class*="st-key-suggestion-"]').get_by_role("button").first.click()
    notes = answer(page, 0).locator(".lectern-answer")
    expect(notes.get_by_role("heading").nth(2)).to_be_visible()
    cite(page, 0, 1)


def test_figures_and_tables_are_shown_plotted_and_taken_away(app, browser):
    page = new_page(browser, locale="zh-CN")
    page.goto(f"{app}/ask")
    about(page, "How Lectern Fuses")
    choose(page, "图与表")
    page.locator('[class*="st-key-suggestion-"]').get_by_role("button").first.click()
    shown = answer(page, 0)
    expect(shown.get_by_role("img").first).to_be_visible()
    expect(shown.get_by_test_id("stDataFrame").first).to_be_visible()
    shown.get_by_role("tab", name="图表").first.click()
    expect(shown.get_by_test_id("stVegaLiteChart").first).to_be_visible()
    page.context.close()


def test_a_turn_is_rated_and_run_again(app, page):
    page.goto(f"{app}/ask")
    ask(page, "What is stored with every citation?")
    answer(page, 0)
    page.get_by_role("radio", name="Thumbs down").click()
    page.get_by_role("button", name="Why?").click()
    page.get_by_label("What was good, or what was wrong?").fill("beside the point")
    page.keyboard.press("Control+Enter")
    page.get_by_role("button", name=re.compile("Run again$")).click()
    expect(page.get_by_text("The answer is word for word the same.")).to_be_visible()
    page.goto(f"{app}/system")
    bad = page.get_by_test_id("stMetric").filter(has_text="not useful")
    expect(bad).to_contain_text("1")
