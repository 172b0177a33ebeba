"""What the work on a review needs of Lectern."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from core.agent.events import Event
from core.agent.state import TurnContext
from core.db.reviews import ReviewStore
from core.ingest.pipeline import Ingestor
from core.tools.toolbox import Toolbox


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts; `folder` keeps what was fetched until it is in the library.

    `papers_at_once`: of one review, that are fetched and read.
    """

    reviews: ReviewStore
    ingestor: Callable[[], Ingestor]
    toolbox: Callable[[UUID, threading.Event], Toolbox]
    context: Callable[[Callable[[Event], None], threading.Event], TurnContext]
    folder: Path
    papers_at_once: int = 4
