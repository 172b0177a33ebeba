"""Reviews as a list, the form that begins one, and one that is looked for or being worked on."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import UUID

import streamlit as st
from pydantic import ValidationError

from core.db.reviews import ReviewPaper, ReviewRow
from core.errors import NotFound
from core.review.request import MOST_PAPERS, ReviewRequest
from core.tools.arxiv_search import FIRST_YEAR, LAST_YEAR
from ui.evidence import NUMBER, TURN
from ui.frame import REVIEW, Session, callback, fragment, go, link, parameter_id
from ui.language import _, ngettext, translated
from ui.safe import plain
from ui.searchform import CATEGORIES
from ui.state import Removal, state, tick, ticked

ID, TOPIC = "review", "topic"
"""Parameters of the address: which review is open, and the topic of a new one."""
POLL_SECONDS = 1.0
LIST_SECONDS = 3.0
LISTED = 10
EXAMPLES = (
    "retrieval-augmented generation for scientific papers",
    "大语言模型的幻觉检测",
    "reading with agents that remember",
)
ICONS = {
    "waiting": ":material/hourglass_empty:",
    "fetching": ":material/cloud_download:",
    "reading": ":material/menu_book:",
    "done": ":material/check:",
    "failed": ":material/error:",
}


def opened(session: Session) -> ReviewRow | None:
    """Return the review that the page's address names; says so when it is not there."""
    if not st.query_params.get(ID):
        return None
    number = parameter_id(ID)
    try:
        if number is not None:
            return session.bench.reviews.review(session.user, number)
    except NotFound:
        pass  # another's, or removed: both are said alike
    for name in (ID, TURN, NUMBER):
        st.query_params.pop(name, None)
    st.info(_("There is no such review."))
    return None


def begin(session: Session) -> None:
    """Draw the form for a new review."""
    st.markdown(
        _(
            "Name a topic. Lectern finds papers on it, lets you choose, reads them in full where "
            "it can, and writes a review in which every number leads to the passage it rests on."
        )
    )
    key = "review-topic"
    if wanted := st.query_params.get(TOPIC, ""):
        st.session_state[key] = wanted[:300]
        del st.query_params[TOPIC]
    with st.container(horizontal=True, gap="xsmall", key="review-examples"):
        for at, example in enumerate(EXAMPLES):
            st.button(
                plain(example),
                key=f"review-example-{at}",
                type="tertiary",
                icon=":material/lightbulb:",
                on_click=_take_example,
                args=(key, example),
            )
    with st.form("new-review"):
        st.text_input(_("Topic"), key=key, max_chars=300, placeholder=_("in Chinese or English"))
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.segmented_control(
                _("Papers from"),
                ["arxiv", "library"],
                format_func={"arxiv": "arXiv", "library": _("my library")}.__getitem__,
                default="arxiv",
                key="review-source",
            )
            st.number_input(_("How many papers"), 1, MOST_PAPERS, 8, key="review-top", width=160)
            year = partial(st.number_input, min_value=FIRST_YEAR, max_value=LAST_YEAR, value=None)
            year(_("From year"), key="review-from", width=140)
            year(_("To year"), key="review-to", width=140)
        st.multiselect(
            _("Categories (arXiv only; any of them)"),
            CATEGORIES,
            key="review-categories",
            placeholder=_("any; choose or type one"),
            accept_new_options=True,
        )
        st.form_submit_button(
            _("Find papers"),
            type="primary",
            icon=":material/search:",
            on_click=_start,
            args=(session,),
        )


def _take_example(key: str, example: str) -> None:
    st.session_state[key] = example


@callback
def _start(session: Session) -> None:
    given = st.session_state
    categories = [name.strip() for name in given["review-categories"] if name.strip()]
    try:
        request = ReviewRequest(
            topic=(given["review-topic"] or "").strip(),
            source=given["review-source"] or "arxiv",
            top=int(given["review-top"]),
            year_from=given["review-from"],
            year_to=given["review-to"],
            categories=tuple(categories) if given["review-source"] != "library" else (),
        )
    except ValidationError as error:
        state().problem = _why(error)
        return
    number = session.bench.review_runs.start(session.user, request)
    go(REVIEW, review=str(number))


def _why(error: ValidationError) -> str:
    if any("topic" in part["loc"] for part in error.errors()):
        return _("Name a topic in two characters or more.")
    return _("The years are the wrong way round.")


def listed(session: Session) -> None:
    """Draw the reviews there are, the latest first; again while any is worked on."""
    working = any(row.working for row in session.bench.reviews.reviews(session.user))

    def draw() -> None:
        rows = session.bench.reviews.reviews(session.user)
        if working and not any(row.working for row in rows):
            st.rerun()
        _list(session, rows)

    fragment(draw, LIST_SECONDS if working else None)


def _list(session: Session, rows: Sequence[ReviewRow]) -> None:
    if not rows:
        st.caption(_("There are no reviews yet."))
    with st.container(gap=None, key="reviews"):
        for row in rows[:LISTED]:
            link(session, REVIEW, row.topic, icon=":material/history_edu:", review=str(row.id))
            st.caption(" · ".join([_state(row), f"{row.updated_at:%Y-%m-%d %H:%M}"]))


def _state(row: ReviewRow) -> str:
    words = {
        "searching": _("searching…"),
        "choosing": _("waits for your choice of papers"),
        "writing": _("being written…"),
        "stopping": _("stopping…"),
        "stopped": _("stopped"),
        "failed": _("failed"),
        "finished": _("finished"),
    }
    if row.document is None:
        return words[row.state]
    return f"{words[row.state]} · {verified(row.document)}"


def verified(document: Mapping[str, Any]) -> str:
    """Return how much of a review is borne out."""
    counts = document["verified"]
    return _("verified {good} of {all} sentences").format(
        good=counts["supported"], all=counts["total"]
    )


def head(session: Session, row: ReviewRow, downloads: Callable[[ReviewRow], None]) -> None:
    """Draw the topic, and what can be done with a review; `downloads` once there is a text."""
    with st.container(horizontal=True, vertical_alignment="center", key="review-head"):
        st.subheader(plain(row.topic), anchor=False, width="stretch")
        link(session, REVIEW, _("All reviews"), icon=":material/list:")
        if row.document:
            downloads(row)
        st.button(
            "",
            key="delete-review",
            icon=":material/delete:",
            help=_("Delete this review"),
            type="tertiary",
            on_click=_remove,
            args=(session, row),
        )


@callback
def _remove(session: Session, row: ReviewRow) -> None:
    session.bench.review_runs.stop(session.user, row.id)
    session.bench.reviews.remove(session.user, row.id)
    state().removal = Removal("review", (row.id,), row.topic)
    go(REVIEW)


# --- at work --------------------------------------------------------------------------------------


def working(session: Session, row: ReviewRow) -> None:
    """Draw how far a review is, again and again while it is worked on."""

    def draw() -> None:
        now = session.bench.reviews.review(session.user, row.id)
        if not now.working:
            st.rerun()
        _progress(now)

    fragment(draw, POLL_SECONDS)
    st.button(
        _("Stop"),
        key="stop-review",
        icon=":material/stop:",
        on_click=_act,
        args=(session.bench.review_runs.stop, session, row.id),
        disabled=row.state == "stopping",
    )


@callback
def _act(act: Any, session: Session, number: UUID) -> None:
    act(session.user, number)


def _progress(row: ReviewRow) -> None:
    """Draw stages and papers."""
    stages = [stage for stage in row.stages if stage["run"] == row.run] or list(row.stages[-1:])
    names = _stage_names()
    for stage in stages:
        done = stage["seconds"] is not None
        seconds = stage["seconds"] if done else time.time() - stage["began"]
        took = _("{seconds} s").format(seconds=f"{seconds:.0f}")
        icon = ":material/check:" if done else ":material/hourglass_top:"
        name = names.get(stage["name"].partition(" ")[0], stage["name"])
        left = _expected(row, seconds) if stage["name"] == "read" and not done else ""
        st.markdown(f"{icon} **{name}** · {took}{left}")
    if row.state == "stopping":
        st.caption(_("Stopping: what was read is kept."))
    if row.state == "searching":
        return
    over = sum(paper.state in ("done", "failed") for paper in row.chosen)
    st.progress(
        over / max(1, len(row.chosen)),
        text=_("{done} of {total} papers read").format(done=over, total=len(row.chosen)),
    )
    with st.container(gap="xsmall", key="review-papers"):
        for paper in row.chosen:
            st.markdown(_line(paper))


def _stage_names() -> dict[str, str]:
    return {
        "search": _("Search and rank"),
        "read": _("Fetch and read"),
        "draft": _("Write the draft"),
        "check": _("Check the citations"),
        "repair": _("Mend what does not hold"),
    }


def _expected(row: ReviewRow, seconds: float) -> str:
    over = sum(paper.state in ("done", "failed") for paper in row.chosen)
    if not over:
        return ""
    left = seconds / over * (len(row.chosen) - over)
    return " · " + _("about {seconds} s left").format(seconds=f"{left:.0f}")


def _line(paper: ReviewPaper) -> str:
    words = {
        "waiting": _("waiting"),
        "fetching": _("being fetched"),
        "reading": _("being read"),
        "done": got_words().get(paper.got, paper.got),
        "failed": _("failed"),
    }
    parts = [f"{ICONS[paper.state]} {plain(paper.found['title'])}", words[paper.state]]
    if paper.seconds is not None:
        parts.append(_("{seconds} s").format(seconds=f"{paper.seconds:.1f}"))
    if paper.error:
        parts.append(plain(translated(paper.error["message"])))
    return " · ".join(parts)


def got_words() -> dict[str, str]:
    """Return what the page calls each way a paper was had."""
    return {
        "html": _("full text (HTML)"),
        "pdf": _("full text (PDF)"),
        "abstract": _("abstract only"),
        "library": _("from your library"),
    }


def try_again(session: Session, row: ReviewRow) -> None:
    """Offer to read what could not be read, and to write a finished review anew with it."""
    if row.state == "finished" and any(paper.state == "failed" for paper in row.chosen):
        st.button(
            _("Try the papers that failed again"),
            key="try-failed",
            icon=":material/refresh:",
            on_click=_act,
            args=(session.bench.review_runs.resume, session, row.id),
        )


def broken(session: Session, row: ReviewRow) -> None:
    """Say why a review is not finished, and offer to go on."""
    if row.state == "failed" and row.error:
        said = f"{translated(row.error['message'])} {translated(row.error.get('hint', ''))}"
        st.error(plain(said), icon=":material/error:")
    elif row.state == "stopped":
        st.info(_("Stopped. What was read is kept."), icon=":material/stop:")
    if row.chosen and any(paper.state == "done" for paper in row.chosen):
        done = sum(paper.state == "done" for paper in row.chosen)
        kept = _("{done} of {total} papers are read; they are not fetched again.")
        st.caption(kept.format(done=done, total=len(row.chosen)))
    for paper in row.chosen:
        if paper.state == "failed":
            st.markdown(_line(paper))
    st.button(
        _("Go on"),
        key="go-on",
        type="primary",
        icon=":material/play_arrow:",
        on_click=_act,
        args=(session.bench.review_runs.resume, session, row.id),
    )


# --- choosing -------------------------------------------------------------------------------------


def choosing(session: Session, row: ReviewRow, *, again: bool = False) -> None:
    """Draw what was found, to be ticked, and the button that begins the writing."""
    key = f"candidates-{row.id}"
    if key not in st.session_state:
        tick(key, [at for at, paper in enumerate(row.papers) if paper.chosen])
    owned = {str(paper.paper_id) for paper in session.bench.papers.papers(session.user)}
    st.caption(
        ngettext("{count} paper found", "{count} papers found", len(row.papers)).format(
            count=len(row.papers)
        )
        + " · "
        + _("untick what does not belong in the review")
    )
    st.dataframe(
        [_candidate(paper, owned) for paper in row.papers],
        key=key,
        hide_index=True,
        selection_mode="multi-row",
        on_select=partial(_ticked, session, row, key),
        column_config={
            "title": st.column_config.TextColumn(_("Title"), width=330),
            "authors": st.column_config.TextColumn(_("Authors"), width=130),
            "year": st.column_config.NumberColumn(_("Year"), format="%d", width=60),
            "combined": st.column_config.NumberColumn(_("Together"), format="%.2f", width=80),
            "embedding": st.column_config.NumberColumn(_("By meaning"), format="%.2f", width=90),
            "tfidf": st.column_config.NumberColumn(_("By words"), format="%.2f", width=80),
            "where": st.column_config.TextColumn(_("In your library"), width=110),
        },
    )
    chosen = _positions(row, key)
    count = ngettext(
        "Write the review from {count} paper", "Write the review from {count} papers", len(chosen)
    )
    st.button(
        count.format(count=len(chosen)),
        key="write-review",
        type="secondary" if again else "primary",
        icon=":material/edit_note:",
        disabled=not chosen,
        on_click=_write,
        args=(session, row, key),
    )
    with st.expander(_("Abstracts"), icon=":material/notes:"):
        for paper in row.papers:
            st.markdown(f"**{plain(paper.found['title'])}**")
            st.caption(plain(paper.found["abstract"] or _("No abstract.")))


def _candidate(paper: ReviewPaper, owned: set[str]) -> dict[str, Any]:
    found, relevance = paper.found, paper.found.get("relevance", {})
    here = str(paper.paper_id or found.get("paper_id")) in owned
    return {
        "title": found["title"],
        "authors": ", ".join(found["authors"][:3]) + (" …" if len(found["authors"]) > 3 else ""),
        "year": found["year"],
        "combined": relevance.get("combined"),
        "embedding": relevance.get("embedding"),
        "tfidf": relevance.get("tfidf"),
        "where": _("yes") if here else "",
    }


def _positions(row: ReviewRow, key: str) -> list[int]:
    return [row.papers[at].position for at in ticked(key) if at < len(row.papers)]


def _ticked(session: Session, row: ReviewRow, key: str) -> None:
    _act(
        lambda user, number: session.bench.reviews.tick(user, number, _positions(row, key)),
        session,
        row.id,
    )


def _write(session: Session, row: ReviewRow, key: str) -> None:
    chosen = _positions(row, key)
    _act(
        lambda user, number: session.bench.review_runs.write(user, number, chosen),
        session,
        row.id,
    )
