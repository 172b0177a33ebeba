"""The one door, on a real database, real Chroma, and the real multilingual encoder."""

import hashlib
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import pytest
from sqlalchemy import Engine

from core.config import Settings
from core.db.papers import PaperStore, StoredFile
from core.errors import BadInput, NotFound
from core.models.embed import MINILM_NAME, USE_NAME, Embedder, MultilingualUSE
from core.models.rerank import Reranker, reranker
from core.retrieval import search as search_module
from core.retrieval.library import LibraryIndex
from core.retrieval.search import MAX_QUERY, Searcher, SearchResult
from core.retrieval.tokenize import tokenize
from core.retrieval.weights import BM25
from core.types import ChunkDraft, Page, PaperMeta, ParsedPaper, Scope
from tests.fixtures.model_server import LoopbackServer, Reply

SUBJECTS = ["The committee", "A farmer", "Our neighbour", "The old museum", "Every student"]
VERBS = ["visited", "described", "repaired", "painted", "sold"]
OBJECTS = ["the bridge", "a wooden boat", "the small garden", "two paintings", "an old car"]
PLACES = ["near the river", "in early spring", "after the concert", "with great care", "at noon"]
NOUNS = {
    "Bumblebee": "Bumblebee exchanges fewer bytes between the two parties.",
    "SiRNN": "SiRNN evaluates the exponential with look-up tables.",
    "CKKS": "CKKS packs real numbers into the slots of one polynomial.",
}


def general(count: int) -> list[str]:
    """Return distinct chunks about nothing in particular."""
    source = random.Random(1)
    texts: dict[str, None] = {}
    while len(texts) < count:
        parts = [
            f"{source.choice(SUBJECTS)} {source.choice(VERBS)} {source.choice(OBJECTS)} "
            f"{source.choice(PLACES)}."
            for _ in range(4)
        ]
        texts[" ".join(parts)] = None
    return list(texts)


@pytest.fixture(scope="module")
def use() -> MultilingualUSE:
    return MultilingualUSE()


@pytest.fixture
def store(database: Engine) -> PaperStore:
    return PaperStore(database)


@pytest.fixture
def library(store: PaperStore, tmp_path: Path) -> Iterator[LibraryIndex]:
    with LibraryIndex(store, tmp_path) as index:
        yield index


@pytest.fixture
def user() -> UUID:
    return uuid4()


@pytest.fixture
def searcher(store: PaperStore, library: LibraryIndex, use: MultilingualUSE) -> Searcher:
    return Searcher(store, [use], library)


def add(
    store: PaperStore,
    user: UUID,
    title: str,
    texts: Sequence[str],
    embedders: Sequence[Embedder],
    *,
    references: Sequence[str] = (),
) -> UUID:
    chunks = tuple(ChunkDraft(1, "Body", "body", text, ()) for text in texts) + tuple(
        ChunkDraft(2, "References", "references", text, ()) for text in references
    )
    everything = [chunk.text for chunk in chunks]
    data = f"{title}{user}".encode()
    return store.add(
        user,
        f"{title}.pdf",
        StoredFile(hashlib.sha256(data).hexdigest(), data, len(data)),
        ParsedPaper(PaperMeta(title=title), (Page(1, 595, 842, title),), chunks),
        [" ".join(tokenize(text)) for text in everything],
        {embedder.name: embedder.encode(everything) for embedder in embedders},
    )


def texts(result: SearchResult) -> list[str]:
    return [hit.chunk.text for hit in result.hits]


@pytest.mark.parametrize("noun", NOUNS)
@pytest.mark.parametrize("question", ["What is {}?", "{}", "{} 是什么？"])
def test_a_chunk_that_only_a_proper_noun_finds_is_in_the_top_five(
    store, searcher, use, user, noun, question
):
    paper = add(store, user, "Nouns", [*general(50), *NOUNS.values()], [use])
    result = searcher.search(question.format(noun), Scope(user, (paper,)))
    assert NOUNS[noun] in texts(result)


EN = [
    "The model was trained for twelve hours on eight graphics cards.",
    "We thank the reviewers for their comments on an earlier version.",
    "Patients who slept less than six hours gained more weight over the year.",
    "The bridge collapsed because of resonance caused by the wind.",
    "Tomatoes ripen faster when they are stored next to bananas.",
    "The court decided that the contract was void.",
    "Whales communicate over long distances with low-frequency sounds.",
]
ZH = [
    "模型在八块显卡上训练了十二个小时。",
    "感谢审稿人对早期版本提出的意见。",
    "每晚睡眠不足六小时的患者一年内体重增加更多。",
    "由于风引起的共振，大桥倒塌了。",
    "把番茄放在香蕉旁边会熟得更快。",
    "法院裁定该合同无效。",
    "鲸鱼用低频声音进行远距离交流。",
]


def test_a_chinese_question_finds_the_english_passage_and_the_reverse(store, searcher, use, user):
    english = add(store, user, "English", EN, [use])
    chinese = add(store, user, "中文", ZH, [use])
    asked = searcher.search("睡眠时间和体重有什么关系？", Scope(user, (english,)), k=1)
    assert texts(asked) == [EN[2]]
    asked = searcher.search("Why did the bridge fall down?", Scope(user, (chinese,)), k=1)
    assert texts(asked) == [ZH[3]]
    both = searcher.search("睡眠时间和体重有什么关系？", Scope(user), k=2)
    assert set(texts(both)) == {EN[2], ZH[2]}


def test_a_hit_has_its_scores_and_the_paper_its_title(store, searcher, use, user):
    paper = add(store, user, "Whales and bridges", EN, [use])
    result = searcher.search("How do whales communicate?", Scope(user, (paper,)), k=3)
    assert [hit.title for hit in result.hits] == ["Whales and bridges"] * 3
    assert result.paths == (USE_NAME, BM25)
    assert set(result.seconds) >= {"scope", "embed", "recall", "fuse"}
    best = result.hits[0]
    cosine = float(use.encode([best.chunk.text])[0] @ use.encode(["How do whales communicate?"])[0])
    assert best.scores.dense == pytest.approx(cosine, abs=1e-5)
    assert best.scores.bm25 > 0
    fused = [hit.scores.fused for hit in result.hits]
    assert fused == sorted(fused, reverse=True)
    assert best.scores.rerank is None


def test_references_stay_out_unless_asked_for(store, searcher, use, user):
    entry = "Okafor, A. (2019). On the dialects of whales. Journal of Sounds."
    paper = add(store, user, "Cites", EN, [use], references=[entry])
    question = "Okafor on the dialects of whales"
    assert entry not in texts(searcher.search(question, Scope(user, (paper,)), k=20))
    scope = Scope(user, (paper,), references=True)
    assert texts(searcher.search(question, scope))[0] == entry


def test_chunks_that_start_alike_are_one_hit(store, searcher, use, user):
    head = "Resonance made the bridge swing wider with every gust of the wind. " * 4
    paper = add(store, user, "Twice", [*EN, head + "First.", head.upper() + "Second."], [use])
    found = texts(searcher.search("resonance of a bridge in the wind", Scope(user, (paper,)), k=9))
    assert len([text for text in found if text.lower().startswith("resonance")]) == 1
    assert len(found) == len(EN) + 1


@pytest.mark.parametrize("question", ["", "  \n\t "])
def test_an_empty_question_is_refused(searcher, user, question):
    with pytest.raises(BadInput, match="empty"):
        searcher.search(question, Scope(user))


def test_a_question_as_long_as_a_document_is_refused(store, searcher, use, user):
    paper = add(store, user, "Long", EN, [use])
    with pytest.raises(BadInput, match="20,000 characters") as caught:
        searcher.search("whale " * 3333 + "xy", Scope(user, (paper,)))
    assert caught.value.hint
    assert searcher.search(("whale " * 3000)[:MAX_QUERY].strip(), Scope(user, (paper,))).hits


def test_an_empty_library_gives_no_hits_and_says_so(searcher, user):
    result = searcher.search("anything", Scope(user))
    assert result.hits == ()
    assert result.notices


def test_a_paper_of_somebody_else_is_not_found(store, searcher, use, user):
    paper = add(store, user, "Mine", EN, [use])
    searcher.search("whales", Scope(user, (paper,)))
    with pytest.raises(NotFound):
        searcher.search("whales", Scope(uuid4(), (paper,)))


def test_a_removed_paper_is_not_found_though_it_was_in_the_cache(store, searcher, use, user):
    paper, other = (add(store, user, title, EN, [use]) for title in ("Gone", "Stays"))
    searcher.search("whales", Scope(user, (paper,)))
    store.remove(user, paper)
    with pytest.raises(NotFound):
        searcher.search("whales", Scope(user, (paper,)))
    found = searcher.search("whales", Scope(user), k=20)
    assert {hit.chunk.paper_id for hit in found.hits} == {other}


@pytest.mark.parametrize(
    "question", ["？！…", "%%% ((( \\", "\x00 whales", "\ud800", "🐋", "<|endoftext|>"]
)
def test_odd_questions_are_searched_like_any(store, searcher, use, user, question):
    paper = add(store, user, "Odd", EN, [use])
    assert len(searcher.search(question, Scope(user, (paper,)), k=3).hits) == 3


def test_a_paper_of_one_chunk(store, searcher, use, user):
    paper = add(store, user, "One", EN[:1], [use])
    result = searcher.search("training time", Scope(user, (paper,)))
    assert texts(result) == EN[:1]


class English:
    """A second dense path that reads English only, and finds a passage by the letter w."""

    name = MINILM_NAME
    languages = frozenset({"en"})
    dimension = 2

    def __init__(self, ready: bool = True) -> None:
        self.ready = ready
        self.asked: list[str] = []

    def encode(self, passages: Sequence[str]) -> Any:
        self.asked += passages
        rows = [(1.0, 0.0) if "hale" in text else (0.0, 1.0) for text in passages]
        return np.array(rows, dtype=np.float32)


def test_a_second_path_joins_when_it_is_ready_and_knows_the_language(store, library, use, user):
    english = English()
    paper = add(store, user, "Two paths", EN, [use, english])
    searcher, scope = Searcher(store, [use, english], library), Scope(user, (paper,))
    english.asked.clear()
    assert searcher.search("whale sounds", scope).paths == (USE_NAME, MINILM_NAME, BM25)
    assert english.asked == ["whale sounds"]
    assert searcher.search("鲸鱼的声音", scope).paths == (USE_NAME, BM25)
    english.ready = False
    assert searcher.search("whale sounds", scope).paths == (USE_NAME, BM25)
    assert english.asked == ["whale sounds"]


def test_a_path_joins_when_its_vectors_arrive(store, library, use, user):
    english = English()
    paper = add(store, user, "Later", EN, [use])
    searcher, scope = Searcher(store, [use, english], library), Scope(user, (paper,))
    assert searcher.search("whale sounds", scope).paths == (USE_NAME, BM25)
    missing = store.missing_vectors(MINILM_NAME, 100)
    store.add_vectors(
        MINILM_NAME, [row[0] for row in missing], english.encode([row[1] for row in missing])
    )
    assert searcher.search("whale sounds", scope).paths == (USE_NAME, MINILM_NAME, BM25)


@pytest.fixture
def indexed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send scopes of more than one paper through the library's index."""
    monkeypatch.setattr(search_module, "EXACT_PAPERS", 1)


@pytest.mark.usefixtures("indexed")
def test_a_whole_library_is_searched_through_the_index(store, searcher, use, user):
    papers = [add(store, user, f"Paper {i}", general(40)[i::4], [use]) for i in range(4)]
    whales = add(store, user, "Whales", [*EN, NOUNS["CKKS"]], [use], references=["CKKS, 2017."])
    scope = Scope(user)
    for _ in range(3):  # by Postgres, by memory or Chroma as they come to be
        assert texts(searcher.search("How do whales talk to each other?", scope))[0] == EN[6]
        found = searcher.search("CKKS", scope)
        assert texts(found)[0] == NOUNS["CKKS"]
        assert "CKKS, 2017." not in texts(found)
        assert found.hits[0].title == "Whales"
    some = searcher.search("whales", Scope(user, tuple(papers[:2])), k=50)
    assert {hit.chunk.paper_id for hit in some.hits} <= set(papers[:2])
    assert len(some.hits) == 20
    assert whales not in {hit.chunk.paper_id for hit in some.hits}


@pytest.mark.usefixtures("indexed")
def test_in_a_library_a_paper_without_the_second_path_is_not_punished(store, library, use, user):
    english = English()
    add(store, user, "Both paths", EN, [use, english])
    late = "Humpback whales sing long songs, and whales answer whales across the sea."
    add(store, user, "First path only", [late], [use])
    searcher = Searcher(store, [use, english], library)
    result = searcher.search("whales answer whales across the sea", Scope(user))
    assert texts(result)[0] == late


def test_the_whole_library_and_the_exact_path_agree(store, searcher, use, user, monkeypatch):
    for i in range(3):
        add(store, user, f"Paper {i}", general(45)[i::3] + EN[i::3], [use])
    questions = ["How do whales talk?", "Why did the bridge collapse?", "番茄怎么熟得更快"]
    exact = [texts(searcher.search(question, Scope(user))) for question in questions]
    monkeypatch.setattr(search_module, "EXACT_PAPERS", 1)
    through = [texts(searcher.search(question, Scope(user))) for question in questions]
    assert [found[0] for found in through] == [found[0] for found in exact]
    assert all(len(set(a) & set(b)) >= 4 for a, b in zip(exact, through, strict=True))


def test_sixteen_threads_ask_a_cold_paper_and_get_the_same(store, searcher, use, user):
    paper = add(store, user, "Cold", [*general(50), *EN], [use])
    reads: list[str] = []
    real = store.terms

    def terms(*args: Any, **kwargs: Any) -> Any:
        reads.append("terms")
        return real(*args, **kwargs)

    store.terms = terms
    question, scope = "How do whales communicate?", Scope(user, (paper,))
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda _: texts(searcher.search(question, scope)), range(16)))
    assert len(reads) == 1
    assert all(result == found[0] for result in found)
    assert found[0][0] == EN[6]


def _cohere(server: LoopbackServer) -> Reranker:
    found = reranker(
        Settings(_env_file=None, COHERE_API_KEY="co-secret", COHERE_BASE_URL=server.root)
    )
    assert found is not None
    return found


def test_a_reranker_orders_the_hits(store, library, use, user, cohere_server):
    paper = add(store, user, "Reranked", EN, [use])
    plain = Searcher(store, [use], library).search("whales", Scope(user, (paper,)), k=7)
    cohere_server.reply = Reply(scores=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.9])
    result = Searcher(store, [use], library, _cohere(cohere_server)).search(
        "whales", Scope(user, (paper,)), k=2
    )
    assert texts(result) == [texts(plain)[6], texts(plain)[5]]
    assert [hit.scores.rerank for hit in result.hits] == [0.9, 0.6]
    assert result.hits[0].scores.fused == plain.hits[6].scores.fused
    assert result.notices == ()


def test_without_the_reranker_the_fused_order_stands_and_the_reason_is_told(
    store, library, use, user, cohere_server
):
    paper = add(store, user, "Not reranked", EN, [use])
    plain = Searcher(store, [use], library).search("whales", Scope(user, (paper,)), k=3)
    cohere_server.reply = Reply(status=401)
    result = Searcher(store, [use], library, _cohere(cohere_server)).search(
        "whales", Scope(user, (paper,)), k=3
    )
    assert texts(result) == texts(plain)
    assert len(result.notices) == 1
    assert "eranking" in result.notices[0]
    assert "co-secret" not in result.notices[0]
