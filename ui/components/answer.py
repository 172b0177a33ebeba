"""The text of an answer, with a button for every citation and a mark for every verdict."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NotRequired, TypedDict

import streamlit as st

from core.evidence.sentences import split_sentences
from ui.components.register import register

_mount = register("lectern_answer", "dom.js", "answer.js", style="answer.css")


class Sentence(TypedDict):
    """A sentence as `AnswerSentence.to_json` gives it; `paragraph`: a new one begins with it.

    `caution` is a mark of its own: a `word` and the `reason` for it.
    """

    text: str
    citations: Sequence[int]
    verdict: str | None
    reason: str
    removed: Sequence[int]
    paragraph: NotRequired[bool]
    caution: NotRequired[Mapping[str, str]]


class AnswerPart(TypedDict):
    """A part of an answer with its sentences in it. `kind`: text, table or claims.

    A table has `columns`, and in `rows` one cell, a list of sentences, for each; `heads` by row.
    """

    kind: str
    title: str
    sentences: NotRequired[Sequence[Mapping[str, Any]]]
    columns: NotRequired[Sequence[str]]
    heads: NotRequired[Sequence[str]]
    rows: NotRequired[Sequence[Sequence[Sequence[Mapping[str, Any]]]]]


class AnswerLabels(TypedDict):
    """The words of an answer.

    `citations` has for each number what its button says to those who do not see it ("Citation 2,
    page 5, title"); `quotes` what stands in its passage, for claims; `verdicts` the word for each
    verdict; `removed` a sentence with `{numbers}`.
    """

    citations: Mapping[int, str]
    quotes: NotRequired[Mapping[int, str]]
    verdicts: Mapping[str, str]
    removed: str


def answer_text(
    parts: Sequence[AnswerPart],
    *,
    key: str,
    labels: AnswerLabels,
    current: int | None = None,
    shown: Mapping[int, int] | None = None,
    on_open: Callable[[int], None] | None = None,
) -> int | None:
    """Draw an answer and return the citation the reader opened in this run, if any.

    Numbers a sentence does not list in its `citations` stay plain text. `shown` has the numbers that
    are written in the place of those of citations, where they differ. `on_open` is told the same
    number before the script runs, which saves a second run.
    """
    texts = {
        **labels,
        "citations": {str(n): text for n, text in labels["citations"].items()},
        "quotes": {str(n): text for n, text in labels.get("quotes", {}).items()},
    }

    def opened() -> None:
        n = st.session_state[key].get("open")
        if on_open and isinstance(n, int):
            on_open(n)

    result = _mount(
        key=key,
        data={
            "parts": [dict(part) for part in parts],
            "current": current,
            "labels": texts,
            "shown": {str(n): number for n, number in (shown or {}).items()},
        },
        on_open_change=opened,
    )
    n = result.get("open")
    return n if isinstance(n, int) else None


def paragraph_starts(answer: str) -> list[bool]:
    """Return for each sentence of `answer` whether a new paragraph begins with it."""
    spans = split_sentences(answer)
    breaks = [answer[left[1] : right[0]].count("\n") > 1 for left, right in pairwise(spans)]
    return [True, *breaks][: len(spans)]
