"""What is said of which: "trained on A and tested on B", "from X to Y", one university or another.

Each function returns what of the claim clashes with what of the passage, or None. They only speak
up where the passage itself has the rival.
"""

import re
from collections import defaultdict
from collections.abc import Iterator

from core.evidence.alike import ALIKE
from core.evidence.facts import Facts, Quantity, comparable, content, quantities, stem
from core.evidence.language import CJK
from core.evidence.lexicon import STOP_WORDS

Clash = tuple[str, str]
"""What the claim has, and what the passage has instead."""

_DONE = re.compile(
    r"\b(?P<verb>[a-z]+(?:ed|en|wn|lt|de|ng|ld|nt|pt|ght))\s+(?:by|on|in|at|with|for|from|using)\s+"
    r"(?:the\s+)?(?P<name>[a-z][\w-]*)"
)
"""A verb and what it was done by, on or in, in case-folded text."""
_FROM_TO = re.compile(
    rf"\bfrom\s+(?P<start>[^,;()]{{1,24}}?)\s+to\s+(?P<end>[^,;()]{{1,24}})"
    rf"|[由从](?P<han_start>[^，。；{CJK}]{{1,16}}?)[{CJK}]{{0,4}}?[到至为](?P<han_end>[^，。；{CJK}]{{1,16}})"
)
_FROM = re.compile(r"\b(?:up|down) from (?P<start>\S+(?: \w+)?)(?P<since>[^;]{0,60})")
_PART_OF = re.compile(
    r"\b(?P<part>[\d,.]+|[a-z]+) (?:out )?of (?:the |our |these |all )?(?P<whole>\d[\d,]*) [a-z-]+"
)
_BEFORE = re.compile(r"\b(?:from|before|earlier|previous\w*|initial\w*|once|had been)\b")
_ENDS = re.compile(
    r"\b(?:after|afterwards|final|finally|eventually|reached|reaches|became|ended|now|in the end)\b"
    r"|最终|最后|之后|以后|[^先前]后|达到|升至|降至|变为|增至|减至"
)
_ONLY = re.compile(
    rf"\b(?:only|solely|exclusively)(?: (?:for|in|on|at|of|to|with|when|if|the|among|by))* (?P<en>[a-z][\w-]+)"
    rf"|(?:仅|只)(?:[对在用以]|针对|适用于|包括)(?P<zh>[{CJK}]{{2,4}}?)(?=[上中里时下，,。的有才可被发出观进使见]|$)"
)
_RESPECTIVELY = re.compile(r"\brespectively\b|分别(?:为|是|达到|达|约为|占)")
_APART = re.compile(
    r"\b(?:unlike|in contrast to|as opposed to|rather than|instead of) (?:that of |those of |the |a )?([^,;.]{1,40}?)(?: et al)?(?=[,;.]|$)"
    rf"|(?:与|和|不同于)([{CJK}\w]{{1,12}}?)(?:不同|相反|,)|(?:而不是|而非)([{CJK}\w]{{1,12}})"
)
_BEFORE_IT = ("rather", "instead", "as opposed", "而")
_WORD = re.compile(rf"[{CJK}]{{2,4}}|[a-z][\w-]*")
_ONLY_WORD = re.compile(r"\b(?:only|solely|exclusively|none but)\b|仅|只有|只在|唯一")
_NARROW = re.compile(
    r"\b(?:only|solely|exclusively|just|merely|alone|unique|few|single|sole|limited|restricted|specific|specifically|but not|not)\b"
    r"|仅|只|唯一|独有|局限|限于|单独"
)
_EVERYWHERE = re.compile(
    r"\b(?:all|every|always|any|everywhere|throughout)\b|所有|全部|一切|全年|始终|各"
)
BODY = re.compile(
    rf"[^\W\d_a-zA-Z由在用是和与的为对从于被及到来自]{{2,5}}(?:系|委员会|协会|学会|研究中心|卫生院)|[{CJK}]{{2}}(?:大学|学院|医院|研究所|研究院|实验室|公司|集团|银行|出版社)"
)
_LONGEST_LIST = 8
_SUFFIX = re.compile(r"(?:大学|学院|医院|研究所|研究院|实验室|公司|集团|银行|出版社)$")


def exchanged_roles(claim: Facts, passage: Facts) -> Clash | None:
    """Catch a claim that says of B what the passage says of A alone: "A was tested, B was trained".

    Of a name of the claim the passage tells by which verbs it takes part; the claim has none of
    them (nor a synonym), but a verb of another name that it does not mention.
    """
    done, mentioned = _verbs_of_names(passage), set(claim.tokens)
    for name in sorted(done.keys() & mentioned):
        if _said(done[name], claim):
            continue
        for other in sorted(done.keys() - mentioned):
            if (done[other] - done[name]) & claim.stems:
                return name, other
    return None


def _verbs_of_names(passage: Facts) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for match in _DONE.finditer(passage.text):
        if match["name"] in passage.names and match["verb"] not in STOP_WORDS:
            found[match["name"]].add(stem(match["verb"]))
    return found


def _said(verbs: set[str], claim: Facts) -> bool:
    return any(verb in claim.stems or ALIKE.get(verb, frozenset()) & claim.stems for verb in verbs)


def start_for_end(claim: Facts, passage: Facts) -> tuple[Quantity, Quantity] | None:
    """Catch a claim that gives as the end of a change what the passage gives as its start."""
    if _FROM_TO.search(claim.text):
        return None
    old = _old_value(claim, passage)
    if old or not _ENDS.search(claim.text):
        return old
    for match in _FROM_TO.finditer(passage.text):
        start = quantities(match["start"] or match["han_start"])
        end = quantities(match["end"] or match["han_end"])
        if not start or not end:
            continue
        has_start = any(one.agrees(start[0]) for one in claim.quantities)
        if has_start and not any(one.agrees(end[0]) for one in claim.quantities):
            return start[0], end[0]
    return None


def not_only(claim: Facts, passage: Facts) -> str | None:
    """Catch a claim that says of A and B, or of all, what the passage says "only" of A."""
    if _ONLY.search(claim.text):
        return None
    for match in _ONLY.finditer(passage.text):
        one = match["en"] or match["zh"]
        if one.isascii():
            pair = re.search(
                rf"\b(?:{re.escape(one)},? (?:and|or|as well as) (?:also )?(\w+)|(\w+),? (?:and|or|as well as) {re.escape(one)})\b",
                claim.text,
            )
        else:
            pair = re.search(
                rf"{one}[和与及、或]([{CJK}]+)|([{CJK}]+)[和与及、或]{one}", claim.text
            )
        if pair or (one in claim.text and _EVERYWHERE.search(claim.text)):
            return one
    return None


def adds_only(claim: Facts, passage: Facts) -> bool:
    """Return whether the claim says "only" where the passage says nothing of the kind."""
    return bool(_ONLY_WORD.search(claim.text)) and not _NARROW.search(passage.text)


def in_the_place(claim: Facts, passage: Facts) -> Clash | None:
    """Catch a name where the passage has another, beside the same words."""
    mine, theirs = _beside(claim, claim.names), _beside(passage, passage.names)
    for name in sorted(mine.keys() - theirs.keys() - set(passage.tokens)):
        for rival in sorted(theirs.keys() - mine.keys() - set(claim.tokens)):
            if mine[name] & theirs[rival] and name.isdigit() == rival.isdigit():
                return name, rival
    return None


def _beside(found: Facts, names: frozenset[str]) -> dict[str, set[tuple[str, str]]]:
    """Return, for each name, the content word before and the one after it."""
    words = [token for token in found.tokens if token not in STOP_WORDS]
    beside: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for at, word in enumerate(words):
        if word in names:
            if at and words[at - 1] not in names:
                beside[word].add(("after", stem(words[at - 1])))
            if at + 1 < len(words) and words[at + 1] not in names:
                beside[word].add(("before", stem(words[at + 1])))
    return beside


def set_apart(claim: Facts, passage: Facts) -> Clash | None:
    """Find what the claim speaks of where the passage says "unlike" it, or "rather than" it."""
    for match in _APART.finditer(passage.text):
        other = next(piece for piece in match.groups() if piece)
        mine = content(other) - content(passage.text.replace(match.group(), " "))
        theirs = _opposite_number(passage.text, match)
        if mine and mine <= claim.stems and theirs and not content(theirs) & claim.stems:
            return other.strip(), theirs
    return None


def _opposite_number(text: str, match: re.Match[str]) -> str:
    """Return the first content word after "unlike A,", or the last before "rather than B"."""
    if match.group().startswith(_BEFORE_IT):
        words = _WORD.findall(text[: match.start()])[::-1]
    else:
        words = _WORD.findall(text[match.end() :])
    return next((word for word in words if content(word) and word not in ("al", "et")), "")


def other_compound(claim: Facts, near: Facts, whole: Facts) -> Clash | None:
    """Catch "single-blind" for "double-blind": another first part, which the passage has nowhere."""
    for mine in sorted(t for t in claim.tokens if "-" in t and t not in whole.tokens):
        first, _, head = mine.partition("-")
        if mine.replace("-", " ") in whole.text or len(head) < 3:
            continue
        for theirs in near.tokens:
            other, _, same = theirs.partition("-")
            if same == head and stem(other) != stem(first) and theirs not in claim.tokens:
                return mine, theirs
    return None


def dealt_otherwise(claim: Facts, passage: Facts) -> tuple[Quantity, Quantity] | None:
    """Catch a value of another member of a list: "A and B reach 1 and 2, respectively"."""
    for items, values in _dealt(passage.text):
        mine = [n for n, item in enumerate(items) if item in claim.text]
        said = [
            n for n, value in enumerate(values) if any(value.agrees(q) for q in claim.quantities)
        ]
        if len(mine) == 1 and len(said) == 1 and mine != said:
            return values[said[0]], values[mine[0]]
    return None


def _dealt(text: str) -> Iterator[tuple[list[str], list[Quantity]]]:
    """Yield what "respectively" pairs: the items, without what all begin or end with, and values."""
    for sentence in re.split(r"[;。]|\.\s", text):
        mark = _RESPECTIVELY.search(sentence)
        if mark is None:
            continue
        if mark.group().isascii():
            head, values = sentence[: mark.start()], quantities(sentence[: mark.start()])
        else:
            head, values = sentence[: mark.start()], quantities(sentence[mark.end() :])
        for size in range(min(len(values), _LONGEST_LIST), 1, -1):
            dealt = values[-size:] if mark.group().isascii() else values[:size]
            found = _items(head, size)
            if found:
                yield found, dealt
                break


def _items(head: str, size: int) -> list[str] | None:
    """Return the last `size` items of a list in `head`."""
    han = rf"([{CJK}\w-]+)((?:、[{CJK}\w-]+){{{size - 1}}})" if size > 2 else ""
    pattern = (
        han or rf"([{CJK}\w-]+?)([、和与及][{CJK}\w-]+)"
        if re.search(f"[{CJK}]", head)
        else rf"([\w-]+)((?:,? (?:and )?[\w-]+){{{size - 1}}}) (?:was|were|is|are|had|has|have|reach\w*|achiev\w*|scor\w*|obtain\w*|g[eo]t|took|takes?)\b"
    )
    match = re.search(pattern, head)
    if match is None:
        return None
    rest = re.split(r"[、和与及]|,? and |, ", match[2])
    items = [match[1], *(one for one in rest if one)]
    return [item[:2] if re.match(f"[{CJK}]", item) else item for item in items]


def part_for_whole(claim: Facts, passage: Facts) -> tuple[Quantity, Quantity] | None:
    """Catch a claim that says of all 64 what the passage says of "41 of the 64"."""
    for match in _PART_OF.finditer(passage.text):
        part, whole = quantities(match["part"]), quantities(match["whole"])
        if not part or not whole or any(part[0].agrees(q) for q in claim.quantities):
            continue
        said = content(re.split(r"[,;.]\s|$", passage.text[match.end() :])[0])
        if any(whole[0].agrees(q) for q in claim.quantities) and said & claim.stems:
            return whole[0], part[0]
    return None


def _old_value(claim: Facts, passage: Facts) -> tuple[Quantity, Quantity] | None:
    """Catch a claim that gives the value "up from" which another came."""
    for match in _FROM.finditer(passage.text):
        start = quantities(match["start"])
        if not start or not any(one.agrees(start[0]) for one in claim.quantities):
            continue
        since = re.split(r"[,;.]\s|$", match["since"])[0]
        told = [q for q in quantities(since) if any(q.agrees(one) for one in claim.quantities)]
        new = [q for q in quantities(passage.text[: match.start()]) if comparable(q, start[0])]
        if not new or told or _BEFORE.search(claim.text):
            continue
        if not any(new[-1].agrees(one) for one in claim.quantities):
            return start[0], new[-1]
    return None


def other_body(claim: Facts, passage: Facts) -> Clash | None:
    """Catch a Chinese university, hospital or company in the place of another of its kind."""
    rivals = [name for name in BODY.findall(passage.text) if name not in claim.text]
    for name in BODY.findall(claim.text):
        kind = _SUFFIX.search(name)
        same = [rival for rival in rivals if kind and rival.endswith(kind.group())]
        if same and name not in passage.text:
            return name, same[0]
    return None
