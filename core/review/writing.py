"""From the papers that were read to the finished document: draft, check, repair, finish."""

import threading
from typing import Any
from uuid import UUID

from core.agent.events import Event
from core.agent.state import TurnContext
from core.db.reviews import ReviewRow
from core.errors import BadInput, Cancelled, ModelFailed
from core.evidence.language import is_chinese
from core.review import by_extraction, by_model
from core.review.check import AT_ONCE, checked, cite_the_uncited, reference_numbers, repaired
from core.review.parts import Parts
from core.review.sources import ABSTRACT, FULL, Source, Sources, sources
from core.review.written import Written
from core.wording import say


class Writer:
    """Writes one review of one user; every step takes what the step before gave, as JSON."""

    def __init__(
        self, parts: Parts, user_id: UUID, row: ReviewRow, cancelled: threading.Event
    ) -> None:
        self._parts = parts
        self._row = row
        self._chinese = is_chinese(row.topic)
        self._cancelled = cancelled
        self._box = parts.toolbox(user_id, cancelled)

    def draft(self) -> dict[str, Any]:
        """Return the first draft.

        Raises:
            BadInput: none of the papers could be read.
            Cancelled: it was stopped.
        """
        read = self._sources()
        if not read.papers:
            raise BadInput(
                say("None of the papers could be read."),
                hint=say("Go on to try them again, or choose other papers."),
                code="NO_PAPERS",
            )
        written = self._by_model(read) if self._context.chat else None
        if written is None:
            written = by_extraction.write(
                read.papers, self._row.topic, self._chinese, self._context
            )
        self._stop_here()
        return written.to_json()

    def check(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the draft with citations for statements that had none but are borne out."""
        written = Written.from_json(data)
        if written.mode == "extractive":  # each sentence came with its passage
            return data
        written = cite_the_uncited(written, self._sources().papers, self._context)
        self._stop_here()
        return written.to_json()

    def repair(self, data: dict[str, Any], number: int = 1) -> dict[str, Any]:
        """Return the draft with what its passages do not bear out mended where the model can."""
        written = Written.from_json(data)
        chat = self._context.chat
        if chat is None or written.mode == "extractive":
            return data
        try:
            papers = self._sources().papers
            tried = AT_ONCE * (number - 1)
            mended = repaired(written, papers, self._chinese, chat, self._context, tried)
        except ModelFailed as error:
            self._tell(error)
            return data
        self._stop_here()
        return mended.to_json()

    def finish(self, data: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Return the document; see `core.review.document`."""
        written, read = Written.from_json(data), self._sources()
        sentences = checked(written, self._context)
        self._stop_here()
        used = {n for sentence in sentences for n in sentence.citations}
        citations = [citation for citation in written.citations if citation.n in used]
        verdicts = [sentence.verdict.label for sentence in sentences if sentence.verdict]
        return {
            "topic": self._row.topic,
            "language": "zh" if self._chinese else "en",
            "mode": written.mode,
            "parts": list(written.parts),
            "sentences": [sentence.to_json() for sentence in sentences],
            "citations": [citation.to_json() for citation in citations],
            "references": [paper.to_json() for paper in read.papers],
            "reference_of": {
                str(n): k for n, k in reference_numbers(citations, read.papers).items()
            },
            "verified": {"supported": verdicts.count("supported"), "total": len(verdicts)},
            "stats": {
                **self._counts(read),
                "removed_numbers": written.removed + sum(len(s.removed) for s in sentences),
                "repaired": written.repaired,
                "seconds": round(seconds, 1),
                "usage": written.usage.to_json(),
            },
        }

    def _counts(self, read: Sources) -> dict[str, Any]:
        def of(kind: str) -> int:
            return sum(paper.evidence == kind for paper in read.papers)

        return {
            "found": len(self._row.papers),
            "chosen": len(self._row.chosen),
            "read": len(read.papers),
            "full_text": of(FULL),
            "abstract_only": of(ABSTRACT),
            "failed": list(read.failed),
            "compression": {
                key: sum(_characters(paper, key) for paper in read.papers)
                for key in ("before", "after")
            },
        }

    def _by_model(self, read: Sources) -> Written | None:
        chat = self._context.chat
        if chat is None:
            return None
        try:
            written = by_model.write(read.papers, self._row.topic, chat, self._context)
        except ModelFailed as error:
            self._tell(error)
            return None
        if written is None:
            form = say("The model did not keep to the form it was asked for.")
            self._tell(ModelFailed(form, hint=_OWN_WORDS, code="MODEL_MALFORMED"))
        return written

    @property
    def _context(self) -> TurnContext:
        return self._parts.context(_unheard, self._cancelled)

    def _sources(self) -> Sources:
        return sources(self._row, self._box)

    def _tell(self, error: ModelFailed) -> None:
        notice = {"code": error.code, "text": error.message, "hint": error.hint or _OWN_WORDS}
        self._parts.reviews.notice(self._row.id, notice)

    def _stop_here(self) -> None:
        if self._cancelled.is_set():
            raise Cancelled(say("It was stopped."))


_OWN_WORDS = say("The papers' own sentences stand in for what it would have written.")


def _characters(paper: Source, key: str) -> int:
    return int(paper.notes.get("characters", {}).get(key, 0))


def _unheard(event: Event) -> None:
    """Drop the events of a draft: a review tells how far it is by its stages."""
