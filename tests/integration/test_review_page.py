"""The Review page in every state of a review, over a real workbench and without a browser."""

from uuid import uuid4

import pytest

from core.review.request import ReviewRequest
from core.types import LOCAL_USER
from tests.fixtures.arxiv_server import loopback_arxiv, rate_limited
from tests.fixtures.reviewed import serve
from tests.integration.test_pages import open_page  # noqa: F401
from tests.integration.test_review import TOPIC, wait

PAGE = "pages/review.py"

pytestmark = pytest.mark.long


@pytest.fixture
def arxiv(monkeypatch):
    with loopback_arxiv() as state:
        serve(state)
        addresses = {"ARXIV_API_URL": state.url, "ARXIV_URL": state.site, "ARXIV_SECONDS": "0"}
        for name, value in addresses.items():
            monkeypatch.setenv(name, value)
        yield state


@pytest.fixture
def page_of(arxiv, open_page):  # noqa: F811
    """Open the page of a review, or with any parameters; `bench` is its workbench."""

    def opened(number=None, **parameters):
        if number:
            parameters["review"] = str(number)
        page = open_page(PAGE, **parameters)
        assert not page.exception
        return page

    opened.bench = open_page.bench
    return opened


def begun(bench, **wanted):
    """Begin a review and wait until it needs its reader, or is over."""
    request = ReviewRequest(**{"topic": TOPIC, "top": 3, **wanted})
    return wait(bench, bench.review_runs.start(LOCAL_USER, request))


def labels(page):
    return [button.label for button in page.button]


def said(page):
    parts = (page.markdown, page.caption, page.info, page.error, page.subheader)
    return "\n".join(each.value for part in parts for each in part)


def test_the_form_takes_a_topic_and_begins(page_of):
    page = page_of(topic="rank fusion")
    assert page.text_input(key="review-topic").value == "rank fusion"
    next(button for button in page.button if button.label == "Find papers").click().run()
    (row,) = page_of.bench.reviews.reviews(LOCAL_USER)
    assert (row.topic, row.request["source"], row.request["top"]) == ("rank fusion", "arxiv", 8)
    wait(page_of.bench, row.id)


def test_a_form_that_cannot_be_used_says_why(page_of):
    page = page_of(topic="x")
    next(button for button in page.button if button.label == "Find papers").click().run()
    assert "Name a topic in two characters or more" in said(page)
    page = page_of(topic="rank fusion")
    page.number_input(key="review-from").set_value(2024)
    page.number_input(key="review-to").set_value(2020)
    next(button for button in page.button if button.label == "Find papers").click().run()
    assert "wrong way round" in said(page)
    assert page_of.bench.reviews.reviews(LOCAL_USER) == []


def test_what_was_found_is_chosen_from_and_stays_chosen(page_of):
    row = begun(page_of.bench)
    page = page_of(row.id)
    assert "8 papers found" in said(page)
    assert "Write the review from 3 papers" in labels(page)
    page_of.bench.reviews.tick(LOCAL_USER, row.id, [0])
    page = page_of(row.id)
    assert "Write the review from 1 paper" in labels(page)
    page.button(key="write-review").click().run()
    assert len(wait(page_of.bench, row.id).document["references"]) == 1


def test_a_review_at_work_shows_its_papers_and_can_be_stopped(page_of):
    bench = page_of.bench
    number = bench.reviews.add(LOCAL_USER, TOPIC, {})
    found = {"title": "A <b>paper</b>", "authors": [], "year": None, "abstract": "", "url": ""}
    bench.reviews.set_papers(number, [found | {"relevance": {}}] * 3, 3)
    bench.reviews.end(number, "writing")
    bench.reviews.set_stage(
        number, {"name": "read", "run": 1, "began": 1.0, "seconds": None, "detail": ""}
    )
    bench.reviews.set_paper(number, 0, state="done", got="abstract", seconds=2.0)
    error = {"code": "NETWORK", "message": "arXiv cannot be reached.", "hint": ""}
    bench.reviews.set_paper(number, 1, state="failed", error=error)
    page = page_of(number)
    text = said(page)
    assert "abstract only" in text
    assert "arXiv cannot be reached" in text
    assert "waiting" in text
    assert "left" in text
    bench.reviews.end(number, "stopped")
    page = page_of(number)
    assert "1 of 3 papers are read" in said(page)
    assert "Go on" in labels(page)


def test_a_search_that_fails_says_why_and_goes_on(page_of, arxiv):
    arxiv.answers = [rate_limited("99")]
    row = begun(page_of.bench)
    page = page_of(row.id)
    assert len(page.error) == 1
    serve(arxiv)
    page.button(key="go-on").click().run()
    assert wait(page_of.bench, row.id).state == "choosing"


def test_a_finished_review_shows_what_it_rests_on(page_of, arxiv):
    serve(arxiv, only_abstract=(1,), down=(4,))
    row = begun(page_of.bench, top=8, confirm=False)
    page = page_of(row.id)
    text = said(page)
    counts = row.document["verified"]
    assert f"verified {counts['supported']} of {counts['total']} sentences" in text
    assert "abstract only" in text
    assert "full text" in text
    assert "Long conversations with a reading agent" in text
    serve(arxiv)
    page.button(key="try-failed").click().run()
    row = wait(page_of.bench, row.id)
    assert row.document["stats"]["failed"] == []
    assert "try-failed" not in [button.key for button in page_of(row.id).button]


def test_a_passage_is_opened_by_the_address(page_of):
    row = begun(page_of.bench, confirm=False)
    n = row.document["citations"][-1]["n"]
    page = page_of(row.id, turn=str(row.id), n=str(n))
    assert any("cited: page" in caption.value for caption in page.caption)
    page = page_of(row.id, turn=str(row.id), n="9999")
    assert not any("cited: page" in caption.value for caption in page.caption)


def test_another_users_review_is_one_that_does_not_exist(page_of):
    bench = page_of.bench
    theirs = bench.reviews.add(uuid4(), "Their secret topic", {})
    for number in (theirs, uuid4(), "no id", "' OR 1=1"):
        page = page_of(number, turn=str(theirs), n="1")
        assert [info.value for info in page.info] == ["There is no such review."]
        assert "secret" not in said(page)
        assert page.text_input(key="review-topic") is not None


def test_a_removed_review_can_be_had_back(page_of):
    row = begun(page_of.bench)
    page = page_of(row.id)
    page.button(key="delete-review").click().run()
    assert page_of.bench.reviews.reviews(LOCAL_USER) == []
    page.button(key="undo-button").click().run()
    assert [r.id for r in page_of.bench.reviews.reviews(LOCAL_USER)] == [row.id]
