"""The embedded PostgreSQL: one server a data folder, shared by all processes that use it.

Each user of the folder holds a shared lock on `users.lock`; whoever leaves and finds nobody else
stops the server. Locks are the kernel's (flock), so a process that is killed leaves none behind:
the server it started runs on, the next user attaches to it, and the last one out stops it.
Starting and stopping happen under the exclusive `start.lock`.
"""

import atexit
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

import psycopg

from core.db.binaries import OWN_SERVER_HINT, is_root
from core.db.cluster import START_SECONDS, Cluster
from core.db.engine import database_down
from core.errors import DatabaseDown
from core.wording import say

if sys.platform != "win32":
    import fcntl

_ATTEMPTS = 3


class EmbeddedPostgres:
    """One user's hold on the embedded server of a folder. Thread-safe; a context manager."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()
        self._cluster = Cluster(self._folder)
        self._mutex = threading.Lock()
        self._hold: int | None = None
        self._holder = 0

    def start(self) -> str:
        """Return the libpq URL of Lectern's database, starting the server if nobody has yet.

        Calling it again is cheap, and brings a server back that has died meanwhile.

        Raises:
            DatabaseDown: with a hint, when there can be no embedded server here.
        """
        if sys.platform == "win32":
            raise DatabaseDown(say("The embedded PostgreSQL needs Unix."), hint=OWN_SERVER_HINT)
        with self._mutex:
            try:
                return self._start()
            except psycopg.Error as error:
                raise database_down(error) from error
            except OSError as error:
                raise DatabaseDown(
                    say(
                        "The database folder {folder} cannot be used: {cause}.",
                        folder=self._folder,
                        cause=error.strerror,
                    ),
                    hint=say("Set LECTERN_DATA_DIR to a folder of yours on a disk with space."),
                ) from error

    def _start(self) -> str:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self._starting():
            taken = self._hold is None or self._holder != os.getpid()
            if taken:
                self._take_hold()
            try:
                self._bring_up()
            except BaseException:
                if taken:
                    self._let_go()
                raise
            return self._cluster.url()

    def _bring_up(self) -> None:
        self._cluster.clear_unfinished()
        if not self._cluster.exists:
            self._cluster.create()
        for _ in range(_ATTEMPTS):
            if self._cluster.pid() is None:
                self._cluster.start()
            if self._cluster.wait():
                self._cluster.ensure_database()
                return
            self._cluster.stop()
        raise DatabaseDown(
            say("The database keeps ending right after its start."), hint=OWN_SERVER_HINT
        )

    def stop(self) -> None:
        """Let go of the server; whoever is the last to do so stops it. Does nothing twice."""
        with self._mutex:
            if self._hold is None or self._holder != os.getpid():
                return
            if not self._folder.is_dir():  # the server ends by itself when its files are gone
                self._let_go()
                return
            with self._starting():
                fcntl.flock(self._hold, fcntl.LOCK_UN)
                try:
                    if _try_lock(self._hold):  # nobody else holds the server
                        self._cluster.stop()
                finally:
                    self._let_go()

    def _take_hold(self) -> None:
        self._hold = _open_lock(self._folder / "users.lock")
        self._holder = os.getpid()
        fcntl.flock(self._hold, fcntl.LOCK_SH)
        atexit.register(self.stop)

    def _let_go(self) -> None:
        if self._hold is not None:
            os.close(self._hold)
        self._hold = None
        atexit.unregister(self.stop)

    @contextmanager
    def _starting(self) -> Iterator[None]:
        """Hold the lock under which servers start and stop."""
        handle = _open_lock(self._folder / "start.lock")
        try:
            deadline = time.monotonic() + START_SECONDS
            while not _try_lock(handle):
                if time.monotonic() > deadline:
                    raise DatabaseDown(
                        say("Another process has been starting the database for long.")
                    )
                time.sleep(0.02)
            yield
        finally:
            os.close(handle)

    def __enter__(self) -> str:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def _open_lock(path: Path) -> int:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    if is_root():  # leave the folder usable for its owner
        owner = path.parent.stat()
        os.fchown(handle, owner.st_uid, owner.st_gid)
    return handle


def _try_lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
