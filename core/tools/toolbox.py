"""What tools work with: Lectern's parts, and whose papers may be seen."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from core.db.papers import PaperStore
from core.ingest.fetch import ArxivFetcher
from core.ingest.worker import Worker
from core.models.chat import ChatModel
from core.models.embed import Embedder
from core.retrieval.search import Searcher
from core.tools.arxiv_search import ArxivSearch
from core.tools.catalogues import Crossref, OpenAlex
from core.tools.retry import FIRST_PAUSE
from core.types import Chunk

Chosen = dict[str, list[str]]
"""A paper's own sentences by what they speak of."""
Report = Callable[[str], None]
"""Is told what is waited for, in a sentence."""


def nobody(doing: str) -> None:
    """Tell nobody what is waited for."""


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The parts a tool may need; those that are slow to have are asked for when needed.

    `choose` picks a paper's sentences by field without a model. `cancelled` stops requests and
    pauses. `first_pause`: seconds before the second try of what failed. `report` is told what is
    waited for, by tools that may take long.
    """

    user_id: UUID
    arxiv: ArxivSearch
    openalex: OpenAlex
    crossref: Crossref
    fetcher: ArxivFetcher
    papers: Callable[[], PaperStore]
    searcher: Callable[[], Searcher]
    worker: Callable[[], Worker]
    embedder: Callable[[], Embedder]
    chat: Callable[[], ChatModel | None]
    choose: Callable[[Sequence[Chunk], str], Chosen]
    context_tokens: int
    cancelled: threading.Event = field(default_factory=threading.Event)
    first_pause: float = FIRST_PAUSE
    report: Report = nobody
