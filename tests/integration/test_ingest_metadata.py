"""Titles, authors, years and languages of real papers against labels made by reading them.

`data/evals/metadata.jsonl`: every field as the document itself prints it; year null and authors
empty where it does not say.
"""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from core.ingest.worker import Worker

ROOT = Path(__file__).resolve().parents[2]
LABELS = ROOT / "data" / "evals" / "metadata.jsonl"
FLOORS = {"title": 0.90, "first author": 0.90, "all authors": 0.80, "year": 0.85, "language": 0.95}


def plain(text: str) -> str:
    return re.sub(r"[\W_]", "", text.casefold())


def same_title(found: str, wanted: str) -> bool:
    a, b = plain(found), plain(wanted)
    return bool(a) and (a == b or (min(len(a), len(b)) > 0.6 * len(b) and (a in b or b in a)))


@pytest.mark.slow
def test_metadata_of_real_papers(shared: Path):
    rows = [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()]
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    wrong = []
    worker = Worker()
    for row in rows:
        meta = worker.parse((shared / row["file"]).read_bytes())[0].meta
        names = [plain(name) for name in meta.authors]
        wanted = [plain(name) for name in row["authors"]]
        checks = {
            "title": same_title(meta.title, row["title"]),
            "first author": (wanted[0] in names) if wanted else not names,
            "all authors": set(wanted) == set(names),
            "language": meta.language == row["language"],
        }
        if row["year"] is not None:
            checks["year"] = meta.year == row["year"]
        for name, good in checks.items():
            total[name] += 1
            right[name] += good
            if not good:
                wrong.append(f"{row['file']} {name}: {meta.title!r} {meta.authors} {meta.year}")
    worker.close()
    shares = {name: right[name] / total[name] for name in total}
    print("\n".join(wrong), shares)  # noqa: T201 - the figures of the evaluation
    assert all(shares[name] >= floor for name, floor in FLOORS.items()), (shares, wrong)
