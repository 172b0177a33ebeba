"""What the next question wants done: the intents, as the table has them, to choose from."""

import streamlit as st

from core.agent.intents import Intent, all_intents, intent
from core.evidence.language import is_chinese
from ui.language import _, current_language, translated
from ui.safe import plain
from ui.state import state


def choose() -> None:
    """Draw the picker: automatic, or one intent for the next question."""
    chosen = intent(state().intent) if state().intent else None
    label = translated(chosen.title) if chosen else _("Automatic")
    icon = f":material/{chosen.icon if chosen else 'route'}:"
    box = st.popover(plain(label), icon=icon, key="way-box", on_change="rerun", type="tertiary")
    if not box.open:
        return
    titles = options()
    captions = [_("The question decides.")]
    captions += [plain(translated(entry.description)) for entry in all_intents()]
    key = f"way-{state().intent}"
    box.radio(
        _("What the next question wants"),
        list(titles),
        index=list(titles).index(state().intent),
        format_func=lambda name: plain(titles[name]),
        captions=captions,
        key=key,
        on_change=_chosen,
        args=(key,),
    )


def options() -> dict[str, str]:
    """Return what can be chosen: the intents' titles by name, led by '' for automatic."""
    return {"": _("Automatic"), **{entry.name: translated(entry.title) for entry in all_intents()}}


def _chosen(key: str) -> None:
    state().intent = st.session_state[key]
    st.session_state["way-box"] = False


def placeholder() -> str:
    """Return what the box for the question says while an intent is chosen, or ''."""
    return translated(intent(state().intent).description) if state().intent else ""


def opening(entry: Intent) -> str:
    """Return the question that asks for just this, in the page's language; '' where none can."""
    if not entry.starts:
        return ""
    chinese = current_language() == "zh"
    return next((text for text in entry.examples if is_chinese(text) == chinese), "")
