"""A review between its steps: statements with numbers of passages, arranged in parts."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.agent.draft import Draft
from core.types import Citation, Mode, Usage


@dataclass(frozen=True, slots=True)
class Written:
    """What was written so far. `remarks`: the places of statements that are Lectern's own.

    `removed` counts invented numbers taken out, `repaired` statements written anew or taken out.
    """

    statements: tuple[str, ...]
    remarks: tuple[int, ...]
    parts: tuple[dict[str, Any], ...]
    citations: tuple[Citation, ...]
    mode: Mode
    usage: Usage
    removed: int = 0
    repaired: int = 0

    @classmethod
    def of(cls, draft: Draft, mode: Mode, usage: Usage) -> "Written":
        """Return what a draft holds."""
        made = draft.update(mode, usage)
        parts = tuple(part.to_json() for part in made["parts"])
        return cls(
            tuple(made["statements"]),
            tuple(made["remarks"]),
            parts,
            tuple(made["citations"]),
            mode,
            usage,
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return {
            "statements": list(self.statements),
            "remarks": list(self.remarks),
            "parts": list(self.parts),
            "citations": [citation.to_json() for citation in self.citations],
            "mode": self.mode,
            "usage": self.usage.to_json(),
            "removed": self.removed,
            "repaired": self.repaired,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Written":
        """Read back what `to_json` wrote."""
        return cls(
            tuple(data["statements"]),
            tuple(data["remarks"]),
            tuple(data["parts"]),
            tuple(Citation.from_json(citation) for citation in data["citations"]),
            data["mode"],
            Usage(**data["usage"]),
            data["removed"],
            data["repaired"],
        )

    def without(self, gone: Collection[int]) -> "Written":
        """Return it without the statements at some places; a part that has none left goes too."""
        kept = [at for at in range(len(self.statements)) if at not in gone]
        new = {old: at for at, old in enumerate(kept)}
        parts = [_moved(part, new) for part in self.parts]
        return replace(
            self,
            statements=tuple(self.statements[at] for at in kept),
            remarks=tuple(new[at] for at in self.remarks if at in new),
            parts=tuple(part for part in parts if part["items"] or any(map(any, part["rows"]))),
        )


def _moved(part: dict[str, Any], new: Mapping[int, int]) -> dict[str, Any]:
    return {
        **part,
        "items": [new[at] for at in part["items"] if at in new],
        "rows": [[[new[at] for at in cell if at in new] for cell in row] for row in part["rows"]],
    }
