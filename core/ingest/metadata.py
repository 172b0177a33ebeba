"""What a paper says of itself: title, authors, year, abstract, identifiers, from its first pages.

What is printed leads; the file's own metadata is only believed where the page bears it out or the
page says nothing.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from core.ingest.furniture import ARXIV_STAMP
from core.ingest.layout import Line, weighted_median
from core.ingest.pdf import RawDocument
from core.ingest.sections import Section, bare, is_known_heading
from core.ingest.text import HAN, joint, language, letters, normalise
from core.types import Page, PaperMeta

_TITLE_LIMIT = 300
GROUP_NAME = 6
"""Characters: a shorter author in the file's metadata may stand on the page by chance."""
_ABSTRACT_LIMIT = 5_000
_FRONT_PAGES = 3

_JUNK_TITLE = re.compile(
    r"(?:untitled|no title|title|microsoft (?:word|powerpoint)\b.*|powerpoint presentation|"
    r".*\.(?:dvi|tex|docx?|pdf|indd|ps|rtf|wpd|qxd)|doi:.*|10\.\d{4,}/.*|[\W\d_]*|\S{1,12}|"
    r"(?:paper|manuscript|document|layout|print|book|main)\s*\d*)",
    re.I,
)
_NOT_TITLE = re.compile(
    r"\bjournal of\b|proceedings of|\bcontents lists?\b|homepage|sciencedirect|\bissn\b|\bvol(?:ume)?\b"
    r"[. ]*\d|https?:|www\.|@|^arxiv|^doi\b|front cover|research article|original (?:article|paper)|"
    r"^preprint|permission|hereby|licen[sc]ed?|copyright|©|accepted|received|technical report$|"
    r"^(?:contents|abstract|目\s*录|摘\s*要)$",
    re.I,
)
_NOT_NAME = re.compile(
    r"\b(?:universit\w*|institut\w*|department|dept|school|laborator\w*|labs?|college|cent(?:er|re)|"
    r"research|google|facebook|microsoft|ibm|inc|ltd|corporation|company|hospital|ministry|faculty|"
    r"academy|division|group|team|abstract|introduction|keywords?|street|road|avenue|usa|china|"
    r"germany|france|canada|uk|japan|brazil|egypt|australia|email|e-mail|demo|version|edition|"
    r"auflage|january|february|march|april|may|june|july|august|september|october|november|december|"
    r"technology|science|sciences|national|your name|assistant|ai|brain|imag|cwi|page|article|paper|"
    r"corresponding|author|authors|student|member|ieee|acm|fellow|bytedance|of|p\.?o\.? box|box|"
    r"engineering|studies|environmental|saint|san francisco|garching|universidade|münchen|models?|"
    r"detection|paulo)\b",
    re.I,
)
_NAME = re.compile(
    r"(?:(?:[^\W\d_]\.[- ]?){1,3}\s*)?[^\W\d_a-z][^\W\d_]*(?:[’'-][^\W\d_]+)*[.’'`-]?"
    r"(?:[ .-]+(?:[^\W\d_]\.|(?:van|von|der|den|de|di|da|del|della|la|le|las|los|dos|el|al|bin|ten|zu)"
    r"|[^\W\d_a-z][^\W\d_]*(?:[’'-][^\W\d_]+)*)){0,5}"
)
_HAN_NAME = re.compile(rf"[{HAN}](?:\s?[{HAN}]){{1,3}}")
_SURNAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林郑谢罗梁宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈"
    "姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤"
    "欧司诸上牟温葛岳季娄柯柳桂梅洪涂游管翟聂裴褚詹谷费路连邢阮项鲁齐庄康施樊文安章颜倪常辛俞耿焦"
)
_HAN_LABEL = re.compile(
    r"^(?:英文|中文|第一)?(?:作者|译者|编者|编著|著者|姓名|撰稿|学生|指导教师|导师)\s*[：:]\s*"
)
_MARKS = re.compile(
    r"\[[\d−–-]{8,}\]|[*∗†‡§¶‖#✉?�\ue000-\uf8ff①-⑳⁰-⁹¹²³]+|\(\s*[^\w]*\)|(?<=[^\W\d_])\d+(?:\s?,\s?\d+)*"
    r"|(?:^|\s)\d+(?:\s?,\s?\d+)*(?=\s|$|,)"
)
_SPLIT = re.compile(r"\s*(?:,|;|·|•|、|，|；|\band\b|\bund\b|&|\|)\s*")
_YEAR = re.compile(r"(?<![\d.])(?:19[5-9]\d|20[0-4]\d)(?!\d|\.\d)")
_DATED = re.compile(
    r"(?:©|copyright|\(c\)|published|accepted|received|january|february|march|april|may|june|july|"
    r"august|september|october|november|december|\bjan\.|\bfeb\.|\bvol|journal|conference|proceedings|"
    r"symposium|workshop|issue|auflage|\bmai\b|dezember|年)[^\n]{0,60}?(?<![\d.])"
    r"((?:19[5-9]\d|20[0-4]\d))(?!\d)|(?<!\d)((?:19[5-9]\d|20[0-4]\d))\s*(?:年|[/-]\d{1,2}[/-]\d{1,2})"
    r"|\((20[0-4]\d|19[5-9]\d)\)\s*\d+\s*[–-]\s*\d+",
    re.I,
)
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>]+[^\s\"<>.,;)\]]", re.I)


def read_meta(
    document: RawDocument,
    lines: Sequence[list[Line]],
    taken: Sequence[Line],
    sections: Sequence[Section],
    pages: Sequence[Page],
) -> PaperMeta:
    """Return what the first pages (`lines`, without what was `taken` off them) say.

    Fields that cannot be found are empty.
    """
    text = "\n".join(page.text for page in pages)
    front = "\n".join(page.text for page in pages[:2])[:8_000]
    opening = "\n".join(page.text for page in pages[:8])
    margins = "\n".join(line.text for line in taken[:40])
    title, after = _title(document, lines)
    arxiv_id, stamp = _arxiv(margins + "\n" + front[:4_000])
    return PaperMeta(
        title=title,
        authors=_authors(document, after, opening),
        year=_year(arxiv_id, stamp, margins + "\n" + front[:4_000], document, sections),
        abstract=_abstract(sections),
        language=language(text),
        doi=_doi(document, margins + "\n" + front),
        arxiv_id=arxiv_id,
    )


def _compact(text: str) -> str:
    return re.sub(r"[\W_]", "", text.casefold())


def _plausible_title(text: str) -> str:
    """Return a title from the file's metadata, or '' when it is one of the usual kinds of junk."""
    text = re.sub(r"\s+", " ", text).strip()
    if len(_compact(text)) < 6 or _JUNK_TITLE.fullmatch(text) or len(text) > _TITLE_LIMIT:
        return ""
    return text


def _title(document: RawDocument, lines: Sequence[list[Line]]) -> tuple[str, list[Line]]:
    """Return the title and the lines that follow it on its page.

    The file's own title counts when its page prints it elsewhere or in other letters.
    """
    claimed = _plausible_title(document.info.get("Title", ""))
    for page in lines[:_FRONT_PAGES]:
        found = _printed_title(page)
        if found:
            printed, own = _joined(found), _compact(" ".join(line.text for line in page))
            part = _compact(claimed) in _compact(printed)
            if claimed and not part and _compact(claimed) in own:
                printed = claimed
            return printed, _under_title(page, found)
        if page:
            break
    return claimed, []


def _under_title(page: Sequence[Line], title: Sequence[Line]) -> list[Line]:
    """Return the lines after the title; those of several columns row by row, as authors stand."""
    after = page[max(page.index(line) for line in title) + 1 :]
    top = max(line.y1 for line in title) - 2
    ends = [line.y0 for line in after if line.turn == 0 and _ends_front(line.text.strip())]
    block = [line for line in after if line.turn == 0 and top <= line.y0 < min(ends, default=0)]
    if len({line.column for line in block}) < 2:
        return list(after)
    rows: list[list[Line]] = []
    for line in sorted(block, key=lambda line: line.y0):
        if rows and line.y0 - rows[-1][0].y0 < 0.5 * line.size:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [line for row in rows for line in sorted(row, key=lambda line: line.x0)]


def _printed_title(page: Sequence[Line]) -> list[Line]:
    """Return the lines in the largest type in the upper part of a page, if they stand out."""
    upright = [line for line in page if line.turn == 0]
    if not upright:
        return []
    mailed = next((at for at, line in enumerate(upright) if at > 1 and "@" in line.text), None)
    above = upright[:mailed]  # addresses come after the title
    height = max(line.y1 for line in upright)
    body = weighted_median([(line.size, line.characters) for line in upright])
    fit = [
        line
        for line in above
        if line.y0 < 0.62 * height and letters(line.text) >= 3 and not _NOT_TITLE.search(line.text)
    ]
    for line in sorted(fit, key=lambda line: (-round(line.size), line.y0)):
        if line.size < 1.08 * body and not (line.bold and line.y0 < 0.35 * height):
            continue
        if is_known_heading(line.text) or not _titular(line, upright):
            continue
        return _with_neighbours(line, fit)
    return []


def _titular(line: Line, page: Sequence[Line]) -> bool:
    """Return whether there is room for a title: more type of its size would be running text."""
    same = [other for other in page if abs(other.size - line.size) < 0.05 * line.size]
    return sum(other.characters for other in same) < 400 and sum(
        char.isalpha() for char in line.text
    ) > 0.6 * len(line.text.replace(" ", ""))


def _with_neighbours(seed: Line, fit: Sequence[Line]) -> list[Line]:
    """Return the title line with those above and below it in the same type."""
    found = [seed]
    at = next(index for index, line in enumerate(fit) if line is seed)
    for step in (1, -1):
        near = at + step
        while 0 <= near < len(fit) and len(found) < 6:
            line, last = fit[near], found[-1] if step > 0 else found[0]
            gap = line.y0 - last.y1 if step > 0 else last.y0 - line.y1
            if abs(line.size - seed.size) > 0.08 * seed.size or gap > 1.7 * seed.size:
                break
            found.insert(len(found) if step > 0 else 0, line)
            near += step
    return found


def _joined(lines: Iterable[Line]) -> str:
    whole = ""
    for line in lines:
        text = re.sub(r"[\s∗*†‡§¶]+$", "", line.text.strip())
        text = re.sub(rf"(?<=[{HAN}a-z])\d$", "", text)
        if whole.endswith("-") and text[:1].islower():
            whole = whole[:-1] + text
        else:
            whole += (joint(whole, text) if whole else "") + text
    return whole[:_TITLE_LIMIT].strip()


def _authors(document: RawDocument, after: Sequence[Line], front: str) -> tuple[str, ...]:
    """Return the names between the title and the abstract; else the file's, when printed."""
    claimed = _claimed_authors(document, front)
    if claimed:
        return claimed
    found: list[str] = []
    marked = any(re.match(r"a\s?[A-Z]", line.text) for line in after[:12])
    for line in _unbroken(after[:40]):
        text = line.text.strip()
        if _ends_front(text) or len(found) >= 60:
            break
        names = [name for part in _parts(line) for name in names_in(part)]
        if marked:
            names = [re.sub(r"(?<=[a-zäöüß])[a-e]$", "", name) for name in names]
        found += [name for name in names if name not in found]
    return tuple(found)


def _claimed_authors(document: RawDocument, front: str) -> tuple[str, ...]:
    """Return the authors in the file's metadata if the page prints all their family names."""
    named = [name.strip() for name in _SPLIT.split(normalise(document.info.get("Author", "")))]
    named = [name for name in named if name]
    shown = _compact(front)
    if any("@" in name for name in named):
        return ()
    if len(named) == 1 and len(_compact(named[0])) >= GROUP_NAME and _compact(named[0]) in shown:
        return tuple(named)  # also a project or an institute, which is no name of a person
    for name in named:
        family = _compact(name.split()[-1])
        printed = len(family) > 1 and family in shown
        if not printed or not (_is_name(name) or _HAN_NAME.fullmatch(name)):
            return ()
    return tuple(named)


def _unbroken(lines: Sequence[Line]) -> list[Line]:
    """Return the lines, with a list of names that runs over into the next line as one line."""
    found: list[Line] = []
    for line in lines:
        last = found[-1] if found else None
        if last is not None and _runs_over(last, line):
            found[-1] = replace(last, words=[*last.words, *line.words], y1=line.y1)
        else:
            found.append(line)
    return found


def _runs_over(last: Line, line: Line) -> bool:
    """Return whether a name begins on one line and ends on the next."""
    text = last.text
    if "," not in text or "@" in text or "@" in line.text or not line.text[:1].isupper():
        return False
    if is_known_heading(line.text) or last.bold != line.bold:
        return False
    open_end = re.search(r"[^\W\d_]$", text) and not re.search(r"\band$", text)
    return bool(open_end) and abs(last.size - line.size) <= 0.04 * last.size


def _ends_front(text: str) -> bool:
    name = bare(text)
    run_in = re.match(r"(?:abstract|summary|摘\s*要|aim|background)\b", text, re.I)
    return bool(run_in) or is_known_heading(name) or len(text) > 130 or text.endswith("-")


def _parts(line: Line) -> list[str]:
    """Return a line's pieces between wide gaps: names are often set apart by space alone."""
    parts: list[list[str]] = []
    last = None
    for word in line.words:
        new_line = last is not None and word.x0 < last.x0
        if last is None or (not new_line and word.x0 - last.x1 > 0.8 * line.size):
            parts.append([])
        parts[-1].append(word.text)
        last = word
    return [" ".join(part) for part in parts]


def names_in(text: str) -> list[str]:
    """Return the names of people in a piece of an author line."""
    if "@" in text or "http" in text or "{" in text:
        return []
    plain = _HAN_LABEL.sub("", re.sub(r"\s+", " ", _MARKS.sub(" , ", text)).strip())
    found = []
    for part in _SPLIT.split(plain):
        name = re.sub(r"\s+", " ", part).strip(" .:-")
        if _HAN_NAME.fullmatch(name) and name[0] in _SURNAMES:
            found.append(name.replace(" ", ""))
        elif _is_name(name):
            found.append(name)
    return found


def _is_name(text: str) -> bool:
    if not 4 <= len(text) <= 45 or any(char.isdigit() for char in text):
        return False
    words = re.split(r"[ .]+", text)
    capital = [word for word in words if word and word[0].isupper()]
    if len([word for word in words if word]) < 2 or len(capital) < 2 or text.isupper():
        return False
    if _NOT_NAME.search(text):
        return False
    return bool(_NAME.fullmatch(text))


def _arxiv(text: str) -> tuple[str, str]:
    """Return the id in an arXiv stamp (without version) and the stamp's line."""
    match = ARXIV_STAMP.search(text)
    if match is None:
        return "", ""
    line_end = text.find("\n", match.start())
    return match["id"].lower(), text[match.start() : line_end if line_end > 0 else None]


def _year(
    arxiv_id: str,
    stamp: str,
    text: str,
    document: RawDocument,
    sections: Sequence[Section],
) -> int | None:
    """Return the year of the arXiv stamp, of a dated line, or of the file's making, in that order.

    A file made long after the newest work it cites was made again: then that work's year counts.
    """
    printed = _YEAR.search(re.sub(r"^\S+", "", stamp))
    if printed:
        return int(printed.group())
    if re.match(r"\d{4}\.", arxiv_id):
        return 2000 + int(arxiv_id[:2])
    dated = [int(next(filter(None, match.groups()))) for match in _DATED.finditer(text)]
    if dated:
        return max(dated[:4])
    match = re.match(r"(?:D:)?((?:19|20)\d\d)", document.info.get("CreationDate", ""))
    if match is None:
        return None
    made, cited = int(match.group(1)), _years_cited(sections)
    cited = [year for year in cited if year <= made]
    return max(cited) if len(cited) >= 5 and made - max(cited) >= 3 else made


def _years_cited(sections: Sequence[Section]) -> list[int]:
    parts = [
        part for section in sections if section.kind == "references" for part in section.paragraphs
    ]
    return [int(year) for part in parts for year in _YEAR.findall(part.text)]


def _doi(document: RawDocument, text: str) -> str:
    for source in (text, document.info.get("Subject", ""), document.info.get("Title", "")):
        match = _DOI.search(source)
        if match:
            return match.group().lower()
    return ""


def _abstract(sections: Sequence[Section]) -> str:
    """Return the abstract's text without its heading."""
    for section in sections:
        if section.kind != "abstract":
            continue
        body = [part for part in section.paragraphs if not part.heading and part.kind == "abstract"]
        size = body[0].lines[0].size if body else 0.0
        body = [part for part in body if part.lines[0].size > 0.94 * size]  # no footnotes
        text = _joined_lines(line for part in body for line in part.lines)
        text = re.sub(
            r"^(?:abstract|summary|摘\s*要|内容提要)\s*[.:：—–\-】\]〕]*\s*", "", text, flags=re.I
        )
        if text:
            return text[:_ABSTRACT_LIMIT]
    return ""


def _joined_lines(lines: Iterable[Line]) -> str:
    whole = ""
    for line in lines:
        text = line.text.strip()
        if line.words and line.words[-1].hyphen and whole is not None:
            text = text.rstrip("-") + "\u00ad"
        if whole.endswith("\u00ad"):
            whole = whole[:-1] + text
        else:
            whole += (joint(whole, text) if whole else "") + text
    return whole.replace("\u00ad", "").strip()
