"""The text of HTML elements: formulas as LaTeX, without what a reader does not see."""

import re
from collections.abc import Iterator
from typing import Any, TypeAlias

from lxml import etree

from core.ingest.text import normalise, raised

Element: TypeAlias = Any
"""One of lxml's, which come without types."""

BLOCKS = frozenset(
    [
        "address",
        "article",
        "blockquote",
        "body",
        "caption",
        "center",
        "dd",
        "details",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "html",
        "legend",
        "li",
        "main",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
    ]
)
_UNSEEN = frozenset(
    [
        "head",
        "script",
        "style",
        "noscript",
        "template",
        "nav",
        "aside",
        "button",
        "select",
        "option",
        "textarea",
        "input",
        "iframe",
        "object",
        "embed",
        "applet",
        "canvas",
        "svg",
        "audio",
        "video",
        "map",
        "dialog",
        "menu",
        "rp",
        "rt",
        "datalist",
        "progress",
        "meter",
    ]
)
_ROLES = frozenset(
    [
        "navigation",
        "banner",
        "contentinfo",
        "search",
        "complementary",
        "dialog",
        "alertdialog",
        "menu",
        "menubar",
        "toolbar",
        "tooltip",
        "alert",
        "status",
    ]
)
_FURNITURE = frozenset(
    [
        "nav",
        "navbar",
        "navigation",
        "menu",
        "sidebar",
        "breadcrumb",
        "breadcrumbs",
        "cookie",
        "cookies",
        "cookie-banner",
        "toc",
        "share",
        "sharing",
        "social",
        "social-share",
        "comments",
        "related",
        "related-posts",
        "advert",
        "advertisement",
        "ads",
        "newsletter",
        "site-header",
        "site-footer",
        "page-header",
        "page-footer",
        "footer",
        "masthead",
        "skip-link",
        "mw-editsection",
        "mw-jump-link",
        "navbox",
        "catlinks",
        "printfooter",
        "noprint",
        "MathJax",
        "MathJax_Preview",
        "MathJax_Display",
        "MathJax_SVG",
        "katex-html",
        "ltx_ERROR",
        "ltx_pagination",
        "ltx_page_footer",
        "ltx_page_header",
        "ltx_page_navbar",
        "ltx_TOC",
        "ltx_rdf",
        "ltx_note_mark",
        "ltx_note_type",
    ]
)
_BEFORE_STOP = re.compile(r"(?<=[\w)$]) (?=[.,;](?: |$))")
"""What a footnote leaves behind."""
_HIDDEN = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.I)
_SIGNED, _TEN = re.compile(r"[-−–+]?\d{1,3}"), re.compile(r"(?<![\d.,])10$")


def classes(element: Element) -> frozenset[str]:
    """Return an element's classes."""
    return frozenset((element.get("class") or "").split())


def unseen(element: Element) -> bool:
    """Return whether a reader of the page does not see the element, or it is no part of the text."""
    if element.tag in _UNSEEN or element.get("role") in _ROLES:
        return not is_formula(element)
    if classes(element) & _FURNITURE or (element.get("id") or "") in _FURNITURE:
        return True
    hidden = element.get("hidden") is not None or element.get("aria-hidden") == "true"
    if hidden or _HIDDEN.search(element.get("style") or ""):
        return (
            element.find(".//math") is None
        )  # a formula's source is often hidden beside its picture
    return False


def is_formula(element: Element) -> bool:
    """Return whether the element is a formula as a whole."""
    if element.tag == "script":
        return (element.get("type") or "").startswith("math/tex")
    return bool(element.tag == "math")


def formula(element: Element) -> str:
    """Return a formula as LaTeX between dollar signs; what it shows when its LaTeX is not given."""
    source = _source(element)
    if not source:
        return " ".join("".join(element.itertext()).split())
    display = element.get("display") == "block" or "mode=display" in (element.get("type") or "")
    return f"$${source}$$" if display else f"${source}$"


def _source(element: Element) -> str:
    if element.tag == "script":
        return _tidy_latex(element.text or "")
    for note in element.iter("annotation"):
        if note.get("encoding") == "application/x-tex":
            return _tidy_latex(note.text or "")
    return _tidy_latex(element.get("alttext") or "")


def _tidy_latex(source: str) -> str:
    """Return LaTeX on one line, without the comments at line ends and the wrapping of Wikipedia."""
    plain = " ".join(re.sub(r"(?<!\\)%\s*\n", "", source).split())
    wrapped = re.fullmatch(r"\{\\displaystyle (.*)\}", plain)
    return wrapped[1].strip() if wrapped else plain


def steps(root: Element) -> Iterator[tuple[str, Element, Any]]:
    """Yield ("start" or "end", element, walk) of what is seen; `walk.skip_subtree()` passes over."""
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        yield event, element, walk


def flat(root: Element, *, notes: bool = False, inner: bool = True) -> str:
    """Return the text inside an element as one paragraph.

    Args:
        root: the element.
        notes: whether footnotes in it are part of the text.
        inner: false leaves out tables and figures inside.
    """
    parts: list[str] = []
    for event, element, walk in steps(root):
        if event == "start":
            if is_formula(element):
                parts.append(formula(element))
                walk.skip_subtree()
            elif element is not root and _left_out(element, notes, inner):
                walk.skip_subtree()
                parts.append(" " if element.tag in BLOCKS else "")
            else:
                parts.append(" " if element.tag in BLOCKS or element.tag == "br" else "")
                parts.append(_exponent(element, parts) or element.text or "")
        elif element is not root:
            parts.append(" " if element.tag in BLOCKS else "")
            parts.append(element.tail or "")
    return paragraph("".join(parts))


def _exponent(element: Element, before: list[str]) -> str:
    """Return the digits of `<sup>` in superscript characters when they follow a ten, else ''."""
    if element.tag != "sup" or not _SIGNED.fullmatch(element.text or ""):
        return ""
    return raised(element.text) if _TEN.search("".join(before[-6:])) else ""


def _left_out(element: Element, notes: bool, inner: bool) -> bool:
    if unseen(element) or (not notes and is_note(element)):
        return True
    return not inner and element.tag in ("table", "figure")


def is_note(element: Element) -> bool:
    """Return whether the element is a footnote where it is referred to."""
    return "ltx_note" in classes(element)


def paragraph(text: str) -> str:
    """Return running text: normalised, its white space single spaces."""
    return normalise(_BEFORE_STOP.sub("", " ".join(text.split())))


def verbatim(element: Element) -> str:
    """Return preformatted text with its lines."""
    lines = normalise_lines("".join(element.itertext()))
    return lines.strip("\n")


def normalise_lines(text: str) -> str:
    """Return text normalised line by line, without blank lines (they part paragraphs)."""
    lines = (normalise(line.rstrip()) for line in text.splitlines())
    return "\n".join(line for line in lines if line.strip())


def rows_of(table: Element) -> tuple[tuple[str, ...], ...]:
    """Return a table's cells, all rows of one length; a cell over several stands in each of them.

    A table inside a cell is that cell's text.
    """
    grid: list[list[str | None]] = []
    row, filled = -1, 0
    for element in _own_cells(table):
        if element.tag == "tr":
            row += 1
            _reach(grid, row, 0)
            continue
        if row < 0:
            continue
        text, at = flat(element), _free(grid[row])
        if at >= MOST_COLUMNS:
            continue
        down_to, right_to = _span(element, "rowspan"), _span(element, "colspan")
        filled += down_to * right_to * (1 + len(text) // CELL_CHARACTERS)
        if filled > MOST_CELLS:
            down_to = right_to = 1
        right_to = min(right_to, MOST_COLUMNS - at)
        for down in range(down_to):
            for right in range(right_to):
                _reach(grid, row + down, at + right)
                grid[row + down][at + right] = text
    del grid[row + 1 :]  # a span may claim more rows than there are
    width = max((len(cells) for cells in grid), default=0)
    rows = [tuple([cell or "" for cell in cells] + [""] * (width - len(cells))) for cells in grid]
    return tuple(cells for cells in rows if any(cells))


WIDEST_SPAN, MOST_CELLS = 100, 100_000
"""A span is believed up to this, and spans of a table only until they have filled so many cells."""
CELL_CHARACTERS, MOST_COLUMNS = 50, 200
"""A cell with more characters counts as several; columns beyond the last are left out."""


def _span(element: Element, name: str) -> int:
    number = (element.get(name) or "1").strip()
    return min(max(int(number), 1), WIDEST_SPAN) if number.isdecimal() and len(number) < 6 else 1


def _own_cells(table: Element) -> Iterator[Element]:
    for event, element, walk in steps(table):
        if event == "end" or element is table:
            continue
        if element.tag in ("td", "th"):
            yield element
            walk.skip_subtree()
        elif element.tag == "table" or unseen(element):
            walk.skip_subtree()
        elif element.tag == "tr":
            yield element


def _reach(grid: list[list[str | None]], row: int, column: int) -> None:
    while len(grid) <= row:
        grid.append([])
    while len(grid[row]) < column + 1 and column >= 0:
        grid[row].append(None)


def _free(cells: list[str | None]) -> int:
    return next((at for at, cell in enumerate(cells) if cell is None), len(cells))
