"""A turn as a page shows it, folded from its events or read from its stored row. No Streamlit."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from core.db.conversations import StoredEvent, TurnRow


@dataclass
class TurnView:
    """What is known of a turn by now; `state` is running, finished, stopped or failed.

    `shown` has the numbers that stand in the place of those of citations, where they differ.
    """

    question: str
    id: UUID | None = None
    selected: str = ""
    state: str = "running"
    steps: list[dict[str, Any]] = field(default_factory=list)
    text: str = ""
    notices: list[Mapping[str, Any]] = field(default_factory=list)
    citations: list[dict[str, Any]] = field(default_factory=list)
    sentences: list[dict[str, Any]] = field(default_factory=list)
    parts: list[dict[str, Any]] = field(default_factory=list)
    usage: Mapping[str, Any] = field(default_factory=dict)
    mode: str = ""
    error: Mapping[str, Any] | None = None
    shown: Mapping[int, int] = field(default_factory=dict)


def from_row(row: TurnRow) -> TurnView:
    """Return the view of a turn that is over."""
    return TurnView(
        question=row.question,
        id=row.id,
        selected=row.selected,
        state=row.state,
        steps=[dict(step) for step in row.steps],
        text=row.answer,
        notices=[dict(notice) for notice in row.notices],
        citations=list(row.citations),
        sentences=list(row.sentences),
        parts=list(row.parts),
        usage=row.usage,
        mode=row.mode,
        error=row.error,
    )


def from_events(row: TurnRow, events: Iterable[StoredEvent]) -> TurnView:
    """Return the view of a running turn as far as its events go."""
    view = TurnView(row.question, row.id, row.selected)
    for event in events:
        _FOLD[event.kind](view, event.data)
    return view


def verdicts_of(n: int, sentences: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the verdicts of the sentences that cite `n`, each once, in reading order."""
    found = [s["verdict"] for s in sentences if n in s["citations"] and s["verdict"]]
    return list(dict.fromkeys(found))


def checked(sentences: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """Return how many of the sentences that state something are supported, and how many do."""
    verdicts = [sentence["verdict"] for sentence in sentences if sentence["verdict"]]
    return verdicts.count("supported"), len(verdicts)


def _started(view: TurnView, data: Mapping[str, Any]) -> None:
    view.steps.append({**data, "state": "running"})


def _progress(view: TurnView, data: Mapping[str, Any]) -> None:
    running = [step for step in view.steps if step["node"] == data["node"]]
    running[-1]["detail"] = data["detail"]


def _step_finished(view: TurnView, data: Mapping[str, Any]) -> None:
    running = [step for step in view.steps if step["node"] == data["node"]]
    running[-1].update(data)


def _token(view: TurnView, data: Mapping[str, Any]) -> None:
    view.text += data["text"]


def _citations(view: TurnView, data: Mapping[str, Any]) -> None:
    view.citations = list(data["citations"])


def _notice(view: TurnView, data: Mapping[str, Any]) -> None:
    view.notices.append(data)


def _recalled(view: TurnView, data: Mapping[str, Any]) -> None:
    """Leave the view as it is: the answer itself names the readings it rests on."""


def _finished(view: TurnView, data: Mapping[str, Any]) -> None:
    view.state = "stopped" if data["stopped"] else "finished"
    view.text = data["answer"]
    view.citations = list(data["citations"])
    view.sentences = list(data["sentences"])
    view.parts = list(data.get("parts", ()))  # older turns have none
    view.usage = data["usage"]
    view.mode = data["mode"]


def _failed(view: TurnView, data: Mapping[str, Any]) -> None:
    view.state = "failed"
    view.error = data


_FOLD = {
    "step_started": _started,
    "step_progress": _progress,
    "step_finished": _step_finished,
    "token": _token,
    "citations_ready": _citations,
    "notice": _notice,
    "recalled": _recalled,
    "turn_finished": _finished,
    "turn_failed": _failed,
}
