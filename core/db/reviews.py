"""Literature reviews and the papers found for them. What a page shows is here at every moment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, get_args
from uuid import UUID, uuid4

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Row,
    and_,
    delete,
    func,
    insert,
    select,
    update,
)

from core.db.orm import ReviewPaperTable, ReviewTable
from core.db.text import storable, storable_json
from core.errors import BadInput, NotFound
from core.wording import say

State = Literal["searching", "choosing", "writing", "stopping", "stopped", "failed", "finished"]
STATES: tuple[State, ...] = get_args(State)
WORKING: tuple[State, ...] = ("searching", "writing", "stopping")
"""States in which something is being done for a review."""


@dataclass(frozen=True, slots=True)
class ReviewPaper:
    """A paper found for a review; see `core.db.orm.ReviewPaperTable`."""

    position: int
    found: dict[str, Any]
    chosen: bool
    state: str
    got: str
    paper_id: UUID | None
    error: dict[str, Any] | None
    seconds: float | None
    notes: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class ReviewRow:
    """A review as it stands; see `core.db.orm.ReviewTable`. `papers`: by relevance, best first."""

    id: UUID
    topic: str
    request: dict[str, Any]
    state: State
    run: int
    stages: tuple[dict[str, Any], ...]
    notices: tuple[dict[str, Any], ...]
    document: dict[str, Any] | None
    error: dict[str, Any] | None
    created_at: datetime
    updated_at: datetime
    papers: tuple[ReviewPaper, ...] = ()

    @property
    def working(self) -> bool:
        """Whether something is being done for it."""
        return self.state in WORKING

    @property
    def chosen(self) -> tuple[ReviewPaper, ...]:
        """Return the papers it is to be made of."""
        return tuple(paper for paper in self.papers if paper.chosen)


class ReviewStore:
    """All access to reviews. Another user's ids behave like ids that do not exist.

    So does a removed review, for everything but `restore`.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    # --- for the reader -------------------------------------------------------------------------

    def add(self, user_id: UUID, topic: str, request: Mapping[str, Any]) -> UUID:
        """Store a new review, to be searched for, and return its id."""
        number = uuid4()
        with self._engine.begin() as connection:
            connection.execute(
                insert(ReviewTable).values(
                    id=number,
                    user_id=user_id,
                    topic=storable(topic),
                    request=storable_json(dict(request)),
                    state="searching",
                    run=1,
                    stages=[],
                    notices=[],
                )
            )
        return number

    def review(self, user_id: UUID, review_id: UUID) -> ReviewRow:
        """Return a review with its papers.

        Raises:
            NotFound: the user has no such review.
        """
        with self._engine.connect() as connection:
            row = connection.execute(_reviews(_own(user_id, review_id))).one_or_none()
            if row is None:
                raise _unknown()
            papers = connection.execute(
                select(ReviewPaperTable.__table__)
                .where(ReviewPaperTable.review_id == review_id)
                .order_by(ReviewPaperTable.position)
            ).all()
        return _review(row, papers)

    def reviews(self, user_id: UUID) -> list[ReviewRow]:
        """Return a user's reviews without their papers, the latest first."""
        mine = and_(ReviewTable.user_id == user_id, ReviewTable.removed_at.is_(None))
        with self._engine.connect() as connection:
            rows = connection.execute(_reviews(mine).order_by(ReviewTable.updated_at.desc())).all()
        return [_review(row, ()) for row in rows]

    def tick(self, user_id: UUID, review_id: UUID, positions: Sequence[int]) -> None:
        """Note which papers are ticked; nothing begins by it.

        Raises:
            NotFound: the user has no such review.
        """
        self.review(user_id, review_id)
        which = ReviewPaperTable.review_id == review_id
        chosen = ReviewPaperTable.position.in_(positions)
        idle = select(ReviewTable.id).where(ReviewTable.state.not_in(WORKING))
        with self._engine.begin() as connection:
            connection.execute(
                update(ReviewPaperTable)
                .where(which, ReviewPaperTable.review_id.in_(idle))
                .values(chosen=chosen)
            )

    def choose(self, user_id: UUID, review_id: UUID, positions: Sequence[int]) -> int:
        """Take these papers and no others, begin the writing, and return the number of the run.

        Papers that were read in an earlier run stay read; those that failed are tried again.

        Raises:
            NotFound: the user has no such review.
            BadInput: it is being worked on, or no paper is left.
        """
        with self._engine.begin() as connection:
            _take_idle(connection, user_id, review_id)
            of_it = ReviewPaperTable.review_id == review_id
            chosen = ReviewPaperTable.position.in_(positions)
            connection.execute(update(ReviewPaperTable).where(of_it).values(chosen=chosen))
            again = and_(of_it, ReviewPaperTable.state != "done")
            connection.execute(
                update(ReviewPaperTable).where(again).values(state="waiting", error=None)
            )
            count = connection.scalar(
                select(func.count()).where(of_it, ReviewPaperTable.chosen.is_(True))
            )
            if not count:
                raise BadInput(
                    say("A review needs at least one paper."),
                    hint=say("Tick the papers it is to be made of."),
                    code="NO_PAPERS",
                )
            run = connection.scalar(
                update(ReviewTable)
                .where(ReviewTable.id == review_id)
                .values(
                    state="writing",
                    run=ReviewTable.run + 1,
                    error=None,
                    notices=[],
                    updated_at=func.now(),
                )
                .returning(ReviewTable.run)
            )
        return int(run or 0)

    def search_again(self, user_id: UUID, review_id: UUID) -> int:
        """Begin the search of a review that found nothing or was stopped; return the run's number.

        Raises:
            NotFound: the user has no such review.
            BadInput: it is being worked on.
        """
        with self._engine.begin() as connection:
            _take_idle(connection, user_id, review_id)
            run = connection.scalar(
                update(ReviewTable)
                .where(ReviewTable.id == review_id)
                .values(state="searching", run=ReviewTable.run + 1, error=None, notices=[])
                .returning(ReviewTable.run)
            )
        return int(run or 0)

    def stop(self, user_id: UUID, review_id: UUID) -> bool:
        """Ask for a stop; return whether there was anything to be stopped.

        Raises:
            NotFound: the user has no such review.
        """
        self.review(user_id, review_id)
        busy = ReviewTable.state.in_(("searching", "writing"))
        with self._engine.begin() as connection:
            stopped = connection.execute(
                update(ReviewTable)
                .where(_own(user_id, review_id), busy)
                .values(state="stopping", updated_at=func.now())
            )
        return stopped.rowcount > 0

    def remove(self, user_id: UUID, review_id: UUID) -> None:
        """Remove a review; `restore` brings it back until it is purged.

        Raises:
            NotFound: the user has no such review.
        """
        self._mark(_own(user_id, review_id), datetime.now(UTC))

    def restore(self, user_id: UUID, review_id: UUID) -> None:
        """Bring a removed review back.

        Raises:
            NotFound: the user has no such review.
        """
        self._mark(and_(ReviewTable.id == review_id, ReviewTable.user_id == user_id), None)

    def purge(self, before: datetime) -> int:
        """Delete what was removed before a moment; return how many."""
        with self._engine.begin() as connection:
            gone = connection.execute(delete(ReviewTable).where(ReviewTable.removed_at < before))
        return gone.rowcount

    def _mark(self, which: ColumnElement[bool], removed: datetime | None) -> None:
        with self._engine.begin() as connection:
            done = connection.execute(update(ReviewTable).where(which).values(removed_at=removed))
        if not done.rowcount:
            raise _unknown()

    # --- for the work on it ---------------------------------------------------------------------

    def owner(self, review_id: UUID) -> tuple[UUID, ReviewRow] | None:
        """Return whose review it is, and the review; None when it is gone or removed."""
        here = and_(ReviewTable.id == review_id, ReviewTable.removed_at.is_(None))
        with self._engine.connect() as connection:
            user = connection.scalar(select(ReviewTable.user_id).where(here))
        return (user, self.review(user, review_id)) if user else None

    def unfinished(self) -> list[tuple[UUID, int]]:
        """Return reviews that are being worked on, of all users, with the number of their run."""
        which = ReviewTable.state.in_(WORKING)
        with self._engine.connect() as connection:
            rows = connection.execute(select(ReviewTable.id, ReviewTable.run).where(which)).all()
        return [(row.id, row.run) for row in rows]

    def stopping(self, review_id: UUID) -> bool:
        """Whether its reader asked for a stop, or removed it."""
        with self._engine.connect() as connection:
            state = connection.scalar(
                select(ReviewTable.state).where(
                    ReviewTable.id == review_id, ReviewTable.removed_at.is_(None)
                )
            )
        return state in (None, "stopping")

    def set_papers(self, review_id: UUID, papers: Sequence[Mapping[str, Any]], top: int) -> None:
        """Store the papers found, best first, the `top` first of them chosen; none from before."""
        with self._engine.begin() as connection:
            connection.execute(
                delete(ReviewPaperTable).where(ReviewPaperTable.review_id == review_id)
            )
            if papers:
                connection.execute(
                    insert(ReviewPaperTable),
                    [
                        {
                            "review_id": review_id,
                            "position": at,
                            "found": storable_json(dict(paper)),
                            "chosen": at < top,
                            "state": "waiting",
                            "got": "",
                        }
                        for at, paper in enumerate(papers)
                    ],
                )

    def set_paper(self, review_id: UUID, position: int, **values: Any) -> None:
        """Note how far a paper is: `state`, `got`, `paper_id`, `error`, `seconds`, `notes`."""
        which = and_(ReviewPaperTable.review_id == review_id, ReviewPaperTable.position == position)
        with self._engine.begin() as connection:
            connection.execute(update(ReviewPaperTable).where(which).values(**values))
            connection.execute(_touched(review_id))

    def set_stage(self, review_id: UUID, stage: Mapping[str, Any]) -> None:
        """Note how far the work is; a stage of the same name in the same run is replaced."""
        with self._engine.begin() as connection:
            stages = connection.scalar(
                select(ReviewTable.stages).where(ReviewTable.id == review_id).with_for_update()
            )
            here = (stage["name"], stage["run"])
            kept = [s for s in stages or [] if (s["name"], s["run"]) != here]
            connection.execute(
                _touched(review_id).values(stages=storable_json([*kept, dict(stage)]))
            )

    def notice(self, review_id: UUID, notice: Mapping[str, Any]) -> None:
        """Add something the reader should know; once."""
        with self._engine.begin() as connection:
            notices = connection.scalar(
                select(ReviewTable.notices).where(ReviewTable.id == review_id).with_for_update()
            )
            if dict(notice) not in (notices or []):
                connection.execute(
                    _touched(review_id).values(
                        notices=[*(notices or []), storable_json(dict(notice))]
                    )
                )

    def pass_on(self, review_id: UUID, state: State) -> bool:
        """Note the next state of a review whose reader has not asked for a stop; return whether."""
        going = and_(ReviewTable.id == review_id, ReviewTable.state != "stopping")
        with self._engine.begin() as connection:
            done = connection.execute(
                update(ReviewTable).where(going).values(state=state, updated_at=func.now())
            )
        return done.rowcount > 0

    def end(
        self,
        review_id: UUID,
        state: State,
        *,
        document: Mapping[str, Any] | None = None,
        error: Mapping[str, Any] | None = None,
    ) -> None:
        """Note that the work is over; a document once there stays."""
        values: dict[str, Any] = {"state": state, "error": dict(error) if error else None}
        if document is not None:
            values["document"] = storable_json(dict(document))
        with self._engine.begin() as connection:
            connection.execute(_touched(review_id).values(**values))


def _take_idle(connection: Connection, user_id: UUID, review_id: UUID) -> None:
    """Hold a review's row until the transaction ends.

    Raises:
        NotFound: the user has no such review.
        BadInput: REVIEW_BUSY, it is being worked on.
    """
    state = connection.scalar(
        select(ReviewTable.state).where(_own(user_id, review_id)).with_for_update()
    )
    if state is None:
        raise _unknown()
    if state in WORKING:
        raise BadInput(say("This review is being worked on."), code="REVIEW_BUSY")


def _touched(review_id: UUID) -> Any:
    return update(ReviewTable).where(ReviewTable.id == review_id).values(updated_at=func.now())


def _own(user_id: UUID, review_id: UUID) -> ColumnElement[bool]:
    return and_(
        ReviewTable.id == review_id,
        ReviewTable.user_id == user_id,
        ReviewTable.removed_at.is_(None),
    )


def _unknown() -> NotFound:
    return NotFound(say("There is no such review."))


def _reviews(which: ColumnElement[bool]) -> Any:
    return select(ReviewTable.__table__).where(which)


def _review(row: Row[Any], papers: Sequence[Row[Any]]) -> ReviewRow:
    return ReviewRow(
        id=row.id,
        topic=row.topic,
        request=row.request,
        state=row.state,
        run=row.run,
        stages=tuple(row.stages),
        notices=tuple(row.notices),
        document=row.document,
        error=row.error,
        created_at=row.created_at,
        updated_at=row.updated_at,
        papers=tuple(
            ReviewPaper(
                paper.position,
                paper.found,
                paper.chosen,
                paper.state,
                paper.got,
                paper.paper_id,
                paper.error,
                paper.seconds,
                paper.notes,
            )
            for paper in papers
        ),
    )
