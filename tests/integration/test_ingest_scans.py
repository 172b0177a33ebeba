"""Scans: the words, where they stand, what stops the reading, and what holds no words at all."""

import io
import math
import subprocess
import sys
import time

import numpy as np
import pypdfium2
import pytest
from PIL import Image

from core.errors import UnreadableFile
from core.evals.ocr import SKEW, distance, scan
from core.ingest import ocr, pdf
from core.ingest.layout import lines_of
from core.ingest.parse import parse
from core.ingest.worker import Worker, _Watch
from tests.fixtures.pdfs import lines, made_pdf

WIDTH, HEIGHT = 320, 200
TEXT = [
    "Dense retrieval of passages was measured",
    "against keywords on nine collections.",
    "Fusion of both beats either alone,",
    "although the margin is small.",
]
PAGE = made_pdf([lines(30, 160, 11, TEXT, 16)], size=f"{WIDTH} {HEIGHT}")


def picture_pdf(picture: Image.Image, resolution: float = 200) -> bytes:
    out = io.BytesIO()
    picture.save(out, "PDF", resolution=resolution)
    return out.getvalue()


def sideways(data: bytes) -> bytes:
    """Return a page of text as a picture turned a quarter clockwise."""
    document = pypdfium2.PdfDocument(data)
    picture = document[0].render(scale=200 / 72).to_pil()
    document.close()
    return picture_pdf(picture.transpose(Image.Transpose.ROTATE_270))


def joined(*files: bytes) -> bytes:
    whole = pypdfium2.PdfDocument.new()
    for file in files:
        part = pypdfium2.PdfDocument(file)
        whole.import_pages(part)
        part.close()
    out = io.BytesIO()
    whole.save(out)
    whole.close()
    return out.getvalue()


def raw(data: bytes) -> pdf.RawDocument:
    return next(step for step in pdf.read(data, None) if isinstance(step, pdf.RawDocument))


def askew(x: float, y: float) -> tuple[float, float]:
    """Return where a point of the page is after turning it about its middle."""
    angle, dx, dy = math.radians(SKEW), x - WIDTH / 2, y - HEIGHT / 2
    turned = (
        dx * math.cos(angle) - dy * math.sin(angle),
        dx * math.sin(angle) + dy * math.cos(angle),
    )
    return WIDTH / 2 + turned[0], HEIGHT / 2 + turned[1]


MOVES = (lambda x, y: (x, y), askew, lambda x, y: (HEIGHT - y, x))


@pytest.mark.slow
def test_words_of_scans_stand_where_they_are_printed():
    """Straight, askew and sideways: each word's box is around the middle of the printed word."""
    truth = {word.text: word for word in raw(PAGE).pages[0].words if len(word.text) > 3}
    document = raw(scans := joined(scan(PAGE, 1, "clean"), scan(PAGE, 1, "askew"), sideways(PAGE)))
    assert not any(page.words for page in document.pages)
    total = ocr.Recognised()
    steps = list(ocr.recognise(scans, None, document, total))
    assert steps == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert total.pages == 3
    assert total.confidence > 0.95
    assert [{word.turn for word in page.words} for page in document.pages] == [{0}, {0}, {1}]
    assert document.pages[1].slope == pytest.approx(math.tan(math.radians(SKEW)), abs=0.006)
    for page, move in zip(document.pages, MOVES, strict=True):
        text = " ".join(line.text for line in lines_of(page))
        assert distance(" ".join(TEXT), text) <= 3, text
        known = [word for word in page.words if word.text in truth]
        assert len(known) >= 0.9 * len(truth)
        for word in known:
            real = truth[word.text]
            x, y = move((real.x0 + real.x1) / 2, (real.y0 + real.y1) / 2)
            assert word.x0 < x < word.x1, (page.number, word)
            assert word.y0 < y < word.y1, (page.number, word)
            long, real_long = word.x1 - word.x0, real.x1 - real.x0
            if word.turn:
                long = word.y1 - word.y0
            assert abs(long - real_long) < 6, (page.number, word)


@pytest.mark.slow
def test_what_is_text_stays_and_only_the_rest_is_recognised():
    document = raw(scans := scan(PAGE, 1, "clean"))
    known = next(word for word in raw(PAGE).pages[0].words if word.text == "Fusion")
    known.text = "FUSION"
    document.pages[0].words.append(known)
    list(ocr.recognise(scans, None, document, ocr.Recognised()))
    words = [word.text for word in document.pages[0].words]
    assert "beats" in words
    assert "FUSION" in words
    assert "Fusion" not in words


@pytest.mark.slow
def test_a_photo_on_a_huge_page_holds_no_text():
    x, y = np.meshgrid(np.linspace(0, 9, 300), np.linspace(0, 9, 300))
    hills = 128 + 100 * np.sin(x * y / 9) * np.cos(y)
    photo = picture_pdf(Image.fromarray(hills.astype(np.uint8)), 72 * 300 / 10_000)
    assert raw(photo).pages[0].width == pytest.approx(10_000, abs=2)
    worker = Worker()
    with pytest.raises(UnreadableFile) as caught:
        worker.parse(photo)
    worker.close()
    assert caught.value.code == "NO_TEXT"
    assert "OCR found no words" in caught.value.message


def test_without_ocr_a_scan_is_refused_and_told_what_helps(monkeypatch):
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    with pytest.raises(UnreadableFile) as caught:
        parse(scan(PAGE, 1, "clean"), None, lambda *_: None)
    assert caught.value.code == "NO_TEXT"
    assert "ocrmypdf" in caught.value.hint


def test_the_time_limit_begins_anew_with_each_page():
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        watch = _Watch(process, 0.5)
        for _ in range(5):
            time.sleep(0.3)
            watch.restart()
        assert process.poll() is None
        process.wait(10)
        assert watch.late.is_set()
