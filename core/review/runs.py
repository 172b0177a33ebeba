"""Begins, stops and takes up reviews, from any process; one process of a database does the work.

DBOS lives once in a process. Which process works is decided by an advisory lock on the database: the
one that has it launches DBOS, and with it takes up what another left behind when it died. Those
without it put work into DBOS's queues and wait for the lock.
"""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

from dbos import DBOS, DBOSClient, DBOSConfig, error
from sqlalchemy import Connection, Engine, func, select
from sqlalchemy.exc import SQLAlchemyError

from core.db.reviews import ReviewStore
from core.errors import BadInput, DatabaseDown, LecternError, Unavailable
from core.review import workflow
from core.review.intake import tidy
from core.review.parts import Parts
from core.review.request import ReviewRequest
from core.review.workflow import FIND, REVIEWS, WRITE, desk, workflow_id
from core.wording import say

VERSION = "1"
"""Of the workflows. DBOS's own hashes the code, and what is pending would never be taken up."""
SCHEMA = "dbos"
EXECUTOR = "lectern"
LOCK = 0x1EC7E4_0000_0001
HEIR_SECONDS = 5.0
"""Between two tries of a process without the lock to get it."""
POLL_SECONDS = 0.2
KEPT_SECONDS = 24 * 3600.0
"""What was fetched is kept so long: two reviews may want the same paper."""
LAST_SECONDS = 5.0
"""What steps get to notice that the process ends."""

log = logging.getLogger(__name__)
_TRY = select(func.pg_try_advisory_lock(LOCK))
"""True also for whoever has it already: asked again and again, it tells whether one still has it."""
_in_process = threading.Lock()
"""Held while DBOS lives in this process."""


def _apart(act: Callable[[], None]) -> None:
    """Do something in a thread of its own: DBOS refuses where an event loop runs."""
    with ThreadPoolExecutor(1, thread_name_prefix="review-launch") as pool:
        pool.submit(act).result()


class ReviewRuns:
    """The door to the work on reviews. Thread-safe."""

    def __init__(
        self, engine: Engine, reviews: ReviewStore, address: str, parts: Callable[[], Parts]
    ) -> None:
        self._engine = engine
        self._reviews = reviews
        self._address = address
        self._parts = parts
        self._claim: Connection | None = None
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._claim_work()
        self._client = DBOSClient(system_database_url=address, dbos_system_schema=SCHEMA)
        self._heir = threading.Thread(target=self._inherit, name="review-heir", daemon=True)
        self._heir.start()

    @property
    def works(self) -> bool:
        """Whether this process does the work."""
        return self._claim is not None

    def start(self, user_id: UUID, request: ReviewRequest) -> UUID:
        """Begin the search for a new review and return its id.

        Raises:
            DatabaseDown: nothing can be stored.
        """
        number = self._reviews.add(user_id, request.topic, request.model_dump(mode="json"))
        self._enqueue(FIND, number, 1, "find")
        return number

    def write(self, user_id: UUID, review_id: UUID, positions: list[int]) -> None:
        """Begin the writing with the papers found at these positions and no others.

        Raises:
            NotFound: the user has no such review.
            BadInput: REVIEW_BUSY, NO_PAPERS.
        """
        run = self._reviews.choose(user_id, review_id, positions)
        self._enqueue(WRITE, review_id, run, "write")

    def resume(self, user_id: UUID, review_id: UUID) -> None:
        """Go on with a review that was stopped or failed: with the search, or with what is unread.

        Raises:
            NotFound: the user has no such review.
            BadInput: REVIEW_BUSY; REVIEW_DONE when nothing is left to be done.
        """
        row = self._reviews.review(user_id, review_id)
        if row.state == "finished" and all(paper.state == "done" for paper in row.chosen):
            raise BadInput(say("This review is finished."), code="REVIEW_DONE")
        if row.papers:
            self.write(user_id, review_id, [paper.position for paper in row.chosen])
            return
        run = self._reviews.search_again(user_id, review_id)
        self._enqueue(FIND, review_id, run, "find")

    def stop(self, user_id: UUID, review_id: UUID) -> None:
        """Ask for a stop: the step in hand ends soon, and what was read stays read.

        Raises:
            NotFound: the user has no such review.
        """
        self._reviews.stop(user_id, review_id)

    def close(self) -> None:
        """End the work so that another process, or the next start, takes it up where it is."""
        self._closing.set()
        self._heir.join(LAST_SECONDS)
        with self._lock:
            self._step_down()
        self._client.destroy()

    def _enqueue(self, name: str, review_id: UUID, run: int, what: str) -> None:
        def enqueue() -> None:
            self._client.enqueue(
                {
                    "workflow_name": name,
                    "queue_name": REVIEWS,
                    "workflow_id": workflow_id(review_id, run, what),
                },
                str(review_id),
                run,
            )

        try:
            _apart(enqueue)
        except (SQLAlchemyError, error.DBOSException) as failure:
            refused = Unavailable(
                say("The work on this review could not be begun."),
                hint=say("Go on with it in a while."),
            )
            self._reviews.end(review_id, "failed", error=refused.to_json())
            raise refused from failure

    # --- who does the work ----------------------------------------------------------------------

    def _inherit(self) -> None:
        while not self._closing.wait(HEIR_SECONDS):
            try:
                if self._claim is None:
                    self._claim_work()
                elif not self._claim.scalar(_TRY):  # the server was away, and another was faster
                    with self._lock:
                        self._step_down()
            except (SQLAlchemyError, LecternError):
                log.warning("reviews cannot be taken over now", exc_info=True)

    def _claim_work(self) -> None:
        """Get the lock and launch DBOS, if no other process has it."""
        with self._lock:
            if self._closing.is_set() or not _in_process.acquire(blocking=False):
                return
            claim = self._claimed()
            if claim is None:
                _in_process.release()
                return
            try:
                _apart(self._launch)
            except BaseException as failure:
                DBOS.destroy()
                claim.close()
                _in_process.release()
                if not isinstance(failure, (SQLAlchemyError, error.DBOSException)):
                    raise
                raise Unavailable(
                    say("Reviews cannot be worked on: their queue could not be set up."),
                    hint=say("The database user must be allowed to create the schema “dbos”."),
                ) from failure
            self._claim = claim

    def _step_down(self) -> None:
        """Leave the work to another process: steps in hand end and leave nothing behind."""
        if self._claim is None:
            return
        desk.closing.set()
        DBOS.destroy()
        if not desk.wait(LAST_SECONDS):
            log.warning("a step of a review was left behind; it is done again")
        self._claim.close()
        self._claim = None
        _in_process.release()

    def _claimed(self) -> Connection | None:
        connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        if connection.scalar(_TRY):
            return connection
        connection.close()
        return None

    def _launch(self) -> None:
        parts = desk.parts = self._parts()
        desk.closing = threading.Event()
        DBOS(
            config=DBOSConfig(
                name="lectern",
                system_database_url=self._address,
                dbos_system_schema=SCHEMA,
                application_version=VERSION,
                executor_id=EXECUTOR,
                sys_db_pool_size=10,
                log_level="WARNING",
            )
        )
        DBOS.launch()
        DBOS.register_queue(
            REVIEWS, worker_concurrency=workflow.AT_ONCE, polling_interval_sec=POLL_SECONDS
        )
        DBOS.register_queue(
            workflow.PAPERS,
            partition_concurrency=parts.papers_at_once,
            polling_interval_sec=POLL_SECONDS,
        )
        self._end_the_lost()
        tidy(parts.folder, KEPT_SECONDS)

    def _end_the_lost(self) -> None:
        """Tell of reviews that are noted as being worked on though nothing works on them."""
        alive = {
            status.workflow_id.rsplit(":", 1)[0]
            for status in DBOS.list_workflows(status=["PENDING", "ENQUEUED"])
        }
        for review_id, run in self._reviews.unfinished():
            if f"{review_id}:{run}" not in alive:
                lost = DatabaseDown(
                    say("The work on this review broke off."),
                    hint=say("Go on with it: what was read is kept."),
                    code="INTERRUPTED",
                )
                self._reviews.end(review_id, "failed", error=lost.to_json())
