"""Which passage of a paper a sentence about it rests on."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from core.agent.draft import INVENTED, Draft
from core.agent.state import TurnContext
from core.evidence.numbering import cited, strip
from core.evidence.support import best_quote
from core.review.sources import Source
from core.types import Hit, Scope

SEEN = 3
"""Passages of a paper looked at for one sentence."""


def state_about(
    draft: Draft,
    text: str,
    papers: Iterable[int],
    sources: Mapping[int, Source],
    context: TurnContext,
) -> int:
    """State what was written of some papers, citing the passage of each that comes nearest.

    `papers` are the numbers it names beside its markers; one that no paper has stays invented, for
    the verifier to take out and count. Returns the statement's place.
    """
    own = " ".join(strip(text).split())
    numbers = list(dict.fromkeys([*cited(text), *papers]))
    places = []
    for n in numbers:
        found = passage(own, sources[n].scope, context) if n in sources else None
        if found:
            places.append(draft.quote(*found))
        elif n not in sources:
            places.append(INVENTED)
    return draft.state(own, places)


def passage(text: str, scope: Scope, context: TurnContext) -> tuple[Hit, str] | None:
    """Return the passage of the papers in scope closest to a sentence, and the sentence in it."""
    hits = context.searcher.search(text, scope, SEEN).hits
    quotes = [best_quote([text], hit.chunk.text, context.embedder) for hit in hits]
    if not quotes:
        return None
    vectors = context.embedder.encode([text, *quotes])
    best = int(np.argmax(vectors[1:] @ vectors[0]))
    return hits[best], quotes[best]


def passages(text: str, scopes: Sequence[Scope], context: TurnContext) -> list[Hit]:
    """Return the passages closest to a sentence, the best of each scope."""
    return [hit for scope in scopes for hit in context.searcher.search(text, scope, 2).hits]
