"""How much each path counts, by case. `fusion.json` is written by `core.evals.fit_fusion`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from core.models.embed import USE_NAME

ScopeKind = Literal["paper", "library"]
BM25 = "bm25"
TABLE = "fusion.json"
_OTHER = "other"


@dataclass(frozen=True, slots=True)
class Shares:
    """BM25's share of the weight, 0 to 1, in one scope; the dense paths divide the rest.

    `same`: query and passage are in one language; `same_strong`: and a dense path besides the
    multilingual USE saw the passage; `cross`: they are in different languages.
    """

    same: float
    same_strong: float
    cross: float


@dataclass(frozen=True, slots=True)
class FusionTable:
    """The fitted numbers.

    `strength`: how the dense paths divide their part, by model; 'other' for a model not named.
    `cross_limit`: the largest z-score that BM25 can have across languages, where one digit or
    letter in common is often all there is.
    """

    paper: Shares
    library: Shares
    strength: Mapping[str, float]
    cross_limit: float

    def shares(self, scope: ScopeKind) -> Shares:
        """Return BM25's shares in a scope."""
        return self.paper if scope == "paper" else self.library

    def strength_of(self, model: str) -> float:
        """Return a dense path's strength."""
        return self.strength.get(model, self.strength[_OTHER])

    def strong(self, model: str) -> bool:
        """Whether a dense path is another one than the multilingual USE."""
        return model not in (USE_NAME, BM25)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "FusionTable":
        """Read back what `core.evals.fit_fusion` wrote."""
        return cls(
            paper=Shares(**data["paper"]),
            library=Shares(**data["library"]),
            strength=dict(data["strength"]),
            cross_limit=float(data["cross_limit"]),
        )


@cache
def fitted() -> FusionTable:
    """Return the table that comes with Lectern."""
    text = (files("core.retrieval") / TABLE).read_text(encoding="utf-8")
    return FusionTable.from_json(json.loads(text))
