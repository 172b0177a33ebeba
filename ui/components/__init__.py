"""Parts of a page that Streamlit has no widget for: an answer with citations, a page of a paper.

They draw what they are given as text (never as markup) and tell what the reader did. Their words
come from the caller, translated; their colours from Streamlit's theme.
"""

from ui.components.answer import AnswerLabels, AnswerPart, Sentence, answer_text, paragraph_starts
from ui.components.page import Mark, PageEvent, PageLabels, page_view

__all__ = [
    "AnswerLabels",
    "AnswerPart",
    "Mark",
    "PageEvent",
    "PageLabels",
    "Sentence",
    "answer_text",
    "page_view",
    "paragraph_starts",
]
