"""How near the text we read is to the reference text of a paper, beside two plain readers.

Two figures a file. `similarity`: 1 minus the number of insertions and deletions between the two
texts' letters and digits over their joint length (the normalised Indel similarity), which counts
wrong characters, what is missing or too much, and wrong order alike. `order`: of the runs of four words
that occur once in either text, the share that stands in one increasing sequence (the longest
increasing subsequence), which is order alone.
"""

import io
import logging
import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pypdfium2

from core.errors import BadInput, Unavailable
from core.ingest.worker import Worker
from core.wording import say

PAIRS = {
    "pdf_papers/attention_1706.03762_compiled.pdf": "arxiv_triples/1706.03762/docling_groundtruth.md",
    "pdf_papers/docling_code_and_formula.pdf": "pdf_groundtruth/docling/code_and_formula.md",
    "pdf_papers/elsevier_cas_2501.01300v2_compiled.pdf": "arxiv_triples/arXiv-2501.01300v2/docling_groundtruth.md",
    "pdf_papers/geotopo_117p_german_math.pdf": "pdf_groundtruth/pypdf_benchmarks/GeoTopo-book.txt",
    "pdf_papers/ibm_redpaper_18p.pdf": "pdf_groundtruth/docling/redp5110_sampled.md",
    "pdf_papers/mistral_2310.06825_compiled.pdf": "arxiv_triples/2310.06825/docling_groundtruth.md",
    "pdf_papers/otsl_2305.03393_compiled.pdf": "pdf_groundtruth/docling/2305.03393v1.md",
    "pdf_papers/otsl_2305.03393_page9_table.pdf": "pdf_groundtruth/docling/2305.03393v1-pg9.md",
}  # fmt: skip
"""PDFs of the shared material with their reference texts, both under its folder."""
_RUN = 4
TIE = 0.005
KEEPS_HEADS = frozenset({"geotopo_117p_german_math.pdf"})
"""Files whose reference text has the running heads."""
Reader = Callable[[bytes], str]


def run(shared: Path) -> dict[str, Any]:
    """Return for each file the two figures of ours, plain pypdf and plain pdfium.

    Raises:
        BadInput: the shared material is not there.
        Unavailable: rapidfuzz is not installed.
    """
    if not (shared / "pdf_papers").is_dir():
        raise BadInput(say("There is no labelled set {path}.", path=str(shared)))
    worker = Worker()
    readers: dict[str, Reader] = {
        "ours": lambda data: _ours(worker, data),
        "pypdf": _pypdf,
        "pdfium": _pdfium,
    }
    try:
        found = {Path(pdf).name: _file(shared, pdf, text, readers) for pdf, text in PAIRS.items()}
    finally:
        worker.close()
    best = {
        figure: sum(
            judged(scores["ours"])[figure]
            >= max(judged(scores[name])[figure] for name in readers) - TIE
            for scores in found.values()
        )
        for figure in ("similarity", "order")
    }
    return {"files": found, "ours_is_best_or_ties": best, "of": len(found), "tie_within": TIE}


def judged(scores: dict[str, Any]) -> dict[str, float]:
    """Return the figures that count: those of the body where the reference keeps running heads."""
    body: dict[str, float] = scores.get("body", scores)
    return body


def _file(
    shared: Path, pdf: str, text: str, readers: dict[str, Reader]
) -> dict[str, dict[str, Any]]:
    data = (shared / pdf).read_bytes()
    reference = (shared / text).read_text(encoding="utf-8")
    wanted = from_markdown(reference) if text.endswith(".md") else reference
    heads = running_heads(data) if Path(pdf).name in KEEPS_HEADS else set()
    found: dict[str, dict[str, Any]] = {}
    for name, read in readers.items():
        text_read = read(data)
        found[name] = dict(score(text_read, wanted))
        if heads:
            found[name]["body"] = score(without(text_read, heads), without(wanted, heads))
    return found


def running_heads(data: bytes) -> set[str]:
    """Return the letters of lines that plain pdfium has first or last on two pages or more."""
    seen: Counter[str] = Counter()
    with pypdfium2.PdfDocument(data) as document:
        for page in document:
            text_page = page.get_textpage()
            lines = [line for line in text_page.get_text_range().splitlines() if line.strip()]
            seen.update({_lettering(line) for line in lines[:1] + lines[-1:]})
            text_page.close()
            page.close()
    return {line for line, pages in seen.items() if pages >= 2 and len(line) > 3}


def without(text: str, heads: set[str]) -> str:
    """Return the text without the lines that are running heads, whatever their numbers."""
    return "\n".join(line for line in text.split("\n") if _lettering(line) not in heads)


def _lettering(line: str) -> str:
    return re.sub(r"[\W\d_]", "", line)


def score(found: str, wanted: str) -> dict[str, float]:
    """Return the two figures, 0 to 1, rounded to three digits; see the module.

    Raises:
        Unavailable: rapidfuzz is not installed.
    """
    try:
        from rapidfuzz.distance import Indel
    except ImportError as error:
        raise Unavailable(
            "This eval needs rapidfuzz.", hint="It needs `pip install -r requirements-dev.txt`."
        ) from error
    similarity = Indel.normalized_similarity(_letters(found), _letters(wanted))
    return {"similarity": round(similarity, 3), "order": round(order(found, wanted), 3)}


def order(found: str, wanted: str) -> float:
    """Return the share of the common runs of words that stand in the reference's order."""
    first, second = _runs(found), _runs(wanted)
    places = [second[run] for run in sorted(first, key=first.__getitem__) if run in second]
    return _longest_increasing(places) / len(places) if places else 0.0


def _runs(text: str) -> dict[tuple[str, ...], int]:
    """Return the runs of words that occur once, with their places."""
    words = re.findall(r"\w+", _folded(text))
    runs = [tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1)]
    count = Counter(runs)
    return {run: at for at, run in enumerate(runs) if count[run] == 1}


def _longest_increasing(numbers: Sequence[int]) -> int:
    """Return the length of the longest increasing subsequence, by patience sorting."""
    tops: list[int] = []
    for number in numbers:
        at = bisect_left(tops, number)
        tops[at : at + 1] = [number]
    return len(tops)


def from_markdown(text: str) -> str:
    """Return the words of a Markdown text without its marks, comments and addresses."""
    text = re.sub(r"<!--.*?-->", " ", text, flags=re.S)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"</?[a-z][^>]*>", " ", text)
    text = re.sub(r"^[ |:-]+$", " ", text, flags=re.M)
    return re.sub(r"&(?:amp|lt|gt);|[|#*`\\]", " ", text)


def _folded(text: str) -> str:
    joined = re.sub(r"[-\u00ad\ufffe\x02]\s*\n\s*", "", text)
    return unicodedata.normalize("NFKC", joined).casefold()


def _letters(text: str) -> str:
    return "".join(char for char in _folded(text) if char.isalnum())


def _ours(worker: Worker, data: bytes) -> str:
    return "\n".join(page.text for page in worker.parse(data)[0].pages)


def _pypdf(data: bytes) -> str:
    from pypdf import PdfReader

    logging.getLogger("pypdf").setLevel(logging.ERROR)  # a line for every font it has doubts about
    return "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(data)).pages)


def _pdfium(data: bytes) -> str:
    with pypdfium2.PdfDocument(data) as document:
        texts = []
        for page in document:
            text_page = page.get_textpage()
            texts.append(text_page.get_text_range())
            text_page.close()
            page.close()
    return "\n".join(texts).replace("\r", "")
