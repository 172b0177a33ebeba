"""The Search page over a real workbench and a loopback arXiv: every state, and what one can do next."""

import time

import pytest
from streamlit.testing.v1 import AppTest

from core.types import LOCAL_USER
from tests.conftest import ROOT
from tests.fixtures.arxiv_server import (
    BROKEN,
    EMPTY,
    MALFORMED,
    SLOW,
    feed,
    loopback_arxiv,
    ok,
    paper_page,
    rate_limited,
    told,
)
from tests.fixtures.results import RESULTS
from ui import frame

WORK = {
    "id": "https://openalex.org/W1",
    "doi": "https://doi.org/10.1000/(fusion).1",
    "title": "Rank fusion for search",
    "publication_year": 2021,
    "authorships": [{"author": {"display_name": f"Author {n}"}} for n in range(8)],
    "best_oa_location": {"pdf_url": "https://example.org/fusion.pdf"},
}


@pytest.fixture
def arxiv():
    with loopback_arxiv() as server:
        server.answers = [ok(told(*RESULTS))]
        yield server


@pytest.fixture
def open_search(arxiv, make_bench, monkeypatch):
    """Open the page at an address and wait until its search is over."""
    bench = make_bench(
        LECTERN_SINGLE_USER=True,
        ARXIV_API_URL=arxiv.url,
        ARXIV_URL=arxiv.site,
        ARXIV_SECONDS=0,
        OPENALEX_URL=f"{arxiv.site}/openalex",
    )
    monkeypatch.setattr(frame, "workbench", lambda: bench)

    def opened(**parameters: str) -> AppTest:
        page = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=30)
        page.switch_page(str(ROOT / "pages/search.py"))
        for name, value in parameters.items():
            page.query_params[name] = value
        return settled(page.run())

    opened.bench = bench
    return opened


def settled(page: AppTest) -> AppTest:
    until = time.monotonic() + 30
    while page.status and time.monotonic() < until:
        time.sleep(0.05)
        page.run()
    assert not page.exception
    assert not page.status
    return page


def address(page: AppTest) -> dict[str, str]:
    """Return the parameters: the test's own are lists, those a page sets are not."""
    given = dict(page.query_params)
    return {name: one[-1] if isinstance(one, list) else one for name, one in given.items()}


def labels(page: AppTest) -> list[str]:
    return [button.label for button in page.button]


def heads(page: AppTest) -> list[str]:
    """Return the titles of the cards, in order."""
    return [text.value for text in page.markdown if text.value.startswith(r"**\#")]


def said(page: AppTest) -> str:
    return " ".join(each.value for each in (*page.info, *page.warning, *page.error))


def links(page: AppTest) -> list[str]:
    return [link.label for link in page.get("page_link")]


def test_before_anything_is_asked_there_are_topics_in_both_languages(open_search, arxiv):
    page = open_search()
    assert "Type a topic" in said(page)
    assert {"retrieval\\-augmented generation evaluation", "大语言模型的幻觉检测"} <= set(
        labels(page)
    )
    assert arxiv.asked == []
    page.button(key="example-大语言模型的幻觉检测").click().run()
    settled(page)
    assert address(page)["topic"] == "大语言模型的幻觉检测"
    assert '"large language models"' in " ".join(each.value for each in page.caption)
    assert "hallucination" in arxiv.asked[0]["search_query"]
    assert len(heads(page)) == len(RESULTS)


@pytest.mark.parametrize(
    ("answers", "words", "offered"),
    [
        ([EMPTY], "No paper on 'fusion' was found", "Search OpenAlex instead"),
        ([rate_limited("40")], "Try again in 40 seconds.", "Try again"),
        ([MALFORMED], "no list of papers", "Try again"),
        ([(404, {}, b"")], "arXiv answers 404", "Search OpenAlex instead"),
    ],
)
def test_each_failure_says_what_to_do_next(open_search, arxiv, answers, words, offered):
    arxiv.answers = answers
    page = open_search(topic="fusion")
    assert words in said(page).replace("\\", "")
    assert offered in labels(page)
    assert "Add your own papers" in links(page)
    arxiv.answers = [ok(told(*RESULTS))]
    page.button(key="search-again" if offered == "Try again" else "offer-swap_horiz").click().run()
    settled(page)
    if offered == "Try again":
        assert len(heads(page)) == len(RESULTS)
    else:
        assert address(page)["source"] == "openalex"


@pytest.mark.slow
def test_offline_the_library_is_offered(open_search, arxiv, sample, make_bench, monkeypatch):
    away = make_bench(
        LECTERN_SINGLE_USER=True, ARXIV_API_URL="http://127.0.0.1:9/", ARXIV_SECONDS=0
    )
    away.ingestor.ingest(LOCAL_USER, sample.name, sample.read_bytes())
    monkeypatch.setattr(frame, "workbench", lambda: away)
    page = open_search(topic="fusion")
    assert "arXiv cannot be reached" in said(page)
    assert "Ask your own library instead" in links(page)
    assert "Everything else in Lectern works without a network." in [c.value for c in page.caption]


def test_filters_are_sent_named_and_can_be_dropped(open_search, arxiv):
    arxiv.answers = [EMPTY, ok(told(*RESULTS))]
    page = open_search(
        topic="fusion", year_from="2020", author="Müller", categories="cs.IR", number="7"
    )
    query = arxiv.asked[0]["search_query"]
    assert "submittedDate:[202001010000 TO" in query
    assert "(cat:cs.IR)" in query
    assert arxiv.asked[0]["max_results"] == "20"  # 7 is none of the numbers there are
    page.button(key="offer-filter_alt_off").click().run()
    settled(page)
    assert "year_from" not in address(page)
    assert arxiv.asked[1]["search_query"] == "all:fusion"


def test_the_form_follows_the_address_and_the_address_the_form(open_search, arxiv):
    page = open_search(topic="fusion", year_from="2020", source="nowhere", sort="submitted")
    topic = next(box for box in page.text_input if box.label == "Topic")
    years = {box.label: box for box in page.number_input}
    assert (topic.value, years["From year"].value, years["To year"].value) == ("fusion", 2020, None)
    topic.set_value("  rank   fusion ")
    years["From year"].set_value(2024)
    years["To year"].set_value(2021)
    next(button for button in page.button if button.label == "Search").click().run()
    settled(page)
    assert address(page) == {
        "topic": "rank fusion",
        "year_from": "2021",
        "year_to": "2024",
        "sort": "submitted",
    }


def test_a_topic_that_nobody_can_translate_is_named(open_search):
    page = open_search(topic="饕餮纹")
    assert "use other words for 饕餮纹" in said(page)
    page = open_search(topic="RAG 与饕餮纹的检索")
    assert "left out: 饕餮纹" in said(page)
    assert heads(page)


def test_the_order_changes_at_once_and_both_can_be_compared(open_search, arxiv):
    page = open_search(topic="rank fusion")
    together = heads(page)
    orders = {}
    for order, name in (("meaning", "meaning"), ("words", "words")):
        page.query_params["order"] = order
        page.run()
        orders[name] = heads(page)
        assert sorted(orders[name]) == sorted(together)
    assert orders["meaning"] != orders["words"]
    page.query_params["order"] = "beside"
    page.run()
    lists = [text.value for text in page.markdown if text.value.startswith("1. ")]
    assert [text.count("\n") for text in lists] == [len(RESULTS) - 1] * 2
    for title, column in zip((orders["meaning"][0], orders["words"][0]), lists, strict=True):
        assert title.removeprefix("**").split(" ")[0] in column.splitlines()[0]
    assert len(arxiv.asked) == 1


def test_text_of_others_is_shown_as_text(open_search, arxiv):
    page = open_search(topic="rank fusion")
    title = next(text for text in heads(page) if "lambda" in text)
    assert r"\$\\lambda\$" in title
    assert r"\<b\>" in title
    assert r"\[links\]\(http" in title


def test_papers_come_a_page_at_a_time(open_search, arxiv):
    pages = [[(f"23{n:02d}.{k:05d}v1", f"Paper {n} {k}", "It.") for k in range(10)] for n in (1, 2)]
    arxiv.answers = [ok(told(*rows, total=15)) for rows in (pages[0], pages[1][:5])]
    page = open_search(topic="fusion", number="10")
    assert "1–10 of 15" in [text.value for text in page.markdown]
    assert page.button(key="previous-page").disabled
    page.checkbox(key="choose-2301.00003").check().run()
    page.button(key="next-page").click().run()
    settled(page)
    assert "11–15 of 15" in [text.value for text in page.markdown]
    assert arxiv.asked[-1]["start"] == "10"
    assert page.button(key="next-page").disabled
    assert r"**\#11 " in heads(page)[0]
    page.button(key="previous-page").click().run()
    settled(page)
    assert "1–10 of 15" in [text.value for text in page.markdown]
    assert len(arxiv.asked) == 2, "what was found a moment ago is not asked again"
    assert page.button(key="add-chosen").label == "Add chosen (1)", "chosen on another page"
    next(box for box in page.text_input if box.label == "Topic").set_value("something else")
    next(button for button in page.button if button.label == "Search").click().run()
    settled(page)
    assert page.button(key="add-chosen").label == "Add chosen (0)"


def test_chosen_papers_are_added_and_each_failure_is_told_at_its_paper(open_search, arxiv):
    arxiv.pages["/html/2301.00001"] = [ok(paper_page(6, RESULTS[0][1]))]
    page = open_search(topic="rank fusion")
    assert page.button(key="add-chosen").disabled
    for number in ("2301.00001", "2304.00004"):
        page.checkbox(key=f"choose-{number}").check().run()
    assert page.button(key="add-chosen").label == "Add chosen (2)"
    page.button(key="add-chosen").click().run()
    queue = open_search.bench.add_queue
    until = time.monotonic() + 60
    while any(one.state in ("waiting", "reading") for one in queue.entries(LOCAL_USER)):
        assert time.monotonic() < until
        time.sleep(0.1)
    settled(page.run())
    (held,) = open_search.bench.papers.papers(LOCAL_USER)
    assert held.meta.arxiv_id == "2301.00001"
    assert "In your library" in links(page)
    assert page.button(key="add-chosen").label == "Add chosen (0)"
    failed = [each.value for each in page.error]
    assert len(failed) == 1, "the queue does not say again what the card says"
    assert failed[0].startswith("Not added: arXiv has no paper")
    assert "choose-2301.00001" not in [box.key for box in page.checkbox]
    assert [each.value for each in open_search(topic="rank fusion").error] == failed
    assert len(open_search().error) == 1, "elsewhere the queue says it"


def test_what_is_not_on_arxiv_is_linked_and_told_why(open_search, arxiv):
    arxiv.pages["/openalex/works"] = [ok({"meta": {"count": 1}, "results": [WORK]})]
    page = open_search(topic="rank fusion", source="openalex", categories="cs.IR")
    assert not page.checkbox
    assert "Add" not in labels(page)
    captions = " ".join(each.value for each in page.caption)
    assert "It is not on arXiv, so Lectern cannot fetch it" in captions
    assert "Author 4 and 3 more" in captions
    found = {each.proto.label: each.proto.url for each in page.get("link_button")}
    assert found == {
        "OpenAlex page": "https://openalex.org/W1",
        "DOI": "https://doi.org/10.1000/(fusion).1",
        "Open copy": "https://example.org/fusion.pdf",
    }
    page = open_search(topic="rank fusion")
    assert {each.proto.label for each in page.get("link_button")} == {"arXiv page", "Open copy"}


def test_a_search_can_be_stopped_and_taken_up_again(open_search, arxiv):
    arxiv.answers = [SLOW, ok(feed("2301.00001v2"))]
    page = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=30)
    page.switch_page(str(ROOT / "pages/search.py"))
    page.query_params["topic"] = "fusion"
    page.run()
    assert page.status[0].label.startswith("Waiting for arXiv")
    page.button(key="stop-search").click().run()
    settled(page)
    assert "It was stopped" in said(page)
    page.button(key="search-again").click().run()
    settled(page)
    assert len(heads(page)) == 1


def test_what_was_found_is_there_when_one_comes_back_until_it_is_cleared(open_search, arxiv):
    page = open_search(topic="rank fusion", number="10")
    page.switch_page(str(ROOT / "pages/library.py"))
    page.query_params.clear()
    page.run()
    page.switch_page(str(ROOT / "pages/search.py"))
    page.query_params.clear()
    settled(page.run())
    assert len(heads(page)) == len(RESULTS)
    assert address(page)["number"] == "10"
    page.button(key="clear-search").click().run()
    assert "Type a topic" in said(page)
    assert "topic" not in page.query_params
    assert len(arxiv.asked) == 1


@pytest.mark.parametrize("broken", ["", "x" * 900, "🙂", "\x00", "ti:", "((("])
def test_an_address_of_any_kind_is_a_page(open_search, broken):
    page = open_search(
        topic=broken, year_from=broken, number=broken, offset="-3", order=broken, categories=broken
    )
    assert page.title[0].value == "Search"


def test_home_and_library_lead_to_the_search(open_search):
    for path in ("streamlit_app.py", "pages/library.py"):
        page = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=30)
        if path != "streamlit_app.py":
            page.switch_page(str(ROOT / path))
        page.run()
        assert "Search for papers" in links(page)


def test_an_answer_of_the_server_that_fails_is_tried_again_and_told(open_search, arxiv):
    arxiv.answers = [BROKEN, ok(told(*RESULTS))]
    assert heads(open_search(topic="fusion"))
