"""How well scans are read: pages of known text turned into pictures, clean, askew and noisy.

The truth is what the same page says as text; both sides go through the whole of ingest, so that a
wrong reading order counts as errors in `cer`, and not in `missing`. Time and memory are those of the reading process.
"""

import io
import json
import time
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import psutil
import pypdfium2
from PIL import Image, ImageFilter

from core.errors import BadInput
from core.ingest.worker import Worker

Kind = Literal["clean", "askew", "noisy"]
KINDS: tuple[Kind, ...] = ("clean", "askew", "noisy")

DPI = 200
SKEW = 1.5
"""Degrees."""
NOISE = 28.0
"""Standard deviation of the noise added to 8-bit grey values."""
SHARED_LAYER = "pdf_edge/scan__with_ocr_layer.pdf"


@dataclass(frozen=True, slots=True)
class Reading:
    """A page read by OCR against what it says; `missing` characters count in any order."""

    edits: int
    missing: int
    characters: int
    seconds: float
    megabytes: float


@dataclass(slots=True)
class _Peak:
    """Follows a reading process: the seconds and the memory of the pages it recognises."""

    started: float = 0.0
    seconds: float = 0.0
    bytes: int = 0

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage != "recognising":
            return
        if done == 0:
            self.started = time.perf_counter()
        self.seconds = time.perf_counter() - self.started
        for child in psutil.Process().children():
            self.bytes = max(self.bytes, _peak_bytes(child))


def scan(data: bytes, page: int, kind: Kind) -> bytes:
    """Return one page (from 1) as a PDF that holds nothing but its picture, of the same size."""
    document = pypdfium2.PdfDocument(data)
    picture = document[page - 1].render(scale=DPI / 72).to_pil().convert("L")
    document.close()
    if kind == "askew":
        picture = picture.rotate(-SKEW, Image.Resampling.BICUBIC, fillcolor=255)
    if kind == "noisy":
        picture = _noisy(picture)
    out = io.BytesIO()
    picture.save(out, "PDF", resolution=DPI, quality=60)
    return out.getvalue()


def _noisy(picture: Image.Image) -> Image.Image:
    """Return the picture blurred, faded, with grain and specks; the same each time."""
    random = np.random.default_rng(4)
    grey = np.asarray(picture.filter(ImageFilter.GaussianBlur(0.8)), dtype=np.float64)
    grey = 40 + grey * 0.75 + random.normal(0, NOISE, grey.shape)
    grey[random.random(grey.shape) < 0.002] = 0
    return Image.fromarray(grey.clip(0, 255).astype(np.uint8))


def run(samples: Path, shared: Path | None) -> dict[str, Any]:
    """Read scans of the sample papers' first pages, and the shared scan that has a text layer.

    Raises:
        BadInput: the sample papers are not there.
    """
    if not (samples / "samples.json").is_file():
        raise BadInput("The sample papers are not there.", hint="Name their folder with --papers.")
    papers = json.loads((samples / "samples.json").read_text(encoding="utf-8"))["papers"]
    found: dict[str, Any] = {}
    worker = Worker()
    try:
        for language in ("en", "zh"):
            files = [samples / paper["file"] for paper in papers if paper["language"] == language]
            for kind in KINDS:
                rows = [_first_page(worker, file, kind) for file in files]
                found[f"{language}, {kind}"] = _summary(rows)
        layered = shared / SHARED_LAYER if shared else None
        if layered and layered.is_file():
            rows = [_first_page(worker, layered, "clean")]
            found["shared scan against its own text layer"] = _summary(rows)
    finally:
        worker.close()
    return found


def _first_page(worker: Worker, file: Path, kind: Kind) -> Reading:
    data = file.read_bytes()
    truth = worker.parse(data)[0].pages[0].text
    return read_page(worker, scan(data, 1, kind), truth)


def read_page(worker: Worker, data: bytes, truth: str) -> Reading:
    """Read a scan of one page and compare."""
    peak = _Peak()
    read = worker.parse(data, None, peak)[0].pages[0].text
    wanted, got = _plain(truth), _plain(read)
    missing = (Counter(wanted) - Counter(got)).total()
    edits = distance(wanted, got)
    return Reading(edits, missing, len(wanted), peak.seconds, peak.bytes / 2**20)


def _summary(rows: Sequence[Reading]) -> dict[str, float | int]:
    characters = sum(row.characters for row in rows)
    return {
        "pages": len(rows),
        "characters": characters,
        "cer": round(sum(row.edits for row in rows) / max(1, characters), 4),
        "missing": round(sum(row.missing for row in rows) / max(1, characters), 4),
        "seconds_a_page": round(mean(row.seconds for row in rows), 1),
        "peak_mb": round(max(row.megabytes for row in rows)),
    }


def _plain(text: str) -> str:
    """Return the characters without white space, width and ligatures folded."""
    return "".join(unicodedata.normalize("NFKC", text).split())


def distance(wanted: str, got: str) -> int:
    """Return the Levenshtein distance: inserted, left out and mistaken characters.

    A row of the table is computed at once: what insertions add along it is a running minimum.
    """
    other: npt.NDArray[np.int64] = np.array([ord(char) for char in got], dtype=np.int64)
    steps = np.arange(len(got) + 1)
    row = steps.copy()
    for at, char in enumerate(wanted, 1):
        nearer = np.minimum(row[:-1] + (other != ord(char)), row[1:] + 1)
        row = np.minimum.accumulate(np.concatenate(([at], nearer)) - steps) + steps
    return int(row[-1])


def _peak_bytes(process: psutil.Process) -> int:
    """Return the most memory a process has held; on systems that do not say, what it holds now."""
    status = Path(f"/proc/{process.pid}/status")
    if status.is_file():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return int(process.memory_info().rss)
