"""From lines to sections: headings by numbering, type and wording, in English and Chinese."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from core.ingest.layout import Line, weighted_median
from core.ingest.pdf import RawPage
from core.ingest.text import CJK
from core.types import ChunkKind

_NUMBERED = re.compile(
    r"(?:(?:\d{1,2}(?:\.\d{1,2}){0,3}|[A-Z](?:\.\d{1,2}){1,3})[.:]?\s+|[IVX]{1,5}\.\s+|[A-Z]\.?\s+)"
    rf"(?=[A-Z\"“‘({CJK}])|\d{{1,2}}(?:\.\d{{1,2}}){{1,3}}\s*(?=[{CJK}])"
)
_COUNTED = re.compile(r"\d{1,2}(?:\.\d{1,2})*[.:]?\s|[IVX]{1,5}\.\s")
_CHINESE = re.compile(
    r"(?:第\s*[一二三四五六七八九十百\d]+\s*[章节節部分篇]|[一二三四五六七八九十]+\s*[、．.]"
    r"|[（(][一二三四五六七八九十]+[)）])\s*\S"
)
_ABSTRACT = re.compile(r"(?:abstract|summary|摘\s*要|内容提要|zusammenfassung|résumé)", re.I)
_REFERENCES = re.compile(
    r"(?:references(?: cited| and notes)?|bibliography|works cited|literature cited|literatur"
    r"(?:verzeichnis)?|参\s*考\s*文\s*献|参考资料|引用文献|références)",
    re.I,
)
_APPENDIX = re.compile(
    r"(?:appendi(?:x|ces)\b.*|supplementary (?:material|information)\b.*|附\s*录.*|"
    r"supporting information.*|anhang.*)",
    re.I,
)
_KNOWN = re.compile(
    r"(?:introduction|related works?|background|motivation|preliminaries|methods?|methodology|"
    r"materials and methods|experiments?|experimental (?:setup|results)|results|"
    r"results and discussions?|discussions?|conclusions?|conclusions? and (?:future work|outlook)|"
    r"concluding remarks|future work|limitations|acknowledge?ments?|evaluation|analysis|"
    r"implementation|contents|table of contents|outlook|funding|ethics statement|data availability|"
    r"author contributions|引\s*言|绪\s*论|前\s*言|序\s*言|概\s*述|相关工作|研究背景|背景|方法|"
    r"实验|实验结果|结果|结果与讨论|讨论|结\s*论|总\s*结|结束语|展望|致\s*谢|目\s*录|关键词)",
    re.I,
)
_NUMBER = re.compile(
    r"(?:\d{1,2}(?:\.\d{1,2})*\.?|[IVX]{1,5}\.|[A-Z]\.|第\s*\S{1,3}\s*[章节]|"
    r"[一二三四五六七八九十]+\s*[、．.])\s*"
)
_RUN_IN = re.compile(
    r"(?P<name>abstract|summary|摘\s*要|内容提要)\s*(?:[.:：—–-]|[】\]〕])+\s*(?=\S)", re.I
)
_AFTER_ABSTRACT = re.compile(
    r"(?:key\s?-?words?|index terms|categories and subject descriptors|关键词|关键字|ccs concepts)",
    re.I,
)
_CAPTION = re.compile(
    r"(?:(?:figure|fig\.|table|tab\.|algorithm|listing|scheme|abbildung|tabelle)\s*"
    r"[A-Z]?\.?\d+(?:\.\d+)*\s*[.:|)\s—–-]|[图表]\s*[\d一二三四五六七八九十]+(?:[.\-–]\d+)*\s*[:：.\s]?)",
    re.I,
)
_STATEMENT = re.compile(
    r"(?:proof|proposition|theorem|lemma|corollary|definition|remark|example|claim|conjecture|"
    r"notation|observation|satz|beweis|bemerkung|beispiel|folgerung|korollar|behauptung)"
    r"(?:\s+(?:of|for|von|zu)\b.*|\s+[\dA-Z].*|\s*[.:(].*)?|(?:定理|引理|证明|推论|命题|定义|例)\s*[\d.:：(（]*.{0,12}",
    re.I,
)
"""Set like a heading, and part of the text: what a theorem or its proof begins with."""
_NOTE = 0.94
"""Of the usual size: footnotes are set smaller."""
_NOTE_MARK = re.compile(r"(?:\d{1,3}|[*∗†‡§¶#]{1,3}|[①-⑳]|\[\d{1,3}\])\s*(?=[^\W\d_]{2}|[“\"(‘])")
_NO_HEADING = re.compile(r"\.{4,}|(?:\. ){4,}|…{2,}|[,;，；。]$")
_CLAUSES = re.compile("[，。；]")
_SPACED = re.compile(r"(?:\S ){4,}\S")
_SENTENCE_END = (".", "!", "?", "。", "！", "？", ":", "：", ";", "；", "”", '."')


@dataclass(slots=True)
class Paragraph:
    """Lines of one page that read on."""

    lines: list[Line]
    page: int
    kind: ChunkKind = "body"
    heading: bool = False

    @property
    def text(self) -> str:
        """Return the lines with spaces between them, as printed."""
        return " ".join(line.text for line in self.lines)


@dataclass(slots=True)
class Section:
    """A heading with the paragraphs under it; the first section of a paper may have no heading."""

    heading: str = ""
    kind: ChunkKind = "body"
    paragraphs: list[Paragraph] = field(default_factory=list)


@dataclass(slots=True)
class _Style:
    """What is usual in this paper."""

    size: float
    pitch: float
    bold: bool
    outline: dict[int, set[str]]


def sections_of(
    pages: Sequence[RawPage], lines: Sequence[list[Line]], outline: Sequence[tuple[int, str]]
) -> list[Section]:
    """Cut a paper's lines into sections of paragraphs, in reading order."""
    style = _style(lines, outline)
    found = [Section()]
    references_size = 0.0
    for raw, page in zip(pages, lines, strict=True):
        for paragraph in _with_notes(raw, page, style, found[-1].kind):
            name = paragraph.text.strip()
            if paragraph.heading and found[-1].kind == "references":
                paragraph.heading = _leaves_references(paragraph, name, references_size)
            if paragraph.heading:
                found.append(Section(name, kind_of_heading(name), [paragraph]))
                if found[-1].kind == "references":
                    references_size = paragraph.lines[0].size
                continue
            _place(found, paragraph, name)
    return _without_title(section for section in found if section.paragraphs)


def _without_title(sections: Iterable[Section]) -> list[Section]:
    """Return the sections with title, authors and addresses as one part without a heading.

    What stands in large type before the first heading known by its wording or number is not a
    section of the paper, nor is what stands between abstract and section 1 (addresses again). A
    document without such headings on its first pages keeps all.
    """
    found = list(sections)
    early = [at for at, section in enumerate(found) if section.paragraphs[0].page <= 3]
    proven = [at for at in early if found[at].kind != "body" or _proven(found[at].heading)]
    if not proven:
        return found
    counted = [at for at in early if re.match(r"(?:1\.?|I\.)\s", found[at].heading)]
    kept: list[Section] = []
    for at, section in enumerate(found):
        front = at < proven[0] or (bool(counted) and at < counted[0] and at not in proven)
        if not front:
            kept.append(section)
            continue
        for paragraph in section.paragraphs:
            paragraph.heading = False
        if not kept or kept[-1].heading:
            kept.append(Section())
        kept[-1].paragraphs += section.paragraphs
    return kept


def _proven(heading: str) -> bool:
    return bool(heading) and bool(
        is_known_heading(heading) or _COUNTED.match(heading) or _CHINESE.match(heading)
    )


def _place(found: list[Section], paragraph: Paragraph, text: str) -> None:
    """Put a paragraph under its section, opening or closing the abstract on the way."""
    run_in = _RUN_IN.match(text)
    if run_in and len(found) <= 2 and paragraph.page <= 3:
        found.append(Section(re.sub(r"\s", "", run_in["name"]), "abstract"))
    elif found[-1].kind == "abstract" and _AFTER_ABSTRACT.match(text):
        found.append(Section())
    if _CAPTION.match(text) and found[-1].kind != "references":
        paragraph.kind = "caption"
    else:
        paragraph.kind = found[-1].kind
    found[-1].paragraphs.append(paragraph)


def bare(heading: str) -> str:
    """Return a heading without its number."""
    return _NUMBER.sub("", heading, count=1).strip(" .:：") if heading else ""


def kind_of_heading(heading: str) -> ChunkKind:
    """Return what stands under a heading, by its wording: abstract, references or body."""
    name = bare(heading)
    if _SPACED.fullmatch(name):
        name = name.replace(" ", "")
    if _ABSTRACT.fullmatch(name):
        return "abstract"
    return "references" if _REFERENCES.fullmatch(name) else "body"


def _leaves_references(paragraph: Paragraph, name: str, size: float) -> bool:
    """Return whether a heading after the references is one: as large, or named as an appendix."""
    if _APPENDIX.fullmatch(name) or _KNOWN.fullmatch(bare(name)) or _ABSTRACT.fullmatch(bare(name)):
        return True
    line = paragraph.lines[0]
    return line.size >= 0.97 * size and len(name) < 80 and not re.search(r"\b(19|20)\d\d\b", name)


def _style(lines: Sequence[list[Line]], outline: Sequence[tuple[int, str]]) -> _Style:
    flat = [line for page in lines for line in page]
    size = weighted_median([(round(line.size, 1), line.characters) for line in flat]) or 10.0
    total = sum(line.characters for line in flat)
    bold = sum(line.characters for line in flat if line.bold) > 0.5 * total
    steps = [
        (round(b.y0 - a.y0, 1), 1)
        for page in lines
        for a, b in pairwise(page)
        if a.column == b.column and 0 < b.y0 - a.y0 < 3 * size and abs(a.size - size) < 0.1 * size
    ]
    titles: dict[int, set[str]] = {}
    for number, title in outline:
        titles.setdefault(number, set()).add(_compact(title))
    return _Style(size, weighted_median(steps) or 1.2 * size, bold, titles)


def _compact(text: str) -> str:
    return re.sub(r"[\W_]", "", text.casefold())


def _with_notes(
    raw: RawPage, lines: Sequence[Line], style: _Style, kind: ChunkKind
) -> Iterator[Paragraph]:
    """Yield the page's paragraphs, footnotes after the paragraph that ends above them.

    So a sentence that goes on in the next column is not cut by the notes of this one.
    """
    notes = {} if kind == "references" else _notes(raw, lines, style)
    apart = {id(line) for block in notes.values() for line in block}
    body = [line for line in lines if id(line) not in apart]
    last = {line.column: id(line) for line in body}
    for paragraph in _paragraphs(raw, body, style):
        yield paragraph
        own = {id(line) for line in paragraph.lines}
        for column in [column for column in notes if last.get(column) in own]:
            yield from _note_paragraphs(raw, notes.pop(column))
    for block in notes.values():
        yield from _note_paragraphs(raw, block)


def _notes(raw: RawPage, lines: Sequence[Line], style: _Style) -> dict[int, list[Line]]:
    """Return by column its footnotes: the small lines at its foot from the first with a mark on."""
    if any(kind_of_heading(line.text) == "references" for line in lines):
        return {}
    found: dict[int, list[Line]] = {}
    for column in sorted({line.column for line in lines if not line.turn}):
        block: list[Line] = []
        for line in reversed([line for line in lines if line.column == column]):
            if line.size > _NOTE * style.size or line.y0 < 0.5 * raw.height:
                break
            block.insert(0, line)
        marked = [at for at, line in enumerate(block) if _NOTE_MARK.match(line.text)]
        if marked and not any(_CAPTION.match(line.text) for line in block):
            found[column] = block[marked[0] :]
    return found


def _note_paragraphs(raw: RawPage, lines: Sequence[Line]) -> Iterator[Paragraph]:
    current: list[Line] = []
    for line in lines:
        if current and _NOTE_MARK.match(line.text):
            yield Paragraph(current, raw.number)
            current = []
        current = [*current, line]
    yield Paragraph(current, raw.number)


def _paragraphs(raw: RawPage, lines: Sequence[Line], style: _Style) -> Iterator[Paragraph]:
    """Yield the page's paragraphs; a heading (of one or more lines) is one of its own."""
    current: Paragraph | None = None
    edges = _edges(lines)
    for at, line in enumerate(lines):
        previous = lines[at - 1] if at else None
        following = lines[at + 1] if at + 1 < len(lines) else None
        heading = _is_heading(raw, line, previous, following, style)
        if current is None or _starts(current, previous, line, heading, edges, style):
            if current is not None:
                yield current
            current = Paragraph([line], raw.number, heading=heading)
        else:
            current.lines.append(line)
    if current is not None:
        yield current


def _edges(lines: Sequence[Line]) -> dict[int, tuple[float, float]]:
    """Return for each column where its lines usually begin and end."""
    found: dict[int, tuple[float, float]] = {}
    for column in {line.column for line in lines}:
        own = [line for line in lines if line.column == column]
        starts = sorted(line.x0 for line in own)
        ends = sorted(line.x1 for line in own)
        found[column] = (starts[len(starts) // 4], ends[(3 * len(ends)) // 4])
    return found


def _starts(
    current: Paragraph,
    previous: Line | None,
    line: Line,
    heading: bool,
    edges: dict[int, tuple[float, float]],
    style: _Style,
) -> bool:
    """Return whether `line` begins a paragraph rather than continuing `current`."""
    if previous is None or previous.turn != line.turn:
        return True
    if current.heading:
        return not _continues_heading(current, line)
    if heading:
        return True
    if abs(previous.size - line.size) > 0.15 * max(previous.size, line.size):
        return line.characters > 3 and previous.characters > 3
    if previous.column != line.column:
        return previous.text.rstrip().endswith(_SENTENCE_END)
    if _CAPTION.match(line.text) or _AFTER_ABSTRACT.match(line.text) or _RUN_IN.match(line.text):
        return True
    return _new_by_shape(previous, line, edges[line.column], style)


def _new_by_shape(previous: Line, line: Line, edge: tuple[float, float], style: _Style) -> bool:
    """Return whether the gap, an indent or a short line before tells a new paragraph."""
    em = line.size
    if line.y0 - previous.y0 > 1.35 * max(style.pitch, 1.1 * em):
        return True
    indented = line.x0 - edge[0] > 0.7 * em and previous.x0 - edge[0] < 0.4 * em
    if indented and line.x0 - edge[0] < 4 * em and previous.text.endswith(_SENTENCE_END):
        return True
    short = edge[1] - previous.x1 > 3 * em
    return short and previous.text.endswith(_SENTENCE_END)


def _continues_heading(current: Paragraph, line: Line) -> bool:
    """Return whether a heading runs over into this line."""
    last = current.lines[-1]
    if len(current.lines) >= 3 or last.column != line.column or last.bold != line.bold:
        return False
    if abs(last.size - line.size) > 0.04 * last.size or line.y0 - last.y0 > 1.7 * last.size:
        return False
    if _NUMBERED.match(line.text) or _CHINESE.match(line.text) or is_known_heading(current.text):
        return False
    return line.characters < 80 and (last.bold or last.characters > 25)


def is_known_heading(text: str) -> bool:
    """Return whether the text, but for a number, is one of the usual names of sections."""
    name = bare(text.strip())
    if _SPACED.fullmatch(name):
        name = name.replace(" ", "")
    return any(form.fullmatch(name) for form in (_ABSTRACT, _REFERENCES, _KNOWN))


def _wordy(text: str) -> bool:
    """Return whether the text is words rather than figures, formulas or cells of a table."""
    dense = text.replace(" ", "")
    alphabetic = sum(char.isalpha() for char in dense)
    if alphabetic < 0.55 * len(dense) or any(char in "=∑∈≈≤≥∂" for char in text):
        return False
    long_words = re.findall(rf"[^\W\d_]{{3,}}|[{CJK}]{{2,}}", text)
    return bool(long_words)


def _is_heading(
    raw: RawPage, line: Line, previous: Line | None, following: Line | None, style: _Style
) -> bool:
    """Return whether the line is a heading: wording, numbering or type, with proof by another."""
    text = line.text.strip()
    if line.turn or not 2 <= len(text) <= 120:
        return False
    larger = line.size > 1.08 * style.size
    stands_out = larger or (line.bold and not style.bold)
    apart = _apart(previous, line, style)
    if not (stands_out or apart) or _NO_HEADING.search(text) or _CAPTION.match(text):
        return False
    if is_known_heading(text) or _APPENDIX.fullmatch(text):
        own_line = apart and line.size >= 0.85 * style.size
        return stands_out or (own_line and not bare(text)[:1].islower())
    if line.size < 0.93 * style.size or not _wordy(text):
        return False
    if _compact(text) in style.outline.get(raw.number, ()):
        return True
    if _STATEMENT.fullmatch(text) or text.endswith((":", "：")) or _reaches(line, following):
        return False
    alone = apart and following is not None and _apart(line, following, style)
    if alone and _COUNTED.match(text) and _NUMBERED.match(text) and len(text) <= 80:
        return not text.endswith(".")
    return stands_out and _looks_like_heading(text, line, apart, larger, style)


def _reaches(line: Line, following: Line | None) -> bool:
    """Return whether the next line begins beside this one: both are parts of a formula or figure."""
    if following is None or following.column != line.column:
        return False
    return line.y0 - line.size < following.y0 < line.y1 - 0.25 * line.size


def _apart(above: Line | None, line: Line, style: _Style) -> bool:
    """Return whether there is more room above the line than between lines of a paragraph."""
    if above is None or above.column != line.column:
        return True
    return line.y0 - above.y0 > 1.2 * style.pitch


def _looks_like_heading(text: str, line: Line, apart: bool, larger: bool, style: _Style) -> bool:
    """Return whether a line that stands out by its type is a heading by its form."""
    if text.endswith(".") or len(text) > 90:
        return False
    if _NUMBERED.match(text) or _CHINESE.match(text):
        return apart or larger
    if len(text) > 24 and _CLAUSES.search(text):  # Latin among Chinese can make a line look large
        return False
    if not (text[0].isupper() or not text[0].isascii()):
        return False
    return apart or line.size > 1.15 * style.size
