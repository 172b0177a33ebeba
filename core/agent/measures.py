"""Measured values in sentences and tables: what was measured, the value with its unit, on what.

Names of measures and units are tables set by hand; a value that stands near none is not taken.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

QUALITY = (
    r"(?:\b(?:n?DCG|MAP|MRR|recall|precision|hits?|accuracy|success|[RP])@\s?\d+\b"
    r"|\b(?:top-?\d+ )?(?:accurac(?:y|ies)|precision|recall|sensitivity|specificity|perplexity|exact match"
    r"|error rates?|hit rates?|success rates?|win rates?|word error rate|correlation|kappa|R-?squared)\b"
    r"|\bF-?(?:1|score|measure)(?:[- ]scores?)?\b|\b(?:BLEU|METEOR|TEDS|AUROC|AUC|ROC|mAP|MAP|MRR|n?DCG|IoU|RMSE"
    r"|MAE|MSE|MAPE|NSE|KGE|WER|CER|PPL|BERTScore|R2|R²|EM)\b(?:[- ]\d+)?(?:-scores?)?|\bROUGE(?:-[12L])?\b"
    r"|\b(?:cosine(?: similarity)?|[Ss]pearman|[Pp]earson|edit distance)\b"
    r"|准确率|精确率|精度|召回率|F1 ?值|错误率|困惑度|命中率|均方根误差|平均误差|相关系数|余弦值?)"
)
"""Measures of how good something is."""
METRIC = (
    rf"(?:{QUALITY}|\b(?:running time|run-?time|latency|throughput|training cost|inference time"
    r"|speed-?up|memory (?:use|usage|footprint))\b|用时|耗时|查询时间|启动时间|常驻内存|内存占用)"
)
"""These, and what something costs."""
_LOWER = re.compile(
    r"error|perplexity|PPL|RMSE|MAE|MSE|MAPE|WER|CER|time|latency|cost|memory|edit distance|loss"
    r"|错误|误差|困惑|时|内存",
    re.IGNORECASE,
)
"""Measures of which less is better."""
_UNIT = (
    r"(?:\s?[%％‰]|(?:\s|-)?(?:percent(?:age points?)?|points?|ms|milliseconds?|seconds?|s|minutes?|min|hours?|h"
    r"|days?|[kKMGT]B|GFLOPs?|FLOPs|GHz|MHz|Hz|fps|km|cm|mm|nm|m|kg|mg|g|mL|eV|meV|K|°C|BLEU|EM|F1"
    r"|questions per second|queries per second|tokens per second)(?![A-Za-z])"
    r"|\s?(?:个百分点|百分点|毫秒|微秒|秒|分钟|小时|倍))"
)
_NUMBER = r"[-−+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_VALUE = re.compile(
    rf"(?<![A-Za-z0-9_.,/@-]){_NUMBER}(?:\s?(?:±|–|to|至|到|-)\s?{_NUMBER})?(?P<unit>{_UNIT})?"
    r"(?![A-Za-z0-9_@]|\.\d|-\w)",
    re.ASCII,
)
_NO_VALUE = re.compile(
    r"\[[\d,\s–-]+\]|\((?:[A-Z][^()]{1,60}, )?(?:19|20)\d\d[a-z]?\)|\b(?:tables?|tab\.|figures?|fig\.|sections?"
    r"|sec\.|eqs?\.|equations?|appendix|chapter|algorithm|theorem|top|k|n|w|version)[- ]?=?\s?[(\d][\d.)]*|[表图第] ?\d+"
    r"|\b(?:19|20)\d\d\b|\bat \d+\b|前 ?\d+",
    re.IGNORECASE,
)
"""Numbers that measure nothing: citations, years, labels."""
_ON = re.compile(
    r"\b[Oo]n (?:the )?(?P<en>(?:[A-Z][\w.’'-]*|[a-z]+[A-Z]\w*)"
    r"(?:[ -](?:[A-Z][\w.-]*|\d{1,4}(?![\w.%])|(?:to|of|and)(?= [A-Z])))*)"
    r"|在\s?(?P<zh>[^，。；在]{2,24}?)(?:上|任务[里中]|数据集)",
)
_BY = re.compile(
    r"(?:\bby |\b(?:an? )?(?:\w+ )?(?:decrease|increase|drop|gain|improvement|reduction|difference) of )"
    r"(?:over |more than |about |up to |around |at least )?$|(?:提高|提升|降低|下降|减少|增加)了?约?\s?$",
    re.IGNORECASE,
)
"""Before a value it says that the value is a difference; `$` is the value's start."""
_TIME = re.compile(
    r"\b(?:ms|milliseconds?|seconds?|s|minutes?|min|hours?|h|days?|[kKMGT]B)\b|秒|分钟|小时"
)
_STATED = re.compile(r"(?:\b(?:of|is|was|are|were|to|at)|[:=：]|[为是达])\s?$")
_JOINED = re.compile(r"[\s(]*(?:in (?:terms of )?(?:the )?)?")
_DEALT_OUT = re.compile(r"\brespectively\b|分别", re.IGNORECASE)
_AFTER, _BEFORE = 48, 22
"""Characters between a measure's name and its value, either way round."""
_CELL = re.compile(
    r"^[*†‡↑↓~≈<>]*\s?(?P<number>[-−+]?\d[\d,]*(?:\.\d+)?)\s?(?P<unit>[%％]|[a-zA-Zµ]{1,3})?"
    r"(?:\s?[±(][^|]*)?[*†‡]*$"
)
_UNIT_HEAD = re.compile(r"^(?:units?|单位)$", re.IGNORECASE)
_COUNTS = re.compile(
    r"^(?:#.*|n|k|N|no\.?|params?|parameters|size|year|steps|epochs?|dim\w*|layers|样本数?|年份|数量|个数)$",
    re.IGNORECASE,
)
"""Columns that describe what was tried rather than how it did."""
_HEAD_UNIT = re.compile(r"[(（\[]\s?(%|[a-zA-Zµ/°]{1,12}|秒|毫秒|分钟|小时)\s?[)）\]]\s*$")
MOST_OF_A_TABLE = 6


@dataclass(frozen=True, slots=True)
class Measured:
    """One value as printed, with its unit; `metric` and `on` as the paper names them, or empty.

    `quote` is the sentence or the line of the table that has the value.
    """

    metric: str
    value: str
    on: tuple[str, ...]
    quote: str


def in_sentence(sentence: str) -> list[Measured]:
    """Return the values of a sentence that stand beside the name of what they measure.

    A sentence that deals out its values ("…, respectively") gives none: none would be better than
    one beside the wrong name.
    """
    plain = " ".join(sentence.split())
    if _DEALT_OUT.search(plain):
        return []
    blank = _NO_VALUE.sub(lambda m: " " * len(m.group()), plain)
    metrics = list(re.finditer(METRIC, plain))
    values = [
        v
        for v in _VALUE.finditer(blank)
        if not any(m.start() <= v.start() and v.end() <= m.end() for m in metrics)
    ]
    found = []
    for value in values:
        metric = _named(plain, value, metrics, values)
        if metric is not None and _fits(metric.group(), value, plain):
            by = _BY.search(plain, 0, value.start())
            shown = plain[by.start() if by else value.start() : value.end()]
            found.append(Measured(metric.group(), shown.strip(), _on(plain, value), sentence))
    return found


def _fits(metric: str, value: re.Match[str], plain: str) -> bool:
    """Return whether a number can be a value of that measure: no bare count, no other unit."""
    unit = value["unit"] or ""
    if _TIME.search(unit) and not _LOWER.search(metric):
        return False
    if unit or "." in value.group():
        return True
    return bool(_STATED.search(plain[: value.start()]))


def _named(
    plain: str,
    value: re.Match[str],
    metrics: Sequence[re.Match[str]],
    values: Sequence[re.Match[str]],
) -> re.Match[str] | None:
    """Return the measure that a value belongs to: the nearest before it in its clause, or just after."""
    for metric in metrics:
        between = plain[value.end() : metric.start()]
        if 0 <= metric.start() - value.end() <= _BEFORE and _JOINED.fullmatch(between):
            return metric
        if value.start() <= metric.start() < value.end():  # "28.4 BLEU": its unit names it
            return metric
    before = [m for m in metrics if m.end() <= value.start()]
    if not before:
        return None
    metric = before[-1]
    between = plain[metric.end() : value.start()]
    if re.search(r"[;；。]|[.!?] ", between):
        return None
    inner = [v for v in values if metric.end() <= v.start() < value.start()]
    near = value.start() - (inner[-1].end() if inner else metric.end())
    return metric if near <= _AFTER else None


def _on(plain: str, value: re.Match[str]) -> tuple[str, ...]:
    """Return the data a value was measured on, where the sentence names it by a proper name."""
    places = [m for m in _ON.finditer(plain) if (m["en"] or m["zh"])]
    after = [m for m in places if 0 <= m.start() - value.end() <= _AFTER]
    before = [m for m in places if m.end() <= value.start()]
    nearest = after[:1] or before[-1:]
    return tuple((m["en"] or m["zh"]).strip(" .") for m in nearest)


def in_table(text: str) -> list[Measured]:
    """Return measured values of a table as it stands in a chunk: a caption, then `| a | b |` rows.

    Of each column the highest value is taken, the lowest where less is better; of a table with a
    column of units each row. A table in whose heads and caption no measure is named has none.
    """
    lines = [line for line in text.split("\n") if line.startswith("|")]
    caption = " ".join(text[: text.find("|")].split())
    rows = [[cell.strip() for cell in line.strip().split("|")[1:-1]] for line in lines]
    heads = next((i for i, row in enumerate(rows) if i and _numeric(row)), 0)
    if not heads:
        return []
    head = [tuple(filter(None, cells)) for cells in zip(*rows[:heads], strict=False)]
    same = [
        (row, line)
        for row, line in zip(rows[heads:], lines[heads:], strict=True)
        if len(row) == len(head)
    ]
    if any(_UNIT_HEAD.match(" ".join(cell)) for cell in head):
        return list(_by_unit(head, same))[: 2 * MOST_OF_A_TABLE]
    return list(_by_column(head, same, caption))[:MOST_OF_A_TABLE]


Rows = Sequence[tuple[list[str], str]]
"""Cells of a row, and its line."""
Heads = Sequence[tuple[str, ...]]
"""What stands above each column: one cell or, in a head of several rows, several."""


def _numeric(row: Sequence[str]) -> bool:
    return any(_CELL.match(cell) for cell in row[1:])


def _by_unit(head: Heads, rows: Rows) -> Iterator[Measured]:
    at = next(i for i, cell in enumerate(head) if _UNIT_HEAD.match(" ".join(cell)))
    for row, line in rows:
        number = next((c for i, c in enumerate(row) if i and i != at and _CELL.match(c)), "")
        if number and row[0]:
            yield Measured(row[0], f"{number} {row[at]}".strip(), (), line)


def _by_column(head: Heads, rows: Rows, caption: str) -> Iterator[Measured]:
    for at in range(1, len(head)):
        cells = [(row, line, m) for row, line in rows if (m := _CELL.match(row[at]))]
        title = " ".join(head[at])
        if len(cells) < max(1, len(rows) // 2) or _COUNTS.search(title):
            continue
        named = re.search(METRIC, title)
        metric = named.group() if named else _of_caption(caption, title)
        if metric:
            row, line = _extreme(cells, metric)
            labels = [cell for cell in head[at] if cell != metric] + _label(row)
            yield Measured(metric, row[at] + _unit(title), tuple(labels), line)


def _extreme(
    cells: Sequence[tuple[list[str], str, re.Match[str]]], metric: str
) -> tuple[list[str], str]:
    sign = -1 if _LOWER.search(metric) else 1
    row, line, _ = max(cells, key=lambda cell: sign * _number(cell[2]))
    return row, line


def _number(cell: re.Match[str]) -> float:
    return float(cell["number"].replace(",", "").replace("−", "-"))


def _of_caption(caption: str, column: str) -> str:
    """Return the measure that a caption names for a column: before the column's name, if it is there."""
    named = list(re.finditer(METRIC, caption))
    if not named:
        return ""
    at = caption.find(column) if column else -1
    before = [m for m in named if m.end() <= at]
    return (before[-1] if before else named[0]).group()


def _label(row: Sequence[str]) -> list[str]:
    """Return what a row is about: its first cells that are no numbers."""
    return [cell for cell in row[:2] if cell and not _CELL.match(cell)]


def _unit(head: str) -> str:
    found = _HEAD_UNIT.search(head)
    return f" {found[1]}" if found else ""
