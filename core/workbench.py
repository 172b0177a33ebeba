"""The composition root: builds Lectern's parts from settings, each when it is first needed.

The UI keeps one for the life of the server, the CLI makes one a command, a test makes one in a
temporary folder. Nothing outside this file knows how the parts are put together.
"""

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload
from uuid import UUID

import psycopg
from psycopg_pool import ConnectionPool
from sqlalchemy import Engine

from core.agent.events import Event
from core.agent.examples import Examples
from core.agent.state import TurnContext, TurnRequest
from core.agent.told import told
from core.config import Settings, own_folder
from core.db.accounts import AccountStore
from core.db.conversations import ConversationStore
from core.db.embedded import EmbeddedPostgres
from core.db.engine import database_down, database_urls, make_engine
from core.db.migrate import upgrade
from core.db.papers import PaperStore
from core.db.reviews import ReviewStore
from core.errors import LecternError, Unavailable
from core.housekeeping import Housekeeping
from core.ingest.backfill import Backfill
from core.ingest.fetch import ArxivFetcher
from core.ingest.pipeline import Ingestor
from core.ingest.queue import AddQueue
from core.ingest.worker import Worker
from core.memory.memory import ReadingMemory
from core.memory.readings import ReadingStore
from core.models.budget import estimate_tokens_of
from core.models.chat import ChatModel, chat_model, vision_model
from core.models.embed import Embedder, load_embedders
from core.models.rerank import Reranker, reranker
from core.pace import Pace
from core.reading import PaperReader
from core.retrieval.library import LibraryIndex
from core.retrieval.search import Searcher
from core.retrieval.tokenize import tokenize
from core.tools.arxiv_search import ArxivSearch
from core.tools.catalogues import Crossref, OpenAlex
from core.tools.searches import Searches
from core.tools.toolbox import Report, Toolbox, nobody
from core.wording import say

WARM_UP_AFTER = 1.5
"""Seconds: the first page is drawn before the models load, which takes all the time there is."""
CHECKPOINT_SECONDS = 5.0
"""A turn waits no longer than this for a database that is away, and goes on without."""

if TYPE_CHECKING:
    from core.agent.graph import Graph
    from core.agent.runner import Runner
    from core.review.runs import ReviewRuns

log = logging.getLogger(__name__)

T = TypeVar("T")


class lazy(Generic[T]):
    """A part built at first use, once, however many threads ask for it at the same time."""

    def __init__(self, build: Callable[[Any], T]) -> None:
        self._build = build
        self.__doc__ = build.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: "Workbench", owner: type) -> T: ...
    def __get__(self, instance: "Workbench | None", owner: type) -> Any:
        if instance is None:
            return self
        with instance._building:
            if instance._closed:
                raise Unavailable(say("Lectern is shutting down."))
            if self._name not in instance._parts:
                instance._parts[self._name] = self._build(instance)
            return instance._parts[self._name]


class Workbench:
    """Lectern's parts, wired."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._building = threading.RLock()
        self._parts: dict[str, Any] = {}
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @lazy
    def server(self) -> EmbeddedPostgres | None:
        """The embedded server, or None when `DATABASE_URL` names another."""
        if self.settings.database_url:
            return None
        return EmbeddedPostgres(self.settings.data_dir / "postgres")

    @lazy
    def database_url(self) -> str:
        """The address of Postgres; starts the embedded server when there is no other.

        Raises:
            DatabaseDown: it cannot be started.
        """
        return self.server.start() if self.server else self.settings.database_url

    @lazy
    def engine(self) -> Engine:
        """The connection pool, on a database brought up to date."""
        engine = make_engine(self.database_url, self.server.start if self.server else None)
        try:
            upgrade(engine)
        except BaseException:
            engine.dispose()  # every page asks anew: its connections must not pile up
            raise
        return engine

    @lazy
    def papers(self) -> PaperStore:
        """Papers, their files, chunks and vectors, and who has them."""
        return PaperStore(self.engine)

    @lazy
    def conversations(self) -> ConversationStore:
        """Conversations and their turns."""
        return ConversationStore(self.engine)

    @lazy
    def accounts(self) -> AccountStore:
        """Who has been here, and the language they chose."""
        return AccountStore(self.engine)

    @lazy
    def readings(self) -> ReadingStore:
        """What each user has read."""
        return ReadingStore(self.engine)

    @lazy
    def memory(self) -> ReadingMemory:
        """What follows from what each user has read."""
        return ReadingMemory(
            self.readings,
            self.papers,
            lambda: self.searcher,
            lambda: self.embedders[0],
            lambda: self.arxiv_search,
        )

    @lazy
    def reviews(self) -> ReviewStore:
        """Literature reviews and the papers found for them."""
        return ReviewStore(self.engine)

    @lazy
    def review_runs(self) -> "ReviewRuns":
        """Begins, stops and takes up the work on reviews."""
        from core.review.parts import Parts
        from core.review.runs import ReviewRuns

        parts = Parts(
            reviews=self.reviews,
            ingestor=lambda: self.ingestor,
            toolbox=self.toolbox,
            context=self._turn_context,
            folder=self.settings.data_dir / "fetched",
            papers_at_once=self.settings.review_papers_at_once,
        )
        address = database_urls(self.database_url).psycopg
        return ReviewRuns(self.engine, self.reviews, address, lambda: parts)

    @lazy
    def arxiv_pace(self) -> Pace:
        """One request in three seconds to arXiv, over all processes of the data folder."""
        return Pace(self.settings.data_dir, "arxiv", self.settings.arxiv_seconds)

    @lazy
    def arxiv_search(self) -> ArxivSearch:
        """Searches arXiv."""
        return ArxivSearch(self.arxiv_pace, self.settings.arxiv_api_url)

    @lazy
    def arxiv_fetcher(self) -> ArxivFetcher:
        """Fetches papers from arXiv."""
        return ArxivFetcher(self.arxiv_pace, self.settings.arxiv_url)

    @lazy
    def searches(self) -> Searches:
        """Searches for papers, in the background."""
        return Searches(self.toolbox)

    def toolbox(
        self,
        user_id: UUID,
        cancelled: threading.Event | None = None,
        report: Report = nobody,
    ) -> Toolbox:
        """Return what tools work with, for one user."""
        return Toolbox(
            user_id=user_id,
            arxiv=self.arxiv_search,
            openalex=OpenAlex(self.settings.openalex_url),
            crossref=Crossref(self.settings.crossref_url),
            fetcher=self.arxiv_fetcher,
            papers=lambda: self.papers,
            searcher=lambda: self.searcher,
            worker=lambda: self.worker,
            embedder=lambda: self.embedders[0],
            chat=lambda: self.chat,
            choose=told,
            context_tokens=self.settings.llm_context_tokens,
            cancelled=cancelled or threading.Event(),
            report=report,
        )

    @lazy
    def housekeeping(self) -> Housekeeping:
        """Purges what nobody can want back any more, in the background."""
        return Housekeeping(
            self.papers, self.conversations, self.accounts, self.readings, self.reviews
        )

    @lazy
    def embedders(self) -> list[Embedder]:
        """The dense paths that can be had, first one first.

        Raises:
            Unavailable: none of those named can be used here.
        """
        found = load_embedders(self.settings.embedding_model_names)
        if not found:
            raise Unavailable(
                say("None of the models in EMBEDDING_MODELS can be used here."),
                hint=say("Leave EMBEDDING_MODELS unset, or install the packages they need."),
            )
        return found

    @lazy
    def chat(self) -> ChatModel | None:
        """The chat model, or None: then answers are chosen from the papers' own sentences."""
        return chat_model(self.settings)

    @lazy
    def vision(self) -> ChatModel | None:
        """The model that reads charts (VISION_MODEL, on the chat model's server), or None."""
        return vision_model(self.settings)

    @lazy
    def reranker(self) -> Reranker | None:
        """Cohere's reranker when there is a key."""
        return reranker(self.settings)

    @lazy
    def library_index(self) -> LibraryIndex:
        """The index over a user's whole library."""
        return LibraryIndex(self.papers, self.settings.data_dir, self.settings.chroma_url)

    @lazy
    def searcher(self) -> Searcher:
        """The one door of retrieval."""
        return Searcher(self.papers, self.embedders, self.library_index, self.reranker)

    @lazy
    def worker(self) -> Worker:
        """The process that reads files and draws pages."""
        return Worker()

    @lazy
    def reader(self) -> PaperReader:
        """A paper's pages, lines, outline and what is found in it."""
        return PaperReader(self.papers, self.worker)

    @lazy
    def ingestor(self) -> Ingestor:
        """From a file's bytes to a searchable paper."""
        return Ingestor(self.papers, self.worker, self.embedders, tokenize)

    @lazy
    def add_queue(self) -> AddQueue:
        """Files on their way into libraries, in the background."""
        return AddQueue(self.ingestor, self.arxiv_fetcher)

    @lazy
    def backfill(self) -> Backfill:
        """Fills in the vectors of the further dense paths, in the background."""
        return Backfill(
            self.engine, self.papers, self.embedders, refresh=lambda s: self.memory.refresh(s)
        )

    @lazy
    def checkpoint_pool(self) -> ConnectionPool[Any]:
        """Connections of LangGraph's checkpointer."""
        address = database_urls(self.database_url).psycopg
        return ConnectionPool(
            address,
            min_size=0,
            max_size=8,
            open=True,
            timeout=CHECKPOINT_SECONDS,
            reconnect_timeout=CHECKPOINT_SECONDS,
            check=ConnectionPool.check_connection,
            kwargs={"autocommit": True, "prepare_threshold": 0},
        )

    @lazy
    def graph(self) -> "Graph":
        """The agent, with its steps checkpointed in Postgres.

        Raises:
            DatabaseDown: the tables of its checkpoints cannot be had.
        """
        # LangGraph takes a second to import: a command that asks nothing need not wait for it.
        from langgraph.checkpoint.postgres import PostgresSaver
        from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

        from core.agent.graph import build_graph

        serializer = JsonPlusSerializer(allowed_msgpack_modules=CHECKPOINTED)
        saver = PostgresSaver(self.checkpoint_pool, serde=serializer)
        try:
            saver.setup()
        except psycopg.Error as error:
            raise database_down(error) from error
        return build_graph(saver)

    @lazy
    def examples(self) -> Examples:
        """The example questions of the intents, for the router without a model."""
        return Examples(self.embedders[0])

    @lazy
    def runner(self) -> "Runner":
        """Starts, watches and stops turns."""
        from core.agent.runner import Runner

        return Runner(self.graph, self.conversations, self._turn_context, self._full_text_tokens)

    def start(self) -> None:
        """Get ready what a server wants at hand, without keeping anybody waiting for it."""
        self.backfill.start()
        self.housekeeping.start()
        warming = threading.Timer(WARM_UP_AFTER, self._warm)
        warming.name, warming.daemon = "warm-up", True
        warming.start()

    def _warm(self) -> None:
        try:
            self.worker.warm()
            _ = self.runner
            _ = self.review_runs  # takes up reviews that a crash left
            if self.chat:
                self.chat.load()
            for embedder in self.embedders:
                embedder.encode(["warm up"])
            self.examples.nearest("warm up")
        except LecternError as error:
            log.warning("warming up stopped: %s", error.message)

    def close(self) -> None:
        """Stop in the order that loses nothing: turns, background work, pools, Postgres."""
        with self._building:
            parts, self._parts = self._parts, {}
            self._closed = True
        if "backfill" in parts:
            parts["backfill"].stop()
        for name in (
            "review_runs",
            "housekeeping",
            "add_queue",
            "searches",
            "runner",
            "worker",
            "library_index",
            "checkpoint_pool",
        ):
            if name in parts:
                parts[name].close()
        if "engine" in parts:
            parts["engine"].dispose()
        if parts.get("server") is not None:
            parts["server"].stop()

    def _turn_context(
        self, emit: Callable[[Event], None], cancelled: threading.Event
    ) -> TurnContext:
        return TurnContext(
            searcher=self.searcher,
            papers=self.papers,
            readings=self.readings,
            reader=self.reader,
            embedder=self.embedders[0],
            examples=self.examples,
            chat=self.chat,
            vision=self.vision,
            context_tokens=self.settings.llm_context_tokens,
            emit=emit,
            cancelled=cancelled,
        )

    def _full_text_tokens(self, request: TurnRequest) -> int:
        counts = self.papers.characters(request.user_id, request.paper_ids)
        return sum(estimate_tokens_of(count, language) for language, count in counts.items())


CHECKPOINTED = [
    ("core.types", name)
    for name in (
        "Scope",
        "Hit",
        "Chunk",
        "Span",
        "Box",
        "Scores",
        "Citation",
        "AnswerSentence",
        "Verdict",
        "Usage",
        "Part",
        "Exhibit",
    )
] + [
    ("core.agent.state", "Exchange"),
    ("core.memory.readings", "Similar"),
    ("core.memory.readings", "Reading"),
    ("core.memory.readings", "Votes"),
]
"""The types a checkpoint may hold; LangGraph refuses to revive any other."""


def open_workbench(data_dir: Path | None = None) -> Workbench:
    """Return a workbench on the environment's settings, in another data folder when named."""
    settings = Settings()
    if data_dir is not None:
        settings = settings.model_copy(update={"data_dir": own_folder(data_dir)})
    return Workbench(settings)
