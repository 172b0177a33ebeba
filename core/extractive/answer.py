"""An answer in the papers' own words: the sentences that best answer, each with its `[n]`.

When none is good enough, the answer says so and offers the closest passages instead. Weights and
threshold are fitted by `core.evals.fit_refusal` on the tuning questions (see `fitted.json`).
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from core.evidence.facts import content, facts, normalise
from core.evidence.language import CJK, is_chinese
from core.evidence.numbering import defuse, write
from core.evidence.quotes import citation
from core.extractive.about import about, answering
from core.extractive.candidates import Candidate, candidates
from core.extractive.glossary import translated
from core.extractive.question import Kind, fits, kind_of, wants_figure
from core.models.embed import Embedder
from core.types import Citation, Hit

MOST_SENTENCES = 5
FEWEST_SENTENCES = 2
MOST_ENCODED = 24
"""Sentences compared by meaning: more would not be read within 250 ms on two cores."""
CLOSEST = 3
BRIEF = 6
"""Content words, names and numbers below which a sentence says little."""

REFUSALS = {
    (True, False): "这篇论文似乎没有回答这个问题。",
    (True, True): "这些论文似乎没有回答这个问题。",
    (False, False): "The paper does not seem to answer this.",
    (False, True): "The papers do not seem to answer this.",
}
"""By whether the question is Chinese and whether several papers were searched."""
OFFERS = {True: "最接近的段落：", False: "Closest passages: "}

FEATURES = (
    "cosine", "terms", "terms_led", "terms_nearby", "hit_cosine", "rank", "kind", "brief",
    "caption",
)  # fmt: skip
REFUSAL_FEATURES = (
    "cosine", "peak", "hit_cosine", "terms_nearby", "terms_missing", "name_missing", "kind",
    "across", "constant",
)  # fmt: skip
"""`peak`: by how much the best cosine exceeds the median. `terms_missing`: the share of the
question's terms that no passage has; `name_missing`: whether a name of the question is among them.
"""

_ASKING = re.compile(
    "什么时候|为什么|是什么|有什么|多少|什么|怎么样|怎样|怎么|如何|哪些|哪个|哪种|哪里|哪一|为何|何时|是否|几个|几种|吗|呢|请问|谁"
    "|作者|论文|本文|文中|文章"
)
_ASKING_DATA = re.compile(
    r"\bdata ?sets?\b|\bdata\b|\bcorp(?:us|ora)\b|数据集?|语料库?", re.IGNORECASE
)
_QUALIFIER = re.compile(
    r"\b([A-Za-z][\w-]+) (?:models?|networks?|algorithms?|data ?sets?|corpus|tasks?|experiments?"
    r"|approach|methods?)\b",
    re.IGNORECASE,
)
"""What tells one model, data set or method from others counts as its name."""
_HAN = re.compile(f"[{CJK}]")
_RARE = 2.0
"""Added to the weight of all terms: having the only term there is means little if all have it."""
_ACROSS_TERMS = 0.5
"""Stands for the share of terms where two languages have none to share: neither good nor bad."""
_ALIKE = 0.92
"""Cosine from which two sentences say the same."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """What was chosen on the tuning questions.

    `weights` of FEATURES rank sentences; `refusal` of REFUSAL_FEATURES give the odds that the
    passages answer at all; below `threshold` (a probability) the answer is a refusal; a sentence
    may score at most `drop` below the best one.
    """

    weights: tuple[float, ...]
    refusal: tuple[float, ...]
    threshold: float
    drop: float


@dataclass(frozen=True, slots=True)
class ExtractiveAnswer:
    """An answer in the papers' words. `confidence`: probability that the passages answer.

    When `refused`, the citations are the closest passages, not support for anything.
    """

    text: str
    citations: tuple[Citation, ...]
    refused: bool
    confidence: float


@dataclass(frozen=True, slots=True)
class Scored:
    """Candidates of a question with one row of FEATURES each, and their vectors."""

    kind: Kind
    candidates: tuple[Candidate, ...]
    features: NDArray[np.float64]
    vectors: NDArray[np.float32]
    across: tuple[bool, ...]
    """Whether each candidate is in another language than the question."""
    missing: tuple[float, float]
    """`terms_missing` and `name_missing` of REFUSAL_FEATURES."""
    shared: bool = False
    """Whether the question has terms that are known in the other language."""


@cache
def fitted() -> Fitted:
    """Return the fitted values that are part of the project."""
    text = (files("core.extractive") / "fitted.json").read_text(encoding="utf-8")
    data = json.loads(text)
    return Fitted(
        tuple(data["weights"][name] for name in FEATURES),
        tuple(data["refusal"][name] for name in REFUSAL_FEATURES),
        data["threshold"],
        data["drop"],
    )


def answer(
    question: str,
    hits: Sequence[Hit],
    embedder: Embedder,
    *,
    first_number: int = 1,
    values: Fitted | None = None,
    chinese: bool | None = None,
) -> ExtractiveAnswer:
    """Answer `question` from `hits` (best first) with two to five of their sentences.

    The sentences stand in reading order and cite from `first_number` on, one number each. A refusal
    is in the language of the question, or as `chinese` says.
    """
    chinese = is_chinese(question) if chinese is None else chinese
    kind = about(question)
    whole = answering(kind, hits) if kind else []
    if whole:
        return _answer(whole, hits, 1.0, first_number)
    values = values or fitted()
    scored = score(question, hits, embedder)
    if not scored.candidates:
        return _refusal(chinese, hits, (), 0.0, first_number)
    confidence = probability(refusal_features(scored, values), values)
    if confidence < values.threshold or kind:
        return _refusal(chinese, hits, _closest(scored, values), confidence, first_number)
    return _answer(select(scored, values), hits, confidence, first_number)


def _answer(
    sentences: Sequence[Candidate], hits: Sequence[Hit], confidence: float, first_number: int
) -> ExtractiveAnswer:
    made = tuple(
        citation(n, candidate.hit, candidate.text)
        for n, candidate in enumerate(in_reading_order(sentences, hits), start=first_number)
    )
    text = " ".join(f"{shown(item.quote)} {write([item.n])}" for item in made)
    return ExtractiveAnswer(text, made, False, confidence)


def score(question: str, hits: Sequence[Hit], embedder: Embedder) -> Scored:
    """Return the usable sentences of `hits` with what speaks for each of them."""
    kind = kind_of(question)
    terms = _terms(question, kind)
    found = candidates(hits, figures=wants_figure(question))
    other = translated(question)
    overlap = _overlaps(terms, other, question, found)
    kept = _most_promising(found, overlap)
    found, overlap = [found[i] for i in kept], overlap[kept]
    vectors = embedder.encode([question, *(c.text for c in found)])
    cosines = vectors[1:] @ vectors[0]
    rows = [
        (
            float(cosine),
            *near,
            candidate.hit.scores.dense or 0.0,
            1.0 - candidate.rank / max(1, len(hits)),
            fits(kind, candidate.text, candidate.facts, terms | other),
            _is_brief(candidate),
            float(candidate.caption),
        )
        for candidate, cosine, near in zip(found, cosines, overlap, strict=True)
    ]
    features = np.array(rows, dtype=np.float64).reshape(len(rows), len(FEATURES))
    across = tuple(c.facts.chinese != is_chinese(question) for c in found)
    missing = _missing(terms, question, hits)
    return Scored(kind, tuple(found), features, vectors[1:], across, missing, bool(other))


def probability(row: NDArray[np.float64], values: Fitted) -> float:
    """Return the fitted probability that the passages answer the question."""
    return float(1.0 / (1.0 + np.exp(-row @ np.asarray(values.refusal))))


def refusal_features(scored: Scored, values: Fitted) -> NDArray[np.float64]:
    """Return the row of REFUSAL_FEATURES of a question that has candidates."""
    columns = dict(zip(FEATURES, scored.features.T, strict=True))
    best = int(np.argmax(scored.features @ np.asarray(values.weights)))
    across = scored.across[best]
    return np.array(
        [
            columns["cosine"].max(),
            columns["cosine"].max() - np.median(columns["cosine"]),
            columns["hit_cosine"].max(),
            _ACROSS_TERMS if across and not scored.shared else columns["terms_nearby"].max(),
            *scored.missing,
            columns["kind"][best],
            float(across),
            1.0,
        ]
    )


def select(scored: Scored, values: Fitted) -> list[Candidate]:
    """Return the two to five best sentences that do not repeat one another, best first."""
    points = scored.features @ np.asarray(values.weights)
    order = np.argsort(-points, kind="stable")
    chosen: list[int] = []
    for i in order:
        if len(chosen) >= MOST_SENTENCES:
            break
        if len(chosen) >= FEWEST_SENTENCES and points[i] < points[order[0]] - values.drop:
            break
        if chosen and float((scored.vectors[chosen] @ scored.vectors[i]).max()) > _ALIKE:
            continue
        chosen.append(int(i))
    return [scored.candidates[i] for i in chosen]


def in_reading_order(chosen: Sequence[Candidate], hits: Sequence[Hit]) -> list[Candidate]:
    """Return `chosen` by paper (the best paper first), page and place on the page."""
    papers = list(dict.fromkeys(hit.chunk.paper_id for hit in hits))
    return sorted(
        chosen,
        key=lambda c: (papers.index(c.hit.chunk.paper_id), c.hit.chunk.page, c.hit.chunk.id, c.at),
    )


def shown(quote: str) -> str:
    """Return a quote as running text: one line, the paper's own `[12]` as `(12)`."""
    return defuse(" ".join(quote.split()))


def _closest(scored: Scored, values: Fitted) -> list[Candidate]:
    """Return the best sentence of each of the three passages that come nearest."""
    points = scored.features @ np.asarray(values.weights)
    best: dict[int, Candidate] = {}
    for i in np.argsort(-points, kind="stable"):
        candidate = scored.candidates[i]
        best.setdefault(candidate.hit.chunk.id, candidate)
    return list(best.values())[:CLOSEST]


def _refusal(
    chinese: bool,
    hits: Sequence[Hit],
    closest: Sequence[Candidate],
    confidence: float,
    first_number: int,
) -> ExtractiveAnswer:
    several = len({hit.chunk.paper_id for hit in hits}) > 1
    text = REFUSALS[chinese, several]
    made = tuple(
        citation(n, candidate.hit, candidate.text)
        for n, candidate in enumerate(closest, start=first_number)
    )
    if made:
        text += ("" if chinese else " ") + OFFERS[chinese] + write(c.n for c in made)
    return ExtractiveAnswer(text, made, True, confidence)


def _terms(question: str, kind: Kind) -> frozenset[str]:
    """Return stems of what `question` is about, without the words that only ask."""
    asked = _ASKING.sub(" ", question)
    if kind == "dataset":
        asked = _ASKING_DATA.sub(" ", asked)
    return content(normalise(asked).casefold()) or content(normalise(question).casefold())


def _overlaps(
    terms: frozenset[str], other: frozenset[str], question: str, found: Sequence[Candidate]
) -> NDArray[np.float64]:
    """Return the weighted share of the question's terms that each candidate has, shape (n, 3).

    Columns: in the sentence; in it, the one before it and its section's heading; in its chunk
    and section. A term weighs log(1 + n / df), df counted over the n candidates. Across languages
    terms without Han characters count, and those in the other language (`other`).
    """
    latin = frozenset(term for term in terms if not _HAN.search(term)) | other
    chinese = is_chinese(question)
    n = len(found)
    weight = {
        term: float(np.log(1 + n / max(1, sum(term in c.facts.stems for c in found))))
        for term in terms | other
    }
    headings: dict[str, frozenset[str]] = {}
    nearby: dict[int, frozenset[str]] = {}
    rows = []
    for candidate in found:
        chunk = candidate.hit.chunk
        if chunk.id not in nearby:
            nearby[chunk.id] = content(normalise(f"{chunk.section}\n{chunk.text}").casefold())
        if chunk.section not in headings:
            headings[chunk.section] = content(normalise(chunk.section).casefold())
        led = candidate.facts.stems | candidate.before | headings[chunk.section]
        wanted = terms if candidate.facts.chinese == chinese else latin
        total = sum(weight[term] for term in wanted) + _RARE
        rows.append(
            [
                sum(weight[term] for term in wanted & have) / total
                for have in (candidate.facts.stems, led, nearby[chunk.id])
            ]
        )
    return np.array(rows, dtype=np.float64).reshape(n, 3)


def _is_brief(candidate: Candidate) -> float:
    found = candidate.facts
    told = len(found.stems) + len(found.names - found.stems) + len(found.quantities)
    return float(told < BRIEF or candidate.text.endswith((":", "：")))


def _missing(terms: frozenset[str], question: str, hits: Sequence[Hit]) -> tuple[float, float]:
    """Return the share of the question's terms that no hit has, and whether a name is missing.

    Terms with Han characters count only where a passage is in Chinese, others only where one is
    not, or where they are names.
    """
    folded = normalise(
        " ".join(f"{h.title} {h.chunk.section} {h.chunk.text}" for h in hits)
    ).casefold()
    have = content(folded)
    same = any(is_chinese(hit.chunk.text) == is_chinese(question) for hit in hits)
    named = {name for name in facts(question).names if not _HAN.search(name)}
    if same and not is_chinese(question):
        named |= {
            name.casefold() for name in _QUALIFIER.findall(question) if content(name.casefold())
        }
    lost = {name for name in named if name not in folded and not content(name) <= have}
    wanted = terms if same else frozenset(stem for name in named for stem in content(name))
    return len(wanted - have) / max(1, len(wanted)), float(bool(lost))


def _most_promising(found: Sequence[Candidate], overlap: NDArray[np.float64]) -> list[int]:
    """Return the indices of at most MOST_ENCODED candidates, by shared terms and rank of hit."""
    points = [row[0] + 0.5 * row[1] - 0.08 * c.rank for row, c in zip(overlap, found, strict=True)]
    order = sorted(range(len(found)), key=lambda i: -points[i])
    return sorted(order[:MOST_ENCODED])
