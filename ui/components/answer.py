"""The text of an answer, with a button for every citation and a mark for every verdict."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NotRequired, TypedDict

import streamlit as st

from core.evidence.sentences import split_sentences
from ui.components.register import register

_mount = register("lectern_answer", "dom.js", "answer.js", style="answer.css")


class Sentence(TypedDict):
    """A sentence as `AnswerSentence.to_json` gives it; `paragraph`: a new one begins with it."""

    text: str
    citations: Sequence[int]
    verdict: str | None
    reason: str
    removed: Sequence[int]
    paragraph: NotRequired[bool]


class AnswerLabels(TypedDict):
    """The words of an answer.

    `citations` has for each number what its button says to those who do not see it ("Citation 2,
    page 5, title"); `verdicts` the word for each verdict; `removed` a sentence with `{numbers}`.
    """

    citations: Mapping[int, str]
    verdicts: Mapping[str, str]
    removed: str


def answer_text(
    sentences: Sequence[Mapping[str, Any]],
    *,
    key: str,
    labels: AnswerLabels,
    current: int | None = None,
    on_open: Callable[[int], None] | None = None,
) -> int | None:
    """Draw an answer and return the citation the reader opened in this run, if any.

    Numbers a sentence does not list in its `citations` stay plain text. `on_open` is told the same
    number before the script runs, which saves a second run.
    """
    texts = {**labels, "citations": {str(n): text for n, text in labels["citations"].items()}}

    def opened() -> None:
        n = st.session_state[key].get("open")
        if on_open and isinstance(n, int):
            on_open(n)

    result = _mount(
        key=key,
        data={"sentences": [dict(item) for item in sentences], "current": current, "labels": texts},
        on_open_change=opened,
    )
    n = result.get("open")
    return n if isinstance(n, int) else None


def paragraph_starts(answer: str) -> list[bool]:
    """Return for each sentence of `answer` whether a new paragraph begins with it."""
    spans = split_sentences(answer)
    breaks = [answer[left[1] : right[0]].count("\n") > 1 for left, right in pairwise(spans)]
    return [True, *breaks][: len(spans)]
