"""Every shared PDF goes in or fails with a reason; what went in stands where it says it stands."""

import csv
import re
import time
import unicodedata
import warnings
from functools import cache
from io import BytesIO
from pathlib import Path

import pypdfium2
import pytest
from pypdf import PdfReader

from core.errors import UnreadableFile
from core.ingest.worker import Worker
from core.types import ChunkDraft, ParsedPaper

CODES = {
    "DAMAGED", "EMPTY_FILE", "NOT_A_PDF", "NO_TEXT", "PASSWORD_NEEDED", "PASSWORD_WRONG",
    "TOO_LARGE", "TOO_SLOW",
}  # fmt: skip
EXPECTED = {
    "scan__no_text": "read by OCR",
    "scan__rotation": "read by OCR",
    "scan__table": "read by OCR",
    "scan__4_pages": "scan of 4 pages",
    "scan__8_pages": "scan of 8 pages",
    "scan__issue7229": "scan of 2 pages",
    "scan__scan-bad": "read, 1 pages",
    "scan__with_ocr_layer": "read, 1 pages",
    "empty__": "NO_TEXT",
    "encrypted__docling": "PASSWORD_NEEDED",
    "encrypted__issue": "PASSWORD_NEEDED",
    "encrypted__saslprep": "PASSWORD_NEEDED",
    "encrypted__user": "PASSWORD_NEEDED",
    "encrypted__print": "PASSWORD_NEEDED",
    "tounicode__issue4650": "read by OCR",
    "tounicode__arial": "NO_TEXT",
    "broken__REDHAT": "DAMAGED",
    "broken__issue9105_other": "DAMAGED",
}
CODES_OF_LIGATURES = {0x1B: "ff", 0x1C: "fi", 0x1D: "fl", 0x1E: "ffi", 0x1F: "ffl"}
BODY_SHARE = 0.97
"""Of the lines of running text, at least so many stand on their page by pypdf word for word. The
rest are lines with formulas in them, whose signs two readers put into different orders."""


@pytest.fixture(scope="module")
def worker():
    worker = Worker()
    yield worker
    worker.close()


def plain(text: str) -> str:
    """Return letters and digits only, without accents: what two readers must agree on."""
    text = text.translate(CODES_OF_LIGATURES)
    text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text)).casefold()
    return "".join(
        char
        for char in text
        if char.isalnum() and not "\ue000" <= char <= "\uf8ff" and char not in "ˆˇ˘"
    )


def is_prose(text: str) -> bool:
    """Return whether a line is running text: mostly long words, no formula."""
    words = re.findall(r"[^\W\d_]{4,}|[\u4e00-\u9fff]{4,}", text)
    long = max(20, 0.6 * len(text.replace(" ", "")))
    return sum(map(len, words)) >= long and not re.search("[=∈∑∂√⊂∪∩→↦≤≥]", text)


class Pypdf:
    """The pages of a file by a reader that ingest does not use for this."""

    def __init__(self, data: bytes) -> None:
        self._reader = PdfReader(BytesIO(data))
        self.page = cache(self._page)

    def _page(self, number: int) -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return plain(self._reader.pages[number - 1].extract_text())


def lines_of(chunk: ChunkDraft) -> list[str]:
    return [chunk.text[span.start : span.end] for span in chunk.spans]


def sampled(paper: ParsedPaper, pages: int = 3) -> list[ChunkDraft]:
    """Return the chunks of at most so many pages, spread over the paper."""
    step = max(1, len(paper.pages) // pages)
    return [chunk for chunk in paper.chunks if (chunk.page - 1) % step == 0]


def peak_memory(worker: Worker) -> int:
    """Return the most resident memory, in bytes, that the reading process has had (Linux)."""
    status = Path(f"/proc/{worker._process.pid}/status")
    if not status.exists():
        pytest.skip("peak memory is only known on Linux")
    (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", status.read_text())
    return int(peak) * 1024


def papers(shared: Path) -> list[Path]:
    return sorted([*shared.glob("pdf_papers/*.pdf"), *shared.glob("pdf_zh/*.pdf")])


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_paper_is_read_and_its_lines_stand_on_their_pages(shared: Path, worker: Worker):
    rows = []
    for path in papers(shared):
        data = path.read_bytes()
        started = time.perf_counter()
        paper, _ = worker.parse(data)
        seconds = time.perf_counter() - started
        assert paper.chunks
        assert [page.number for page in paper.pages] == list(range(1, len(paper.pages) + 1))
        assert all(page.text or page.number for page in paper.pages)
        reader = Pypdf(data)
        chunks = sampled(paper)
        # pypdf cannot decode the Chinese fonts of some files: there it is no witness
        known = {
            number
            for number in {chunk.page for chunk in chunks}
            if _agrees(plain(paper.pages[number - 1].text), reader.page(number))
        }
        prose = [
            (chunk.page, line)
            for chunk in chunks
            if chunk.page in known and chunk.kind in ("body", "abstract")
            for line in lines_of(chunk)
            if is_prose(line)
        ]
        missing = [(page, line) for page, line in prose if plain(line) not in reader.page(page)]
        rows.append((path.name, seconds, len(paper.chunks), len(prose), missing))
    for name, seconds, chunks, total, missing in rows:
        print(f"{name:45} {seconds:6.2f} s {chunks:4} chunks, {len(missing)} of {total} lines off")  # noqa: T201
    checked = sum(row[3] for row in rows)
    off = [(row[0], *line) for row in rows for line in row[4]]
    assert checked > 900
    assert len(off) <= (1 - BODY_SHARE) * checked, off[:40]


def _agrees(ours: str, theirs: str) -> bool:
    """Return whether two readers see by and large the same characters."""
    if not ours or not theirs:
        return False
    shared = sum(min(ours.count(char), theirs.count(char)) for char in set(ours))
    return shared >= 0.8 * max(len(ours), len(theirs))


@pytest.mark.slow
def test_under_the_boxes_stand_the_words(shared: Path, worker: Worker):
    """pdfium's own text of each rectangle, upright, turned, two-column and Chinese."""
    names = [
        "pdf_papers/dpr_acl_two_column.pdf",
        "pdf_papers/wellawatte_explanations.pdf",
        "pdf_papers/layoutparser_with_empty_pages.pdf",
        "pdf_zh/texproposal.pdf",
        "pdf_edge/rotated__rotation.pdf",
    ]
    for name in names:
        data = (shared / name).read_bytes()
        paper, _ = worker.parse(data)
        with_words, good = 0, 0
        document = pypdfium2.PdfDocument(data)
        for chunk in sampled(paper, 5):
            page = document[chunk.page - 1]
            text_page = page.get_textpage()
            for span in chunk.spans:
                wanted = plain(chunk.text[span.start : span.end])
                if len(wanted) < 12 or not is_prose(chunk.text[span.start : span.end]):
                    continue
                with_words += 1
                found = plain(text_page.get_text_bounded(*_unrotated(page, span.box)))
                good += _alike(wanted, found)
        document.close()
        assert with_words, name
        assert good >= 0.97 * with_words, (name, good, with_words)


def _unrotated(page: pypdfium2.PdfPage, box: tuple[float, ...]) -> tuple[float, ...]:
    """Return left, bottom, right, top in page space for a box of the page as seen."""
    width, height = page.get_size()
    x0, x1 = box[0] * width, box[2] * width
    y0, y1 = (1 - box[3]) * height, (1 - box[1]) * height
    if page.get_rotation() == 90:
        x0, y0, x1, y1 = height - y1, x0, height - y0, x1
    return x0 - 1, y0 + 2, x1 + 1, y1 - 2


def _alike(wanted: str, found: str) -> bool:
    """Return whether the words are there, and not much else (a neighbouring line)."""
    if not found:
        return False
    step = range(0, max(1, len(wanted) - 5), 3)
    pieces = [wanted[at : at + 5] for at in step]
    there = sum(piece in found for piece in pieces)
    return there >= 0.8 * len(pieces) and len(found) <= 2.2 * len(wanted) + 10


@pytest.mark.slow
def test_edge_cases_neither_crash_nor_hang(shared: Path, worker: Worker):
    with (shared / "pdf_edge" / "manifest.csv").open(encoding="utf-8") as file:
        passwords = {row["file"]: row["password"] for row in csv.DictReader(file)}
    table = []
    for path in sorted((shared / "pdf_edge").glob("*.pdf")):
        started = time.perf_counter()
        outcome = _outcome(worker, path.read_bytes(), None)
        assert time.perf_counter() - started < 60, path.name
        table.append((path.name, outcome))
        wanted = next((code for start, code in EXPECTED.items() if path.name.startswith(start)), "")
        if wanted:
            assert outcome.startswith(wanted), (path.name, outcome)
        if passwords.get(path.name):
            assert _outcome(worker, path.read_bytes(), "wrong") == "PASSWORD_WRONG", path.name
            opened = _outcome(worker, path.read_bytes(), passwords[path.name])
            assert opened.startswith("read"), path.name
            table.append((path.name, f"with its password: {opened}"))
    print("\n".join(f"{name:48} {outcome}" for name, outcome in table))  # noqa: T201
    assert len(table) > 50
    assert peak_memory(worker) < 1.5e9


class LongScan(Exception):
    """Pages to be recognised: enough is known, and each takes seconds."""


def _one_page(stage: str, done: int, total: int) -> None:
    if stage == "recognising" and total > 1:
        raise LongScan(f"scan of {total} pages")


def _outcome(worker: Worker, data: bytes, password: str | None) -> str:
    failure = None
    try:
        paper, copy = worker.parse(data, password, _one_page)
    except LongScan as error:
        return str(error)
    except UnreadableFile as error:
        failure = error
    if failure is not None:
        assert failure.code in CODES
        assert failure.message.endswith(".")
        assert failure.message.count(". ") == 0
        assert failure.hint
        return failure.code
    if copy is not None:
        assert worker.render(copy, 1, 0.5).startswith(b"\x89PNG")
    how = "read by OCR" if paper.read_by == "ocr" else "read"
    return f"{how}, {len(paper.pages)} pages, {len(paper.chunks)} chunks"


def test_text_of_special_fonts(shared: Path, worker: Worker):
    def text(name: str) -> str:
        paper, _ = worker.parse((shared / "pdf_edge" / name).read_bytes())
        return " ".join(chunk.text for chunk in paper.chunks)

    bold = text("layout__fake_bold_double_glyphs.pdf")
    assert "BOLD TEXT SAMPLE" in bold
    assert "BBOOLLDD TTEEXXTT" not in bold
    assert "dehypenisation" in text("hyphen__line_break_1.pdf")
    assert "ﬁ" not in text("ligature__issue10640.pdf")
    assert "全世界无产者，联合起来" in text("cjk_mojibake__SimFang-variant.pdf")
    assert "浅谈校长的魅力" in text("cjk__issue2128r.pdf")


def test_three_hundred_pages_and_more(shared: Path, worker: Worker):
    stages: list[tuple[str, int, int]] = []
    data = (shared / "pdf_papers" / "freeculture_352p.pdf").read_bytes()
    paper, _ = worker.parse(data, None, lambda *step: stages.append(step))
    assert len(paper.pages) == 352
    reading = [done for stage, done, _ in stages if stage == "reading"]
    assert reading == list(range(1, 353))
    assert max(chunk.page for chunk in paper.chunks) > 340
