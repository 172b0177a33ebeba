"""Searching arXiv through its API: topic, years, categories; every kind of failure told apart."""

import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import arxiv
import requests
from lxml import etree
from pydantic import BaseModel, ConfigDict, Field, field_validator
from requests.adapters import HTTPAdapter

from core.config import ARXIV_API_URL
from core.evidence.language import is_chinese
from core.ingest.fetch import seconds_asked
from core.ingest.identifiers import arxiv_id
from core.pace import Pace
from core.tools.envelope import Code, Envelope, ToolFailure, arguments, enveloped
from core.tools.found import Found
from core.tools.retry import TRIES, retried
from core.wording import say

SOURCE = "arxiv"
SECONDS = (10.0, 30.0)
"""To connect, and to wait for the next bytes."""
FIRST_YEAR, LAST_YEAR = 1900, 2100
FIELD = re.compile(r"\b(?:ti|au|abs|co|jr|cat|rn|id|all):")
"""Where a query names a field as arXiv's API does."""
_CATEGORY = re.compile(r"[a-z-]+(?:\.[A-Za-z-]+)?")
_TOTAL = "{http://a9.com/-/spec/opensearch/1.1/}totalResults"
_SORTS = {
    "relevance": arxiv.SortCriterion.Relevance,
    "submitted": arxiv.SortCriterion.SubmittedDate,
    "updated": arxiv.SortCriterion.LastUpdatedDate,
}


class Query(BaseModel):
    """What is looked for."""

    model_config = ConfigDict(extra="forbid")

    topic: str = Field(
        min_length=1,
        max_length=500,
        description="Words, all of which a paper must have; phrases in quotation marks. "
        "Or a query in arXiv's own words: ti:…, au:…, abs:…, AND, OR, ANDNOT.",
    )
    author: str = Field("", max_length=100, description="A name, or the beginning of one.")
    year_from: int | None = Field(None, ge=FIRST_YEAR, le=LAST_YEAR)
    year_to: int | None = Field(None, ge=FIRST_YEAR, le=LAST_YEAR)
    categories: tuple[str, ...] = Field((), description="Of arXiv, such as cs.CL; any of them.")
    number: int = Field(20, ge=1, le=100, description="How many papers at most.")
    offset: int = Field(0, ge=0, le=30_000, description="How many of the first to leave out.")
    sort: Literal["relevance", "submitted", "updated"] = "relevance"

    @field_validator("categories")
    @classmethod
    def _known(cls, found: tuple[str, ...]) -> tuple[str, ...]:
        for name in found:
            if not _CATEGORY.fullmatch(name):
                raise ValueError(f"{name[:40]!r} is no category of arXiv, such as cs.CL")
        return found


@dataclass(frozen=True, slots=True)
class Results:
    """A page of results: the query as it was sent, how many papers it has in all, and these."""

    query: str
    total: int
    papers: list[Found]


class ArxivSearch:
    """Searches one arXiv. Thread-safe; every request waits for its turn (`pace`)."""

    def __init__(self, pace: Pace, base_url: str = ARXIV_API_URL) -> None:
        self._pace = pace
        self._base = base_url

    def __call__(
        self,
        cancelled: threading.Event | None = None,
        *,
        tries: int = TRIES,
        first_pause: float = 1.0,
        **given: Any,
    ) -> Envelope:
        """Return the papers that arXiv finds for a `Query` (its fields are the named arguments).

        Data: `query` as it was sent, `total`, and `papers`, best first.
        """
        stop = cancelled or threading.Event()

        def work() -> dict[str, Any]:
            found = self.search(arguments(Query, given), stop)
            return {"query": found.query, "total": found.total, "papers": found.papers}

        return retried(lambda: enveloped(SOURCE, work), stop, tries=tries, first_pause=first_pause)

    def search(self, wanted: Query, cancelled: threading.Event) -> Results:
        """Ask once.

        Raises:
            ToolFailure: with the code of what is wrong.
            Cancelled: it was stopped while it waited for its turn.
        """
        query = written(wanted)
        client = _Client(self._base, wanted.number, self._turn(cancelled))
        search = arxiv.Search(
            query, max_results=wanted.offset + wanted.number, sort_by=_SORTS[wanted.sort]
        )
        papers = list(_papers(client, search, wanted.offset))
        if not papers:
            raise nothing(wanted.topic)
        return Results(query, client.total, papers)

    def paper(self, number: str, cancelled: threading.Event) -> Found:
        """Return what arXiv says of the paper with an id.

        Raises:
            ToolFailure: NOT_FOUND, or the code of what else is wrong.
            Cancelled: it was stopped while it waited for its turn.
        """
        client = _Client(self._base, 1, self._turn(cancelled))
        found = list(_papers(client, arxiv.Search(id_list=[number], max_results=1), 0))
        if not found:
            raise ToolFailure(
                "NOT_FOUND",
                say("arXiv has no paper {wanted!r}.", wanted=number),
                say("Check the id and its version."),
            )
        return found[0]

    def _turn(self, cancelled: threading.Event) -> Callable[[], None]:
        return lambda: self._pace.wait(cancelled.is_set)


def nothing(topic: str) -> ToolFailure:
    """Return what to say when a search finds nothing."""
    return ToolFailure(
        "EMPTY_RESULT",
        say("No paper on {topic!r} was found within these limits.", topic=topic[:80]),
        say("Use fewer or more general words, or widen years and categories."),
    )


def written(wanted: Query) -> str:
    """Return a query as arXiv's API understands it.

    Raises:
        ToolFailure: INVALID_ARGS for a topic without a word that arXiv could find.
    """
    parts = [_topic(wanted.topic)]
    if wanted.author:
        words = re.findall(r"[^\W_]+(?:[-'][^\W_]+)*", wanted.author)
        parts.append(" AND ".join(f"au:{word}" for word in words))
    if wanted.categories:
        parts.append(" OR ".join(f"cat:{name}" for name in wanted.categories))
    if wanted.year_from or wanted.year_to:
        first, last = wanted.year_from or FIRST_YEAR, wanted.year_to or LAST_YEAR
        parts.append(f"submittedDate:[{first}01010000 TO {last}12312359]")
    parts = [part for part in parts if part]
    return parts[0] if len(parts) == 1 else " AND ".join(f"({part})" for part in parts)


def _topic(topic: str) -> str:
    if FIELD.search(topic):
        return " ".join(topic.split())
    if is_chinese(topic):
        raise ToolFailure(
            "INVALID_ARGS",
            say("arXiv's papers are found by English words."),
            say("Give the topic in English."),
        )
    pieces = re.findall(r'"([^"]+)"|([^\W_]+(?:[-\'][^\W_]+)*)', topic)
    words = [f'all:"{phrase}"' if phrase else f"all:{word}" for phrase, word in pieces]
    if not words:
        raise ToolFailure(
            "INVALID_ARGS",
            say("The topic {topic!r} has no words.", topic=topic[:80]),
            say("Name the topic in words."),
        )
    return " AND ".join(words)


def _papers(client: "_Client", search: arxiv.Search, offset: int) -> Iterator[Found]:
    """Yield what the API gives.

    Raises:
        ToolFailure: it gives nothing that can be used.
    """
    try:
        for found in client.results(search, offset):
            yield _paper(found)
    except arxiv.HTTPError as error:
        raise refused("arXiv", error.status, client.retry_after) from error
    except requests.Timeout as error:
        raise late("arXiv") from error
    except requests.RequestException as error:
        raise away("arXiv") from error
    except (arxiv.ArxivError, _Malformed) as error:
        raise malformed("arXiv") from error


def refused(site: str, status: int, retry_after: float | None) -> ToolFailure:
    """Return what to say of an answer that is not 200."""
    if status == 429 or (status == 503 and retry_after is not None):
        return ToolFailure(
            "RATE_LIMITED",
            say("{site} asks to wait before the next search.", site=site),
            say("Wait a moment and try again."),
            retry_after=retry_after,
        )
    code: Code = "UPSTREAM_ERROR" if status >= 500 else "INVALID_ARGS"
    hint = (
        say("Try again in a while.") if status >= 500 else say("Write the topic in simpler words.")
    )
    return ToolFailure(code, say("{site} answers {status:d}.", site=site, status=status), hint)


def late(site: str) -> ToolFailure:
    """Return what to say of a site that is too slow."""
    hint = say("Try again in a while.")
    return ToolFailure("TIMEOUT", say("{site} does not answer in time.", site=site), hint)


def away(site: str) -> ToolFailure:
    """Return what to say of a site that cannot be reached."""
    hint = say("Check the connection and try again.")
    return ToolFailure("NETWORK", say("{site} cannot be reached.", site=site), hint)


def malformed(site: str) -> ToolFailure:
    """Return what to say of an answer that cannot be read."""
    return ToolFailure(
        "PARSE_ERROR",
        say("{site} answered with something that is no list of papers.", site=site),
        say("Try again later, or with other words."),
    )


def _paper(found: arxiv.Result) -> Found:
    name = found.entry_id.rpartition("/abs/")[2]
    number, _, version = name.partition("v") if re.search(r"v\d+$", name) else (name, "", "")
    return {
        "source": SOURCE,
        "arxiv_id": arxiv_id(number) or number,
        "version": int(version) if version.isdecimal() else None,
        "title": " ".join(found.title.split()),
        "authors": [author.name for author in found.authors],
        "year": found.published.year,
        "abstract": " ".join(found.summary.split()),
        "categories": list(found.categories),
        "doi": found.doi or "",
        "url": f"https://arxiv.org/abs/{name}",
        "open_copy": f"https://arxiv.org/pdf/{name}",
    }


class _Malformed(Exception):
    """The body is no Atom feed."""


class _Client(arxiv.Client):  # type: ignore[misc]  # the package has no types
    """The package's client at another address, with a time limit, our own retries and pace."""

    def __init__(self, base_url: str, number: int, turn: Callable[[], None]) -> None:
        super().__init__(page_size=number, delay_seconds=0, num_retries=0)
        self.query_url_format = f"{base_url}?{{}}"
        self.retry_after: float | None = None
        self.total = 0
        self._session.max_redirects = 0  # only the address that is set is asked
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, _Patient(turn))
        self._session.hooks["response"].append(self._look)

    def _look(self, response: requests.Response, *_arguments: Any, **_named: Any) -> None:
        self.retry_after = seconds_asked(response.headers.get("Retry-After", ""))
        if response.status_code == 200:
            self.total = _total(response.content)


def _total(body: bytes) -> int:
    """Return how many results a feed says there are: the package takes anything else for none.

    Raises:
        _Malformed: it is no feed.
    """
    try:
        root = etree.fromstring(body, etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError as error:
        raise _Malformed from error
    if root is None or etree.QName(root).localname != "feed":
        raise _Malformed
    told = root.findtext(_TOTAL) or ""
    return int(told) if told.isdecimal() and len(told) < 12 else 0


class _Patient(HTTPAdapter):
    """Waits for its turn, and then for an answer so long and no longer."""

    def __init__(self, turn: Callable[[], None]) -> None:
        super().__init__()
        self._turn = turn

    def send(self, *given: Any, **named: Any) -> requests.Response:
        self._turn()
        return super().send(*given, **{**named, "timeout": SECONDS})
