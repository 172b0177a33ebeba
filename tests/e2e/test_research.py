"""Research in the browser: its steps, the papers found with their links, and a source outside."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import running_app
from tests.e2e.steps import answer, ask, preload
from tests.fixtures.arxiv_server import loopback_arxiv
from tests.fixtures.model_server import LoopbackServer, Reply, call


@pytest.fixture(scope="module")
def model():
    server = LoopbackServer()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def app(tmp_path_factory, model):
    folder = tmp_path_factory.mktemp("research")
    preload(folder, "fusion")
    with loopback_arxiv() as arxiv:
        settings = {
            "LLM_BASE_URL": model.url,
            "LLM_API_KEY": "k",
            "LLM_MODEL": "loop",
            "ARXIV_URL": arxiv.site,
            "ARXIV_API_URL": arxiv.url,
            "ARXIV_SECONDS": "0",
        }
        with running_app(folder, **settings) as address:
            yield address


def test_steps_papers_and_a_source_outside_the_library(app, model, page):
    model.asides["Choice"] = Reply('{"intent": "research", "confidence": 1}')
    model.enqueue(
        call("search_library", query="How are scores fused?", number=3),
        call("paper_search", topic="rank fusion", number=500),
        call("paper_search", topic="rank fusion"),
        Reply("It joins two rankings [4]."),
    )
    page.goto(f"{app}/ask")
    ask(page, "Find recent papers on rank fusion")
    shown = answer(page, 0)
    link = shown.get_by_role("table").get_by_role("link").first
    expect(link).to_have_attribute("href", re.compile(r"^https://arxiv\.org/abs/"))
    shown.get_by_text(re.compile(r"^\d+ steps ·")).click()
    expect(shown.get_by_text("Search the library")).to_be_visible()
    expect(shown.get_by_text("topic: rank fusion", exact=True)).to_be_visible()
    expect(shown.get_by_text("Correct it and call the tool again.")).to_be_visible()
    shown.get_by_role("button", name=re.compile("^Citation 4: .*not in your library")).click()
    pane = page.locator(".st-key-evidence")
    expect(pane.get_by_text("It joins two rankings.")).to_be_visible()
    expect(pane.get_by_role("link").first).to_have_attribute("href", re.compile("arxiv"))
