"""What a research question is about, without a model: its words without those that only ask."""

import re
from datetime import UTC, datetime
from typing import NamedTuple

from core.evidence.language import CJK, is_chinese
from core.evidence.lexicon import STOP_WORDS

MOST = 6
"""Words of a topic; a paper has to have all of them."""
_ASKED = re.compile(
    r"\b(?:please|find\w*|search\w*|look\w*|show|recommend|suggest|list|give|tell|write|prepare|make"
    r"|conduct|investigate|survey\w*|research\w*|review\w*|report\w*|overview|summar\w+|know\w*"
    r"|literature|systematic|state[- ]of[- ]the[- ]art|current|recent\w*|newe?r?|newest|latest|related"
    r"|similar|relevant|other|further|more|papers?|works?|articles?|stud(?:y|ies)|publications?"
    r"|published|preprints?|progress|advances|developments?|on|about|regarding|concerning|back|topic"
    r"|subject|field|area|arxiv|openalex|crossref|web|internet|online|years?|since|cit(?:es?|ed|ing)"
    r"|19\d\d|20\d\d)\b",
    re.IGNORECASE,
)
_ZH_ASKED = re.compile(
    r"请|帮我|麻烦|上网|联网|网上|查找|查一下|查一查|搜索|搜一下|检索一下|找一下|找找|推荐|调研一下|调研|写一份|写一篇|做一份"
    r"|做一个|文献综述|综述|文献|论文|文章|工作|研究|进展|最新|最近|近来|近年来?|近几年|相关|有哪些|有什么|在? ?arxiv ?上?"
    r"|这个|那个|主题|方向|领域|一些|几篇|的|吗|呢|关于|有关|就|一下|(?:19|20)\d\d ?年?(?:以来|之后|后)?",
    re.IGNORECASE,
)
_RECENT = re.compile(
    r"\b(?:recent\w*|newe?r?|newest|latest|current)\b|最新|最近|近来|近年|近几年", re.IGNORECASE
)
_SINCE = re.compile(
    r"\b(?:since|after|from) ((?:19|20)\d\d)\b|((?:19|20)\d\d) ?年?(?:以来|之后|后)", re.IGNORECASE
)
_WORD = re.compile(rf'"[^"]+"|[A-Za-z0-9][\w+.-]*[\w+]|[A-Za-z]|[{CJK}]+')


class Topic(NamedTuple):
    """What is to be searched for. `text` is '' when the question names nothing."""

    text: str
    recent: bool = False
    year_from: int | None = None


def topic_of(question: str) -> Topic:
    """Return what a question asks to find, in its own words and language."""
    asked = _ZH_ASKED.sub(" ", question) if is_chinese(question) else question
    words = [
        word
        for word in _WORD.findall(_ASKED.sub(" ", asked))
        if word.casefold() not in STOP_WORDS and len(word.strip('"')) > 1
    ]
    since = _SINCE.search(question)
    year = int(since[1] or since[2]) if since else None
    known = year if year and year <= datetime.now(UTC).year else None
    text = " ".join(dict.fromkeys(words[:MOST]))
    return Topic(text, _RECENT.search(question) is not None, known)
