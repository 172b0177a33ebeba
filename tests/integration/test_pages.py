"""Pages over a real workbench, without a browser: what they say when something is not as it should be."""

import json
from uuid import uuid4

import psycopg
import pytest
from streamlit.testing.v1 import AppTest

from core.db.conversations import StoredEvent
from core.types import LOCAL_USER
from tests.conftest import ROOT
from ui import frame

HOME = "streamlit_app.py"
PAGES = [
    HOME,
    "pages/ask.py",
    "pages/library.py",
    "pages/search.py",
    "pages/review.py",
    "pages/memory.py",
    "pages/system.py",
]


@pytest.fixture
def open_page(make_bench, monkeypatch):
    """Open a page of an app that runs on a workbench of the test."""
    bench = make_bench(LECTERN_SINGLE_USER=True)
    monkeypatch.setattr(frame, "workbench", lambda: bench)

    def opened(path, **parameters):
        page = AppTest.from_file(str(ROOT / HOME), default_timeout=30)
        if path != HOME:
            page.switch_page(str(ROOT / path))
        for name, value in parameters.items():
            page.query_params[name] = value
        return page.run()

    opened.bench = bench
    return opened


def test_a_turn_that_ended_while_the_database_was_away_is_drawn_once(open_page):
    """Its row still says that it runs, its events that it is over: the page must not go round."""
    bench = open_page.bench
    number, connection = bench.conversations.claim_runner()
    with connection:
        turn = bench.conversations.begin_turn(LOCAL_USER, None, "Why?", runner=number)
        ended = {"answer": "Because.", "citations": [], "sentences": [], "usage": {}}
        ended |= {"mode": "extractive", "stopped": False}
        bench.conversations.add_events(turn.id, [StoredEvent(1, "turn_finished", ended)])
        page = open_page("pages/ask.py", conversation=str(turn.conversation_id))
    assert not page.exception
    assert "Because\\." in [text.value for text in page.markdown]


@pytest.mark.parametrize("path", PAGES)
def test_a_page_without_its_database_says_so(open_page, database_server, database_url, path):
    name = database_url.rsplit("/", 1)[1].split("?")[0]
    assert not open_page(path).exception
    with psycopg.connect(database_server, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name]
        )
        page = open_page(path)
        assert not page.exception
        assert ["database" in said.value.lower() for said in page.error] == [True]
        connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    assert not open_page(path).error


def test_a_papers_address_is_read_in_any_spelling(open_page, sample):
    bench = open_page.bench
    paper = bench.ingestor.ingest(LOCAL_USER, sample.name, sample.read_bytes()).paper_id
    title = bench.papers.paper(LOCAL_USER, paper).meta.title
    page = open_page("pages/library.py", paper=str(paper).upper())
    assert title in [head.value for head in page.subheader]
    for wrong in (str(uuid4()), "no id", "' OR 1=1"):
        page = open_page("pages/library.py", paper=wrong)
        assert [info.value for info in page.info] == [
            "That paper is not in your library (any more)."
        ]


def test_questions_to_begin_with_are_in_the_language_of_the_page(open_page, sample):
    open_page.bench.ingestor.ingest(LOCAL_USER, sample.name, sample.read_bytes())
    papers = json.loads((ROOT / "data" / "samples" / "samples.json").read_text())["papers"]
    asked = next(paper["questions"][0] for paper in papers if paper["file"] == sample.name)
    for language in ("zh", "en"):
        page = open_page(HOME, lang=language)
        assert asked[language] in [button.label for button in page.button]
