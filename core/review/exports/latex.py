"""A review as LaTeX with its BibTeX, and BibTeX alone."""

import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any
from uuid import UUID

from core.exports.bibtex import entry, keyed, tex
from core.exports.text import Translate
from core.review.document import Document
from core.review.exports.content import address, keys, marks, metas, pieces, preface
from core.wording import say

BIBLIOGRAPHY = "references"
"""What the .bib is called, without its ending: the .tex asks for it by this name."""

_WIDE = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
"""Characters that need the fonts of ctex."""
_PRINTED = (
    # an argument after `\\` or `\item`, and a starred `\\`
    *(("[", "{[}"), ("]", "{]}"), ("*", "{*}")),
    # what fonts of TeX take for other characters
    *(("<", r"{\textless}"), (">", r"{\textgreater}"), ("|", r"{\textbar}"), ('"', "{''}")),
    *(("`", r"{\textasciigrave}"), ("--", "-{}-"), ("--", "-{}-")),
)


def to_bibtex(document: Document) -> str:
    """Return an entry for each reference, in the order of their numbers; keys are unique."""
    known = metas(document)
    links = {UUID(r["paper_id"]): address(r) for r in document["references"]}
    keyed_by = keyed(known)
    return "\n".join(entry(keyed_by[at], meta, url=links[at]) for at, meta in known.items())


def to_latex(
    document: Document, translate: Translate = str, *, made_on: date | None = None
) -> tuple[str, str]:
    """Return a .tex for XeLaTeX and the .bib it cites, which has to be called `BIBLIOGRAPHY`.

    All papers are named before the text, so that their numbers are those of the review.
    """
    key = keys(document)
    said = [_sentence(document, s, key, translate) for s in document["sentences"]]
    blocks = [r"\maketitle"]
    if key:
        blocks.append(rf"\nocite{{{','.join(key.values())}}}")
    blocks.append(_list([_text(words) for words in preface(document, translate, made_on)]))
    if only := [key[r["n"]] for r in document["references"] if r["evidence"] == "abstract"]:
        words = translate(say("Only as an abstract:"))
        blocks.append(rf"{_text(words)} \cite{{{','.join(only)}}}")
    for part in document["parts"]:
        blocks += _part(part, said)
    if key:
        blocks.append("\\bibliographystyle{unsrtnat}\n\\bibliography{" + BIBLIOGRAPHY + "}")
    body = "\n\n".join(block for block in blocks if block)
    bib = to_bibtex(document)
    title, made = _text(document["topic"]), _text(made_on.isoformat() if made_on else "")
    head = [
        rf"% xelatex review, bibtex review, xelatex review, xelatex review ({BIBLIOGRAPHY}.bib)",
        *_class(document["language"], title + body + bib),
        r"\usepackage{array,longtable}",
        r"\usepackage[numbers]{natbib}",
        r"\usepackage[hidelinks]{hyperref}",
        rf"\title{{{title}}}",
        r"\author{}",
        rf"\date{{{made}}}",
        r"\begin{document}",
    ]
    return "\n".join([*head, body, r"\end{document}", ""]), bib


def _class(language: str, text: str) -> list[str]:
    if language == "zh":
        return [r"\documentclass[UTF8]{ctexart}"]
    ctex = [r"\usepackage[UTF8,scheme=plain]{ctex}"] if _WIDE.search(text) else []
    return [r"\documentclass{article}", *ctex]


def _part(part: Mapping[str, Any], said: Sequence[str]) -> list[str]:
    blocks = [rf"\section{{{_text(part['title'])}}}"] if part["title"] else []
    items = [said[at] for at in part["items"]]
    blocks.append(_list(items) if part["kind"] == "claims" else "\n".join(items))
    if part["kind"] == "table":
        rows = [
            [_text(head), *(" ".join(said[at] for at in cell) for cell in row)]
            for head, row in zip(part["heads"], part["rows"], strict=True)
        ]
        blocks.append(_table([["", *map(_text, part["columns"])], *rows]))
    return blocks


def _list(items: Sequence[str]) -> str:
    lines = "\n".join(rf"\item {item}" for item in items)
    return f"\\begin{{itemize}}\n{lines}\n\\end{{itemize}}" if items else ""


def _table(rows: Sequence[Sequence[str]]) -> str:
    width = len(rows[0])
    column = rf">{{\raggedright\arraybackslash}}p{{\dimexpr {1 / width:.3f}\linewidth-2\tabcolsep}}"
    head, *lines = [" & ".join(row) + r" \\" for row in rows]
    return "\n".join(
        [
            rf"\begin{{longtable}}{{*{{{width}}}{{{column}}}}}",
            rf"\hline {head} \hline \endhead",
            *lines,
            r"\hline",
            r"\end{longtable}",
        ]
    )


def _sentence(
    document: Document, sentence: Mapping[str, Any], key: Mapping[int, str], translate: Translate
) -> str:
    written = ""
    for piece in pieces(document, sentence["text"]):
        if isinstance(piece, tuple):
            tie = "~" if written.endswith(" ") else ""
            written = f"{written.rstrip()}{tie}\\cite{{{','.join(key[n] for n in piece)}}}"
        else:
            edges = (" " * piece[:1].isspace(), " " * piece[-1:].isspace())
            written += _text(piece).join(edges)
    doubts = [rf" \emph{{({_text(words)})}}" for words in marks(document, sentence, translate)]
    return "".join([written, *doubts]).strip()


def _text(text: str) -> str:
    """Return text that prints as it is wherever it stands, on one line."""
    written = tex(text)
    for character, printed in _PRINTED:
        written = written.replace(character, printed)
    return written


def to_zip(document: Document, translate: Translate, *, made_on: date | None = None) -> bytes:
    """Return the LaTeX text and its bibliography as one archive."""
    tex, bib = to_latex(document, translate, made_on=made_on)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("review.tex", tex)
        archive.writestr(f"{BIBLIOGRAPHY}.bib", bib)
    return out.getvalue()
