"""Which sentence of a passage a written sentence rests on: the quote that gets highlighted."""

from collections.abc import Sequence

import numpy as np

from core.evidence.facts import content, normalise
from core.evidence.sentences import sentences
from core.models.embed import Embedder


def best_quote(claims: Sequence[str], passage: str, embedder: Embedder) -> str:
    """Return the sentence of `passage` closest to any of the claims, by shared words and cosine.

    The whole passage when it is a single sentence or there is no claim.
    """
    candidates = sentences(passage)
    if len(candidates) < 2 or not claims:
        return passage.strip()
    vectors = embedder.encode([*candidates, *claims])
    cosine = vectors[: len(candidates)] @ vectors[len(candidates) :].T
    shared = np.array([[_overlap(claim, text) for claim in claims] for text in candidates])
    closeness = (cosine + shared).max(axis=1)
    return candidates[int(np.argmax(closeness))].strip()


def _overlap(claim: str, text: str) -> float:
    """Return the F1 of the content words of two texts."""
    wanted, found = content(normalise(claim)), content(normalise(text))
    shared = len(wanted & found)
    return 2 * shared / (len(wanted) + len(found)) if shared else 0.0
