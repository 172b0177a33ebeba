"""A paper goes in, a question comes out answered with evidence: in the browser, for real."""

import re
import time
from pathlib import Path

import psutil
from playwright.sync_api import expect

from tests.e2e.conftest import ROOT, running_app

SUGGESTED = "What is stored with every citation?"
SAMPLE = ROOT / "data" / "samples" / "fusion.pdf"


def upload(page, *paths):
    page.locator("input[type=file]").set_input_files([str(path) for path in paths])
    page.wait_for_timeout(2000)  # the server has the file a moment after the browser
    page.get_by_role("button", name="Add", exact=True).click()


def ask(page, question):
    box = page.get_by_test_id("stChatInputTextArea")
    box.fill(question)
    box.press("Enter")


def answer(page, number):
    """Return the bubble of the answer with that number (counted from 0), once it is complete."""
    bubble = page.get_by_test_id("stChatMessage").nth(2 * number + 1)
    expect(bubble.get_by_text(re.compile(r"^\d+ steps"))).to_be_visible()
    return bubble


def test_first_run_says_what_to_do(app, page):
    page.goto(app)
    expect(page.get_by_text("Ask your papers, see the evidence")).to_be_visible()
    expect(page.get_by_role("button", name="Add", exact=True)).to_be_visible()


def test_upload_ask_answer(app, page):
    page.goto(app)
    upload(page, SAMPLE)
    ask(page, "What is compared in the experiments?")
    expect(answer(page, 0)).to_contain_text("[1]")
    expect(answer(page, 0).get_by_test_id("stDataFrame")).to_be_visible()
    ask(page, "融合的权重是怎样确定的？")
    expect(answer(page, 1)).to_contain_text(re.compile(r"\[1\]|没有"))
    page.reload()
    expect(answer(page, 1)).to_be_visible()


def test_what_is_not_a_pdf_is_refused_in_one_sentence(app, page, tmp_path):
    page.goto(app)
    fake = tmp_path / "假的.pdf"
    fake.write_text("not a PDF at all")
    upload(page, fake)
    expect(page.get_by_test_id("stAlert")).to_be_visible()
    expect(page.get_by_text("Traceback")).to_have_count(0)


def test_the_sample_papers_are_one_click_away(tmp_path, page):
    with running_app(tmp_path) as address:
        page.goto(address)
        page.get_by_role("button", name="Try with the sample papers").click()
        page.get_by_text(SUGGESTED, exact=True).click()
        expect(answer(page, 0)).to_contain_text("[1]")
    _nothing_left_running(tmp_path)


def test_a_question_does_not_interrupt_papers_being_added(tmp_path, page):
    with running_app(tmp_path) as address:
        page.goto(address)
        upload(page, SAMPLE)
        removes = page.locator("[class*='st-key-remove-']").get_by_role("button")
        expect(removes).to_have_count(1)
        upload(page, *sorted(SAMPLE.parent.glob("*.pdf")))
        ask(page, "What is compared in the experiments?")
        expect(answer(page, 0)).to_contain_text("[1]")
        expect(removes).to_have_count(4)


def test_no_request_leaves_this_computer(app, page):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(app)
    upload(page, SAMPLE)
    expect(page.get_by_test_id("stChatInputTextArea")).to_be_visible()
    assert [url for url in asked if not url.startswith((app, "data:", "blob:"))] == []


def test_a_removed_paper_can_be_had_back(app, page):
    page.goto(app)
    upload(page, SAMPLE)
    remove = page.locator("[class*='st-key-remove-']").get_by_role("button")
    expect(remove).to_have_count(1)
    remove.click()
    expect(remove).to_have_count(0)
    page.get_by_role("button", name=re.compile("^Undo removing")).click()
    expect(remove).to_have_count(1)


def _nothing_left_running(folder):
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        left = [process for process in psutil.process_iter() if _works_in(process, folder)]
        if not left:
            return
        time.sleep(0.2)
    raise AssertionError(f"still running: {left}")


def _works_in(process, folder):
    try:
        return Path(process.cwd()).is_relative_to(folder)
    except psutil.Error:
        return False
