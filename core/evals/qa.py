"""Questions over real papers: is the evidence found, cited on the right page, and really there?

Reads the labelled questions of `data/evals` (layout in its README) and trains on nothing.
"""

import logging
import re
import statistics
import time
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol
from uuid import UUID

from pypdf import PdfReader
from pypdf.errors import PyPdfError

from core.errors import BadInput
from core.evals.sets import read_jsonl
from core.types import Citation, Hit

_HAN = re.compile("[\u3400-\u9fff]")
TOP = 5
SHINGLE = 8
"""Characters. Two readers order columns differently; runs of eight survive that, pages do not."""
SHORT = 40
"""Characters: a quote below it is compared in runs half as long."""
ON_PAGE = 0.75
"""The share of a quote's shingles that its page must have."""


class Answered(Protocol):
    """What `ask` returns: an answer's citations, and whether it said that the paper is silent."""

    @property
    def citations(self) -> Sequence[Citation]:
        """The numbered passages."""
        ...

    @property
    def refused(self) -> bool:
        """Whether the answer is that there is none."""
        ...


Ingest = Callable[[Path], UUID]
Search = Callable[[str, UUID, int], Sequence[Hit]]
Ask = Callable[[str, UUID], Answered]


@dataclass(frozen=True, slots=True)
class Question:
    """One labelled question; `file` is relative to the folder of papers."""

    id: str
    file: str
    question: str
    lang: str
    answerable: bool
    pages: tuple[int, ...]
    must_match: str

    def matches(self, page: int, passage: str) -> bool:
        """Return whether a passage of that page holds the evidence."""
        return page in self.pages and re.search(self.must_match, joined(passage)) is not None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one question. `quotes`: on its page, or None where pypdf cannot read it."""

    question: Question
    evidence_hit: bool
    citation_hit: bool
    refused: bool
    quotes: tuple[bool | None, ...]
    seconds: float


def read_questions(path: Path) -> list[Question]:
    """Read a set of questions. Raises BadInput naming what is wrong with a row."""
    found = []
    for row in read_jsonl(path):
        try:
            question = Question(
                id=str(row["id"]),
                file=row["file"],
                question=row["question"],
                lang=row["lang"],
                answerable=bool(row["answerable"]),
                pages=tuple(row["pages"]),
                must_match=row["must_match"],
            )
            re.compile(question.must_match)
        except (KeyError, TypeError, re.error) as error:
            raise BadInput(f"{path.name}, {row.get('id', '?')}: {error!r}") from error
        found.append(question)
    return found


def run(
    questions: Path, papers: Path, *, ingest: Ingest, search: Search, ask: Ask
) -> dict[str, Any]:
    """Ask every question of its paper and return the figures, in all and by language.

    Args:
        questions: a JSONL file of labelled questions.
        papers: the folder that the questions' `file` is relative to.
        ingest: adds a PDF and returns its paper's id.
        search: (question, paper, k) to the k best hits.
        ask: (question, paper) to an answer; timed.

    Raises:
        BadInput: the questions are malformed, or a paper they name is not in `papers`.
    """
    return figures(outcomes(read_questions(questions), papers, ingest, search, ask))


def outcomes(
    questions: Sequence[Question], papers: Path, ingest: Ingest, search: Search, ask: Ask
) -> list[Outcome]:
    """Ask every question and return what came of each."""
    paths = {question.file: papers / question.file for question in questions}
    for name, path in paths.items():
        if not path.is_file():
            raise BadInput(f"{name} is not in {papers}", hint="Name the folder with --papers.")
    ids = {name: ingest(path) for name, path in paths.items()}
    page_text = _page_reader()
    results = []
    for question in questions:
        paper, path = ids[question.file], paths[question.file]
        hits = search(question.question, paper, TOP)
        started = time.perf_counter()
        answered = ask(question.question, paper)
        seconds = time.perf_counter() - started
        cited = answered.citations
        results.append(
            Outcome(
                question,
                any(question.matches(h.chunk.page, h.chunk.text) for h in hits[:TOP]),
                any(question.matches(c.page, c.quote) for c in cited),
                answered.refused,
                tuple(on_page(c.quote, page_text(path, c.page)) for c in cited),
                seconds,
            )
        )
    return results


def figures(results: Sequence[Outcome]) -> dict[str, Any]:
    """Return the figures of `outcomes`; None where there is nothing to divide by."""
    by_language = {
        lang: _figures([r for r in results if r.question.lang == lang])
        for lang in sorted({r.question.lang for r in results})
    }
    return {**_figures(results), "by_language": by_language}


def _figures(results: Sequence[Outcome]) -> dict[str, Any]:
    answerable = [r for r in results if r.question.answerable]
    unanswerable = [r for r in results if not r.question.answerable]
    checked = [quote for r in results for quote in r.quotes if quote is not None]
    return {
        "n": len(results),
        "answerable": len(answerable),
        "evidence_hit@5": _share(r.evidence_hit for r in answerable),
        "citation_page_hit": _share(r.citation_hit and not r.refused for r in answerable),
        "quote_on_page": _share(checked),
        "quotes": len(checked),
        "quotes_unreadable_by_pypdf": sum(q is None for r in results for q in r.quotes),
        "refused_unanswerable": _share(r.refused for r in unanswerable),
        "answered_answerable": _share(not r.refused for r in answerable),
        "seconds_p50": (
            round(statistics.median(r.seconds for r in results), 4) if results else None
        ),
    }


def joined(text: str) -> str:
    """Return `text` in NFKC, words hyphenated at line ends mended, on one line."""
    plain = unicodedata.normalize("NFKC", text).replace("\u00ad", "")
    return " ".join(re.sub(r"(?<=\w)[-‐]\s*\n\s*(?=[a-z])", "", plain).split())


def on_page(quote: str, page: str) -> bool | None:
    """Return whether `quote` stands on `page` as another reader read it; None if it could not.

    Compared are runs of eight letters and digits, of four in a short quote, where a single glyph
    that the other reader takes for another one would spoil most longer runs. Symbols and Chinese
    characters that it gives nowhere on the page (a font it cannot decode) are left out. A page
    counts as unreadable when it lacks most of the quote's characters, the Chinese ones if it has
    any (fonts without a usable encoding).
    """
    needle, hay = _letters(quote), _letters(page)
    if not needle or needle in hay:
        return True
    characters = set(_HAN.findall(needle)) or set(needle)
    if len(characters & set(hay)) < 0.5 * len(characters):
        return None
    needle = "".join(c for c in needle if c.isascii() or c in set(hay))
    length = SHINGLE if len(needle) >= SHORT else SHINGLE // 2
    runs = [needle[i : i + length] for i in range(max(1, len(needle) - length + 1))]
    return sum(run in hay for run in runs) >= ON_PAGE * len(runs)


def _letters(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(character for character in plain if character.isalnum())


def _page_reader() -> Callable[[Path, int], str]:
    readers: dict[Path, PdfReader] = {}
    logging.getLogger("pypdf").setLevel(logging.ERROR)  # it warns once for every font

    @cache
    def read(path: Path, page: int) -> str:
        try:
            reader = readers.setdefault(path, PdfReader(path))
            return reader.pages[page - 1].extract_text()
        except (PyPdfError, IndexError, KeyError, ValueError):
            return ""

    return read


def _share(values: Iterable[bool]) -> float | None:
    counted = list(values)
    return round(sum(counted) / len(counted), 4) if counted else None
