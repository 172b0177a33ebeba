"""Reading one entry of a list of references: plain rules for English and Chinese styles.

No network and no model: what the string says, found by the forms that styles of citation have in
common (APA, Chicago, Vancouver, IEEE, physics journals, GB/T 7714).
"""

import re
from dataclasses import dataclass

from core.ingest.text import HAN
from core.types import Reference

TITLE_LIMIT = 400
TEXT_LIMIT = 2_000
"""Characters of an entry that are looked at."""
MOST_AUTHORS = 200

_UP = r"[^\W\d_a-zß-öø-ÿ]"
_WORD = rf"(?:[DOL][’'])?{_UP}(?:[^\W\d_]|[’'‐-](?=[^\W\d_]))*"
_PART = (
    r"(?:van|von|der|den|de|di|da|del|della|la|le|los|las|dos|do|el|al|bin|ibn|ten|ter|zu|zur|du|"
    r"degli|des|af|av|'t|’t|St\.|Van|Von|De|Di|Da|Del|La|Le|El|Al|Mac|Mc|Dos|Ter)"
)
_NO = (
    r"(?:the|journal|proceedings|university|department|conference|society|institute|new|"
    r"deep|neural|learning|analysis|effects?|study|studies|theory|national|research|international|"
    r"association|introduction|review|model(?:s|ing)?|physics|science|systems?|network|networks|"
    r"rev|lett|phys|nucl|proc|ann(?=\.)|math|astrophys|annals|trans|handbook|committee|organi[sz]ation|"
    r"office|ministry|agency|centre|center|commission|bureau|report|team|group|collaboration|les|une|"
    r"vol|in|on|of|for|springer|ieee|acm|london|oxford|cambridge|york|wiley|elsevier|nature|arxiv|"
    r"corporation|technologies|company|inc|with|from|using|towards?|how|what|why|revisiting|"
    r"topology|majestic|comm|commun|int|mod|eur|chem|biol|j|quantum|la|le|des)\b"
)
_NO_NAME = re.compile(rf"(?<!\.)\b(?!(?:J|j)\b|(?:la|le|des)\b){_NO}", re.I)
_SURNAME = rf"(?:{_PART}\s+)*{_WORD}(?:\s(?:{_PART}\s+)*(?!(?i:{_NO})){_WORD}){{0,2}}"
_INITIAL = rf"(?:{_UP}(?:-{_UP})?|Th|Ch|Yu|Ya|Ph|Sh|Kh|Zh|Ju|Je|St)\."
_DOTTED = rf"{_INITIAL}(?:[\s‐-]*{_INITIAL}){{0,4}}(?:\s*-?{_UP}(?=[,;]))?"
_BARE = rf"{_UP}{{1,4}}(?![^\W\d_.])(?:[ -]{_UP}(?![^\W\d_.])){{0,3}}"
_SUFFIX = r"(?:,?\s*(?:Jr|Sr|II|III|IV)\b\.?)?"
_LATE = rf"(?:\s+(?:{_PART})\b(?:\s+(?:{_PART})\b)?)?"

_INVERTED = re.compile(
    rf"(?P<last>(?!{_UP}\b){_SURNAME}){_SUFFIX}(?:,\s*|\s+(?!(?:{_DOTTED}|{_UP})\s{_WORD}\s*(?:[,.]|and\b|&)))"
    rf"(?P<first>{_DOTTED}|{_BARE}){_LATE}{_SUFFIX}"
)
_STRAIGHT = re.compile(
    rf"(?P<first>{_DOTTED}(?:\s*(?!(?i:{_NO})){_WORD}(?=\s(?!(?i:{_NO})){_UP}[.\w]))?)\s*(?P<last>(?:{_PART}\s+)*(?!(?i:{_NO})){_WORD}"
    rf"(?:\s(?:{_PART}\s+)+{_WORD}|\s(?!(?i:{_NO})){_WORD}"
    rf"(?=\s*(?:[,;.:(“\"]|and\b|&|et\b|$)))?){_SUFFIX}"
)
_FULL = re.compile(
    rf"(?P<first>{_WORD}(?:\s+(?:{_UP}\.|{_UP}(?=\s)|{_WORD})){{0,2}})\s+(?P<last>(?:{_PART}\s+)+{_WORD}\s{_WORD}(?=,|\sand\b)|"
    rf"(?:{_PART}\s+)*{_WORD})"
    rf"{_SUFFIX}(?=\s*(?:[,;.:(\[“\"«/]|and\b|&|et\b|in\b|\d{{4}}|$))"
)
_CHICAGO = re.compile(
    rf"(?P<last>(?:{_PART}\s+)*{_WORD}),\s+"
    rf"(?P<first>{_WORD}(?:\s+(?:{_UP}\.?(?!\w)|{_WORD})){{0,2}})"
    rf"{_SUFFIX}(?=\s*(?:[,;.:(\[“\"«/]|and\b|&|et\b|\d{{4}}|$))"
)
_BETWEEN = re.compile(
    r"\s*(?:[,;](?:\s*,)?\s*(?P<and>and|&|et|und|y|e)\s+|[,;]\s*(?P<amp>&)\s*|[;,/]\s*|"
    r"\s(?P<word>and|&|et|und|y|e|en)\s+|&\s*|\.\s+(?P<dot>and|&)\s+|-\s+(?=[A-Z]))"
)
_ET_AL = re.compile(r"[\s,;]*(?:\(?\bet\.?\s*al\b\.?,?\)?|\band others\b|\band colleagues\b)", re.I)
_EDITORS = re.compile(
    r"[\s,]*[(\[]?\b(?:eds?|editors?|éds?|dir|hrsg|comps?)\b\.?[)\]]?(?=[\s,.:]|$)", re.I
)

_LABEL = re.compile(
    r"\s*(?:[\[【［〔](?P<square>[A-Za-z+]*[^\]】］〕]{0,24}?\d{1,4}[a-z]?|(?!PDF)[A-Z][A-Za-z+]{1,4})[\]】］〕]|"
    r"\((?P<round>\d{1,3})\)|"
    r"(?P<dot>\d{1,3})(?:\s*[.．、]|\))(?!\d)|(?P<dash>\d{1,3})(?:,\d{1,3})*-(?=[^\W\d_]))\s*"
)
_DOI = re.compile(r"\b10\.\d{4,9}\s?/\s?[^\s\"<>，。；]+")
_DOI_AROUND = re.compile(
    r"[\s,.;(\[]{0,6}(?:available(?: from| at)?:?\s*)?(?:(?:https?:/+)?(?:dx\.)?doi(?:\.org)?\s*[:/.]?\s*)+"
    r"(?=10\.\d{4})",
    re.I,
)
_ARXIV = re.compile(
    r"(?:arxiv(?:\.org)?\s*(?:e-?prints?|preprint)?\s*[:/,]?\s*(?:abs/|pdf/|arXiv:)?\s*)?\b"
    r"(?P<id>(?:astro-ph|cond-mat|gr-qc|hep-(?:ex|lat|ph|th)|math-ph|nlin|nucl-(?:ex|th)|physics|"
    r"quant-ph|math|cs|q-bio|q-fin|stat|cmp-lg|alg-geom|solv-int|patt-sol|chao-dyn|dg-ga|q-alg|"
    r"funct-an)(?:\.[A-Z]{2})?\s?/\s?\d{7})(?:v\d+)?(?!\d)|"
    r"arxiv(?:\.org)?\s*(?:e-?prints?|preprint|version)?\s*[:/,.]?\s*(?:abs/|pdf/|arXiv:)?\s*"
    r"(?P<new>\d{4}\s?\.\s?\d{4,5})(?:v\d+)?(?!\d)|"
    r"(?<![\d./-])(?P<naked>(?:0[7-9]|[12]\d)(?:0[1-9]|1[0-2])\s?\.\s?\d{4,5})(?:v\d+)?"
    r"(?=\s*(?:\[[a-z-]+(?:\.[A-Za-z-]+)?\]|[.\])]*$))",
    re.I,
)
_URL = re.compile(
    r"(?P<stop>\.\s)?[\s,.;(\[<]{0,6}(?:(?:available|retrieved|accessed|url|en ligne|online|disponible)\b[^.,;]{0,40}?:?"
    r"\s*)?<?(?:https?\s?:\s?//|ftp://|www\.)\s?[^\s<>]+",
    re.I,
)
_YEAR = re.compile(r"(?<![\d.:/-])(?<!\d\s-)(1[5-9]\d\d|20[0-4]\d)[a-h]?(?!\d|-\d|\.\d|–\d)")
_MONTH = (
    r"(?:jan(?:uary|vier)?|feb(?:ruary)?|mar(?:ch|s)?|apr(?:il)?|avril|may|mai|june?|juin|july?|juil"
    r"(?:let)?|aug(?:ust)?|ao[uû]t|sept?(?:ember|embre)?|oct(?:ober|obre)?|nov(?:ember|embre)?|"
    r"d[eé]c(?:ember|embre)?|spring|summer|fall|autumn|winter|f[eé]vrier)\.?"
)
_DATE = re.compile(
    rf"[\s,.;:]*(?:[(\[]\s*(?:{_MONTH}\s*)?(?:\d{{1,2}}\s+{_MONTH}\s*)?(?P<round>1[5-9]\d\d|20[0-4]\d)"
    rf"(?:[/–-]\d{{2,4}})?[a-h]?[^)\]]{{0,24}}[)\]]|\(\s*(?:in press|n\.?d\.?|forthcoming|to appear)\s*\)|"
    rf"(?:\d{{1,2}}\s+)?(?:{_MONTH}\s+)?(?P<bare>1[5-9]\d\d|20[0-4]\d)[a-h]?(?=\s*[.,:;)“\"\s]))[\s.,:;–-]*",
    re.I,
)
_GROUP = re.compile(
    r"(?P<name>[A-ZÀ-Ý][^\d“\".,?!:;(]{2,110}?)(?:\s*\([A-Z]{2,8}\))?[\s.,]*"
    r"(?:[(\[](?:1[5-9]|20)\d\d[a-h]?(?:,[^)\]]{0,20})?[)\]]|(?<=\.\s)(?:1[5-9]|20)\d\d[a-h]?(?=[.,]))[.,:\s]+"
)
_QUOTED = re.compile(
    r"[“\"„«](?P<double>[^”\"»“]{6,400}?)[,.\s]*[”\"»“]|"
    r"(?<![^\W\d_])(?:''|``|[‘'])(?P<single>[^‘]{8,400}?)[,.\s]*(?:''|[’'])(?=[\s,.;:(]|$)"
)
_VENUE = (
    r"(?:in\b:?|in:|proc(?:eedings|\.)?\b|journal\b|j\.|trans(?:actions|\.)|ieee\b|acm\b|arxiv\b|"
    r"ph\.?\s?d|master|m\.?sc|th[eè]se|dissertation|thesis|technical report|tech\. rep|"
    r"preprint|(?:phys|nucl|ann|annals|rev|lett|math|astrophys|bull|comm|commun|int|proc|chem|biol|"
    r"acad|mem|appl|adv|arch|am|amer|eur|sci|mon|geo\w*|quart|monthly)\.\s?|annals of\b|bulletin|"
    r"(?:nature|science)(?=\s?[,.\d])|lecture notes|advances in|corr\b|springer|cambridge univ|oxford univ|"
    r"elsevier|wiley|academic press|mit press|dans\b|vol\.?\s?\d|unpublished|to appear|submitted)"
)
_PLACE = r"(?:(?![a-z]{4}\.\s)[^,;])"
_COMMA_END = re.compile(
    rf",\s*(?=(?i:{_VENUE}))|,\s*(?=[A-Z]{_PLACE}{{1,70}}?,?\s+(?:[Vv]ol\.?\s*|[Nn]o\.?\s*|v\.\s*)?[A-Z]?"
    rf"\d+\s*(?:[(,:;]|pp?\.))|,\s*(?=(?:[Vv]ol\.|[Nn]o\.|pp?\.)\s*\d)|,\s*(?=(?:1[5-9]|20)\d\d\b)|"
    rf",\s*(?=(?:{_UP}[^,:.(]{{2,40}}\s?[,:]\s*){{1,3}}\(?(?:réed\.?\s*)?(?:1[5-9]|20)\d\d\b)|"
    rf",\s*(?=[A-Z][^,.(]{{2,45}}\([^()]*(?:1[5-9]|20)\d\d\))|,\s*(?=[A-Z][a-z]+\s?\.\s?[A-Z])"
)
_VENUE_END = re.compile(rf",\s+(?=(?i:{_VENUE}))")
_SENTENCE_END = re.compile(
    r"(?<=[\w)\]%”\"’'*+>$])(?<!\b[A-Za-z])(?<!\bvs)(?<!\bvol)(?<!\bno)(?<!\bSt)(?<!\bet al)(?<!\bDr)"
    r"(?<!\bcf)(?<!\bca)(?<!\bsp)(?<!\bvar)(?<!\bed)"
    r"[.](?=\s(?:npj\s|e|i)?[A-Z“\"(\[«0-9‘'ÉÀ]|[A-Z][a-z]{2,}|\s(?:in|dans)\b|$)|"
    r"[?!]\s+(?=[A-Z(“\"])|\.\s*[–—]\s|"
    r"\s+In\s?:\s|\s+\[[A-Z](?:/[A-Z]{2})?\]|\s*\((?:\d+(?:st|nd|rd|th)\s+ed|Vol\b|pp?\.|Eds?\.|ed\.)|"
    r"\s*\((?=[^()]{0,50}(?:Univ|Press|Publ|Springer|Wiley|Dover|Elsevier|(?:1[5-9]|20)\d\d\s?\)))|"
    r"\s+(?=In\s+(?:Proc|Advances|[A-Z]\.\s?[A-Z]))|\s+(?=arXiv(?: preprint)?[\s:])|;\s+(?=[A-Z])|"
    r"\s*\((?=(?:[Ww]orking [Pp]aper|[Rr]eport|[Aa]bstract|[Ii]n [A-Z][a-z]+\)|[Tt]ech))|"
    r"\s+(?=\((?:Ph\.?D|Master|Doctoral|Unpublished|Report|Tech))"
)
_SERIAL = re.compile(
    r"(?:the\s+)?[A-Z][\w&’'-]{0,30}\.?(?:(?:[\s:][\s.:]?|(?<=\.))(?:[A-Z][\w&’'-]{0,30}|\([A-Z][\w. ]*\)|and|of|the|for|in|"
    r"et|des?|&|on|a)\.?){0,8}[,:]{0,2}\s*(?:\(?ser\.?\s?\w+\)?,?\s*)?(?:vol\.?\s*|v\.\s*|no\.?\s*)?"
    r"[\[(]?[A-Z]?(?!(?:1[5-9]|20)\d\d\b(?!\)))\d+(?:st|nd|th)?(?:\s*[()\],:;.]|\s+\(|\s*$|[–-]\d|\s+\d)"
)
_ABBREVIATED = re.compile(
    r"\b(?:[A-Z][a-z]{0,9}\.|[A-Z]{3,}|A&A|Ap[JS]\w*|Nature|Science|PRL|Journal|Annals|Physica|Physics|"
    r"Proceedings|Letters|Bulletin|Monthly|Astrophys|Physical Review|Reviews|Transactions)"
)
_KIND = re.compile(r"\s*[\[［【]\s*(?:[JMCDRSNPGZ]|OL|DB|CP|EB)(?:\s*/\s*OL)?\s*[\]］】]")
_HAN_STOP = re.compile(r"(?<![A-Z])[.．。:：](?!\d)|[.．。]\s")
_HAN_AUTHORS = re.compile(
    r"\s*[,，、;；]\s*|(?<=[\u4e00-\u9fff])\s+(?=[\u4e00-\u9fff]{2,4}(?:\s|$))"
)


@dataclass(frozen=True, slots=True)
class _Names:
    """Authors read from the beginning of a text, and where they end in it."""

    names: tuple[str, ...]
    end: int


def parse_reference(text: str, page: int = 0) -> Reference:
    """Return what one entry, as printed, says; fields it does not say (or we miss) are empty.

    Authors are returned as they are printed, one string each, without "et al.".
    """
    text = " ".join(text.split())
    label, body = split_label(text[:TEXT_LIMIT])
    body = _spaced(re.sub(r"</?[a-z]{1,10}>", "", body))
    doi, body = _take_doi(body)
    arxiv_id, body = _take_arxiv(body)
    body = _URL.sub(lambda found: "." if found["stop"] else "", body).strip()
    year = _year(body)
    han = len(re.findall(f"[{HAN}]", body))
    read = _chinese if han * 4 > len(body.replace(" ", "")) else _western
    authors, title = read(body)
    return Reference(text, page, label, authors, _tidy(title), year, doi, arxiv_id)


def _spaced(text: str) -> str:
    """Return the text with a space after a comma and none before it, whatever the print lost."""
    text = re.sub(r"\s+([,;])\s*", r"\1 ", text)
    text = re.sub(r"\s+\.(?=\s|$|[A-Z])", ".", text)
    return re.sub(r"(?<=,)\s*and(?=[A-Z]\s?\.)", " and ", text)


def split_label(text: str) -> tuple[str, str]:
    """Return the label an entry is cited by (`[12]`, `12.`), and the rest."""
    found = _LABEL.match(text)
    if found is None or found.end() == len(text):
        return "", text
    number = found["square"] or found["round"] or found["dot"] or found["dash"]
    if not found["square"] and 1500 <= int(number) <= 2049:
        return "", text
    return f"[{number}]", text[found.end() :]


def surname(name: str) -> str:
    """Return the family name of an author as printed, particles included."""
    if re.search(f"[{HAN}]", name):
        return name
    for form in (_INVERTED, _CHICAGO, _STRAIGHT, _FULL):
        found = form.fullmatch(name)
        if found:
            return found["last"]
    if "," in name:
        return name.split(",")[0].strip()
    return (name.split() or [""])[-1]


def author_names(text: str) -> tuple[str, ...]:
    """Return the authors that a list of names holds."""
    return _authors(text).names


def _take_doi(text: str) -> tuple[str, str]:
    found = _DOI.search(text)
    if found is None:
        return "", text
    doi = re.sub(r"\s", "", found.group())
    doi = re.split(r"[,.;](?:arxiv|url|https?|pmid)", doi, maxsplit=1, flags=re.I)[0]
    doi = re.sub(r"(?:\.?\(?(?:accessed|epub).*|[.,;:'”’»>]+|\.?\]+)$", "", doi, flags=re.I)
    while doi.endswith((")", "]", "}")) and doi.count(doi[-1]) > doi.count(_OPENING[doi[-1]]):
        doi = doi[:-1].rstrip(".,;")
    before = text[: found.start()]
    around = _DOI_AROUND.search(text)
    if around and around.end() == found.start():
        before = text[: around.start()]
    return doi.rstrip(".,;"), f"{before} {text[found.end() :]}".strip()


_OPENING = {")": "(", "]": "[", "}": "{"}


def _take_arxiv(text: str) -> tuple[str, str]:
    found = _ARXIV.search(text)
    if found is None:
        return "", text
    number = re.sub(r"\s", "", found["id"] or found["new"] or found["naked"])
    number = re.sub(r"\.[A-Z]{2}(?=/)", "", number).lower() if "/" in number else number
    rest = text[found.end() :]
    before = re.sub(r"[\s,;(\[]{0,6}(?:arxiv\s*:?)?\s*$", "", text[: found.start()], flags=re.I)
    return number, f"{before} {rest}".strip()


def _year(text: str) -> int | None:
    """Return the year of publication: the one in brackets, else the first after the names."""
    found = [(match.start(), int(match[1])) for match in _YEAR.finditer(text)]
    if not found:
        return None
    for at, year in found:
        if re.search(r"[(\[（][^)\]]{0,16}$", text[:at]) and re.match(
            r"[^(\[（]{0,24}[)\]）]", text[at:]
        ):
            return year
    plain = [
        (at, year)
        for at, year in found
        if not re.search(r"(?:pp?\.?|pages|[\d][–-])\s*$", text[:at])
    ] or found
    date = _DATE.match(text, _authors(text).end)
    if date and (date["round"] or date["bare"]):
        return int(date["round"] or date["bare"])
    quoted = _QUOTED.search(text)
    outside = [(at, y) for at, y in plain if not (quoted and quoted.start() < at < quoted.end())]
    return (outside or plain)[-1][1]


def _western(text: str) -> tuple[tuple[str, ...], str]:
    kind = _KIND.search(text)
    names = _authors(text)
    date = _DATE.match(text, names.end) or _DATE.match(text)
    start = date.end() if date else names.end
    if not names.names and not date:
        late = _GROUP.match(text)
        if late:
            names, start, date = _Names((late["name"],), late.end()), late.end(), late
    quoted = _QUOTED.search(text, max(0, names.end - 1))
    if quoted and quoted.start() - start < (12 if date else 60):
        return names.names, quoted["double"] or quoted["single"]
    rest = re.sub(r"^(?:[\s.,:;*)\]–—-]|\(eds?\.?\))+", "", text[start:], flags=re.I)
    if kind and kind.start() > start:
        return names.names, text[start : kind.start()].strip(" .,:")
    stopped = bool(re.search(r"\.[\s)]*$", text[max(0, start - 3) : start + 1].rstrip())) or (
        rest != text[start:] and text[start : start + 2].strip().startswith(".")
    )
    return names.names, _title(rest, stopped)


def _title(rest: str, stopped: bool) -> str:
    """Return the title that `rest` begins with; '' when it begins with the journal.

    `stopped`: a full stop stands before it, so that one ends it too, not a comma.
    """
    if _names_serial(rest):
        return ""
    if re.match(
        r"(?:in\s+(?:press|proc)|arxive?\b|\[?[a-z-]+(?:\.[A-Z]{2})?\]|private comm|to be published|ph\.?\s?d)",
        rest,
        re.I,
    ):
        return ""
    ends = [found.start() for found in _SENTENCE_END.finditer(rest) if found.start() >= 6]
    comma = _VENUE_END if stopped and ends and ends[0] < len(rest) - 3 else _COMMA_END
    commas = [found.start() for found in comma.finditer(rest) if found.start() >= 12]
    at = min([*ends[:1], *commas[:1], len(rest)])
    if rest[at : at + 1] in "?!" and at < len(rest):
        at += 1
    return rest[:at]


def _names_serial(rest: str) -> bool:
    """Return whether the text goes on with a journal and its volume: a style without titles."""
    found = _SERIAL.match(rest)
    if found is None or re.search(r"[a-z]{4,}\.\s+(?:[A-Z][a-z]{3}|I+[:.])", found.group()):
        return False
    return len(found.group()) < 80 and bool(_ABBREVIATED.search(found.group()))


def _authors(text: str) -> _Names:
    """Return the names a text begins with."""
    names: list[str] = []
    at, style, joined = 0, "", False
    while len(names) < MOST_AUTHORS:
        found, style = _name(text, at, style, joined)
        if found is None:
            break
        names.append(found.group().strip(" ,"))
        end = found.end()
        etal = _ET_AL.match(text, end)
        if etal:
            return _Names(_undotted(names), etal.end())
        between = _BETWEEN.match(text, end)
        at = end
        if between is None:
            break
        joined = any(between.groupdict().values())
        if _name(text, between.end(), style, joined)[0] is None:
            break
        at = between.end()
    end = at
    editors = _EDITORS.match(text, end) if names else None
    return _Names(_undotted(names), editors.end() if editors else end)


def _undotted(names: list[str]) -> tuple[str, ...]:
    """Return the names without the full stop after the last, where initials have none."""
    if len(names) > 1 and not any("." in name for name in names[:-1]):
        names[-1] = names[-1].rstrip(".")
    return tuple(names)


def _name(text: str, at: int, style: str, joined: bool) -> tuple[re.Match[str] | None, str]:
    """Return the name at `at` and the form it has; after initials, full names need an 'and'."""
    forms = []
    if style != "straight":
        forms += [("inverted", _INVERTED)]
    forms += [("straight", _STRAIGHT)]
    if not style or (style == "chicago" and joined):
        forms += [("chicago", _CHICAGO)]
    if style in ("", "full", "chicago") or joined:
        forms += [("full", _FULL)]
    for name, form in forms:
        found = form.match(text, at)
        if found is None or _NO_NAME.search(found["last"]) or _NO_NAME.search(found["first"]):
            continue
        return found, style or name
    return None, style


def _chinese(text: str) -> tuple[tuple[str, ...], str]:
    """Read GB/T 7714 and its relatives: names, stop, title, kind in brackets, where."""
    booked = re.search(r"[《“](.{2,120}?)[》”]", text)
    kind = _KIND.search(text)
    if booked and (kind is None or booked.start() == 0):
        return _han_names(text[: booked.start()]), booked[1]
    head = text[: kind.start()] if kind else text
    stop = _HAN_STOP.search(head)
    if stop is None:
        return (), head if kind else ""
    names, rest = head[: stop.start()], head[stop.end() :]
    if not kind:
        rest = _HAN_STOP.split(rest, maxsplit=1)[0]
        rest = re.split(r"[,，]\s*(?=(?:19|20)\d\d)", rest)[0]
    return _han_names(names), rest


def _han_names(text: str) -> tuple[str, ...]:
    text = re.sub(r"[（(][^)）]*[)）]|[\[［〔][^\]］〕]*[\]］〕]", "", text)
    text = re.sub(
        r"[\s,，、]*(?:等(?:著|编|译)?|著|主编|编著|译|编|et al\.?)?[\s:：,，.]*$", "", text
    )
    found = [part.strip() for part in _HAN_AUTHORS.split(text)]
    names = [name for name in found if 1 < len(name) <= 30 and not re.search(r"\d", name)]
    return tuple(names[:MOST_AUTHORS])


def _tidy(title: str) -> str:
    """Return a title without the punctuation that closes it."""
    title = re.sub(r"\s+", " ", title).strip(' .,:;，。：；“”"«»‘*[')
    title = re.sub(r"\s*[\[［【][A-Z](?:/[A-Z]{2})?[\]］】]$", "", title)
    return title[:TITLE_LIMIT]
