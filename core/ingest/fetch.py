"""Fetching a paper from arXiv: its HTML when that has the full text, else its PDF.

Only arXiv's own hosts are asked, also after a redirect, and never anything that a page refers to.
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, urljoin, urlsplit

import httpx

from core.config import ARXIV_URL
from core.errors import BadInput, Cancelled, Unavailable
from core.ingest.identifiers import Identifier
from core.pace import Pace
from core.wording import say

MAX_BYTES = 100 * 1024 * 1024
MOST_REDIRECTS = 5
TOTAL_SECONDS = 300.0
FULL_PARAGRAPHS, FULL_LETTERS = 5, 4_000
"""A page with less is a stub or an abstract: then the PDF is fetched."""
_HOSTS = frozenset({"arxiv.org", "www.arxiv.org", "export.arxiv.org"})
_TIMEOUT = httpx.Timeout(30.0, connect=10.0)
_AGENT = "Lectern (a reading workbench; one paper at a time, on request)"

Kind = Literal["NETWORK", "TIMEOUT", "RATE_LIMITED", "UPSTREAM_ERROR"]
Report = Callable[[int, int], None]
"""Called with the bytes that have come and, if known, how many there will be (else 0)."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A paper's file as it came."""

    filename: str
    data: bytes


class ArxivUnavailable(Unavailable):
    """arXiv gave nothing now. `kind` says why; `retry_after`: seconds it asks one to wait."""

    code = "ARXIV_UNAVAILABLE"

    def __init__(self, reason: str, kind: Kind, retry_after: float | None = None) -> None:
        super().__init__(
            say("arXiv cannot be reached: {reason}.", reason=reason),
            hint=say("Try again later, or download the paper and add the file."),
        )
        self.kind: Kind = kind
        self.retry_after = retry_after


class ArxivFetcher:
    """Fetches from one arXiv, at its pace; `base_url` may name a mirror, then all that is asked."""

    def __init__(self, pace: Pace, base_url: str = ARXIV_URL) -> None:
        self._base = base_url.rstrip("/")
        self._pace = pace

    def fetch(
        self,
        paper: Identifier,
        report: Report | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Fetched:
        """Return a paper's HTML or PDF.

        Raises:
            BadInput: NOT_FETCHABLE for a DOI; NOT_ON_ARXIV; TOO_LARGE.
            ArxivUnavailable: arXiv cannot be reached or refuses.
            Cancelled: `cancelled` returned true.
        """
        if paper.kind != "arxiv":
            raise not_fetchable(paper)
        name = paper.value + (f"v{paper.version}" if paper.version else "")
        with httpx.Client(timeout=_TIMEOUT, headers={"User-Agent": _AGENT}) as client:
            job = _Job(client, self._base, report or _silent, cancelled or _never, self._pace)
            page = job.get(f"/html/{quote(name)}")
            if page is not None and has_full_text(page):
                return Fetched(f"{name.replace('/', '-')}.html", page)
            data = job.get(f"/pdf/{quote(name)}")
        if data is None:
            raise BadInput(
                say("arXiv has no paper {wanted!r}.", wanted=name),
                hint=say("Check the id and its version."),
                code="NOT_ON_ARXIV",
            )
        return Fetched(f"{name.replace('/', '-')}.pdf", data)


class _Job:
    """The requests for one paper."""

    def __init__(
        self,
        client: httpx.Client,
        base: str,
        report: Report,
        cancelled: Callable[[], bool],
        pace: Pace,
    ) -> None:
        self._client = client
        self._base = base
        self._report = report
        self._cancelled = cancelled
        self._pace = pace
        self._until = time.monotonic() + TOTAL_SECONDS

    def get(self, path: str) -> bytes | None:
        """Return what stands under an address; None when there is nothing."""
        address = self._base + path
        for _ in range(MOST_REDIRECTS + 1):
            self._pace.wait(self._cancelled)
            _check(self._cancelled)
            try:
                found = self._request(address)
            except httpx.HTTPError as error:
                raise _broken(error) from error
            if not isinstance(found, str):
                return found
            address = found
        raise ArxivUnavailable(say("it redirects without end"), "UPSTREAM_ERROR")

    def _request(self, address: str) -> bytes | str | None:
        """Return the body, None for 404, or the address that it redirects to."""
        with self._client.stream("GET", address) as response:
            if response.is_redirect:
                target = str(urljoin(address, response.headers.get("location", "")))
                if not self._allowed(target):
                    raise ArxivUnavailable(say("it redirects to another site"), "UPSTREAM_ERROR")
                return target
            if response.status_code in (404, 410):
                return None
            if response.status_code == 429:
                asked = seconds_asked(response.headers.get("retry-after", ""))
                raise ArxivUnavailable(say("it asks to wait (429)"), "RATE_LIMITED", asked)
            if response.status_code != 200:
                reason = say("it answers {status:d}", status=response.status_code)
                raise ArxivUnavailable(reason, "UPSTREAM_ERROR")
            return self._body(response)

    def _body(self, response: httpx.Response) -> bytes:
        length = response.headers.get("content-length", "")
        total = int(length) if length.isdecimal() and len(length) < 12 else 0
        body = bytearray()
        for part in response.iter_bytes():
            _check(self._cancelled)
            body += part
            if len(body) > MAX_BYTES or total > MAX_BYTES:
                raise BadInput(
                    say("The paper is larger than {most:d} MB.", most=MAX_BYTES // 2**20),
                    hint=say("Download it yourself and add the file."),
                    code="TOO_LARGE",
                )
            if time.monotonic() > self._until:
                raise ArxivUnavailable(say("it is too slow"), "TIMEOUT")
            self._report(len(body), max(total, len(body)))
        return bytes(body)

    def _allowed(self, address: str) -> bool:
        """Return whether an address is of the arXiv that is asked."""
        target, base = urlsplit(address), urlsplit(self._base)
        if (target.scheme, target.netloc) == (base.scheme, base.netloc):
            return True
        ours = base.hostname in _HOSTS and target.hostname in _HOSTS
        return ours and target.scheme == "https" and target.port in (None, 443)


def not_fetchable(paper: Identifier) -> BadInput:
    """Return what to say of a DOI."""
    return BadInput(
        say("A paper cannot be fetched by its DOI: publishers' copies are theirs to give."),
        hint=say("Download it and add the file, or paste its arXiv id if it has one."),
        code="NOT_FETCHABLE",
    )


def has_full_text(page: bytes) -> bool:
    """Return whether an arXiv HTML page has a paper's text: a failed conversion is a stub."""
    text = page.decode("utf-8", "replace")
    if len(re.findall(r"class=\"[^\"]*\bltx_para\b", text)) < FULL_PARAGRAPHS:
        return False
    shown = re.sub(r"<(script|style|math)\b.*?</\1>|<[^>]*>", " ", text, flags=re.S)
    return sum(map(len, shown.split())) >= FULL_LETTERS


def seconds_asked(header: str) -> float | None:
    """Return the seconds of a Retry-After header; None for a date, or none at all."""
    return float(header) if header.isdecimal() and len(header) < 6 else None


def _broken(error: httpx.HTTPError) -> ArxivUnavailable:
    if isinstance(error, httpx.TimeoutException):
        return ArxivUnavailable(say("it does not answer"), "TIMEOUT")
    if isinstance(error, httpx.ConnectError):
        return ArxivUnavailable(say("there is no connection to it"), "NETWORK")
    return ArxivUnavailable(say("the connection broke"), "NETWORK")


def _check(cancelled: Callable[[], bool]) -> None:
    if cancelled():
        raise Cancelled(say("Adding the file was stopped; nothing of it was stored."))


def _never() -> bool:
    return False


def _silent(done: int, total: int) -> None:
    """Report to nobody."""
