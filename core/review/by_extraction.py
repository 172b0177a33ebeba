"""A review without a model: the papers' own sentences, brought together by what they speak of.

Themes are clusters of sentences that state results, methods and claims; what is said alike or may
contradict is found by comparing the sentences of different papers; gaps are what papers say of
their limits and of future work. Weights are set by hand, on the sample papers.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.agent.choosing import choose, different, in_order, quoted
from core.agent.draft import Draft
from core.agent.looks import CLAIMS, DATA, LIMITS, METHOD, RESULTS, TASK
from core.agent.state import TurnContext
from core.evidence.verdict import judge
from core.extractive.candidates import Candidate
from core.memory.topics import distinctive, terms_in
from core.review.sources import FULL, Source
from core.review.written import Written
from core.types import Usage

Array = NDArray[np.float32]

THEMES = (2, 5)
"""Fewest and most themes."""
OF_A_PAPER, OF_A_THEME = 2, 6
"""Sentences of one paper in a theme, and of a theme."""
ALIKE, RELATED = 0.7, 0.5
"""Cosine from which sentences of two papers say much the same, or speak of the same."""
SHOWN = 3
"""Agreements and possible disagreements that are shown."""
_GAPS_OF_A_PAPER, _GAPS = 2, 10

OVERVIEW = ("What this review covers", "本综述的范围")
AGREE = ("Agreements", "一致之处")
DIFFER = ("Disagreements", "分歧之处")
GAPS = ("Gaps and future work", "研究空白与未来工作")
TABLE = ("The papers side by side", "论文对照表")
FURTHER = ("Further findings", "其他发现")
_COMMON = frozenset(
    re.findall(
        r"\S+",
        """
        paper papers work works study studies method methods approach approaches model models
        results result show shows shown best better use uses used using based propose proposed
        present presented number performance respectively overall addition order table figure
        section fig however also well two three one first second new large small high higher
        different several many most data set sets dataset datasets experiments experimental
        evaluation state-of-the-art achieve achieves achieved outperform outperforms compared
        improve improves improvement find found et al thus given single 研究 本文 方法 模型 结果 表明 提出 论文 实验
        数据 采用 使用 进行 通过 以及 不同
        """,
    )
)
"""Words of papers on anything: no theme is named after them."""
_THEME = ("Theme: {terms}", "主题：{terms}")
_NO_GAPS = (
    "None of these papers says what it leaves open in a sentence that could be recognised.",
    "未能识别出这些论文谈及局限或未来工作的句子。",
)
_NO_DIFFERENCE = (
    "No two sentences were found that contradict each other; that does not mean that the papers agree.",
    "没有找到互相矛盾的句子；这并不表示各篇论文意见一致。",
)
_NO_AGREEMENT = (
    "No two papers were found to say the same in so many words.",
    "没有找到两篇论文说法相同的句子。",
)
_MAY_DIFFER = (
    "These two may contradict each other; read them in their places:",
    "以下两句可能互相矛盾，请对照原文：",
)
_SAY_ALIKE = ("“{one}” and “{other}” say much the same:", "《{one}》与《{other}》的说法相近：")


class Said(NamedTuple):
    """A sentence of a paper that states something."""

    paper: Source
    sentence: Candidate


@dataclass(frozen=True, slots=True)
class _Theme:
    terms: tuple[str, ...]
    said: list[Said]


def write(papers: Sequence[Source], topic: str, chinese: bool, context: TurnContext) -> Written:
    """Return a review of papers in their own words; headings and remarks are in its language."""
    draft = Draft(context)
    pool = [Said(p, c) for p in papers for c in _statements(p)]
    vectors = context.embedder.encode([said.sentence.text for said in pool]) if pool else _nothing()
    add_overview(draft, papers, topic, chinese)
    _add_themes(draft, papers, pool, vectors, chinese)
    _add_alike(draft, pool, vectors, chinese)
    _add_different(draft, pool, vectors, chinese, context)
    _add_gaps(draft, papers, chinese)
    _add_table(draft, papers, chinese)
    return Written.of(draft, "extractive", Usage())


def add_overview(draft: Draft, papers: Sequence[Source], topic: str, chinese: bool) -> None:
    """Begin a review with what it is made of."""
    full = sum(paper.evidence == FULL for paper in papers)
    years = sorted(paper.year for paper in papers if paper.year)
    span = f"{years[0]}–{years[-1]}" if years and years[0] != years[-1] else str(*years[:1])
    short = len(papers) - full
    english = (
        f"This review of “{topic}” is made of {_papers(len(papers))} ({span}): {full} read in full"
        + (f", {short} by the abstract only." if short else ".")
    )
    han = f"本综述的题目是“{topic}”，依据 {len(papers)} 篇论文（{span}）写成：{full} 篇读了全文" + (
        f"，{short} 篇只读了摘要。" if short else "。"
    )
    draft.add_text(OVERVIEW[chinese], [draft.remark(han if chinese else english)])


def _papers(count: int) -> str:
    return "1 paper" if count == 1 else f"{count} papers"


def _nothing() -> Array:
    return np.zeros((0, 1), dtype=np.float32)


def _statements(paper: Source) -> list[Candidate]:
    """Return the sentences in which a paper says what it found, claims and does."""
    found = [
        candidate
        for look, most in ((RESULTS, 4), (CLAIMS, 3), (METHOD, 2), (TASK, 1))
        for candidate in choose(look, paper.hits, most)
    ]
    return different(found, len(found))


# --- themes -------------------------------------------------------------------------------------


def _add_themes(
    draft: Draft, papers: Sequence[Source], pool: Sequence[Said], vectors: Array, chinese: bool
) -> None:
    shown: set[int] = set()
    for theme in _themes(papers, pool, vectors):
        items = [quoted(draft, said.sentence) for said in theme.said]
        shown |= {said.paper.n for said in theme.said}
        draft.add_text(_THEME[chinese].format(terms=", ".join(theme.terms)), items)
    left = [next((said for said in pool if said.paper.n == p.n), None) for p in papers]
    rest = [said for said in left if said is not None and said.paper.n not in shown]
    if rest:
        draft.add_text(FURTHER[chinese], [quoted(draft, said.sentence) for said in rest])


def _themes(papers: Sequence[Source], pool: Sequence[Said], vectors: Array) -> list[_Theme]:
    """Return clusters of sentences, those of most papers first; each has at least two sentences."""
    groups = [group for group in _clusters(vectors, len(papers)) if len(group) > 1]
    words = [_words(said) for said in pool]
    themes = []
    for group in groups:
        outside = [words[at] for at in range(len(pool)) if at not in set(group)]
        terms = distinctive([words[at] for at in group], outside)
        if terms:
            themes.append(_Theme(terms, _central(group, pool, vectors)))
    return sorted(themes, key=lambda t: -len({said.paper.n for said in t.said}))


def _words(said: Said) -> Counter[str]:
    return Counter(word for word in terms_in(said.sentence.text) if word not in _COMMON)


def _clusters(vectors: Array, papers: int) -> list[list[int]]:
    if len(vectors) < 2:
        return [list(range(len(vectors)))]
    from scipy.cluster.hierarchy import fcluster, linkage  # as slow to import as the app to start

    count = min(max(THEMES[0], papers // 2), THEMES[1])
    labels = fcluster(linkage(vectors, method="ward"), count, criterion="maxclust")
    groups: dict[int, list[int]] = {}
    for at, label in enumerate(labels):
        groups.setdefault(int(label), []).append(at)
    return list(groups.values())


def _central(group: Sequence[int], pool: Sequence[Said], vectors: Array) -> list[Said]:
    """Return the sentences nearest to the middle of a group, no paper's too often, by paper."""
    middle = vectors[list(group)].mean(axis=0)
    taken: Counter[int] = Counter()
    kept: list[Said] = []
    for at in sorted(group, key=lambda at: -float(vectors[at] @ middle)):
        said = pool[at]
        if taken[said.paper.n] < OF_A_PAPER and len(kept) < OF_A_THEME:
            taken[said.paper.n] += 1
            kept.append(said)
    by_paper = {n: [s.sentence for s in kept if s.paper.n == n] for n in sorted(taken)}
    sources = {said.paper.n: said.paper for said in kept}
    return [Said(sources[n], c) for n, own in by_paper.items() for c in in_order(own)]


# --- sentences of two papers ----------------------------------------------------------------------


def _pairs(pool: Sequence[Said], vectors: Array, least: float) -> list[tuple[Said, Said]]:
    """Return pairs of sentences of different papers, the closest first."""
    close = vectors @ vectors.T
    pairs = [
        (float(close[i, j]), i, j)
        for i, j in combinations(range(len(pool)), 2)
        if pool[i].paper.n != pool[j].paper.n and close[i, j] >= least
    ]
    return [(pool[i], pool[j]) for _, i, j in sorted(pairs, reverse=True)]


def _add_alike(draft: Draft, pool: Sequence[Said], vectors: Array, chinese: bool) -> None:
    items: list[int] = []
    used: set[str] = set()
    for one, other in _pairs(pool, vectors, ALIKE) if len(pool) > 1 else []:
        if used & {one.sentence.text, other.sentence.text} or len(used) >= 2 * SHOWN:
            continue
        used |= {one.sentence.text, other.sentence.text}
        names = _SAY_ALIKE[chinese].format(one=one.paper.title, other=other.paper.title)
        items += [draft.remark(names), *(quoted(draft, said.sentence) for said in (one, other))]
    draft.add_text(AGREE[chinese], items or [draft.remark(_NO_AGREEMENT[chinese])])


def _add_different(
    draft: Draft, pool: Sequence[Said], vectors: Array, chinese: bool, context: TurnContext
) -> None:
    items: list[int] = []
    pairs = _pairs(pool, vectors, RELATED) if len(pool) > 1 else []
    for one, other in pairs[:40]:
        if len(items) >= 3 * SHOWN or context.cancelled.is_set():
            break
        verdict = judge(one.sentence.text, [other.sentence.text], context.embedder)
        if verdict.label == "contradicted":
            items.append(draft.remark(_MAY_DIFFER[chinese]))
            items += [quoted(draft, said.sentence) for said in (one, other)]
    draft.add_text(DIFFER[chinese], items or [draft.remark(_NO_DIFFERENCE[chinese])])


# --- gaps and table -------------------------------------------------------------------------------


def _add_gaps(draft: Draft, papers: Sequence[Source], chinese: bool) -> None:
    found = [c for p in papers for c in in_order(choose(LIMITS, p.hits, _GAPS_OF_A_PAPER))]
    items = [quoted(draft, candidate) for candidate in found[:_GAPS]]
    if items:
        draft.add_claims(GAPS[chinese], items)
    else:
        draft.add_text(GAPS[chinese], [draft.remark(_NO_GAPS[chinese])])


def _add_table(draft: Draft, papers: Sequence[Source], chinese: bool) -> None:
    looks = (TASK, METHOD, DATA, RESULTS)
    rows = [
        [[quoted(draft, c) for c in choose(look, paper.hits, 1)] for look in looks]
        for paper in papers
    ]
    columns = [look.aspect.title(chinese) for look in looks]
    draft.add_table(TABLE[chinese], columns, [paper.short for paper in papers], rows)
