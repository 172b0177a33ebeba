"""A topic in words that English papers have: translated by the model, else by a list of terms."""

import re
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from core.errors import ModelFailed
from core.evidence.language import CJK, is_chinese
from core.extractive.glossary import PAIRS
from core.models.budget import Message
from core.models.chat import ChatModel
from core.models.structured import ask
from core.tools.prompts import render

TERMS = Path(__file__).resolve().parents[2] / "data" / "terms" / "zh_en.tsv"
By = Literal["", "model", "terms"]
_HAN = re.compile(f"[{CJK}]+")
_FILLERS = re.compile(
    r"关于|有关|面向|基于|针对|以及|如何|怎样|什么|哪些|最新|相关|研究|论文|文献|进展|方法|技术|问题|应用|中|的|与|和|及|在|对|用于|用|里|上"
)
"""What joins terms, or says that papers are meant."""


class Translation(BaseModel):
    """A topic as English papers would word it."""

    query: str = Field(min_length=1, max_length=300, pattern=r"[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Topic:
    """What is to be searched for. `by`: who translated it, '' when nobody had to.

    `unknown` are pieces of it that the list of terms does not have.
    """

    text: str
    by: By = ""
    unknown: tuple[str, ...] = ()


def in_english(topic: str, chat: ChatModel | None, cancelled: threading.Event) -> Topic:
    """Return a topic in English; one that is not in Chinese stays as it is.

    Where the model fails or writes something else, the list of terms has to do. `text` is '' when
    that has none of the topic's terms.
    """
    if not is_chinese(topic):
        return Topic(topic)
    written = _by_model(topic, chat, cancelled) if chat else ""
    return Topic(written, "model") if written else by_terms(topic)


def _by_model(topic: str, chat: ChatModel, cancelled: threading.Event) -> str:
    messages = [
        Message("system", render("topic_system")),
        Message("user", render("topic_user", topic=topic)),
    ]
    try:
        found = ask(chat, messages, Translation, cancelled).value
    except ModelFailed:
        return ""
    return " ".join(found.query.split()) if found and not _HAN.search(found.query) else ""


def by_terms(topic: str) -> Topic:
    """Return a topic's known terms as phrases, in their order, with the Latin words between them."""
    found: list[str] = []
    unknown: list[str] = []
    for piece in re.findall(rf"[{CJK}]+|[^\s{CJK}]+", topic):
        if not _HAN.match(piece):
            found += re.findall(r"[^\W_]+(?:[-'][^\W_]+)*", piece)
            continue
        for word, english in _cut(piece):
            if english:
                found.append(f'"{english}"' if " " in english else english)
            else:
                unknown += [rest for rest in _FILLERS.split(word) if len(rest) > 1]
    if not any(word.strip('"').isascii() for word in found):
        return Topic("", "terms", tuple(unknown))
    return Topic(" ".join(dict.fromkeys(found)), "terms", tuple(unknown))


def _cut(run: str) -> list[tuple[str, str]]:
    """Cut a run of Chinese at known terms, the longest first; unknown pieces have no English."""
    terms, pattern = _terms()
    cut: list[tuple[str, str]] = []
    end = 0
    for match in pattern.finditer(run):
        if match.start() > end:
            cut.append((run[end : match.start()], ""))
        cut.append((match[0], terms[match[0]]))
        end = match.end()
    return [*cut, (run[end:], "")] if end < len(run) else cut


@cache
def _terms() -> tuple[dict[str, str], re.Pattern[str]]:
    """Return the known terms, those that questions about papers use among them."""
    lines = TERMS.read_text(encoding="utf-8").splitlines()
    terms = {chinese: english for chinese, english in PAIRS if len(chinese) > 1}
    for chinese, _, english in (line.partition("\t") for line in lines):
        terms[chinese] = english
    longest_first = sorted(terms, key=len, reverse=True)
    return terms, re.compile("|".join(map(re.escape, longest_first)))
