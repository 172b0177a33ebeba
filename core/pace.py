"""One request to a host in so many seconds, over all processes that share a data folder."""

import time
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock, Timeout

from core.errors import Cancelled
from core.wording import say

_LOOK = 0.1
"""Seconds between two looks whether the work was stopped."""


class Pace:
    """Lets one request through every `seconds`; the turn is kept in a file beside the data."""

    def __init__(self, folder: Path, name: str, seconds: float) -> None:
        self._file = folder / f"{name}.pace"
        self._lock = FileLock(folder / f"{name}.pace.lock")
        self._folder = folder
        self._seconds = seconds

    def wait(self, cancelled: Callable[[], bool]) -> None:
        """Return when it is this caller's turn.

        Raises:
            Cancelled: the work was stopped before.
        """
        if self._seconds <= 0:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        while True:
            left = self._take()
            if left <= 0:
                return
            if cancelled():
                raise Cancelled(say("It was stopped before arXiv was asked."))
            time.sleep(min(left, _LOOK))

    def _take(self) -> float:
        """Take the turn when it is there; return how many seconds are left to it."""
        try:
            with self._lock.acquire(timeout=_LOOK):
                now = time.time()
                left = self._next() - now
                if 0 < left <= self._seconds:
                    return left
                self._file.write_text(str(now + self._seconds), encoding="utf-8")
                return 0.0
        except Timeout:
            return _LOOK

    def _next(self) -> float:
        try:
            return float(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return 0.0
