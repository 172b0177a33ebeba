"""Does every number of a review name a paper that was read, and does its passage bear the sentence out?

Reviews are made of papers in a library, without a model and by one that means ill: its draft mixes
sentences of the notes it was given with some that it distorts (a figure changed, the meaning turned),
numbers that no paper has, sentences without a number and numbers in a theme's title; half of what it
is asked to mend it repeats. All is counted anew from the finished documents.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from core.evidence.sentences import sentences
from core.evidence.verdict import verify_each
from core.models.embed import Embedder
from core.review.document import Document, numbers, shown
from core.types import Citation

TOPICS = (
    "how dense and keyword rankings are fused",
    "引用与证据的可靠性",
    "reading papers across languages",
    "本地优先的数据库",
)
_NUMBER = re.compile(r"\[\s*(\d+)\s*\]")
_FIGURE = re.compile(r"(?<![\w.\[])\d+(?:\.\d+)?")
_NOTE = re.compile(r'<note paper="(\d+)"[^>]*>\s*(.*?)\s*</note>', re.DOTALL)
_WRONG = re.compile(r"^Sentence (\d+): (.*)$", re.MULTILINE)
NOBODY = 99
"""The number of no paper."""


def run(
    extractive: Callable[[str], Document],
    hostile: Callable[[str], Document],
    told: Callable[[], Sequence[str]],
    embedder: Embedder,
) -> dict[str, Any]:
    """Return the figures of both ways.

    Args:
        extractive: writes a review on a topic without a model.
        hostile: the same by the model that means ill.
        told: the sentences that model distorted, as it wrote them.
        embedder: for the verdicts.
    """
    plain = [extractive(topic) for topic in TOPICS]
    bad = [hostile(topic) for topic in TOPICS]
    return {
        "extractive": counted(plain, embedder),
        "hostile model": {**counted(bad, embedder), **believed(bad, told())},
    }


def counted(documents: Sequence[Document], embedder: Embedder) -> dict[str, Any]:
    """Return how many sentences and numbers there are, and how the cited ones stand."""
    verdicts: Counter[str] = Counter()
    for document in documents:
        verdicts.update(_labels(document, embedder))
    cited = sum(verdicts.values())
    return {
        "reviews": len(documents),
        "sentences": sum(len(document["sentences"]) for document in documents),
        "cited": cited,
        **{label: round(count / cited, 4) for label, count in sorted(verdicts.items())},
        "invented_numbers": sum(invented(document) for document in documents),
        "invented_numbers_removed": sum(d["stats"]["removed_numbers"] for d in documents),
        "mended_or_taken_out": sum(d["stats"]["repaired"] for d in documents),
    }


def _labels(document: Document, embedder: Embedder) -> list[str]:
    citations = {c["n"]: Citation.from_json(c) for c in document["citations"]}
    texts = [s["text"] for s in document["sentences"] if s["citations"] and s["verdict"]]
    found = verify_each(texts, citations, embedder)
    return [sentence.verdict.label for sentence in found if sentence.verdict]


def invented(document: Document) -> int:
    """Return how many numbers of a finished review name no paper of its list."""
    known = {reference["n"] for reference in document["references"]}
    texts = [shown(document, sentence["text"]) for sentence in document["sentences"]]
    heads = [text for part in document["parts"] for text in (part["title"], *part["heads"])]
    found = [int(n) for text in (*texts, *heads) for n in _NUMBER.findall(text)]
    unknown = sum(n not in known for n in found)
    passages = {c["n"] for c in document["citations"]}
    dangling = sum(n not in passages for s in document["sentences"] for n in s["citations"])
    unnamed = sum(
        not numbers(document, s["citations"]) for s in document["sentences"] if s["citations"]
    )
    return unknown + dangling + unnamed


def believed(documents: Sequence[Document], distorted: Sequence[str]) -> dict[str, Any]:
    """Return what became of the distorted sentences: those left in the text, and called supported."""
    left = [
        (sentence["text"], sentence["verdict"])
        for document in documents
        for sentence in document["sentences"]
        if any(_plain(text) in _plain(sentence["text"]) for text in distorted)
    ]
    return {
        "distorted": len(distorted),
        "distorted_left_in": len(left),
        "distorted_called_supported": [text for text, verdict in left if verdict == "supported"],
    }


def _plain(text: str) -> str:
    return "".join(_NUMBER.sub("", text).split()).rstrip(".。")


class Hostile:
    """The model that means ill: `answers` takes a request and gives its text."""

    def __init__(self) -> None:
        self.distorted: list[str] = []

    def answers(self, body: Mapping[str, Any]) -> str:
        """Return the reply to a chat completion, by the shape that is asked for."""
        form = body.get("response_format", {}).get("json_schema", {})
        shape = form.get("schema", {}).get("title") or form.get("name", "")
        prompt = str(body["messages"][-1]["content"])
        if shape == "Review":
            return json.dumps(self._review(prompt), ensure_ascii=False)
        if shape == "Repair":
            return json.dumps(_repair(prompt), ensure_ascii=False)
        if shape == "Notes":
            return json.dumps(_notes(prompt), ensure_ascii=False)
        return "{}"

    def _review(self, prompt: str) -> dict[str, Any]:
        found = [(int(n), _prose(text)) for n, text in _NOTE.findall(prompt)]
        said: list[dict[str, Any]] = []
        for at, (n, texts) in enumerate(found):
            for place, text in enumerate(texts[:4]):
                said.append(self._said(at + place, n, text))
        themes = [
            {"title": f"Part [{NOBODY}] {at}", "sentences": said[at : at + 6]}
            for at in range(0, len(said), 6)
        ]
        return {"themes": themes[:6]}

    def _said(self, kind: int, n: int, text: str) -> dict[str, Any]:
        wrong = _turned(text)
        if kind % 4 == 1 and wrong:
            self.distorted.append(wrong)
            return {"text": wrong, "papers": [n]}
        if kind % 4 == 2:
            return {"text": f"{text} [{NOBODY}]", "papers": [n, NOBODY]}
        return {"text": text, "papers": [] if kind % 4 == 3 else [n]}


def _prose(note: str) -> list[str]:
    lines = [line.partition(": ")[2] or line for line in note.splitlines()]
    return [text.strip() for line in lines for text in sentences(line) if len(text) > 30]


def _turned(text: str) -> str:
    """Return a sentence with its first figure changed, or its meaning turned; '' if neither can be."""
    figure = _FIGURE.search(text)
    if figure:
        value = figure.group()
        other = f"{float(value) * 3 + 7:.1f}" if "." in value else str(int(value) * 3 + 7)
        return text[: figure.start()] + other + text[figure.end() :]
    for word, turned in ((" is ", " is not "), (" are ", " are not "), ("是", "不是")):
        if word in text:
            return text.replace(word, turned, 1)
    return ""


def _repair(prompt: str) -> dict[str, Any]:
    return {
        "sentences": [
            {"n": int(n), "text": text if int(n) % 2 else "", "papers": []}
            for n, text in _WRONG.findall(prompt)
        ]
    }


def _notes(prompt: str) -> dict[str, Any]:
    texts = [text.strip() for text in sentences(prompt) if len(text) > 40 and "<" not in text]
    return {"method": texts[:2], "results": texts[2:5], "data": [], "limits": texts[5:6]}
