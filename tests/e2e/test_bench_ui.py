"""`bench ui` on a small setting: every figure is there, and of the size such a thing can have."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.bench import browser
from core.bench.browser import App, chromium
from core.bench.isolated import isolated_environment
from core.bench.ui import LIGHT, Size, run
from core.errors import Unavailable
from tests.e2e.conftest import CHROMIUM

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")
SMALL = Size(
    papers=3,
    chunks=5,
    switches=4,
    turns=1,
    starts=1,
    settle_seconds=0.0,
    memory=(("light", LIGHT),),
)


@pytest.fixture
def report(monkeypatch):
    """Run in a thread of its own: Playwright allows one browser a thread."""
    monkeypatch.setenv("EMBEDDING_MODELS", LIGHT)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run, size=SMALL).result()


@pytest.mark.bench
def test_every_figure_is_measured(report):
    assert 0.5 < report["cold_start_seconds"] < 60
    assert 0.5 < report["first_start_seconds"] < 60
    switches = report["page_switch_ms"]
    assert switches["n"] == SMALL.switches
    assert {switches[name]["n"] for name in ("home", "ask", "library", "system")} == {1}
    for name in ("page_switch_ms", "page_complete_ms", "page_turn_ms", "empty_switch_ms"):
        assert 5 < report[name]["p50"] <= report[name]["p95"] < 30_000
    assert report["page_complete_ms"]["p50"] >= switches["p50"]
    assert report["ratio_to_empty"] > 0.5
    memory = report["pss_mb"]["light"]
    parts = [memory[name] for name in ("server", "reading_worker", "postgres")]
    assert min(parts) > 5
    assert memory["total"] == sum(parts)


def test_the_stop_watch_tells_the_time(tmp_path):
    script = tmp_path / "slow_app.py"
    script.write_text(
        "import time, streamlit as st\n"
        "with st.container(key='here'):\n    pressed = st.button('Go')\n"
        "if pressed:\n    time.sleep(0.7)\n    st.header('There')\n    time.sleep(0.5)\n"
    )

    def watch():
        with chromium() as reader, App(isolated_environment(tmp_path), tmp_path, script) as app:
            app.wait()
            reader.open(app.address, ".st-key-here button")
            reader.rest()
            began = time.monotonic()
            switch = reader.click(".st-key-here button", "h2")
            return switch, 1000 * (time.monotonic() - began)

    with ThreadPoolExecutor(1) as pool:
        switch, around = pool.submit(watch).result()
    assert 700 <= switch.there <= switch.settled - 300 < around


def test_an_app_that_cannot_start_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(browser, "PATIENCE", 20.0)
    environment = isolated_environment(tmp_path, STREAMLIT_SERVER_PORT="no port")
    with (
        App({**environment, "PYTHONPATH": "", "PYTHONHOME": str(tmp_path)}, tmp_path) as app,
        pytest.raises(Unavailable, match="The app did not start"),
    ):
        app.wait()


def test_without_chromium_it_is_one_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr(browser.shutil, "which", lambda name: str(tmp_path / "no chromium"))

    def watch():
        with chromium():
            pass

    with ThreadPoolExecutor(1) as pool, pytest.raises(Unavailable, match="needs Chromium"):
        pool.submit(watch).result()
