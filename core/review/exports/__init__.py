"""A finished review to take away: Markdown, DOCX, LaTeX with BibTeX, CSV of the evidence, JSON. Pure.

The number of a paper is the same in all of them. Everything from papers and models is text, as in
`core.exports`: none of it can become a link, a field, a formula or a command.
"""

from core.review.exports.content import address
from core.review.exports.latex import BIBLIOGRAPHY, to_bibtex, to_latex, to_zip
from core.review.exports.markdown import to_markdown
from core.review.exports.tables import CSV_COLUMNS, to_csv, to_json
from core.review.exports.word import to_docx

__all__ = [
    "BIBLIOGRAPHY",
    "CSV_COLUMNS",
    "address",
    "to_bibtex",
    "to_csv",
    "to_docx",
    "to_json",
    "to_latex",
    "to_markdown",
    "to_zip",
]
