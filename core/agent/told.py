"""What a paper says in each field of a summary, in its own sentences and without a search."""

from collections.abc import Sequence

from core.agent.choosing import choose, in_order
from core.agent.looks import CLAIMS, DATA, LIMITS, METHOD, RESULTS
from core.agent.reading_notes import PROBLEM, hits_of, own_text
from core.evidence.quotes import fold
from core.extractive.answer import shown
from core.types import Chunk

_FIELDS = (
    ("limits", LIMITS),
    ("results", RESULTS),
    ("data", DATA),
    ("method", METHOD),
    ("problem", PROBLEM),
    ("conclusion", CLAIMS),
)
"""In the order in which they take their sentences: the one hardest to mistake comes first."""
_SHOWN = ("problem", "method", "data", "results", "limits", "conclusion")
MOST = 4


def told(chunks: Sequence[Chunk], title: str) -> dict[str, list[str]]:
    """Return at most four sentences a field, in reading order, none in two fields."""
    hits = hits_of(own_text(chunks), title)
    taken: set[str] = set()
    found: dict[str, list[str]] = {}
    for name, look in _FIELDS:
        best = [c for c in choose(look, hits, 3 * MOST) if fold(c.text)[0] not in taken][:MOST]
        taken.update(fold(c.text)[0] for c in best)
        found[name] = [shown(c.text) for c in in_order(best)]
    return {name: found[name] for name in _SHOWN}
