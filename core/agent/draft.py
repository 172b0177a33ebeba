"""What a specialist writes: statements with their citations, arranged in parts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from core.agent.events import CitationsReady, Token
from core.agent.state import TurnContext
from core.evidence.numbering import cited, defuse, renumber, strip, write
from core.evidence.quotes import citation
from core.evidence.support import best_quote
from core.types import Citation, Exhibit, Hit, Listed, Mode, Part, PartKind, Usage

Items = Sequence[int]
"""Statements, by the numbers `Draft.state` gave them."""

NAMED = 3
"""Authors of a listed paper that are named in running text."""
INVENTED = 999
"""The number of no citation: what a model cited that it was not offered becomes this."""


class Draft:
    """Collects statements, numbers their citations and tells the reader of each finished part.

    Numbers are given here and nowhere else. One passage with one quote has one number.
    """

    def __init__(self, context: TurnContext, first_number: int = 1) -> None:
        self._context = context
        self._next = first_number
        self._numbers: dict[tuple[int, str], int] = {}
        self._sources: dict[int, tuple[Hit, str]] = {}
        self._statements: list[str] = []
        self._remarks: list[int] = []
        self._parts: list[Part] = []
        self._written: list[str] = []

    @property
    def empty(self) -> bool:
        """Whether nothing has been stated yet."""
        return not self._statements

    def quote(self, hit: Hit, quote: str) -> int:
        """Return the number of the citation of `quote`, which stands in the chunk of `hit`."""
        return self._number(hit, quote)

    def offer(self, hits: Iterable[Hit]) -> list[int]:
        """Return the numbers under which a model may cite these passages.

        What it quotes of each is found when the draft is done: the sentence closest to what it
        wrote. A number it invents stays in its statement until the verifier takes it out.
        """
        return [self._number(hit, "") for hit in hits]

    def state(self, text: str, numbers: Iterable[int] = ()) -> int:
        """Add a statement, citing `numbers` beside those it has markers of; return its place."""
        self._statements.append(f"{text.strip()} {write(numbers)}".strip())
        return len(self._statements) - 1

    def remark(self, text: str, numbers: Iterable[int] = ()) -> int:
        """Add a statement of Lectern's own: what was not found, a question. It gets no verdict."""
        self._remarks.append(self.state(text, numbers))
        return self._remarks[-1]

    def adopt(self, text: str, sources: Mapping[int, Sequence[Hit]]) -> int:
        """Add a statement that cites by numbers of its own, which `sources` explains.

        Its markers get the draft's numbers. One that `sources` does not know stays invented, for
        the verifier to take out and count.
        """

        def meant(n: int) -> Sequence[int]:
            return self.offer(sources[n]) if n in sources else (INVENTED,)

        return self.state(renumber(text, meant))

    def add_text(self, title: str, items: Items) -> None:
        """Finish a part of running text."""
        self._add(Part("text", title, tuple(items)), [self._said(items)])

    def add_claims(self, title: str, items: Items) -> None:
        """Finish a part of claims, each shown with what it cites."""
        self._add(Part("claims", title, tuple(items)), [f"- {self._said([i])}" for i in items])

    def add_table(
        self,
        title: str,
        columns: Sequence[str],
        heads: Sequence[str],
        rows: Sequence[Sequence[Items]],
    ) -> None:
        """Finish a table: one head a row, one cell of statements for each column."""
        heads = [strip(head) for head in heads]  # a number in a head would be nobody's
        cells = tuple(tuple(tuple(cell) for cell in row) for row in rows)
        lines = [
            f"- {head} · {column}: {self._said(cell)}"
            for head, row in zip(heads, cells, strict=True)
            for column, cell in zip(columns, row, strict=True)
            if cell
        ]
        self._add(Part("table", title, (), tuple(columns), tuple(heads), cells), lines)

    def add_exhibit(self, title: str, exhibit: Exhibit, items: Items = ()) -> None:
        """Finish a part that shows a figure, or a table's own cells, with what is said of it."""
        kind: PartKind = "data" if exhibit.rows else "figure"
        self._add(Part(kind, title, tuple(items), exhibit=exhibit), [self._said(items)])

    def add_papers(self, title: str, papers: Sequence[Listed], items: Items = ()) -> None:
        """Finish a part that lists papers outside the library, with what is said of them."""
        lines = [f"- {defuse(_told(paper))}" for paper in papers]
        self._add(
            Part("papers", title, tuple(items), papers=tuple(papers)), [self._said(items), *lines]
        )

    def outside(self) -> dict[str, int]:
        """Return by its address the first number that a source outside the library is cited by."""
        numbers = sorted({n for statement in self._statements for n in cited(statement)})
        sources = [(n, self._sources[n][0].url) for n in numbers if n in self._sources]
        return {url: n for n, url in reversed(sources) if url}

    def update(self, mode: Mode, usage: Usage) -> dict[str, Any]:
        """Return what the turn's state becomes by this draft."""
        citations = self._citations()
        self._context.emit(CitationsReady(tuple(citations)))
        return {
            "answer": "\n\n".join(self._written),
            "statements": self._statements,
            "remarks": self._remarks,
            "parts": self._parts,
            "citations": citations,
            "mode": mode,
            "usage": usage,
            "refused": False,
        }

    def _number(self, hit: Hit, quote: str) -> int:
        key = (hit.chunk.id, quote)
        if key not in self._numbers:
            self._numbers[key] = self._next
            self._sources[self._next] = (hit, quote)
            self._next += 1
        return self._numbers[key]

    def _citations(self) -> list[Citation]:
        """Return the citations that the statements really make, by number."""
        citing: dict[int, list[str]] = {}
        for statement in self._statements:
            for n in cited(statement):
                citing.setdefault(n, []).append(strip(statement))
        return [
            citation(n, hit, quote or best_quote(citing[n], hit.chunk.text, self._context.embedder))
            for n, (hit, quote) in self._sources.items()
            if n in citing
        ]

    def _said(self, items: Items) -> str:
        return " ".join(self._statements[i] for i in items)

    def _add(self, part: Part, lines: Sequence[str]) -> None:
        self._parts.append(part)
        block = "\n".join(line for line in (part.title, *lines) if line)
        self._written.append(block)
        self._context.emit(Token(block + "\n\n"))


def _told(paper: Listed) -> str:
    year = f" ({paper.year})" if paper.year else ""
    parts = (", ".join(paper.authors[:NAMED]) + year, paper.title, paper.url)
    return ". ".join(part.strip() for part in parts if part.strip())
