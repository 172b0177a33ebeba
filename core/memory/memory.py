"""Reading memory as a whole: what is noted of a paper, what resembles it, what to read next."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

import numpy as np

from core.db.papers import PaperStore
from core.errors import BadInput, Unavailable
from core.evidence.sentences import sentences
from core.memory import transfer
from core.memory.readings import PENDING, NewReading, Reading, ReadingStore, Similar, Votes
from core.memory.topics import Landscape, landscape
from core.memory.vectors import beginning, paper_vector, text_of, whole_sentences
from core.models.embed import Embedder
from core.retrieval.search import Searcher
from core.tools.arxiv_search import ArxivSearch
from core.types import PaperRow, Scope
from core.wording import say

WEIGHT = say("w = clamp(1 + 0.25 · (useful − not useful), 0.25, 2)")
"""`Votes.weight` as a page says it."""
SUMMARY = 1_500
"""Characters of a summary that is taken from the paper."""
SUGGESTED = 6
_SEEDS, _OF_A_SEED, _CANDIDATES = 8, 16, 24
"""Readings that suggestions start from, the passages looked at for each, and papers weighed."""
_BATCH = 32
_AT_ONCE = 200
"""Imported readings that are embedded before the import is over; the others are in the background."""
_FROM_ARXIV, _TOPICS, _TERMS = 40, 3, 2
"""Papers asked of arXiv, for so many topics by so many terms of each."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A paper close to what was read, and the reading it is closest to. Cosine in [-1, 1]."""

    paper: PaperRow
    cosine: float
    because: Reading
    votes: Votes

    @property
    def score(self) -> float:
        """Return what suggestions are ordered by."""
        return self.cosine * self.votes.weight


@dataclass(frozen=True, slots=True)
class ArxivSuggestion:
    """A paper on arXiv, as the search gives it, close to a reading. Cosine in [-1, 1].

    `id` stands for it in votes: it is in no library.
    """

    id: UUID
    paper: dict[str, Any]
    cosine: float
    because: Reading
    votes: Votes

    @property
    def score(self) -> float:
        """Return what suggestions are ordered by."""
        return self.cosine * self.votes.weight


class ReadingMemory:
    """What Lectern knows of a user's reading, and what follows from it.

    Every method raises `DatabaseDown` when the server cannot be used, `Unavailable` when the
    embedder cannot, and `BadInput` when the user is not known.
    """

    def __init__(
        self,
        readings: ReadingStore,
        papers: PaperStore,
        searcher: Callable[[], Searcher],
        embedder: Callable[[], Embedder],
        arxiv: Callable[[], ArxivSearch],
    ) -> None:
        self._readings = readings
        self._papers = papers
        self._searcher = searcher
        self._embedder = embedder
        self._arxiv = arxiv

    def mark_read(self, user_id: UUID, paper_id: UUID) -> None:
        """Note that a user has read a paper themselves; its abstract or beginning is the summary.

        Raises:
            NotFound: the paper is not in the user's library.
        """
        row = self._papers.paper(user_id, paper_id)
        about = row.meta.abstract or beginning(self._papers.page_chunks(user_id, paper_id))
        new = self._noted(paper_id, row.meta.title or row.filename, whole_sentences(about, SUMMARY))
        self._readings.remember(user_id, new)

    def edit(self, user_id: UUID, paper_id: UUID, summary: str) -> None:
        """Replace the summary of a reading by the user's own words.

        Raises:
            BadInput: there are none, or too many.
            NotFound: there is no such reading.
        """
        summary = summary.strip()
        if not summary or len(summary) > transfer.LONGEST_SUMMARY:
            raise BadInput(
                say(
                    "A summary has between 1 and {most:d} characters.",
                    most=transfer.LONGEST_SUMMARY,
                ),
                hint=say("To be rid of a reading, delete it."),
            )
        new = self._noted(paper_id, self._readings.reading(user_id, paper_id).title, summary)
        self._readings.edit(user_id, paper_id, summary, new.vector, new.embedding_model)

    def related(self, user_id: UUID, paper_id: UUID) -> list[Similar]:
        """Return the readings most like a paper of the user's library.

        Raises:
            NotFound: the paper is not there.
        """
        vector = paper_vector(self._papers, self._embedder(), user_id, paper_id)
        return self._readings.similar(user_id, vector, self._embedder().name, paper_id)

    def landscape(self, user_id: UUID) -> Landscape:
        """Return a map of what was read, and its topics."""
        history = {row.paper_id: row for row in self._readings.history(user_id)}
        papers, vectors = self._readings.vectors(user_id, self._embedder().name)
        known = [at for at, paper in enumerate(papers) if paper in history]
        return landscape([history[papers[at]] for at in known], vectors[known])

    def suggestions(self, user_id: UUID, most: int = SUGGESTED) -> list[Suggestion]:
        """Return unread papers of the library that are close to what was read, best first."""
        history = self._readings.history(user_id)
        rows = {row.paper_id: row for row in self._papers.papers(user_id)}
        unread = rows.keys() - {reading.paper_id for reading in history}
        near = self._near(user_id, history[:_SEEDS], unread) if unread else []
        votes = self._readings.votes(user_id, near)
        found = []
        for paper in near:
            because = self.related(user_id, paper)[:1]
            found += [
                Suggestion(rows[paper], one.cosine, one.reading, votes.get(paper, Votes()))
                for one in because
            ]
        return sorted(found, key=lambda one: -one.score)[:most]

    def on_arxiv(self, user_id: UUID, most: int = SUGGESTED) -> list[ArxivSuggestion]:
        """Return papers of arXiv on the user's topics that are neither read nor in the library.

        Raises:
            BadInput: the readings have no English terms to search by.
            Unavailable: arXiv cannot be searched now, with the search's code.
        """
        history = self._readings.history(user_id)
        found = self._arxiv()(topic=self._topics_asked(user_id), number=_FROM_ARXIV, tries=1)
        if found["error"] and found["error"]["code"] != "EMPTY_RESULT":
            error = found["error"]
            raise Unavailable(error["message"], hint=error["hint"], code=error["code"])
        mine = self._papers.papers(user_id)
        known = {row.meta.arxiv_id for row in mine} | {row.meta.title.casefold() for row in mine}
        known |= {row.title.casefold() for row in history}
        papers = [
            paper
            for paper in (found["data"] or {"papers": []})["papers"]
            if paper["arxiv_id"] not in known and paper["title"].casefold() not in known
        ]
        return self._close(user_id, papers)[:most]

    def _topics_asked(self, user_id: UUID) -> str:
        asked = []
        for topic in self.landscape(user_id).topics[:_TOPICS]:
            words = [term for term in topic.terms if term.isascii()][:_TERMS]
            if words:
                asked.append("(" + " AND ".join(f'all:"{word}"' for word in words) + ")")
        if not asked:
            raise BadInput(
                say("Your readings have no English terms to search arXiv by."),
                hint=say("Read a paper in English, or search arXiv yourself."),
            )
        return " OR ".join(asked)

    def _close(self, user_id: UUID, papers: Sequence[dict[str, Any]]) -> list[ArxivSuggestion]:
        """Return papers by how close they are to the closest reading, weighed by votes."""
        if not papers:
            return []
        ids = [uuid5(NAMESPACE_URL, f"arxiv:{paper['arxiv_id']}") for paper in papers]
        votes = self._readings.votes(user_id, ids)
        name = self._embedder().name
        vectors = self._embedder().encode([text_of(p["title"], p["abstract"]) for p in papers])
        close = []
        for number, paper, vector in zip(ids, papers, vectors, strict=True):
            for best in self._readings.similar(user_id, np.asarray(vector), name, number, 1):
                weighed = votes.get(number, Votes())
                close.append(ArxivSuggestion(number, paper, best.cosine, best.reading, weighed))
        return sorted(close, key=lambda one: -one.score)

    def waiting(self, user_id: UUID) -> int:
        """Return how many of a user's readings are not compared yet: the background embeds them."""
        embedder = self._embedder()
        return self._readings.waiting(user_id, embedder.name, embedder.dimension)

    def refresh(self, stopped: Callable[[], bool] = lambda: False) -> int:
        """Embed again the readings whose vectors are not the embedder's; return how many.

        Whosever they are: for the background.
        """
        done = 0
        while not stopped():
            embedder = self._embedder()
            stale = self._readings.stale(embedder.name, embedder.dimension, _BATCH)
            if not stale:
                break
            vectors = embedder.encode([text_of(one.title, one.summary) for one in stale])
            self._readings.renew(embedder.name, stale, np.asarray(vectors))
            done += len(stale)
        return done

    def export(self, user_id: UUID) -> bytes:
        """Return all readings of a user as a JSON file that `import_file` takes."""
        return transfer.written(self._readings.history(user_id))

    def import_file(self, user_id: UUID, data: bytes) -> int:
        """Add the readings of an exported file, all or none; return how many.

        Where a paper has been read already, the later reading stays. Of a large file some are
        compared with others only once the background has embedded them.

        Raises:
            BadInput: it is no such file.
        """
        here = {row.paper_id: row.read_at for row in self._readings.history(user_id)}
        wanted = [
            entry
            for entry in transfer.entries(data)
            if entry.paper_id not in here or here[entry.paper_id] < entry.read_at
        ]
        if not wanted:
            return 0
        at_once, name = wanted[:_AT_ONCE], self._embedder().name
        vectors = self._embedder().encode([text_of(e.title, e.summary) for e in at_once])
        embedded = [(np.asarray(vector), name) for vector in vectors]
        pending = [(PENDING, "")] * (len(wanted) - len(at_once))
        new = [
            NewReading(
                e.paper_id, e.title, e.summary, vector, model, e.model_name, read_at=e.read_at
            )
            for e, (vector, model) in zip(wanted, [*embedded, *pending], strict=True)
        ]
        self._readings.remember(user_id, *new)
        return len(new)

    def _noted(self, paper_id: UUID, title: str, summary: str) -> NewReading:
        vector = np.asarray(self._embedder().encode([text_of(title, summary)])[0])
        return NewReading(paper_id, title, summary, vector, self._embedder().name)

    def _near(self, user_id: UUID, seeds: Sequence[Reading], unread: Iterable[UUID]) -> list[UUID]:
        """Return unread papers with passages that speak of what the readings speak of."""
        wanted, best = set(unread), dict[UUID, int]()
        for seed in seeds:
            query = text_of(seed.title, (sentences(seed.summary) or [""])[0])
            hits = self._searcher().search(query, Scope(user_id), _OF_A_SEED).hits
            for rank, hit in enumerate(hits):
                paper = hit.chunk.paper_id
                if paper in wanted:
                    best[paper] = min(rank, best.get(paper, rank))
        return sorted(best, key=best.__getitem__)[:_CANDIDATES]
