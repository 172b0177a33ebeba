"""What is to be checked in a pasted text: its claims in the reader's words, or a list of references."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import UnreadableFile
from core.evidence.facts import content, facts, normalise
from core.evidence.numbering import strip
from core.evidence.sentences import sentences
from core.evidence.verdict import is_checkable
from core.ingest.bibtex import Entry, entries_of, match
from core.ingest.references import parse_reference, split_label
from core.ingest.versions import same_work
from core.types import PaperMeta, PaperRow

MOST_CLAIMS = 40
"""Claims or entries checked in one turn."""
LONGEST_CLAIM = 1_000
"""Characters; what is longer is no sentence."""
_REFERENCES = 0.6
"""Share of the entries that must read as references for a text to be a list of them."""
_OWN_WORDS = 0.75
"""Share of a claim's content words that the text must have for the claim to be of the text."""
_TELLING = 24
"""Letters from which a title found in an entry cannot be chance."""
_TOLD = 0.5
"""Share of a sentence's content words from which the claims made of it say what it says."""

_ORDER = re.compile(
    r"^\s*(?:(?:please|can you|could you|help me(?: to)?|i want you to)\s+)*(?:check|verify|fact-?check|judge"
    r"|validate|test|confirm|look up|find sources for|are (?:these|the following)|is (?:this|the following)"
    r"|do (?:the|my) (?:papers?|sources?|library)|does (?:the|this|my) (?:paper|library)|which of (?:these|the following)"
    r"|tell me (?:if|whether)|what do (?:the|my) papers say)\b[^:：\n]{0,120}(?:[:：]\s*|\n)"
    r"|^\s*(?:请|帮我|帮忙|麻烦|你|能否|能不能|可以)*(?:核查|核对|核实|验证|查证|检查|判断|检验|看看|查一下|对照)[^:：\n]{0,60}?"
    r"(?:[:：]\s*|\n)"
    r"|^\s*(?:以下|下面|下列|这些)[^:：\n。]{0,30}[:：]\s*",
    re.IGNORECASE,
)
_WHETHER = re.compile(
    r"^\s*(?:is it (?:true|correct|right|the case) that|do(?:es)? (?:the|this|my|these) (?:papers?|library|sources?|article)"
    r" (?:say|support|claim|show|state|confirm)(?: the (?:claim|idea|view))? that"
    r"|(?:please |can you |could you )*(?:check|verify|confirm|validate|tell me) (?:that|whether|if)"
    r"|(?:请|帮我|麻烦)*(?:核查|核对|核实|验证|查证|检查|判断)(?:一下)?(?:是否|有没有)?)\s*(?P<claim>.+?)\s*[?？]?\s*$"
    r"|^\s*(?P<said>.+?)[,，]?\s*(?:对吗|是真的吗|是否正确|对不对|成立吗|正确吗)[?？]\s*$",
    re.IGNORECASE | re.DOTALL,
)
_LISTED = re.compile(r"[:：\n]")
"""After these comes what an order is about."""
_MARK = re.compile(
    r"^\s*(?:[-*•–▪●·]\s+|\(?\d{1,2}[.)、）]\s*(?!\d)|[(（]\d{1,2}[)）]\s*|#{1,6}\s+|>\s*)"
)
_LABELLED = re.compile(r"(?m)^\s*(?=\[\d{1,3}\]\s|\d{1,3}[.)]\s)")


def pasted(question: str, selected: str) -> str:
    """Return the text to be checked: the selected passage, else the question without its order."""
    if selected.strip():
        return selected.strip()
    whether = _WHETHER.match(question) if not _LISTED.search(question) else None
    text = _ORDER.sub("", question, count=1).strip()
    whether = whether or _WHETHER.match(text)
    if whether:
        text = re.sub("是否|有没有", "", (whether["claim"] or whether["said"]).strip(), count=1)
    return text.strip('“”"「」 \n') if text.count("\n") == 0 else text


def claims_of(text: str) -> list[str]:
    """Return the sentences of a text that state something, as they are worded, each once.

    The text's own citations `[12]` are no part of what it claims.
    """
    found = []
    for sentence in sentences(text):
        claim = " ".join(_MARK.sub("", sentence).split())
        if claim and len(claim) <= LONGEST_CLAIM and is_checkable(claim):
            found.append(strip(claim))
    return list(dict.fromkeys(found))


def of_the_text(claims: Sequence[str], text: str) -> list[str]:
    """Return what a model made of `text`, checked: its claims that are in it, in order, and the rest.

    A claim with a number or a name that the text does not have, or with too many other words, is
    dropped; a sentence of the text that no claim tells is put in its place.
    """
    whole = facts(text)
    kept: list[str] = []
    for claim in (strip(" ".join(claim.split())) for claim in claims):
        own = facts(claim)
        numbers = all(any(q.agrees(other) for other in whole.quantities) for q in own.quantities)
        known = len(own.stems & whole.stems) >= _OWN_WORDS * len(own.stems)
        named = own.names <= whole.names | whole.words
        if numbers and named and known:
            kept.append(claim)
    kept = [
        claim
        for claim in dict.fromkeys(kept)
        if len(claim) <= LONGEST_CLAIM and is_checkable(claim)
    ]
    spoken = claims_of(text)
    told: dict[str, list[str]] = {sentence: [] for sentence in spoken}
    for claim in kept:
        told[max(spoken, key=lambda sentence: _nearness(claim, sentence))].append(claim)
    ordered: list[str] = []
    for sentence, telling in told.items():
        ordered += telling if _tell_all(telling, sentence) else [sentence]
    return list(dict.fromkeys(ordered))


def _nearness(claim: str, sentence: str) -> tuple[bool, float]:
    """Return whether a sentence has a claim's numbers, and the share of its words."""
    own, other = facts(claim), facts(sentence)
    numbers = all(any(q.agrees(o) for o in other.quantities) for q in own.quantities)
    return numbers, len(own.stems & other.stems) / max(1, len(own.stems))


def _tell_all(claims: Sequence[str], sentence: str) -> bool:
    """Return whether claims say together what a sentence says, and deny no more and no less."""
    said = content(normalise(" ".join(claims)).casefold())
    own = content(normalise(sentence).casefold())
    denied = any(facts(claim).negated for claim in claims)
    return len(own & said) >= _TOLD * len(own) and denied == facts(sentence).negated


@dataclass(frozen=True, slots=True)
class Entered:
    """An entry of a list of references, as pasted, and the paper of the library it is about."""

    text: str
    year: int | None
    row: PaperRow | None


def references_of(text: str) -> list[tuple[str, PaperMeta]]:
    """Return the entries of a list of references or of BibTeX; nothing when the text is no list."""
    if re.search(r"@\w+\s*\{", text):
        try:
            return [(_shown(entry.meta), entry.meta) for entry in entries_of(text)]
        except UnreadableFile:
            return []
    entries = [(entry, _meta(entry)) for entry in _entries(text)]
    sound = [meta for entry, meta in entries if _is_reference(entry, meta)]
    return entries if entries and len(sound) >= _REFERENCES * len(entries) else []


def _entries(text: str) -> list[str]:
    pieces = _LABELLED.split(text) if len(_LABELLED.findall(text)) > 1 else text.splitlines()
    joined = (" ".join(piece.split()) for piece in pieces)
    return [
        piece
        for piece in joined
        if piece and not re.fullmatch(r"(?:references|参考文献)[:：]?", piece, re.I)
    ]


def _meta(entry: str) -> PaperMeta:
    read = parse_reference(_MARK.sub("", split_label(entry)[1]))
    return PaperMeta(
        read.title, read.authors, read.year, doi=read.doi.lower(), arxiv_id=read.arxiv_id
    )


def _is_reference(entry: str, meta: PaperMeta) -> bool:
    if meta.doi or meta.arxiv_id:
        return True
    return bool(meta.title and meta.year and (meta.authors or split_label(entry)[0]))


def _shown(meta: PaperMeta) -> str:
    who = meta.authors[0] + (" et al." if len(meta.authors) > 1 else "") if meta.authors else ""
    return ", ".join(part for part in (who, meta.title, str(meta.year or "")) if part)


def in_library(entries: Sequence[tuple[str, PaperMeta]], rows: Sequence[PaperRow]) -> list[Entered]:
    """Say for each entry which paper of the library it is about, if any: by DOI, arXiv id, title."""
    keyed = [Entry(str(at), meta) for at, (_, meta) in enumerate(entries)]
    found = {int(entry.key): row for entry, row in match(keyed, rows).pairs}
    for at, (text, meta) in enumerate(entries):
        if at not in found:
            row = next((r for r in rows if same_work(r.meta, meta) or _titled(r, text)), None)
            if row is not None:
                found[at] = row
    return [Entered(text, meta.year, found.get(at)) for at, (text, meta) in enumerate(entries)]


def _titled(row: PaperRow, entry: str) -> bool:
    """Return whether the entry has a paper's whole title in it, however it was read."""
    title = re.sub(r"[\W_]", "", row.meta.title.casefold())
    return len(title) >= _TELLING and title in re.sub(r"[\W_]", "", entry.casefold())
