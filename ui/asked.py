"""What is searched for, as the page's address says it: reload, back and links keep the search."""

from dataclasses import asdict, dataclass
from typing import Any, get_args

import streamlit as st

from core.tools.arxiv_search import FIRST_YEAR, LAST_YEAR, Query
from core.tools.found import SOURCES

NUMBERS = (10, 20, 50)
SORTS = get_args(Query.model_fields["sort"].annotation)
LAST_OFFSET = 30_000
_LONGEST = {"topic": 500, "author": 100}
_MOST_CATEGORIES = 20


@dataclass(frozen=True, slots=True)
class Asked:
    """A search; its fields are the arguments of `paper_search` and the parameters of the address."""

    topic: str = ""
    author: str = ""
    year_from: int | None = None
    year_to: int | None = None
    categories: tuple[str, ...] = ()
    source: str = "arxiv"
    sort: str = "relevance"
    number: int = 20
    offset: int = 0

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the tool; categories are arXiv's own."""
        given = asdict(self)
        return given if self.source == "arxiv" else {**given, "categories": ()}

    def parameters(self) -> dict[str, str]:
        """Return what of it stands in an address: all that is not as it is anyway."""
        usual, given = asdict(Asked()), asdict(self)
        given["categories"] = ",".join(self.categories)
        return {name: str(value) for name, value in given.items() if value and value != usual[name]}


NAMES = tuple(asdict(Asked()))


def from_address() -> Asked:
    """Return the search that the address names; what makes no sense there is as it is anyway."""
    given = st.query_params
    number = _whole(given.get("number", ""))
    number = number if number in NUMBERS else Asked().number
    offset = min(_whole(given.get("offset", "")), LAST_OFFSET)
    categories = [name.strip() for name in given.get("categories", "").split(",")]
    return Asked(
        topic=_line("topic"),
        author=_line("author"),
        year_from=_year(given.get("year_from", "")),
        year_to=_year(given.get("year_to", "")),
        categories=tuple(name for name in categories if name)[:_MOST_CATEGORIES],
        source=_one_of(given.get("source", ""), SOURCES),
        sort=_one_of(given.get("sort", ""), SORTS),
        number=number,
        offset=offset - offset % number,
    )


def to_address(asked: Asked) -> None:
    """Have the address name a search, and nothing of another."""
    for name in NAMES:
        st.query_params.pop(name, None)
    st.query_params.update(asked.parameters())


def _line(name: str) -> str:
    return " ".join(st.query_params.get(name, "").split())[: _LONGEST[name]]


def _whole(text: str) -> int:
    return int(text) if text.isdecimal() and text.isascii() and len(text) < 6 else 0


def _year(text: str) -> int | None:
    year = _whole(text)
    return year if FIRST_YEAR <= year <= LAST_YEAR else None


def _one_of(text: str, known: tuple[str, ...]) -> str:
    return text if text in known else known[0]
