"""What a running turn tells whoever watches it. Stored in order; pages and CLI replay them."""

from dataclasses import asdict, dataclass
from typing import Any, Literal
from uuid import UUID

from core.memory.readings import Similar
from core.types import AnswerSentence, Citation, Mode, Part, Usage

StepState = Literal["running", "done", "failed", "stopped"]


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A step has begun. `node` is `research.3` for the third call of a tool within `research`."""

    node: str
    title: str
    arguments: str = ""
    kind = "step_started"

    def to_json(self) -> dict[str, Any]:
        """Return the stored form."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class StepFinished:
    """A step has ended, one way or another."""

    node: str
    title: str
    state: StepState
    seconds: float
    detail: str = ""
    tokens: int = 0
    arguments: str = ""
    kind = "step_finished"

    def to_json(self) -> dict[str, Any]:
        """Return the stored form."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class StepProgress:
    """How far a long step has come, in one line."""

    node: str
    detail: str
    kind = "step_progress"

    def to_json(self) -> dict[str, Any]:
        """Return the stored form."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the answer as it is written."""

    text: str
    kind = "token"

    def to_json(self) -> dict[str, Any]:
        """Return the stored form."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class CitationsReady:
    """The passages the answer may cite."""

    citations: tuple[Citation, ...]
    kind = "citations_ready"

    def to_json(self) -> dict[str, Any]:
        """Return the stored form."""
        return {"citations": [citation.to_json() for citation in self.citations]}


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the reader should know although the turn goes on, and what to do about it."""

    code: str
    text: str
    hint: str = ""
    kind = "notice"

    def to_json(self) -> dict[str, Any]:
        """Return the stored form."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Recalled:
    """What the reader has read before that resembles the turn's paper; none: a first reading."""

    paper_id: UUID
    related: tuple[Similar, ...]
    kind = "recalled"

    def to_json(self) -> dict[str, Any]:
        """Return the stored form."""
        return {
            "paper_id": str(self.paper_id),
            "branch": "history" if self.related else "first_reading",
            "related": [similar.to_json() for similar in self.related],
        }


@dataclass(frozen=True, slots=True)
class TurnResult:
    """All that a turn came to."""

    intent: str
    mode: Mode
    answer: str
    citations: tuple[Citation, ...]
    sentences: tuple[AnswerSentence, ...]
    usage: Usage
    refused: bool = False
    parts: tuple[Part, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the stored and public form."""
        return {
            "intent": self.intent,
            "mode": self.mode,
            "answer": self.answer,
            "citations": [citation.to_json() for citation in self.citations],
            "sentences": [sentence.to_json() for sentence in self.sentences],
            "usage": self.usage.to_json(),
            "refused": self.refused,
            "parts": [part.to_json() for part in self.parts],
        }


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """The turn is over; `stopped` when the reader stopped it (what was written is kept)."""

    result: TurnResult
    stopped: bool = False
    kind = "turn_finished"

    def to_json(self) -> dict[str, Any]:
        """Return the stored form."""
        return {**self.result.to_json(), "stopped": self.stopped}


@dataclass(frozen=True, slots=True)
class TurnFailed:
    """The turn gave no answer."""

    code: str
    message: str
    hint: str = ""
    kind = "turn_failed"

    def to_json(self) -> dict[str, Any]:
        """Return the stored form."""
        return asdict(self)


Event = (
    StepStarted
    | StepProgress
    | StepFinished
    | Token
    | CitationsReady
    | Notice
    | Recalled
    | TurnFinished
    | TurnFailed
)
