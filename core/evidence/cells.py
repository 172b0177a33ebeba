"""A number with its unit, as in the cell of a table, judged by what is printed."""

import re
from collections.abc import Sequence

from core.evidence.clashes import Clash
from core.evidence.facts import Facts, facts, normalise
from core.evidence.language import CJK

_CELL = 24
"""Characters of the longest bare value."""
_PRINTED = re.compile(r"(?<!\d)-?\d+(?:[.,]\d+)*")
_HAN_UNIT = re.compile(f"[{CJK}]+$")


def is_value(claim: str, found: Facts) -> bool:
    """Return whether `claim` is a number with its unit, as in the cell of a table, and no sentence."""
    plain = (
        len(claim) <= _CELL and len(found.stems) <= 1 and not claim.endswith((".", "!", "。", "！"))
    )
    return bool(found.quantities) and plain and not (found.negated or found.poles)


def read_value(claim: str, found: Facts, passages: Sequence[str]) -> Clash:
    """Return whether a passage has the numbers of a cell as they are printed, and its unit."""
    numbers = _PRINTED.findall(normalise(claim))
    for passage in passages:
        plain = normalise(passage)
        if set(numbers) <= set(_PRINTED.findall(plain)):
            unit = _HAN_UNIT.search(claim)
            whole = found.stems <= facts(passage).stems and (
                unit is None or re.search(rf"(?<![{CJK}]){unit.group()}", passage) is not None
            )
            return Clash("supported", "same") if whole else Clash("partly", "some")
    return Clash("unsupported", "no_number", (", ".join(numbers),))
