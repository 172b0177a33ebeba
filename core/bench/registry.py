"""The benches by name, as `python -m core bench NAME` runs them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.bench import answer, ingest, many, memory, retrieval, review, tokens, ui
from core.errors import BadInput

_SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
PAPER = "pdf_papers/wellawatte_explanations.pdf"
"""41 pages: what adding a paper and answering from it are measured on."""
LONG_PAPER = "pdf_papers/jss_v18i03_46p.pdf"
"""More than the 84,000 characters that `bench tokens` cuts it to."""

BOOK = "pdf_papers/freeculture_352p.pdf"
"""What `bench ui` turns pages of; without it, the longest of the sample papers."""


def run(name: str, data: Path | None) -> dict[str, Any]:
    """Run one bench and return its figures; `data` is a PDF, or a folder of the shared material.

    Raises:
        BadInput: the material is not there.
    """
    return BENCHES[name](data)


def _ingest(data: Path | None) -> dict[str, Any]:
    return ingest.run(_paper(data))


def _answer(data: Path | None) -> dict[str, Any]:
    return answer.run(_paper(data))


def _tokens(data: Path | None) -> dict[str, Any]:
    labelled = _SHARED / "qa_qasper"
    return tokens.run(_paper(data, LONG_PAPER), labelled if labelled.is_dir() else None)


def _retrieval(data: Path | None) -> dict[str, Any]:
    return retrieval.run()


def _memory(data: Path | None) -> dict[str, Any]:
    return memory.run()


def _review(data: Path | None) -> dict[str, Any]:
    return review.run()


def _ui(data: Path | None) -> dict[str, Any]:
    if data is None and not (_SHARED / BOOK).is_file():
        return ui.run()
    return ui.run(_paper(data, BOOK))


def _many(data: Path | None) -> dict[str, Any]:
    return many.run(_paper(data, BOOK))


BENCHES: dict[str, Callable[[Path | None], dict[str, Any]]] = {
    "ingest": _ingest,
    "many": _many,
    "retrieval": _retrieval,
    "answer": _answer,
    "memory": _memory,
    "review": _review,
    "tokens": _tokens,
    "ui": _ui,
}


def _paper(data: Path | None, default: str = PAPER) -> Path:
    path = data or _SHARED / default
    if not path.is_file():
        raise BadInput(f"There is no paper at {path.name}.", hint="Name a PDF with --data.")
    return path
