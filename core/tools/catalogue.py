"""Every tool there is: importing this registers them all. A new tool is one more name here."""

from core.tools.citations import build_citations
from core.tools.fulltext import fetch_fulltext
from core.tools.library import search_library
from core.tools.paper_search import paper_search
from core.tools.registry import TOOLS
from core.tools.summarize import summarize_paper

__all__ = [
    "TOOLS",
    "build_citations",
    "fetch_fulltext",
    "paper_search",
    "search_library",
    "summarize_paper",
]
