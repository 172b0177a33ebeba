"""The one map-reduce: many pieces worked on a few at a time, and what came of them folded together.

A piece that fails is dropped and counted, never guessed; the reader's stop is heard between pieces.
"""

import itertools
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Generic, TypeVar

from core.errors import Cancelled, ModelFailed

Piece = TypeVar("Piece")
Result = TypeVar("Result")

AT_ONCE = 4
FAILURES = 3
"""So many failed requests, and the rest is left: a model that is down need not say so forty times."""
_ROUNDS = 4


@dataclass(frozen=True, slots=True)
class Mapped(Generic[Result]):
    """What came of the pieces, in their order; None where nothing did.

    `failed` counts pieces that failed or gave nothing, `left` those never finished because the
    reader stopped or too much had failed; `reason` is the first failure.
    """

    results: tuple[Result | None, ...]
    failed: int = 0
    left: int = 0
    reason: ModelFailed | None = None

    @property
    def kept(self) -> list[Result]:
        """Return the results there are, in order."""
        return [result for result in self.results if result is not None]


def map_pieces(
    pieces: Sequence[Piece],
    work: Callable[[Piece], Result | None],
    *,
    cancelled: threading.Event,
    progress: Callable[[int, int], None] = lambda done, total: None,
    at_once: int = AT_ONCE,
) -> Mapped[Result]:
    """Do `work` on every piece, `at_once` at a time, and keep their order.

    ModelFailed and None are counted, Cancelled is what is left over; any other exception is raised.
    `progress` is called on this thread with how many are done and how many there are.
    """
    given_up = threading.Event()

    broken = itertools.count(1)

    def one(piece: Piece) -> Result | None:
        if cancelled.is_set() or given_up.is_set():
            raise Cancelled("")
        try:
            return work(piece)
        except ModelFailed:
            if next(broken) >= FAILURES:
                given_up.set()
            raise

    results: list[Result | None] = [None] * len(pieces)
    failed = left = 0
    reason: ModelFailed | None = None
    with ThreadPoolExecutor(at_once, thread_name_prefix="compress") as pool:
        places: dict[Future[Result | None], int] = {
            pool.submit(one, piece): place for place, piece in enumerate(pieces)
        }
        try:
            for done, future in enumerate(as_completed(places), start=1):
                try:
                    results[places[future]] = future.result()
                    failed += results[places[future]] is None
                except Cancelled:
                    left += 1
                except ModelFailed as error:
                    failed, reason = failed + 1, reason or error
                progress(done, len(pieces))
        finally:
            given_up.set()
    return Mapped(tuple(results), failed, left, reason)


def batches(
    items: Sequence[Piece], cost: Callable[[Piece], int], room: int
) -> list[Sequence[Piece]]:
    """Cut items into runs whose costs add up to at most `room`; a dearer one stands alone."""
    found: list[Sequence[Piece]] = []
    start, spent = 0, 0
    for at, item in enumerate(items):
        price = cost(item)
        if at > start and spent + price > room:
            found.append(items[start:at])
            start, spent = at, 0
        spent += price
    return [*found, items[start:]] if items else []


def fold(
    items: Sequence[Piece],
    merge: Callable[[Sequence[Piece]], Sequence[Piece] | None],
    *,
    cost: Callable[[Piece], int],
    room: int,
    most: int,
    cancelled: threading.Event,
) -> tuple[list[Piece], Mapped[Sequence[Piece]]]:
    """Merge items, `room` at a time, until at most `most` are left or merging no longer helps.

    A run whose merging fails stays as it was. Returned with the last round, whose counts are of
    all rounds.
    """
    left = list(items)
    total: Mapped[Sequence[Piece]] = Mapped(())
    for _ in range(_ROUNDS):
        if len(left) <= most or cancelled.is_set():
            break
        runs = batches(left, cost, room)
        merged = map_pieces(runs, merge, cancelled=cancelled)
        total = Mapped(
            merged.results,
            total.failed + merged.failed,
            merged.left,
            total.reason or merged.reason,
        )
        shorter = [
            item
            for run, result in zip(runs, merged.results, strict=True)
            for item in (run if result is None else result)
        ]
        if len(shorter) >= len(left):
            break
        left = shorter
    return left, total
