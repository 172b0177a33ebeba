"""The language of the page: chosen, remembered, or the browser's; and the words in it.

Values go in after the translation: `_("{count} pages").format(count=n)`. Nothing is translated when
a module is imported, for then there is no page yet: a constant is marked with `core.wording.say` and
translated where it is shown.
"""

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui.catalogue import LANGUAGES, Catalogue

DEFAULT = "en"
_CHOSEN, _REMEMBERED = "language_chosen", "language_remembered"


def current_language() -> str:
    """Return the code of this page's language; English where there is no page.

    The choice of this session comes first, then `?lang=` (which becomes the choice, so that it
    survives a change of page), then what an earlier session chose, then the browser's language.
    """
    if get_script_run_ctx(suppress_warning=True) is None:
        return DEFAULT
    chosen = st.session_state.get(_CHOSEN)
    if chosen is None:
        asked = _known(st.query_params.get("lang"))
        if asked:
            st.session_state[_CHOSEN] = asked
        chosen = asked or st.session_state.get(_REMEMBERED)
    return chosen or _known(st.context.locale) or DEFAULT


def use_language(code: str) -> None:
    """Make a language the choice of this session; an unknown code changes nothing."""
    if _known(code):
        st.session_state[_CHOSEN] = _known(code)


def remember_language(code: str | None) -> None:
    """Tell what the user chose in an earlier session; a choice of this one goes before it."""
    st.session_state[_REMEMBERED] = _known(code)


def _(message: str) -> str:
    """Return a sentence in the page's language."""
    return Catalogue.load(current_language()).gettext(message)


def ngettext(one: str, many: str, count: int) -> str:
    """Return the form of a sentence for `count`, in the page's language."""
    return Catalogue.load(current_language()).ngettext(one, many, count)


def translated(text: str) -> str:
    """Return a finished English sentence of core (message, hint, detail) in the page's language."""
    return Catalogue.load(current_language()).translated(text)


def _known(locale: str | None) -> str | None:
    """Return our code for a locale such as `zh-Hans-CN`, or None when we do not speak it."""
    code = (locale or "").replace("_", "-").split("-")[0].lower()
    return code if code in LANGUAGES else None
