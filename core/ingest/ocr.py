"""Reading words off the picture of a page, where a PDF has no usable text. Worker process only.

The models are in the `rapidocr` wheel (PP-OCRv6: Chinese, English and other Latin script) and are
loaded when the first such page comes. Its steps are called one by one, because two of its habits
do not suit pages of papers: it turns each line by itself, and gives boxes of words that are off
whenever one line of the page is empty.
"""

import logging
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt
import pypdfium2

from core.ingest import pdf
from core.ingest.layout import weighted_median
from core.ingest.pdf import RawDocument, RawPage, Word
from core.ingest.text import is_cjk, letters, normalise, unreadable

logger = logging.getLogger(__name__)

DPI = 200
LONGEST_SIDE = 2_400
"""Pixels: A4 at 200 dpi fits; larger pages are drawn smaller."""
FIND_SIDE = 1_280
"""Pixels of the picture's longer side in which lines are looked for; they are read at full size."""
LEAST_SURE = 0.6
"""Lines read with less confidence are mostly specks, logos and photos."""
LEAST_TILT, MOST_TILT = 0.5, 15.0
"""Degrees: pages that lie so much askew are turned before their lines are read."""
THREADS = min(4, os.cpu_count() or 1)

_FEW_LETTERS = 200
_PICTURE = 0.5
_TALL = 1.5
"""rapidocr stands a crop up when it is so many times higher than wide."""
_STRAIGHT = 0.003
_NEAR = 0.2
_WIDE, _MOST_WIDER = 1.25, 2.0
"""Times the usual width of a letter."""
_MODELS = {
    "Det.model_path": "PP-OCRv6_det_small.onnx",
    "Cls.model_path": "ch_ppocr_mobile_v2.0_cls_mobile.onnx",
    "Rec.model_path": "PP-OCRv6_rec_small.onnx",
}

Picture = npt.NDArray[np.uint8]
Quad = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Found:
    """A line of text on a picture: corners (4, 2) in pixels clockwise from the top left.

    `places`: where each character other than a space stands, 0 to 1 along the line as it reads.
    """

    corners: Quad
    turn: int
    text: str
    sure: float
    places: tuple[float, ...]


@dataclass(slots=True)
class Recognised:
    """How much was read by OCR and how sure it is of that, over all pages so far."""

    pages: int = 0
    characters: int = 0
    certainty: float = 0.0
    size: float = 0.0
    """The usual height of a line in points."""

    @property
    def confidence(self) -> float | None:
        """Return the mean confidence of a character, 0 to 1; None when nothing was read."""
        return self.certainty / self.characters if self.characters else None


def pages_without_text(document: pypdfium2.PdfDocument, raw: RawDocument) -> list[RawPage]:
    """Return the pages whose characters mean nothing, or which show more than their text says."""
    return [page for page in raw.pages if page.garbled or _shows_more(document, page)]


def _shows_more(document: pypdfium2.PdfDocument, page: RawPage) -> bool:
    amount = sum(letters(word.text) for word in page.words)
    if amount >= _FEW_LETTERS:
        return False
    share = pdf.pictured(document, page.number - 1)
    return share >= _PICTURE or (not amount and share >= 0)


def recognise(
    data: bytes, password: str | None, raw: RawDocument, total: Recognised
) -> Iterator[tuple[int, int]]:
    """Read the pages that need it into `raw`; yield (pages done, pages to do) before each and last.

    Raises:
        ImportError: OCR is not installed; nothing has been changed.
    """
    document = pdf.open_document(raw.copy or data, None if raw.copy else password)
    try:
        pages = pages_without_text(document, raw)
        if not pages:
            return
        reader = None
        for done, page in enumerate(pages):
            yield done, len(pages)
            picture = draw(document, page.number - 1)
            if picture is not None:  # the models are not loaded for blank pages
                reader = reader or LineReader()
                _read(page, picture, reader, total)
        yield len(pages), len(pages)
    finally:
        document.close()


def _read(page: RawPage, picture: Picture, reader: "LineReader", total: Recognised) -> None:
    """Add to a page what its picture says and its words do not."""
    scale = picture.shape[1] / page.width, picture.shape[0] / page.height
    lines = reader.lines(picture)
    if page.garbled and unreadable(" ".join(line.text for line in lines)):
        return  # the fonts are missing, and what is drawn in their place says nothing either
    known = page.words
    page.slope = _slope(lines)
    total.size = _usual_size(lines, scale[1], total.size)
    pitch = weighted_median([(_pitch(line), len(line.text)) for line in lines])
    for line in lines:
        thick = _thickness(line, scale[1], total.size, pitch)
        words = [word for word in _words(line, scale, thick) if not _stands_there(word, known)]
        page.words = page.words + words
        characters = sum(len(word.text) for word in words)
        total.characters += characters
        total.certainty += characters * line.sure
    page.recognised = len(page.words) > len(known)
    total.pages += page.recognised


def _stands_there(word: Word, known: Sequence[Word]) -> bool:
    x, y = (word.x0 + word.x1) / 2, (word.y0 + word.y1) / 2
    return any(old.x0 <= x <= old.x1 and old.y0 <= y <= old.y1 for old in known)


def draw(document: pypdfium2.PdfDocument, index: int) -> Picture | None:
    """Return a page as seen, (height, width, 3) in BGR; None when it is blank or cannot be drawn."""
    try:
        page = document[index]
        scale = min(DPI / 72, LONGEST_SIDE / max(page.get_size()))
        bitmap = page.render(scale=scale, prefer_bgrx=False)
    except (pypdfium2.PdfiumError, ValueError) as error:
        logger.info("page %d cannot be drawn for OCR: %s", index + 1, error)
        return None
    picture = np.ascontiguousarray(bitmap.to_numpy()[:, :, :3])
    bitmap.close()
    page.close()
    return picture if np.ptp(picture) >= 32 else None


class LineReader:
    """Finds the lines of text on a picture and reads them. Holds the models: about 400 MB in use."""

    def __init__(self) -> None:
        """Load the library; each model follows at its first use.

        Raises:
            ImportError: it is not installed.
        """
        import cv2
        import rapidocr

        cv2.setNumThreads(1)
        models = Path(rapidocr.__file__).parent / "models"
        self._engine: Any = rapidocr.RapidOCR(
            params={name: str(models / file) for name, file in _MODELS.items()}
            | {
                "Global.log_level": "error",
                "Global.use_vertical_padding": False,
                "Global.return_word_box": True,
                "Det.limit_type": "max",
                "Det.limit_side_len": FIND_SIDE,
                "Det.max_candidates": 3_000,
                "Rec.rec_batch_num": 1,  # padding to the longest of several costs time and certainty
                "EngineConfig.onnxruntime.intra_op_num_threads": THREADS,
            }
        )

    def lines(self, picture: Picture) -> list[_Found]:
        """Return the lines on a picture, from the top; none if the engine fails on it."""
        import cv2
        from rapidocr.inference_engine.onnxruntime.main import ONNXRuntimeError
        from rapidocr.main import RapidOCRError

        try:
            return self._lines(picture)
        except RapidOCRError:  # how it says that there is nothing
            return []
        except (ONNXRuntimeError, cv2.error, MemoryError) as error:
            logger.warning("OCR failed on a page of %s pixels: %s", picture.shape, error)
            return []

    def _lines(self, picture: Picture) -> list[_Found]:
        crops, quads = self._detect(picture)
        tilt, back = _tilt(quads), None
        if LEAST_TILT <= abs(tilt) <= MOST_TILT:
            level, back = _levelled(picture, tilt)
            crops, quads = self._detect(level)
        standing = _standing(quads)
        crops = [
            np.rot90(crop, -1) if _stood_up(quad) and not tall else crop
            for crop, quad, tall in zip(crops, quads, standing, strict=True)
        ]
        flipped = self._flipped(crops, quads)
        crops = [np.ascontiguousarray(np.rot90(crop, 2) if flipped else crop) for crop in crops]
        read = self._engine.recognize_txt(crops)
        lines = []
        for quad, tall, text, sure, info in zip(
            quads, standing, read.txts, read.scores, read.word_results, strict=True
        ):
            if text.strip() and sure >= LEAST_SURE:
                places = _places(info)
                corners = quad if back is None else quad @ back[:, :2].T + back[:, 2]
                lines.append(_Found(corners, tall + 2 * flipped, text, float(sure), places))
        return lines

    def _detect(self, picture: Picture) -> tuple[list[Picture], list[Quad]]:
        """Return the pieces of a picture that hold a line each, and where they are."""
        crops, found = self._engine.detect_and_crop(picture, {})
        return crops, [np.asarray(box, dtype=np.float64) for box in found.boxes]

    def _flipped(self, crops: list[Picture], quads: list[Quad]) -> bool:
        """Return whether the page stands on its head: what its lines say, by their length."""
        # the classifier turns the crops it is given in place: it gets a list of its own
        labels = self._engine.cls_and_rotate(list(crops))[1].cls_res
        vote = [
            (1 if label == "180" else -1) * float(score) * max(_sides(quad))
            for (label, score), quad in zip(labels, quads, strict=True)
        ]
        return sum(vote) > 0


def _tilt(quads: Sequence[Quad]) -> float:
    """Return by how many degrees most of the text leans clockwise, whichever way it reads."""
    leans: list[tuple[float, int]] = []
    for quad in quads:
        width, height = _sides(quad)
        x, y = quad[3] - quad[0] if height > width else quad[1] - quad[0]
        lean = float(np.degrees(np.arctan2(y, x)))
        leans.append(((lean + 45) % 90 - 45, round(max(width, height))))
    return weighted_median(leans)


def _levelled(picture: Picture, tilt: float) -> tuple[Picture, Quad]:
    """Return a picture turned back by so many degrees, and the 2 x 3 matrix from it to the first."""
    import cv2

    height, width = picture.shape[:2]
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), tilt, 1.0)
    sine, cosine = abs(turn[0, 1]), abs(turn[0, 0])
    wide, high = (
        round(width * cosine + height * sine),
        round(height * cosine + width * sine),
    )
    turn[:, 2] += (wide - width) / 2, (high - height) / 2
    level = cv2.warpAffine(
        picture, turn, (wide, high), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )
    back: Quad = cv2.invertAffineTransform(turn).astype(np.float64)
    return np.asarray(level, dtype=np.uint8), back


def _sides(quad: Quad) -> tuple[float, float]:
    """Return width and height in pixels."""
    top, right, low, left = (float(np.hypot(*(quad[a] - quad[a - 3]))) for a in range(4))
    return max(top, low), max(right, left)


def _stood_up(quad: Quad) -> bool:
    width, height = _sides(quad)
    return int(height) >= _TALL * int(width)


def _standing(quads: list[Quad]) -> list[bool]:
    """Return which lines run up or down the page: narrow single characters do not."""
    wide = [_sides(quad)[1] for quad in quads if not _stood_up(quad)]
    most = 2.2 * median(wide) if wide else 0.0
    return [_stood_up(quad) and _sides(quad)[1] > most for quad in quads]


def _places(info: Any) -> tuple[float, ...]:
    """Return where the characters are along the line, from the columns the reader saw them in."""
    length = max(1.0, float(info.line_txt_len))
    return tuple(min(1.0, (col + 0.5) / length) for cols in info.word_cols for col in cols)


def _slope(lines: Sequence[_Found]) -> float:
    """Return how many points lines sink per point of reading, as most of the text does."""
    along: list[tuple[float, int]] = []
    for line in lines:
        start, end = _at(line, 0.0, 0.5), _at(line, 1.0, 0.5)
        dx, dy = _unturned(end - start, line.turn)
        if dx > 0:
            along.append((dy / dx, round(dx)))
    slope = weighted_median(along)
    return slope if abs(slope) > _STRAIGHT else 0.0


def _unturned(vector: npt.NDArray[np.float64], turn: int) -> tuple[float, float]:
    x, y = float(vector[0]), float(vector[1])
    return ((x, y), (y, -x), (-x, -y), (-y, x))[turn]


def _at(line: _Found, along: float, down: float) -> npt.NDArray[np.float64]:
    """Return the pixel at a share of the line's length and of its height, as it reads."""
    x, y = ((along, down), (1 - down, along), (1 - along, 1 - down), (down, 1 - along))[line.turn]
    top = line.corners[0] + (line.corners[1] - line.corners[0]) * x
    low = line.corners[3] + (line.corners[2] - line.corners[3]) * x
    spot: npt.NDArray[np.float64] = top + (low - top) * y
    return spot


def _usual_size(lines: Sequence[_Found], scale: float, before: float) -> float:
    """Return the height of most of the text in points; that of the pages before if it is near."""
    sizes = [(_height(line) / scale, len(line.text)) for line in lines]
    size = weighted_median(sizes)
    return before if not size or abs(before - size) <= _NEAR * size else size


def _thickness(line: _Found, scale: float, usual: float, pitch: float) -> float:
    """Return the share of a line's box to take: lines of nearly the usual size are of that size.

    Boxes of lines of one type differ by a sixth, which would make headings of body text, and those
    of larger type are little higher: how wide its letters are tells it better.
    """
    size = _height(line) / scale
    wider = _pitch(line) / pitch if pitch else 1.0
    if wider >= _WIDE and len(line.text) >= 4:
        return max(1.0, min(_MOST_WIDER, wider) * usual / size)
    return usual / size if abs(size - usual) <= _NEAR * usual else 1.0


def _pitch(line: _Found) -> float:
    """Return how many pixels a letter of usual width takes along the line."""
    units = sum(2.0 if is_cjk(char) else 1.35 if char.isupper() else 1.0 for char in line.text)
    return _sides(line.corners)[line.turn % 2] / max(1.0, units)


def _height(line: _Found) -> float:
    return _sides(line.corners)[1 - line.turn % 2]


def _words(line: _Found, scale: tuple[float, float], thick: float) -> Iterator[Word]:
    """Yield a line's words with boxes in points, `thick` of the line's box high."""
    edges = _edges(line)
    ends = (1 - thick) / 2, (1 + thick) / 2
    for match in re.finditer(r"\S+", line.text):
        start, end = match.span()
        text = normalise(match.group())
        if not text:
            continue
        left, right = edges[start][0], edges[end - 1][1]
        corners = [_at(line, along, down) for along in (left, right) for down in ends]
        xs = [float(corner[0]) / scale[0] for corner in corners]
        ys = [float(corner[1]) / scale[1] for corner in corners]
        hyphen = end == len(line.text.rstrip()) and len(text) > 2 and text.endswith("-")
        yield Word(text, min(xs), min(ys), max(xs), max(ys), line.turn, hyphen=hyphen)


def _edges(line: _Found) -> list[tuple[float, float]]:
    """Return where each character begins and ends along the line, 0 to 1."""
    inked = [at for at, char in enumerate(line.text) if not char.isspace()]
    count = len(line.text)
    if len(inked) != len(line.places):
        return [(at / count, (at + 1) / count) for at in range(count)]
    steps = [b - a for a, b in pairwise(line.places)]
    half = median(steps) / 2 if steps else 0.5
    edges = [(0.0, 1.0)] * count
    for n, at in enumerate(inked):
        place = line.places[n]
        left = place - min(half, steps[n - 1] / 2) if n else 0.0
        right = place + min(half, steps[n] / 2) if n < len(steps) else 1.0
        edges[at] = left, right
    return edges
