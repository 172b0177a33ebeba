"""OpenAlex and Crossref as second sources: metadata, abstracts, and where an open copy is.

Written after their public documentation: OpenAlex's `GET /works` (`search`, `filter`, `per-page`,
`page`) and Crossref's `GET /works` (`query.bibliographic`, `filter`, `rows`, `offset`).
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import httpx

from core.config import CROSSREF_URL, OPENALEX_URL
from core.errors import BadInput
from core.ingest.fetch import seconds_asked
from core.ingest.identifiers import arxiv_id, doi, recognise
from core.tools.arxiv_search import FIELD, Query, Results, away, late, malformed, nothing, refused
from core.tools.envelope import ToolFailure
from core.tools.found import Found, line, web
from core.wording import say

SECONDS = httpx.Timeout(30.0, connect=10.0)
MOST_BYTES = 20 * 1024 * 1024
_AGENT = "Lectern (a reading workbench for research papers)"
_OPENALEX_SORTS = {"submitted": "publication_date:desc", "updated": "publication_date:desc"}
_CROSSREF_SORTS = {"submitted": "published", "updated": "updated"}
_TAG = re.compile(r"<[^>]{1,200}>")


class OpenAlex:
    """Searches one OpenAlex."""

    def __init__(self, base_url: str = OPENALEX_URL) -> None:
        self._base = base_url.rstrip("/")

    def search(self, wanted: Query) -> Results:
        """Ask once; without categories, which are arXiv's.

        Raises:
            ToolFailure: with the code of what is wrong.
        """
        query = plain_words(wanted)
        asked: dict[str, str | int] = {
            "search": query,
            "per-page": wanted.number,
            "page": _page(wanted),
        }
        filters = [
            f"from_publication_date:{wanted.year_from}-01-01" if wanted.year_from else "",
            f"to_publication_date:{wanted.year_to}-12-31" if wanted.year_to else "",
            f"raw_author_name.search:{_bare(wanted.author)}" if wanted.author else "",
        ]
        if any(filters):
            asked["filter"] = ",".join(part for part in filters if part)
        if wanted.sort in _OPENALEX_SORTS:
            asked["sort"] = _OPENALEX_SORTS[wanted.sort]
        reply = _ask("OpenAlex", f"{self._base}/works", asked)
        total = _whole(_object(reply.get("meta")).get("count"))
        return _results("OpenAlex", wanted, query, total, reply.get("results"), _of_openalex)


class Crossref:
    """Searches one Crossref."""

    def __init__(self, base_url: str = CROSSREF_URL) -> None:
        self._base = base_url.rstrip("/")

    def search(self, wanted: Query) -> Results:
        """Ask once; without categories, which are arXiv's.

        Raises:
            ToolFailure: with the code of what is wrong.
        """
        query = plain_words(wanted)
        asked: dict[str, str | int] = {
            "query.bibliographic": query,
            "rows": wanted.number,
            "offset": min(wanted.offset, 10_000),
        }
        if wanted.author:
            asked["query.author"] = wanted.author
        dates = [
            f"from-pub-date:{wanted.year_from}" if wanted.year_from else "",
            f"until-pub-date:{wanted.year_to}" if wanted.year_to else "",
        ]
        if any(dates):
            asked["filter"] = ",".join(part for part in dates if part)
        if wanted.sort in _CROSSREF_SORTS:
            asked |= {"sort": _CROSSREF_SORTS[wanted.sort], "order": "desc"}
        message = _object(_ask("Crossref", f"{self._base}/works", asked).get("message"))
        total = _whole(message.get("total-results"))
        return _results("Crossref", wanted, query, total, message.get("items"), _of_crossref)


def plain_words(wanted: Query) -> str:
    """Return a topic without arXiv's fields and operators.

    Raises:
        ToolFailure: INVALID_ARGS when categories of arXiv are asked for, or no word is left.
    """
    if wanted.categories:
        raise ToolFailure(
            "INVALID_ARGS",
            say("Only arXiv knows categories."),
            say("Leave the categories out, or search arXiv."),
        )
    words = wanted.topic
    if FIELD.search(words):
        words = re.sub(r"\b(?:AND|OR|ANDNOT)\b|[()]", " ", FIELD.sub(" ", words))
    words = " ".join(words.split())
    if not re.search(r"\w", words):
        raise ToolFailure(
            "INVALID_ARGS",
            say("The topic {topic!r} has no words.", topic=wanted.topic[:80]),
            say("Name the topic in words."),
        )
    return words


def _page(wanted: Query) -> int:
    """Return the page, from 1, that an offset stands for.

    Raises:
        ToolFailure: INVALID_ARGS for an offset that is not a whole number of pages.
    """
    pages, rest = divmod(wanted.offset, wanted.number)
    if rest:
        raise ToolFailure(
            "INVALID_ARGS",
            say("OpenAlex gives whole pages only."),
            say("Let offset be a multiple of number."),
        )
    return pages + 1


def _bare(name: str) -> str:
    """Return a name without what has a meaning in a filter."""
    return " ".join(re.sub(r"[,|:!&]", " ", name).split())


def _ask(site: str, url: str, asked: Mapping[str, str | int]) -> dict[str, Any]:
    headers = {"User-Agent": _AGENT, "Accept": "application/json"}
    try:
        with (
            httpx.Client(timeout=SECONDS, headers=headers) as client,
            client.stream("GET", url, params=dict(asked)) as response,
        ):
            if response.status_code != 200:
                header = response.headers.get("retry-after", "")
                raise refused(site, response.status_code, seconds_asked(header))
            body = bytearray()
            for part in response.iter_bytes():
                body += part
                if len(body) > MOST_BYTES:
                    raise malformed(site)
    except httpx.TimeoutException as error:
        raise late(site) from error
    except httpx.HTTPError as error:
        raise away(site) from error
    return _read(site, bytes(body))


def _read(site: str, body: bytes) -> dict[str, Any]:
    try:
        reply = httpx.Response(200, content=body).json()
    except (ValueError, RecursionError) as error:
        raise malformed(site) from error
    if not isinstance(reply, dict):
        raise malformed(site)
    return reply


def _results(site: str, wanted: Query, query: str, total: int, rows: Any, read: Any) -> Results:
    if not isinstance(rows, list):
        raise malformed(site)
    papers = [read(row) for row in rows if isinstance(row, dict)]
    papers = [paper for paper in papers if paper["title"]]
    if not papers:
        raise nothing(wanted.topic)
    return Results(query, total, papers)


def _of_openalex(row: Mapping[str, Any]) -> Found:
    location = _object(row.get("best_oa_location"))
    number = _arxiv_of([row.get("doi"), *_addresses(row)])
    works_doi = doi(line(row.get("doi")))
    concepts = [_object(row.get("primary_topic"))]
    return {
        "source": "openalex",
        "arxiv_id": number,
        "version": None,
        "title": line(row.get("title") or row.get("display_name")),
        "authors": [
            name
            for one in _objects(row.get("authorships"))
            if (name := line(_object(one.get("author")).get("display_name")))
        ],
        "year": _whole(row.get("publication_year")) or None,
        "abstract": _from_index(row.get("abstract_inverted_index")),
        "categories": [name for one in concepts if (name := line(one.get("display_name")))],
        "doi": works_doi,
        "url": web(row.get("id")),
        "open_copy": web(location.get("pdf_url") or location.get("landing_page_url")),
    }


def _addresses(row: Mapping[str, Any]) -> list[Any]:
    return [one.get("landing_page_url") for one in _objects(row.get("locations"))]


def _from_index(index: Any) -> str:
    """Return an abstract from OpenAlex's inverted index: word to the places where it stands."""
    placed = [
        (at, word)
        for word, places in _object(index).items()
        for at in (places if isinstance(places, list) else ())
        if isinstance(at, int)
    ]
    return " ".join(line(word) for _, word in sorted(placed))


def _of_crossref(row: Mapping[str, Any]) -> Found:
    works_doi = doi(line(row.get("DOI")))
    copies = [
        web(one.get("URL"))
        for one in _objects(row.get("link"))
        if one.get("content-type") == "application/pdf" and _open(row)
    ]
    abstract = line(_TAG.sub(" ", line(row.get("abstract"))))
    return {
        "source": "crossref",
        "arxiv_id": _arxiv_of([works_doi]),
        "version": None,
        "title": line(_TAG.sub("", _first(row.get("title")))),
        "authors": [name for one in _objects(row.get("author")) if (name := _name(one))],
        "year": _year(row),
        "abstract": re.sub(r"^abstract\W*", "", abstract, flags=re.IGNORECASE),
        "categories": [name for name in [_first(row.get("container-title"))] if name],
        "doi": works_doi,
        "url": f"https://doi.org/{works_doi}" if works_doi else web(row.get("URL")),
        "open_copy": (copies or [""])[0],
    }


def _open(row: Mapping[str, Any]) -> bool:
    """Return whether a work is under one of the licences that let anybody read it."""
    licences = (line(one.get("URL")) for one in _objects(row.get("license")))
    return any("creativecommons.org" in address for address in licences)


def _name(author: Mapping[str, Any]) -> str:
    return line(f"{line(author.get('given'))} {line(author.get('family') or author.get('name'))}")


def _year(row: Mapping[str, Any]) -> int | None:
    for key in ("published", "issued", "created"):
        parts = _object(row.get(key)).get("date-parts")
        if isinstance(parts, list) and parts and isinstance(parts[0], list) and parts[0]:
            found = _whole(parts[0][0])
            if found:
                return found
    return None


def _arxiv_of(addresses: Iterable[Any]) -> str:
    """Return the arXiv id among a work's DOI and addresses, '' when there is none."""
    for address in addresses:
        text = line(address)
        if "arxiv" not in text.lower():
            continue
        try:
            found = recognise(text)
        except BadInput:
            continue
        if found.kind == "arxiv":
            return arxiv_id(found.value)
    return ""


def _first(value: Any) -> str:
    return line(value[0]) if isinstance(value, list) and value else ""


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
