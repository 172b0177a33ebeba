"""Searching arXiv through its API: topic, years, categories; every kind of failure told apart."""

import re
import threading
from collections.abc import Iterator
from typing import Any, Literal

import arxiv
import requests
from lxml import etree
from pydantic import BaseModel, ConfigDict, Field, field_validator
from requests.adapters import HTTPAdapter

from core.config import ARXIV_API_URL
from core.evidence.language import is_chinese
from core.ingest.identifiers import arxiv_id
from core.tools.envelope import Code, Envelope, ToolFailure, arguments, enveloped
from core.tools.pace import Pace
from core.tools.retry import TRIES, retried
from core.wording import say

SOURCE = "arxiv"
SECONDS = (10.0, 30.0)
"""To connect, and to wait for the next bytes."""
_FIELD = re.compile(r"\b(?:ti|au|abs|co|jr|cat|rn|id|all):")
_CATEGORY = re.compile(r"[a-z-]+(?:\.[A-Za-z-]+)?")
_SORTS = {
    "relevance": arxiv.SortCriterion.Relevance,
    "submitted": arxiv.SortCriterion.SubmittedDate,
    "updated": arxiv.SortCriterion.LastUpdatedDate,
}


class Query(BaseModel):
    """What is looked for.

    `topic`: words, "phrases" in quotation marks, or a query in arXiv's own words (`ti:…`, AND, OR).
    """

    model_config = ConfigDict(extra="forbid")

    topic: str = Field(min_length=1, max_length=500)
    year_from: int | None = Field(None, ge=1991, le=2100)
    year_to: int | None = Field(None, ge=1991, le=2100)
    categories: tuple[str, ...] = ()
    number: int = Field(20, ge=1, le=100)
    offset: int = Field(0, ge=0, le=30_000)
    sort: Literal["relevance", "submitted", "updated"] = "relevance"

    @field_validator("categories")
    @classmethod
    def _known(cls, found: tuple[str, ...]) -> tuple[str, ...]:
        for name in found:
            if not _CATEGORY.fullmatch(name):
                raise ValueError(f"{name[:40]!r} is no category of arXiv, such as cs.CL")
        return found


class ArxivSearch:
    """Searches one arXiv. Thread-safe; one request in three seconds (`pace`)."""

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

        Data: `query` as it was sent, `papers` best first, each with `arxiv_id` (without version),
        `version`, `title`, `authors`, `year`, `abstract`, `categories`, `doi`, `url`.
        """
        stop = cancelled or threading.Event()
        return retried(
            lambda: enveloped(SOURCE, lambda: self._search(given, stop)),
            stop,
            tries=tries,
            first_pause=first_pause,
        )

    def _search(self, given: dict[str, Any], cancelled: threading.Event) -> dict[str, Any]:
        wanted: Query = arguments(Query, given)
        query = written(wanted)
        self._pace.wait(cancelled)
        client = _Client(self._base, wanted.number)
        search = arxiv.Search(
            query, max_results=wanted.offset + wanted.number, sort_by=_SORTS[wanted.sort]
        )
        papers = list(_papers(client, search, wanted.offset))
        if not papers:
            raise ToolFailure(
                "EMPTY_RESULT",
                say("arXiv has no paper on {topic!r} with these limits.", topic=wanted.topic[:80]),
                say("Use fewer or more general words, or widen years and categories."),
            )
        return {"query": query, "papers": papers}


def written(wanted: Query) -> str:
    """Return a query as arXiv's API understands it.

    Raises:
        ToolFailure: INVALID_ARGS for a topic without a word that arXiv could find.
    """
    parts = [_topic(wanted.topic)]
    if wanted.categories:
        parts.append(" OR ".join(f"cat:{name}" for name in wanted.categories))
    if wanted.year_from or wanted.year_to:
        first, last = wanted.year_from or 1991, wanted.year_to or 2100
        parts.append(f"submittedDate:[{first}01010000 TO {last}12312359]")
    return parts[0] if len(parts) == 1 else " AND ".join(f"({part})" for part in parts)


def _topic(topic: str) -> str:
    if _FIELD.search(topic):
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


def _papers(client: "_Client", search: arxiv.Search, offset: int) -> Iterator[dict[str, Any]]:
    """Yield what the API gives.

    Raises:
        ToolFailure: it gives nothing that can be used.
    """
    try:
        for found in client.results(search, offset):
            yield _paper(found)
    except arxiv.HTTPError as error:
        raise _refused(error.status, client.retry_after) from error
    except requests.Timeout as error:
        hint = say("Try again in a while.")
        raise ToolFailure("TIMEOUT", say("arXiv does not answer in time."), hint) from error
    except requests.RequestException as error:
        raise ToolFailure(
            "NETWORK", say("arXiv cannot be reached."), say("Check the connection and try again.")
        ) from error
    except (arxiv.ArxivError, _Malformed) as error:
        raise ToolFailure(
            "PARSE_ERROR",
            say("arXiv answered with something that is no list of papers."),
            say("Try again later, or with other words."),
        ) from error


def _refused(status: int, retry_after: float | None) -> ToolFailure:
    if status == 429 or (status == 503 and retry_after is not None):
        return ToolFailure(
            "RATE_LIMITED",
            say("arXiv asks to wait before the next search."),
            say("Wait a moment and try again."),
            retry_after=retry_after,
        )
    code: Code = "UPSTREAM_ERROR" if status >= 500 else "INVALID_ARGS"
    hint = (
        say("Try again in a while.") if status >= 500 else say("Write the topic in simpler words.")
    )
    return ToolFailure(code, say("arXiv answers {status:d}.", status=status), hint)


def _paper(found: arxiv.Result) -> dict[str, Any]:
    name = found.entry_id.rpartition("/abs/")[2]
    number, _, version = name.partition("v") if re.search(r"v\d+$", name) else (name, "", "")
    return {
        "arxiv_id": arxiv_id(number) or number,
        "version": int(version) if version.isdecimal() else None,
        "title": " ".join(found.title.split()),
        "authors": [author.name for author in found.authors],
        "year": found.published.year,
        "abstract": " ".join(found.summary.split()),
        "categories": list(found.categories),
        "doi": found.doi or "",
        "url": f"https://arxiv.org/abs/{name}",
    }


class _Malformed(Exception):
    """The body is no Atom feed."""


class _Client(arxiv.Client):  # type: ignore[misc]  # the package has no types
    """The package's client at another address, with a time limit and our own retries."""

    def __init__(self, base_url: str, number: int) -> None:
        super().__init__(page_size=number, delay_seconds=0, num_retries=0)
        self.query_url_format = f"{base_url}?{{}}"
        self.retry_after: float | None = None
        self._session.max_redirects = 0  # only the address that is set is asked
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, _Patient())
        self._session.hooks["response"].append(self._look)

    def _look(self, response: requests.Response, *_arguments: Any, **_named: Any) -> None:
        asked = response.headers.get("Retry-After", "")
        self.retry_after = float(asked) if asked.isdecimal() and len(asked) < 6 else None
        if response.status_code == 200 and not _is_feed(response.content):
            raise _Malformed


def _is_feed(body: bytes) -> bool:
    """Return whether a body is an Atom feed: the package takes anything else for no results."""
    try:
        root = etree.fromstring(body, etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError:
        return False
    return root is not None and etree.QName(root).localname == "feed"


class _Patient(HTTPAdapter):
    """Waits so long and no longer."""

    def send(self, *given: Any, **named: Any) -> requests.Response:
        return super().send(*given, **{**named, "timeout": SECONDS})
