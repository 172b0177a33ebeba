"""The form of the Search page: a topic, what limits it, and topics to begin with."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.tools.arxiv_search import FIRST_YEAR, LAST_YEAR
from ui.asked import NUMBERS, Asked, to_address
from ui.language import _, current_language
from ui.safe import plain
from ui.state import state

EXAMPLES = {
    "en": (
        "retrieval-augmented generation evaluation",
        "graph neural networks for molecules",
        "low-resource machine translation",
    ),
    "zh": ("大语言模型的幻觉检测", "小样本学习的图像分类", "强化学习的机器人控制"),
}
CATEGORIES = (
    *("cs.AI", "cs.CL", "cs.CR", "cs.CV", "cs.CY", "cs.DB", "cs.DC", "cs.DL", "cs.DS", "cs.HC"),
    *("cs.IR", "cs.LG", "cs.MA", "cs.NE", "cs.RO", "cs.SD", "cs.SE", "cs.SI", "eess.AS", "eess.IV"),
    *("eess.SP", "eess.SY", "math.NA", "math.OC", "math.PR", "math.ST", "stat.AP", "stat.ME"),
    *("stat.ML", "q-bio.BM", "q-bio.GN", "q-bio.NC", "q-bio.QM", "q-fin.ST", "econ.EM"),
    *("quant-ph", "cond-mat.mtrl-sci", "physics.chem-ph", "physics.comp-ph", "astro-ph.CO"),
    *("hep-ph", "hep-th", "gr-qc"),
)
"""Those most asked for; any other can be typed."""
_FIELDS = ("topic", "author", "year_from", "year_to", "categories", "source", "sort", "number")


def source_names() -> dict[str, str]:
    """Return what each source is called."""
    return {"arxiv": "arXiv", "openalex": "OpenAlex", "crossref": "Crossref"}


def show(asked: Asked) -> None:
    """Draw the form, filled with what was last asked; Enter searches."""
    with st.form("search-form", border=False):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.text_input(
                _("Topic"),
                asked.topic,
                key=_key(asked, "topic"),
                max_chars=500,
                placeholder=_("For example: rank fusion for search, or 大语言模型的幻觉检测"),
                icon=":material/search:",
            )
            st.form_submit_button(
                _("Search"),
                type="primary",
                icon=":material/travel_explore:",
                on_click=_submit,
                args=(asked,),
            )
        with st.expander(_label(asked), icon=":material/tune:", key="search-filters"):
            _filters(asked)


def examples() -> None:
    """Draw topics to begin with, in both languages; one click searches."""
    st.caption(_("Topics to begin with"))
    first = current_language()
    topics = sorted(EXAMPLES.items(), key=lambda item: item[0] != first)
    with st.container(horizontal=True, key="search-examples"):
        for topic in (topic for _language, group in topics for topic in group):
            st.button(
                plain(topic),
                key=f"example-{topic}",
                icon=":material/search:",
                on_click=ask,
                args=(Asked(topic),),
            )


def ask(asked: Asked) -> None:
    """Search for this: the page goes by its address. What was chosen is of one search only."""
    before = state().asked
    if before and replace(before, offset=0) != replace(asked, offset=0):
        state().chosen = ()
    state().asked = asked if asked.topic else None
    to_address(asked)


def forget() -> None:
    """Leave the search and what it found."""
    if state().search:
        state().search.stop()
    state().search = None
    ask(Asked())


def limited(asked: Asked) -> bool:
    """Return whether anything but the topic decides what is found."""
    return bool(asked.author or asked.year_from or asked.year_to or asked.categories)


def _label(asked: Asked) -> str:
    years = _years(asked)
    parts = [source_names()[asked.source], years, asked.author, *asked.categories]
    chosen = " · ".join(part for part in parts if part)
    return _("Filters: {chosen}").format(chosen=plain(chosen))


def _years(asked: Asked) -> str:
    if asked.year_from and asked.year_to:
        return f"{asked.year_from}–{asked.year_to}"
    if asked.year_from:
        return _("from {year}").format(year=asked.year_from)
    return _("to {year}").format(year=asked.year_to) if asked.year_to else ""


def _filters(asked: Asked) -> None:
    sorts = {
        "relevance": _("Best fit first"),
        "submitted": _("Newest first"),
        "updated": _("Last changed first"),
    }
    left, middle, right = st.columns(3)
    _one_of(left, asked, "source", _("Source"), source_names())
    _one_of(middle, asked, "sort", _("Sort by"), sorts)
    _one_of(right, asked, "number", _("Papers at a time"), {each: str(each) for each in NUMBERS})
    left, middle, right = st.columns(3)
    _year(left, asked, "year_from", _("From year"))
    _year(middle, asked, "year_to", _("To year"))
    right.text_input(
        _("Author"), asked.author, key=_key(asked, "author"), max_chars=100, placeholder=_("any")
    )
    others = [name for name in asked.categories if name not in CATEGORIES]
    st.multiselect(
        _("Categories (arXiv only; any of them)"),
        [*CATEGORIES, *others],
        list(asked.categories),
        key=_key(asked, "categories"),
        placeholder=_("any; choose or type one"),
        accept_new_options=True,
    )


def _one_of(
    place: DeltaGenerator, asked: Asked, name: str, label: str, words: Mapping[Any, str]
) -> None:
    options = list(words)
    place.selectbox(
        label,
        options,
        options.index(getattr(asked, name)),
        format_func=words.__getitem__,
        key=_key(asked, name),
    )


def _year(place: DeltaGenerator, asked: Asked, name: str, label: str) -> None:
    place.number_input(
        label,
        FIRST_YEAR,
        LAST_YEAR,
        getattr(asked, name),
        step=1,
        key=_key(asked, name),
        placeholder=_("any"),
    )


def _submit(before: Asked) -> None:
    given = {name: st.session_state[_key(before, name)] for name in _FIELDS}
    topic = " ".join(given["topic"].split())
    if not topic:
        state().problem = _("Type a topic first, or press one of the examples.")
        return
    years = sorted(year for year in (given["year_from"], given["year_to"]) if year)
    asked = Asked(
        **{**given, "topic": topic, "author": " ".join(given["author"].split())}
        | {"categories": tuple(name.strip() for name in given["categories"] if name.strip())}
    )
    if len(years) == 2:
        asked = replace(asked, year_from=years[0], year_to=years[1])
    if asked == before:
        state().search = None  # the same again: a failed one is tried again, one found is there
    ask(asked)


def _key(asked: Asked, name: str) -> str:
    """Return the key of a field: after another search it is another, filled with what was asked.

    To set a field's value instead may be lost, where the page is drawn twice in a moment.
    """
    return f"search-{name}-{hash(replace(asked, offset=0))}"
