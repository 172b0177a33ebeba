"""What every page begins with: its settings, who it is for, their language, and the side bar.

Everything of a page stands in `with page(…) as session`. With a `pages/` folder a deep link runs that page without the entry
script on a cold server, so nothing may rest on the entry script having run.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import ParamSpec
from uuid import UUID

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.errors import LecternError
from core.workbench import Workbench
from ui.catalogue import LANGUAGES
from ui.identity import SPACE, Visitor, login_configured, visitor
from ui.language import _, current_language, remember_language, translated, use_language
from ui.resources import workbench
from ui.safe import plain
from ui.state import state

P = ParamSpec("P")

HERE = Path(__file__).parent
HOME, LIBRARY, SEARCH, ASK, REVIEW, MEMORY, SYSTEM = (
    "streamlit_app.py",
    "pages/library.py",
    "pages/search.py",
    "pages/ask.py",
    "pages/review.py",
    "pages/memory.py",
    "pages/system.py",
)


@dataclass(frozen=True, slots=True)
class Session:
    """What a page works with: Lectern's parts, and whose they are."""

    bench: Workbench
    visitor: Visitor

    @property
    def user(self) -> UUID:
        """The user every service is asked for."""
        return self.visitor.user

    def parameters(self, **given: str) -> dict[str, str]:
        """Return the parameters of a link to another page: a guest's key stays in the address."""
        kept = {SPACE: self.visitor.space} if self.visitor.space else {}
        return kept | {name: value for name, value in given.items() if value}


@contextmanager
def page(title: str = "") -> Iterator[Session]:
    """Set the page up and yield its session; a failure while it is drawn is said in its place."""
    st.set_page_config(page_title="Lectern", page_icon=str(HERE / "icon.svg"), layout="wide")
    st.logo(HERE / "wordmark.svg", size="large", icon_image=HERE / "icon.svg")
    st.html(HERE / "theme.css")
    session = _begin(title)
    try:
        yield session
    except LecternError as error:
        show_error(error)


def _begin(title: str) -> Session:
    """Draw what all pages have; stops the page when even that cannot be had."""
    try:
        session = _session()
    except LecternError as error:
        show_error(error)
        st.stop()
    words = HERE / f"theme.{current_language()}.css"
    if words.exists():
        st.html(words)
    _follow(session)
    _show_address()
    _sidebar(session)
    if title:
        st.title(title)
    if state().problem:
        st.error(plain(state().problem), icon=":material/error:")
        state().problem = ""
    return session


def _session() -> Session:
    bench = workbench()
    who = visitor(bench.settings.single_user)
    if who is None:
        _sign_in()
    bench.accounts.seen(who.user, who.kind)
    _remembered_language(bench, who.user)
    return Session(bench, who)


def fragment(draw: Callable[[], None], run_every: float | None) -> None:
    """Draw a part of the page that is drawn again every so many seconds, by itself.

    A failure is said in its place, and gone once a later run succeeds.
    """

    @st.fragment(run_every=run_every)
    def guarded() -> None:
        try:
            draw()
        except LecternError as error:
            show_error(error)

    guarded()


def show_error(error: LecternError) -> None:
    """Say what happened and what to do next, in the page's language."""
    st.error(plain(error_text(error)), icon=":material/error:")


def error_text(error: LecternError) -> str:
    """Return a failure's sentence and hint in the page's language."""
    return f"{translated(error.message)} {translated(error.hint)}".strip()


def callback(act: Callable[P, None]) -> Callable[P, None]:
    """Have a failure of what a reader did said on the next run; nothing after it is done."""

    @wraps(act)
    def guarded(*arguments: P.args, **named: P.kwargs) -> None:
        try:
            act(*arguments, **named)
        except LecternError as error:
            state().problem = error_text(error)

    return guarded


def go(to: str, **parameters: str) -> None:
    """Open another page. From a callback: the page changes when the next run begins."""
    state().going = (to, parameters)


def link(session: Session, to: str, label: str, *, icon: str | None = None, **params: str) -> None:
    """Draw a link to a page of the app."""
    st.page_link(to, label=plain(label), icon=icon, query_params=session.parameters(**params))


def parameter_id(name: str) -> UUID | None:
    """Return a parameter of the address as an id; None when it is absent or no id."""
    try:
        return UUID(st.query_params.get(name, ""))
    except ValueError:
        return None


def _follow(session: Session) -> None:
    going, state().going = state().going, None
    if going:
        to, parameters = going
        st.switch_page(to, query_params=session.parameters(**parameters))


def _show_address() -> None:
    """Tell the browser the parameters this run goes by, where they changed without the page.

    A link to the page it stands on, and a switch to it on a busy machine, leave the address as it
    was: the next run would go back to what it says. The browser does nothing when it shows them.
    """
    run = get_script_run_ctx()
    now = (run.page_script_hash if run else "", st.query_params.to_dict())
    before, state().address = state().address, now
    if before[0] == now[0] and before[1] != now[1]:
        st.query_params.from_dict(now[1])


def _sign_in() -> None:
    st.title("Lectern")
    st.markdown(_("Sign in to see your papers and conversations."))
    st.button(_("Sign in"), on_click=st.login, type="primary", icon=":material/login:")
    st.stop()


def _remembered_language(bench: Workbench, user: UUID) -> None:
    """Look the user's language up, once a session."""
    if not state().language_known:
        remember_language(bench.accounts.language(user))
        state().language_known = True


def _sidebar(session: Session) -> None:
    pages = [
        (HOME, _("Home"), ":material/home:"),
        (ASK, _("Ask"), ":material/forum:"),
        (LIBRARY, _("Library"), ":material/library_books:"),
        (SEARCH, _("Search"), ":material/travel_explore:"),
        (REVIEW, _("Review"), ":material/history_edu:"),
        (MEMORY, _("Memory"), ":material/psychology:"),
        (SYSTEM, _("System"), ":material/monitor_heart:"),
    ]
    with st.sidebar:
        for to, label, icon in pages:
            link(session, to, label, icon=icon)
        if session.visitor.kind == "guest":
            _guest_notice()
        _language_choice(session)
        if login_configured():
            st.button(_("Sign out"), on_click=st.logout, icon=":material/logout:")


def _guest_notice() -> None:
    st.info(
        _(
            "You are a guest. Your papers and conversations are behind the address of this page: "
            "keep it to come back, and keep it to yourself. A day after your last visit they are "
            "deleted."
        ),
        icon=":material/schedule:",
    )


def _language_choice(session: Session) -> None:
    names = dict(LANGUAGES)
    current = current_language()
    st.segmented_control(
        _("Language"),
        list(names),
        format_func=names.__getitem__,
        default=current,
        key=f"language-{current}",
        on_change=_choose_language,
        args=(session, f"language-{current}"),
        label_visibility="collapsed",
    )


@callback
def _choose_language(session: Session, key: str) -> None:
    chosen = st.session_state[key]
    if not chosen:  # pressing the language one has takes the mark off, and changes nothing
        return
    use_language(chosen)
    session.bench.accounts.set_language(session.user, chosen)
