"""What a reader takes away: the one home of what makes text harmless in each format.

The exports of a conversation are here; `core.review.exports` has those of a review.
"""

from core.exports.conversation import CSV_COLUMNS, to_bibtex, to_csv, to_json, to_markdown
from core.exports.sheets import cells_to_csv, table_to_csv

__all__ = [
    "CSV_COLUMNS",
    "cells_to_csv",
    "table_to_csv",
    "to_bibtex",
    "to_csv",
    "to_json",
    "to_markdown",
]
