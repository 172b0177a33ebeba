"""What is left of a paper in its summary: how much shorter, how fast, whether true, what is gone.

`summarize_paper` on papers of up to 50 pages and on one long text. Without a model the summary is
sentences of the paper; with one it is the model's, and the same is asked of it.
"""

import re
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from core.errors import BadInput
from core.evidence.quotes import fold
from core.models.budget import estimate_tokens
from core.tools.fulltext import Section
from core.tools.summarize import FIELDS
from core.wording import say

PAPERS = (
    "attention_1706.03762_compiled.pdf",
    "dpr_acl_two_column.pdf",
    "elsevier_j_hydrology_two_column.pdf",
    "jss_v18i03_46p.pdf",
    "mistral_2310.06825_compiled.pdf",
    "pasa_arxiv_2501.10120.pdf",
    "wellawatte_explanations.pdf",
)
LONG = Path("pdf_groundtruth/pypdf_benchmarks/GeoTopo-book.txt")
CHARACTERS = 84_000
_BRACKETS = str.maketrans("[]", "()")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class Read(NamedTuple):
    """A paper's sections, what `summarize_paper` said of it, and the seconds that took."""

    parts: Sequence[Section]
    summary: Mapping[str, Any]
    seconds: float


def run(shared: Path, read: Callable[[str, bytes], Read]) -> dict[str, Any]:
    """Return the figures of each text and those of all.

    Args:
        shared: the folder with `pdf_papers` and `pdf_groundtruth`.
        read: takes a file's name and bytes into an empty library and summarises it.

    Raises:
        BadInput: the shared material is not there.
        LecternError: a file cannot be read or summarised.
    """
    found = {name: measure(read(name, data)) for name, data in _texts(shared).items()}
    numbers = [row["numbers"] for row in found.values()]
    said = sum(row["said"] for row in numbers)
    ratios = [row["ratio"] for row in found.values() if row["ratio"] is not None]
    return {
        "n": len(found),
        "empty": [name for name, row in found.items() if row["ratio"] is None],
        "ratio_median": round(statistics.median(ratios), 4) if ratios else None,
        "ratio_worst": max(ratios, default=None),
        "numbers": said,
        "numbers_in_source": _share(sum(row["in_source"] for row in numbers), said)
        if said
        else None,
        "papers": found,
    }


def _texts(shared: Path) -> dict[str, bytes]:
    try:
        texts = {name: (shared / "pdf_papers" / name).read_bytes() for name in PAPERS}
        long = (shared / LONG).read_text(encoding="utf-8")[:CHARACTERS]
    except OSError as error:
        raise BadInput(say("There is no labelled set {path}.", path=str(shared))) from error
    return {**texts, LONG.name: long.encode()}


def timed(parts: Sequence[Section], summarise: Callable[[], Mapping[str, Any]]) -> Read:
    """Summarise, and say how long it took.

    Raises:
        BadInput: the tool failed.
    """
    began = time.perf_counter()
    envelope = summarise()
    if not envelope["ok"] and envelope["error"]["code"] == "EMPTY_RESULT":
        nothing: dict[str, Any] = {"mode": "extractive", "fields": {name: [] for name in FIELDS}}
        return Read(parts, nothing, time.perf_counter() - began)
    if not envelope["ok"]:
        raise BadInput(envelope["error"]["message"], hint=envelope["error"]["hint"])
    return Read(parts, envelope["data"], time.perf_counter() - began)


def measure(read: Read) -> dict[str, Any]:
    """Return the figures of one paper.

    `ratio`: characters after / before, None where nothing was found to say. `numbers`: those the summary says, how many of them stand in
    the source, and how many different ones the source has that the summary leaves out. `sentences`:
    how many, and how many stand in the source as they are. `left_out`: fields without a sentence,
    and sections none of whose sentences is in the summary.
    """
    fields = read.summary["fields"]
    told = [text for texts in fields.values() for text in texts]
    source = "\n".join(part.text for part in read.parts)
    there = set(_NUMBER.findall(source))
    said = [number for text in told for number in _NUMBER.findall(text)]
    plain = [_plain(part.text) for part in read.parts]
    needles = [_plain(text) for text in told]
    return {
        "mode": read.summary["mode"],
        "seconds": round(read.seconds, 2),
        "characters": {"before": len(source), "after": sum(map(len, told))},
        "tokens_estimated": {
            "before": estimate_tokens(source),
            "after": sum(map(estimate_tokens, told)),
        },
        "ratio": _share(sum(map(len, told)), len(source)) if told else None,
        "numbers": {
            "said": len(said),
            "in_source": sum(number in there for number in said),
            "not_in_source": sorted({number for number in said if number not in there}),
            "left_out": len(there - set(said)),
            "of_source": len(there),
        },
        "sentences": {
            "n": len(told),
            "as_in_source": sum(any(one in text for text in plain) for one in needles),
        },
        "left_out": {
            "fields": [name for name, texts in fields.items() if not texts],
            "sections": sum(not any(one in text for one in needles) for text in plain),
            "of_sections": len(plain),
        },
        "dropped": read.summary["dropped"],
    }


def _plain(text: str) -> str:
    """Return text as quotes are compared; square brackets are shown as round ones."""
    return fold(text.translate(_BRACKETS))[0]


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4)
