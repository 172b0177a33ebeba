"""Reading a PDF's words and where they stand. Runs inside the worker process only.

pdfium is reached through its raw interface: a page's text comes in one call and only the first and
last character of each word are asked for their place, which is several times faster than asking
for all of them.
"""

import ctypes
import io
import logging
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pypdfium2
import pypdfium2.raw as pdfium

from core.errors import UnreadableFile
from core.ingest.repair import repair
from core.ingest.text import normalise, raised, reads_as_words, unreadable
from core.wording import say

logger = logging.getLogger(__name__)

MAX_PAGES = 3_000
HYPHENS = "\ufffe\x02"
"""What pdfium writes for a hyphen at a line end."""

_SCALE = 1_000_000
_JOINER = "\u2060"
_ASLANT = 0.17
"""Radians off the nearest quarter turn."""
_LARGE = 20.0
_SAME_PLACE = 4.0
"""Points."""
_MARKED = 0.6
"""Of a file's pages; on fewer a word at the same place is no watermark."""
_WORD = re.compile(rf"[^\s{HYPHENS}]+[{HYPHENS}]?")
_ACCENTS = {
    "`": "\u0300", "\u00b4": "\u0301", "\u02c6": "\u0302", "\u02dc": "\u0303", "\u00af": "\u0304",
    "\u02d8": "\u0306", "\u02d9": "\u0307", "\u00a8": "\u0308", "\u02da": "\u030a",
    "\u02dd": "\u030b", "\u02c7": "\u030c", "\u00b8": "\u0327", "\u02db": "\u0328",
}  # fmt: skip
_RAW_LIGATURES = {
    "\x0b": "\ufb00", "\x0c": "\ufb01", "\x0e": "\ufb03", "\x0f": "\ufb04", "\x1b": "\ufb00",
    "\x1c": "\ufb01", "\x1d": "\ufb02", "\x1e": "\ufb03", "\x1f": "\ufb04",
}  # fmt: skip
"""TeX fonts without a Unicode map show ligatures as their codes in the OT1 and T1 encodings."""

_RAW_LIGATURE = re.compile(
    r"(?<![\x00-\x1f])[\x0b\x0c\x0e\x0f\x1b-\x1f](?=[a-z]{2})|(?<=[a-z]{2})[\x0b\x0c\x0e\x0f\x1b-\x1f]"
    r"(?=[a-z,. \r\n])"
)
_CONTROLS = dict.fromkeys((*range(3, 9), 11, 12, *range(14, 32)), "\x00")
_ACCENT = re.compile("[" + "".join(_ACCENTS) + "]")
_POWER = re.compile(r"(?<![\d.,])10([-−–+]?\d{1,3})(?!\d|[,–−-](?!10)\d)")
_BOLD = re.compile(rb"bold|black|heavy|medi|demi|cmbx|sfbx|cmssbx|simhei|fandolhei|-bd|,b", re.I)


@dataclass(slots=True)
class Word:
    """A run of characters without a space, in points of the page as seen, origin top left.

    `turn` is the reading direction in quarter turns clockwise (0: left to right). Boxes are always
    of the page as seen, whatever the turn. `hyphen`: it ends in a line-end hyphen.
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    turn: int = 0
    bold: bool = False
    hyphen: bool = False


@dataclass(slots=True)
class RawPage:
    """A page's words in the order of the file; size in points as seen."""

    number: int
    width: float
    height: float
    words: list[Word] = field(default_factory=list)
    label: str = ""
    garbled: bool = False
    """Its characters cannot be what is printed; it has no words then, unless OCR read it."""
    recognised: bool = False
    """Words were read off its picture: they have no order of their own."""
    slope: float = 0.0
    """Points that its lines sink per point of reading: a scan that lay askew."""


@dataclass(slots=True)
class RawDocument:
    """All that the file itself says."""

    pages: list[RawPage]
    info: dict[str, str]
    outline: list[tuple[int, str]]
    """(page number, title) of each bookmark."""
    copy: bytes | None = None
    """What its pages are drawn from, if not the file itself: unlocked, or repaired."""


def read(data: bytes, password: str | None) -> Iterator[tuple[int, int] | RawDocument]:
    """Yield (pages read, pages) after each page and last the document.

    Raises:
        UnreadableFile: EMPTY_FILE, NOT_A_PDF, DAMAGED, PASSWORD_NEEDED, PASSWORD_WRONG, TOO_LARGE.
    """
    check_signature(data)
    copy = None
    try:
        document = open_document(data, password)
    except UnreadableFile as error:
        copy = repair(data) if error.code == "DAMAGED" else None
        if copy is None:
            raise
        data, document = copy, open_document(copy, None)
    try:
        count = len(document)
        if count < 1:
            raise damaged()
        if count > MAX_PAGES:
            raise UnreadableFile(
                say(
                    "The file has {count:d} pages; at most {most:d} can be read.",
                    count=count,
                    most=MAX_PAGES,
                ),
                hint=say("Split it and add the part you need."),
                code="TOO_LARGE",
            )
        second = _SecondReader(data, password)
        pages = []
        for index in range(count):
            pages.append(_read_page(document, index, second))
            yield index + 1, count
        if password and _is_encrypted(document):
            copy = _unlocked(document)
        drop_watermarks(pages)
        yield RawDocument(pages, _info(document), _outline(document), copy)
    finally:
        document.close()


def drop_watermarks(pages: Sequence[RawPage]) -> None:
    """Take off words, large or turned, that stand at one place on most of three pages or more."""
    seen: dict[tuple[object, ...], set[int]] = defaultdict(set)
    marks = [(page, [word for word in page.words if _odd(word)]) for page in pages]
    for page, words in marks:
        for word in words:
            seen[_spot(word)].add(page.number)
    enough = max(3, _MARKED * len(pages))
    known = {spot for spot, numbers in seen.items() if len(numbers) >= enough}
    for page, words in marks:
        gone = {id(word) for word in words if _spot(word) in known}
        if gone:
            page.words = [word for word in page.words if id(word) not in gone]


def _odd(word: Word) -> bool:
    return word.turn > 0 or word.y1 - word.y0 >= _LARGE


def _spot(word: Word) -> tuple[object, ...]:
    place = (round(word.x0 / _SAME_PLACE), round(word.y0 / _SAME_PLACE))
    return word.text, word.turn, *place


def check_signature(data: bytes) -> None:
    """Refuse what is empty or carries no PDF header in its first kilobyte.

    Raises:
        UnreadableFile: EMPTY_FILE or NOT_A_PDF.
    """
    if not data.strip(b"\0\t\n\f\r "):
        raise UnreadableFile(
            say("The file is empty."),
            hint=say("Download it again; it may be incomplete."),
            code="EMPTY_FILE",
        )
    if b"%PDF-" not in data[:1024]:
        raise UnreadableFile(
            say("The file is not a PDF."),
            hint=say("PDF, HTML, Markdown and plain text can be read; export or print it as PDF."),
            code="NOT_A_PDF",
        )


def damaged() -> UnreadableFile:
    """Return the error for a file whose structure cannot be followed."""
    return UnreadableFile(
        say("The PDF is damaged or incomplete and cannot be read."),
        hint=say("Download it again, or open it in a PDF viewer and save a copy."),
        code="DAMAGED",
    )


def open_document(data: bytes, password: str | None) -> pypdfium2.PdfDocument:
    """Open with pdfium, trying the spellings of a password that PDF writers use.

    Raises:
        UnreadableFile: DAMAGED, PASSWORD_NEEDED or PASSWORD_WRONG.
    """
    pypdfium2.PdfDocument.new().close()  # initialises the library before the raw calls
    locked = False
    for secret in _spellings(password or ""):
        handle = pdfium.FPDF_LoadMemDocument64(data, len(data), secret)
        if handle:
            document = pypdfium2.PdfDocument(handle)
            document._data_holder.append(data)
            return document
        locked = locked or pdfium.FPDF_GetLastError() == pdfium.FPDF_ERR_PASSWORD
    if not locked:
        raise damaged()
    if password:
        raise UnreadableFile(
            say("The password does not open this PDF."),
            hint=say("Check the password (case matters) and try again."),
            code="PASSWORD_WRONG",
        )
    raise UnreadableFile(
        say("The PDF is protected by a password."),
        hint=say("Give its password (on the command line: --password)."),
        code="PASSWORD_NEEDED",
    )


def _spellings(password: str) -> list[bytes | None]:
    """Return the byte forms of a password: UTF-8 (PDF 2.0, SASLprep'd) and Latin-1 (older)."""
    if not password:
        return [None]
    prepared = unicodedata.normalize("NFKC", password.replace("\u00ad", ""))
    forms = [password.encode(), prepared.encode()]
    forms += [text.encode("latin-1", "ignore") for text in (password, prepared)]
    return list(dict.fromkeys(forms))


def _is_encrypted(document: pypdfium2.PdfDocument) -> bool:
    return bool(pdfium.FPDF_GetSecurityHandlerRevision(document) != -1)


def _unlocked(document: pypdfium2.PdfDocument) -> bytes:
    out = io.BytesIO()
    document.save(out, flags=pdfium.FPDF_REMOVE_SECURITY)
    return out.getvalue()


def _info(document: pypdfium2.PdfDocument) -> dict[str, str]:
    return {key: str(value) for key, value in document.get_metadata_dict(skip_empty=True).items()}


def _outline(document: pypdfium2.PdfDocument) -> list[tuple[int, str]]:
    found = []
    for item in document.get_toc(max_depth=4):
        destination = item.get_dest()
        index = destination.get_index() if destination else None
        if index is not None:
            found.append((index + 1, item.get_title()))
        if len(found) >= 2_000:
            break
    return found


class _SecondReader:
    """pypdf, opened only when pdfium fails on a page. It gives text without places."""

    def __init__(self, data: bytes, password: str | None) -> None:
        self._data = data
        self._password = password
        self._reader: object | None = None

    def words(self, index: int, width: float, height: float) -> list[Word]:
        """Return the page's lines as words over the whole width, or nothing."""
        from pypdf import PdfReader
        from pypdf.errors import PyPdfError

        try:
            reader = PdfReader(io.BytesIO(self._data), password=self._password or None)
            text = reader.pages[index].extract_text()
        except (PyPdfError, ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
            logger.info("neither reader could read page %d: %s", index + 1, error)
            return []
        if unreadable(text):
            return []
        lines = [line for line in text.splitlines() if line.strip()]
        step = height / max(1, len(lines))
        return [
            Word(normalise(word), 0.0, row * step, width, (row + 1) * step)
            for row, line in enumerate(lines)
            for word in line.split()
        ]


def _read_page(document: pypdfium2.PdfDocument, index: int, second: _SecondReader) -> RawPage:
    page = pdfium.FPDF_LoadPage(document, index)
    if not page:
        size = pdfium.FS_SIZEF()
        pdfium.FPDF_GetPageSizeByIndexF(document, index, size)
        raw = RawPage(index + 1, size.width or 612.0, size.height or 792.0)
        raw.words = second.words(index, raw.width, raw.height)
        return raw
    try:
        width = pdfium.FPDF_GetPageWidthF(page) or 612.0
        height = pdfium.FPDF_GetPageHeightF(page) or 792.0
        raw = RawPage(index + 1, width, height, label=_label(document, index))
        text_page = pdfium.FPDFText_LoadPage(page)
        if not text_page:
            raw.words = second.words(index, width, height)
            return raw
        try:
            text = _text(text_page)
            unmapped = _unmapped(text_page, len(text)) and not reads_as_words(text)
            raw.garbled = unmapped or unreadable(text)
            if not raw.garbled:
                raw.words = _words(text, _Places(page, text_page, width, height), width, height)
        finally:
            pdfium.FPDFText_ClosePage(text_page)
        return raw
    finally:
        pdfium.FPDF_ClosePage(page)


def _label(document: pypdfium2.PdfDocument, index: int) -> str:
    return str(document.get_page_label(index) or "")


def _words(text: str, place: "_Places", width: float, height: float) -> list[Word]:
    if not text.isprintable():
        text = _RAW_LIGATURE.sub(lambda found: _RAW_LIGATURES[found.group()], text)
        text = text.translate(_CONTROLS)
    if _ACCENT.search(text):
        text = _compose_accents(text, place)
    text = _POWER.sub(lambda found: _power(found, place), text)
    words = []
    turn, slanted, line_end = 0, False, -1
    for match in _WORD.finditer(text):
        start, end = match.span()
        if start > line_end:
            turn, slanted = place.turn(start), place.slanted(start)
            line_end = text.find("\n", start)
            line_end = len(text) if line_end < 0 else line_end
        shown = match.group()
        hyphen = shown[-1] in HYPHENS
        shown = normalise(shown[:-1]) + "-" if hyphen else normalise(shown)
        if not shown or (hyphen and shown == "-") or slanted:
            continue
        box = place.box(start, end - 1)
        if box is not None:
            words.append(Word(shown, *box, turn, place.bold(start), hyphen))
    return [word for word in words if _on_page(word, width, height)] or words


def _on_page(word: Word, width: float, height: float) -> bool:
    """Return whether a reader sees the word: printers' marks often stand beyond the page."""
    return word.x1 > 0 and word.x0 < width and word.y1 > 0 and word.y0 < height


def _text(text_page: object) -> str:
    """Return the page's text, one code point a pdfium character, so that indices agree."""
    count = pdfium.FPDFText_CountChars(text_page)
    if count <= 0:
        return ""
    buffer = (ctypes.c_ushort * (count * 2 + 2))()
    written = pdfium.FPDFText_GetText(text_page, 0, count, buffer)
    text = bytes(buffer)[: 2 * max(0, written - 1)].decode("utf-16-le", "replace")
    if len(text) == count:
        return text
    return one_each([pdfium.FPDFText_GetUnicode(text_page, index) for index in range(count)])


def one_each(codes: list[int]) -> str:
    """Return one character a code. The second half of a surrogate pair becomes a word joiner.

    pdfium counts a mathematical letter outside the basic plane as two characters; the joiner keeps
    the indices in step and is dropped with other invisible characters.
    """
    text: list[str] = []
    high = 0
    for code in codes:
        if high and 0xDC00 <= code < 0xE000:
            text[-1] = chr(0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00))
            text.append(_JOINER)
        else:
            whole = code and not 0xD800 <= code < 0xE000 and code < 0x110000
            text.append(chr(code) if whole else "\ufffd")
        high = code if 0xD800 <= code < 0xDC00 else 0
    return "".join(text)


def _unmapped(text_page: object, count: int) -> bool:
    """Return whether most of a sample of characters have no Unicode value of their own."""
    sample = range(0, count, max(1, count // 40))
    wrong = sum(pdfium.FPDFText_HasUnicodeMapError(text_page, index) == 1 for index in sample)
    return bool(wrong > 0.5 * len(sample))


class _Places:
    """Where characters stand, as seen: pdfium answers in unrotated page space."""

    def __init__(self, page: object, text_page: object, width: float, height: float) -> None:
        self._text_page = text_page
        origin = self._to_device(page, 0.0, 0.0)
        along = self._to_device(page, 1000.0, 0.0)
        up = self._to_device(page, 0.0, 1000.0)
        fx, fy = width / _SCALE, height / _SCALE
        self._x = ((along[0] - origin[0]) * fx / 1000, (up[0] - origin[0]) * fx / 1000)
        self._y = ((along[1] - origin[1]) * fy / 1000, (up[1] - origin[1]) * fy / 1000)
        self._origin = (origin[0] * fx, origin[1] * fy)
        self._rotation = pdfium.FPDFPage_GetRotation(page)
        self._rect = pdfium.FS_RECTF()
        self._font = ctypes.create_string_buffer(128)
        self._flags = ctypes.c_int()
        self._bold: dict[bytes, bool] = {}

    @staticmethod
    def _to_device(page: object, x: float, y: float) -> tuple[int, int]:
        dx, dy = ctypes.c_int(), ctypes.c_int()
        pdfium.FPDF_PageToDevice(page, 0, 0, _SCALE, _SCALE, 0, x, y, dx, dy)
        return dx.value, dy.value

    def box(self, first: int, last: int) -> tuple[float, float, float, float] | None:
        """Return the box around two characters, or None when they take no room."""
        rect = self._rect
        pdfium.FPDFText_GetLooseCharBox(self._text_page, first, rect)
        left, right, low, high = rect.left, rect.right, rect.bottom, rect.top
        if last != first:
            pdfium.FPDFText_GetLooseCharBox(self._text_page, last, rect)
            left, right = min(left, rect.left), max(right, rect.right)
            low, high = min(low, rect.bottom), max(high, rect.top)
        if right <= left and high <= low:
            return None
        (xx, xy), (yx, yy), (ox, oy) = self._x, self._y, self._origin
        ax, bx = ox + xx * left + xy * low, ox + xx * right + xy * high
        ay, by = oy + yx * left + yy * low, oy + yx * right + yy * high
        return min(ax, bx), min(ay, by), max(ax, bx), max(ay, by)

    def turn(self, index: int) -> int:
        """Return the reading direction at a character, in quarter turns clockwise as seen."""
        angle = pdfium.FPDFText_GetCharAngle(self._text_page, index)
        return (self._rotation + round(angle / 1.5707963)) % 4 if angle >= 0 else 0

    def slanted(self, index: int) -> bool:
        """Return whether the character is large and runs across the page: part of a watermark."""
        angle = pdfium.FPDFText_GetCharAngle(self._text_page, index)
        off = abs((angle + 0.785398) % 1.5707963 - 0.785398)
        if angle < 0 or off < _ASLANT:
            return False
        box = self.box(index, index)
        return box is not None and min(box[2] - box[0], box[3] - box[1]) >= _LARGE

    def bold(self, index: int) -> bool:
        """Return whether the character's font calls itself bold."""
        length = pdfium.FPDFText_GetFontInfo(self._text_page, index, self._font, 128, self._flags)
        name = self._font.raw[: max(0, min(length, 128))]
        known = self._bold.get(name)
        if known is None:
            known = self._bold[name] = bool(_BOLD.search(name))
        return known


def _power(found: re.Match[str], place: _Places) -> str:
    """Return ten with its exponent in superscript characters when it is printed small and raised."""
    base = place.box(found.start() + 1, found.start() + 1)
    if base is None or place.turn(found.start()):
        return found.group()
    high = base[3] - base[1]
    digits = (at for at in range(*found.span(1)) if found.string[at].isdigit())
    for box in (place.box(at, at) for at in digits):
        if box is None or box[3] - box[1] > 0.88 * high or box[3] > base[3] - 0.1 * high:
            return found.group()
    return "10" + raised(found[1])


def _compose_accents(text: str, place: _Places) -> str:
    """Put free-standing accents (as TeX prints them) back on the letter they stand over."""
    chars = list(text)
    for match in _ACCENT.finditer(text):
        at = match.start()
        accent = place.box(at, at)
        if accent is None:
            continue
        middle = (accent[0] + accent[2]) / 2
        for near in sorted(
            range(max(0, at - 12), min(len(chars), at + 6)), key=lambda i: abs(i - at)
        ):
            if not chars[near].isalpha():
                continue
            box = place.box(near, near)
            if box is None or not (box[0] - 0.5 <= middle <= box[2] + 0.5):
                continue
            if min(box[3], accent[3]) - max(box[1], accent[1]) <= 0:
                continue
            base = {"\u0131": "i", "\u0237": "j"}.get(chars[near], chars[near])
            composed = unicodedata.normalize("NFC", base + _ACCENTS[match.group()])
            if len(composed) == 1:
                chars[near], chars[at] = composed, "\0"
            break
    return "".join(chars)


def draw(data: bytes, page: int, scale: float) -> bytes:
    """Return page `page` (from 1) as PNG at `scale` pixels a point, at most 16 megapixels.

    Raises:
        UnreadableFile: as `open_document`, or DAMAGED when there is no such page.
    """
    document = open_document(data, None)
    try:
        if not 1 <= page <= len(document):
            raise UnreadableFile(say("The file has no page {page:d}.", page=page), code="DAMAGED")
        try:
            drawn = document[page - 1]
        except pypdfium2.PdfiumError as error:
            raise damaged() from error
        width, height = drawn.get_size()
        limit = (16_000_000 / max(1.0, width * height)) ** 0.5
        image = drawn.render(scale=min(scale, limit)).to_pil()
        out = io.BytesIO()
        image.convert("RGB").save(out, "PNG", compress_level=1)
        return out.getvalue()
    finally:
        document.close()


def is_scan(data: bytes, password: str | None) -> bool:
    """Return whether pictures cover most of most pages."""
    document = open_document(data, password)
    try:
        sample = range(0, len(document), max(1, len(document) // 20))
        return sum(pictured(document, index) >= 0.5 for index in sample) * 2 > len(sample)
    finally:
        document.close()


def pictured(document: pypdfium2.PdfDocument, index: int) -> float:
    """Return the share of a page that pictures cover; -1 when nothing at all is drawn on it."""
    try:
        page = document[index]
        width, height = page.get_size()
        objects = list(page.get_objects(max_depth=3))
        boxes = [item.get_bounds() for item in objects if item.type == pdfium.FPDF_PAGEOBJ_IMAGE]
    except pypdfium2.PdfiumError:
        return -1.0
    if not objects:
        return -1.0
    area = sum(max(0.0, x1 - x0) * max(0.0, y1 - y0) for x0, y0, x1, y1 in boxes)
    return float(area / max(1.0, width * height))
