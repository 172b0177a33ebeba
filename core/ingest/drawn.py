"""What is drawn on a page beside letters: ruling lines and pictures. Runs in the worker only."""

import ctypes
from dataclasses import dataclass, field

import pypdfium2
import pypdfium2.raw as pdfium

MOST_OBJECTS = 20_000
"""Of a page's objects are looked at; a plotted cloud of points has more."""
THIN = 3.0
"""Points: a path not thicker is a rule."""

_SCALE = 1_000_000

Area = tuple[float, float, float, float]
"""x0, y0, x1, y1 in points of the page as seen, origin top left."""


@dataclass(slots=True)
class Drawn:
    """A page's rules and pictures (images, forms, shadings, shapes), in points as seen."""

    across: list[Area] = field(default_factory=list)
    down: list[Area] = field(default_factory=list)
    pictures: list[Area] = field(default_factory=list)


def drawn_on(document: pypdfium2.PdfDocument, index: int) -> Drawn:
    """Return what is drawn on page `index` (from 0); nothing when it cannot be opened."""
    found = Drawn()
    page = pdfium.FPDF_LoadPage(document, index)
    if not page:
        return found
    try:
        seen = _Seen(page)
        left, low, right, high = (ctypes.c_float() for _ in range(4))
        for at in range(min(pdfium.FPDFPage_CountObjects(page), MOST_OBJECTS)):
            item = pdfium.FPDFPage_GetObject(page, at)
            kind = pdfium.FPDFPageObj_GetType(item)
            if kind == pdfium.FPDF_PAGEOBJ_TEXT:
                continue
            if pdfium.FPDFPageObj_GetBounds(item, left, low, right, high):
                area = seen.area(left.value, low.value, right.value, high.value)
                _sort(area, kind == pdfium.FPDF_PAGEOBJ_PATH, seen, found)
    finally:
        pdfium.FPDF_ClosePage(page)
    found.across = _joined(found.across)
    return found


def _sort(area: Area, path: bool, seen: "_Seen", found: Drawn) -> None:
    x0, y0, x1, y1 = area
    wide, tall = x1 - x0, y1 - y0
    if x1 <= 0 or y1 <= 0 or x0 >= seen.width or y0 >= seen.height:
        return
    if path and tall <= THIN < wide:
        found.across.append(area)
    elif path and wide <= THIN < tall:
        found.down.append(area)
    elif wide < 0.97 * seen.width or tall < 0.97 * seen.height:  # else the page's ground
        found.pictures.append(area)
        if path and wide > 30 and tall > 8:  # a frame: its sides are rules
            found.across += [(x0, y0, x1, y0 + 1), (x0, y1 - 1, x1, y1)]
            found.down += [(x0, y0, x0 + 1, y1), (x1 - 1, y0, x1, y1)]


def _joined(rules: list[Area]) -> list[Area]:
    """Return rules with those in one line and touching made one: many are drawn cell by cell."""
    done: list[Area] = []
    for rule in sorted(rules, key=lambda rule: (round(rule[1]), rule[0])):
        last = done[-1] if done else None
        if last and abs(last[1] - rule[1]) < 1.5 and rule[0] - last[2] < 4:
            done[-1] = (
                last[0],
                min(last[1], rule[1]),
                max(last[2], rule[2]),
                max(last[3], rule[3]),
            )
        else:
            done.append(rule)
    return done


class _Seen:
    """From the page's own space to the page as seen (turned, cropped)."""

    def __init__(self, page: object) -> None:
        self.width = pdfium.FPDF_GetPageWidthF(page) or 612.0
        self.height = pdfium.FPDF_GetPageHeightF(page) or 792.0
        self._origin = self._device(page, 0.0, 0.0)
        along, up = self._device(page, 1000.0, 0.0), self._device(page, 0.0, 1000.0)
        self._x = tuple((at[0] - self._origin[0]) / 1000 for at in (along, up))
        self._y = tuple((at[1] - self._origin[1]) / 1000 for at in (along, up))

    def _device(self, page: object, x: float, y: float) -> tuple[float, float]:
        dx, dy = ctypes.c_int(), ctypes.c_int()
        pdfium.FPDF_PageToDevice(page, 0, 0, _SCALE, _SCALE, 0, x, y, dx, dy)
        return dx.value * self.width / _SCALE, dy.value * self.height / _SCALE

    def area(self, left: float, low: float, right: float, high: float) -> Area:
        """Return a rectangle of the page's own space as it is seen."""
        ends = [
            (
                self._origin[0] + self._x[0] * x + self._x[1] * y,
                self._origin[1] + self._y[0] * x + self._y[1] * y,
            )
            for x, y in ((left, low), (right, high))
        ]
        (ax, ay), (bx, by) = ends
        return min(ax, bx), min(ay, by), max(ax, bx), max(ay, by)
