"""What kind of file some bytes are, told by the bytes, and the text of those that are text."""

import re
from typing import Literal, NamedTuple

from charset_normalizer import from_bytes

from core.errors import UnreadableFile
from core.wording import phrase, say

Kind = Literal["pdf", "html", "markdown", "text"]
MEDIA_TYPES: dict[Kind, str] = {
    "pdf": "application/pdf",
    "html": "text/html",
    "markdown": "text/markdown",
    "text": "text/plain",
}
MAX_TEXT_BYTES = 50 * 1024 * 1024
MAX_TAGS = 1_500_000
"""A page with more elements would take more memory than a reader is given."""

_HEAD = 64 * 1024
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\xd0\xcf\x11\xe0", phrase("an old Office file")),
    (b"{\\rtf", phrase("an RTF file")),
    (b"%!PS", phrase("a PostScript file")),
    (b"AT&TFORM", phrase("a DjVu file")),
    (b"\x89PNG", phrase("a picture")),
    (b"\xff\xd8\xff", phrase("a picture")),
    (b"GIF8", phrase("a picture")),
    (b"II*\0", phrase("a picture")),
    (b"MM\0*", phrase("a picture")),
    (b"\x1f\x8b", phrase("a packed archive")),
    (b"Rar!", phrase("a packed archive")),
    (b"7z\xbc\xaf", phrase("a packed archive")),
)
_ZIPPED: tuple[tuple[bytes, str], ...] = (
    (b"word/", phrase("a Word document")),
    (b"ppt/", phrase("a presentation")),
    (b"xl/", phrase("a spreadsheet")),
    (b"application/epub", phrase("an e-book")),
    (b"application/vnd.oasis", phrase("an OpenDocument file")),
)
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_CHARSET = re.compile(
    rb"charset\s*=\s*[\"']?\s*([\w.:-]{2,40})|encoding\s*=\s*[\"']([\w.:-]{2,40})"
)
_WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "x-gbk": "gb18030", "iso-8859-1": "cp1252"}
"""What browsers read instead: the declared ones are parts of these."""
_HTML = re.compile(
    r"\s*+(?:(?:<\?xml[^>]*>|<!--(?:(?!-->).)*+-->)\s*+)*+<(?:!doctype\s+html|html|head|body|meta|title|article)\b",
    re.I | re.S,
)
_LATEX = re.compile(r"^[ \t]*\\(?:documentclass|documentstyle)\b", re.M)
_BIBTEX = re.compile(
    r"(?:%[^\n]*+\n\s*+)*+@(?:(?:comment|preamble|string)\s*[{(]|[a-z]+\s*[{(]\s*[^\s,{}()=]+\s*,)",
    re.I,
)
"""The first entry, after lines of remarks: `@kind{key,`."""
_MARKDOWN = (
    re.compile(r"^#{1,6}[ \t]+\S", re.M),
    re.compile(r"^(?:```|~~~)", re.M),
    re.compile(r"!?\[[^\[\]\n]{1,500}+\]\([^)\s]{1,500}+\)"),
    re.compile(r"^\|.+\|[ \t]*\n\|[ :|-]+\|", re.M),
    re.compile(r"\*\*[^*\n]{1,500}+\*\*"),
)
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")


class Told(NamedTuple):
    """A file's kind, and its text if it is not a PDF."""

    kind: Kind
    text: str = ""


def tell(data: bytes) -> Told:
    """Tell what kind of file this is from its content; its name plays no part.

    Raises:
        UnreadableFile: EMPTY_FILE, TOO_LARGE, or NOT_A_PDF for a kind that cannot be read.
    """
    if not data.strip(b"\0\t\n\f\r "):
        raise UnreadableFile(
            say("The file is empty."),
            hint=say("Download it again; it may be incomplete."),
            code="EMPTY_FILE",
        )
    if is_pdf(data):
        return Told("pdf")
    if what := _signed(data):
        raise _refused(what)
    if len(data) > MAX_TEXT_BYTES:
        raise UnreadableFile(
            say(
                "The file has {size:d} MB; at most {most:d} MB of text can be read.",
                size=len(data) // 2**20,
                most=MAX_TEXT_BYTES // 2**20,
            ),
            hint=say("Split it and add the part you need."),
            code="TOO_LARGE",
        )
    text = decoded(data)
    if text is None:
        raise _refused(say("a file of no kind known here"))
    kind = _kind(text)
    if kind == "html" and text.count("<") > 2 * MAX_TAGS:
        raise UnreadableFile(
            say("The page has more than {most:d} elements.", most=MAX_TAGS),
            hint=say("Print it as PDF, or save the part you need."),
            code="TOO_LARGE",
        )
    return Told(kind, text)


def is_bibtex(data: bytes) -> bool:
    """Return whether the bytes are a list of references in BibTeX, which is no paper."""
    return bool(_BIBTEX.match(data[:4096].decode("utf-8", "replace").lstrip("\ufeff \t\r\n")))


def is_pdf(data: bytes) -> bool:
    """Return whether the bytes carry a PDF header in their first kilobyte, as the norm has it."""
    return b"%PDF-" in data[:1024]


def _signed(data: bytes) -> str:
    """Return what a file that is not text says of itself in its first bytes, '' if nothing."""
    if data.startswith(b"PK\x03\x04"):
        head = data[:_HEAD]
        names = (what for mark, what in _ZIPPED if mark in head or mark in data[-_HEAD:])
        return next(names, say("a packed archive"))
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return say("a picture")
    return next((what for mark, what in _SIGNATURES if data.startswith(mark)), "")


def _kind(text: str) -> Kind:
    head = text[:_HEAD]
    if _HTML.match(head):
        return "html"
    if _LATEX.search(head):
        raise _refused(say("LaTeX source"))
    signs = [len(sign.findall(head)) for sign in _MARKDOWN]
    first = head.lstrip().startswith(("# ", "---\n", "---\r\n"))
    return "markdown" if sum(map(bool, signs)) + (signs[0] > 1) + first >= 2 else "text"


def decoded(data: bytes) -> str | None:
    """Return the bytes as text; None when they are none.

    A byte order mark leads, then what the page declares, then UTF-8, then a guess (GB18030,
    Big5, Shift-JIS, ...).
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _plain(_decode(data, encoding))
    if b"\0" in data[:_HEAD]:
        return _plain(_wide(data))
    text = _decode(data, "utf-8")
    if text is not None:
        return _plain(text)
    declared = _CHARSET.search(data[:4096])
    if declared is not None:
        name = (declared[1] or declared[2]).decode("ascii").lower()
        text = _decode(data, _WIDER.get(name, name))
        if text is not None:
            return _plain(text)
    return _plain(_guessed(data))


def _guessed(data: bytes) -> str | None:
    """Return the text in the likeliest encoding: a strict GB18030 reading with Chinese leads."""
    chinese = _decode(data, "gb18030")
    if chinese is not None and _common_han(chinese) > 0.5:
        return chinese
    best = from_bytes(data[:_HEAD]).best()
    if best is None:
        return None
    return data.decode(best.encoding, "replace")


def _common_han(text: str) -> float:
    """Return the share of non-ASCII characters that GB2312's first level, the common ones, has."""
    other = [char for char in text[:20_000] if not char.isascii()]
    common = sum(b"\xa1" <= char.encode("gb2312", "ignore")[:1] <= b"\xd7" for char in other)
    return common / len(other) if other else 0.0


def _wide(data: bytes) -> str | None:
    """Return UTF-16 without a mark as text, in the byte order that makes it text."""
    whole = data[: len(data) // 2 * 2]
    read = (_decode(whole, encoding) for encoding in ("utf-16-le", "utf-16-be"))
    return next((text for text in read if text is not None and _wordy(text)), None)


def _wordy(text: str) -> bool:
    """Return whether nearly all characters are ASCII, Latin, Greek, Cyrillic or East Asian."""
    sample = text[:20_000]
    usual = re.findall(
        "[\t\n\r -~\u00a0-\u04ff\u2000-\u22ff\u3000-\u30ff\u4e00-\u9fff\uff00-\uffef]", sample
    )
    return len(usual) > 0.95 * len(sample)


def _decode(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeError, LookupError):
        return None


def _plain(text: str | None) -> str | None:
    """Return the text, or None when so many control characters say that it is none."""
    if text is None or len(_CONTROL.findall(text[:_HEAD])) > 0.01 * len(text[:_HEAD]):
        return None
    return text


def _refused(what: str) -> UnreadableFile:
    return UnreadableFile(
        say("The file cannot be read: it is {reason}.", reason=what),
        hint=say("PDF, HTML, Markdown and plain text can be read; export or print it as PDF."),
        code="NOT_A_PDF",
    )
