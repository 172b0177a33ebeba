"""Numbers as tables print them."""

import re
import unicodedata

_NUMBER = re.compile(
    r"^[^\w.+-]*([+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[+-]?\d*\.?\d+(?:[eE][+-]?\d+)?)"
    r"\s*(?:±.*|\(.*\)|%|[a-zA-Z*†‡]{0,4})?$"
)


def numeric(cell: str) -> float | None:
    """Return the number a table's cell holds, or None.

    Signs of currency before it and a percent sign, unit, mark, error or bracket after it are let
    go: `1,234`, `84.3%`, `0.91 ± 0.02`, `12.5*`, `−3`.
    """
    plain = unicodedata.normalize("NFKC", cell).replace("−", "-").strip()
    match = _NUMBER.match(plain)
    return float(match.group(1).replace(",", "")) if match else None
