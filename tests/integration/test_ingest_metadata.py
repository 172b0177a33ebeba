"""Titles, authors, years, languages and identifiers of the shorter of the labelled papers."""

from pathlib import Path

import pypdfium2
import pytest

from core.evals.metadata import rows, score
from core.ingest.worker import Worker
from tests.conftest import ROOT

LABELS = ROOT / "data" / "evals" / "metadata.jsonl"
FLOORS = {
    "title": 0.95,
    "first_author": 0.90,
    "all_authors": 0.80,
    "year": 0.85,
    "language": 0.95,
    "identifiers": 0.95,
}
PAGES = 20


@pytest.mark.slow
def test_metadata_of_real_papers(shared: Path):
    short = [row for row in rows(LABELS) if _pages(shared / row["file"]) <= PAGES]
    worker = Worker()
    found = score((row, worker.parse((shared / row["file"]).read_bytes())[0].meta) for row in short)
    worker.close()
    assert found["title"]["of"] >= 20
    assert {name: found[name]["share"] >= floor for name, floor in FLOORS.items()} == dict.fromkeys(
        FLOORS, True
    ), found


def _pages(path: Path) -> int:
    with pypdfium2.PdfDocument(path) as document:
        return len(document)
