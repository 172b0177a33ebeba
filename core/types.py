"""The values that travel between Lectern's parts. Plain data: no I/O, no behaviour beyond JSON.

Coordinates: a box is (x0, y0, x1, y1) as fractions of the page as a reader sees it (rotation
applied), origin at the top left, so that it can be drawn at any zoom. Pages count from 1.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple
from uuid import UUID

Language = Literal["en", "zh", "other"]
ChunkKind = Literal["body", "abstract", "caption", "table", "references"]
VerdictLabel = Literal["supported", "partly", "contradicted", "unsupported"]
Mode = Literal["extractive", "llm"]
PartKind = Literal["text", "table", "claims", "figure", "data", "papers"]
ReadBy = Literal["text", "ocr", "html", "markdown", "abstract"]
"""How a paper's words were had: `ocr` as soon as one page was."""

LOCAL_USER = UUID("00000000-0000-4000-8000-000000000001")
"""The one user of a laptop: the command line, and the app on loopback."""


class Box(NamedTuple):
    """A rectangle on a page, in fractions of its width and height."""

    x0: float
    y0: float
    x1: float
    y1: float


COLUMN_GAP = 0.03
"""Of the page's width: what stands beyond a wider gap in a line is not its continuation."""


class Span(NamedTuple):
    """Where characters [start, end) of a text stand on its page: one line (or part) of print."""

    start: int
    end: int
    box: Box


@dataclass(frozen=True, slots=True)
class Page:
    """One page as it was read; size in points."""

    number: int
    width: float
    height: float
    text: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class PaperMeta:
    """What a paper says of itself; empty where it does not say."""

    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    abstract: str = ""
    language: Language = "other"
    doi: str = ""
    arxiv_id: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """A section's heading: `level` 1 is the highest; `page` is where it stands."""

    level: int
    title: str
    page: int


@dataclass(frozen=True, slots=True)
class Reference:
    """An entry of a paper's list of references: as printed, and what could be read from it.

    `label` is what the paper cites it by (`[12]`), if anything.
    """

    text: str
    page: int
    label: str = ""
    authors: tuple[str, ...] = ()
    title: str = ""
    year: int | None = None
    doi: str = ""
    arxiv_id: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table as rows of cells, all rows of one length; the first row is its head, if it has one."""

    page: int
    caption: str
    box: Box
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure's caption, and the box around picture and caption."""

    page: int
    caption: str
    box: Box


@dataclass(frozen=True, slots=True)
class Structure:
    """What a paper has beside running text."""

    sections: tuple[Heading, ...] = ()
    references: tuple[Reference, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Structure":
        """Read back what `to_json` wrote."""
        return cls(
            tuple(Heading(**head) for head in data.get("sections", ())),
            tuple(
                Reference(**{**entry, "authors": tuple(entry["authors"])})
                for entry in data.get("references", ())
            ),
            tuple(
                Table(
                    table["page"],
                    table["caption"],
                    Box(*table["box"]),
                    tuple(tuple(row) for row in table["rows"]),
                )
                for table in data.get("tables", ())
            ),
            tuple(
                Figure(figure["page"], figure["caption"], Box(*figure["box"]))
                for figure in data.get("figures", ())
            ),
        )


@dataclass(frozen=True, slots=True)
class ChunkDraft:
    """A chunk before it has an id: all on one page and in one section."""

    page: int
    section: str
    kind: ChunkKind
    text: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class ParsedPaper:
    """All that reading a file gives; nothing is stored yet.

    `confidence`: how sure the OCR is of its characters on average, 0 to 1; None without OCR.
    """

    meta: PaperMeta
    pages: tuple[Page, ...]
    chunks: tuple[ChunkDraft, ...]
    structure: Structure = Structure()
    read_by: ReadBy = "text"
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """A retrievable piece of a paper. `file` is the SHA-256 of the bytes it was read from."""

    id: int
    paper_id: UUID
    file: str
    page: int
    section: str
    kind: ChunkKind
    text: str
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Scores:
    """How a chunk scored on each path; None where the path did not see it."""

    dense: float | None = None
    bm25: float | None = None
    fused: float | None = None
    rerank: float | None = None

    def to_json(self) -> dict[str, float | None]:
        """Return the four scores under their public names."""
        return {
            "dense": self.dense,
            "bm25": self.bm25,
            "fused": self.fused,
            "rerank": self.rerank,
        }


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk with its scores, best first in any list of hits.

    `url`: where the text is from when its paper is in no library; its chunk is then stored nowhere.
    """

    chunk: Chunk
    scores: Scores
    title: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose library is searched, and which papers of it (None: all of them)."""

    user_id: UUID
    paper_ids: tuple[UUID, ...] | None = None
    references: bool = False


@dataclass(frozen=True, slots=True)
class Citation:
    """A numbered passage an answer rests on. Self-contained: survives re-indexing and deletion.

    With a `url` it is of a paper outside the library: there is no file, and page 0 is none.
    """

    n: int
    paper_id: UUID
    title: str
    file: str
    page: int
    section: str
    quote: str
    boxes: tuple[Box, ...]
    scores: Scores
    passage: str = ""
    url: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the public form (see the command line's `ask`)."""
        return {
            "n": self.n,
            "paper_id": str(self.paper_id),
            "title": self.title,
            "file": self.file,
            "page": self.page,
            "section": self.section,
            "quote": self.quote,
            "boxes": [list(box) for box in self.boxes],
            "scores": self.scores.to_json(),
            "passage": self.passage,
            "url": self.url,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Citation":
        """Read back what `to_json` wrote."""
        return cls(
            n=data["n"],
            paper_id=UUID(data["paper_id"]),
            title=data["title"],
            file=data["file"],
            page=data["page"],
            section=data["section"],
            quote=data["quote"],
            boxes=tuple(Box(*box) for box in data["boxes"]),
            scores=Scores(**data["scores"]),
            passage=data.get("passage", ""),
            url=data.get("url", ""),
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the cited passages say of a sentence, and why we say so."""

    label: VerdictLabel
    reason: str = ""

    def to_json(self) -> dict[str, str]:
        """Return label and reason."""
        return {"label": self.label, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """One sentence of an answer with the numbers it cites.

    `verdict` is None for a sentence that states nothing checkable (a heading, a refusal).
    `removed` holds numbers the writer cited that do not exist.
    """

    text: str
    citations: tuple[int, ...] = ()
    verdict: Verdict | None = None
    removed: tuple[int, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the public form: the verdict as its label, with its reason beside it."""
        return {
            "text": self.text,
            "citations": list(self.citations),
            "verdict": self.verdict.label if self.verdict else None,
            "reason": self.verdict.reason if self.verdict else "",
            "removed": list(self.removed),
        }


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A figure or table cut out of a paper: where it stands, and its cells if it has any.

    `by_model`: the cells were read from the picture by a vision model, not from the file.
    """

    paper_id: UUID
    file: str
    page: int
    box: Box
    caption: str
    rows: tuple[tuple[str, ...], ...] = ()
    by_model: bool = False


@dataclass(frozen=True, slots=True)
class Listed:
    """A paper outside the library as an answer lists it. `n`: the number it is cited by, else 0."""

    title: str
    authors: tuple[str, ...]
    year: int | None
    source: str
    url: str
    n: int = 0


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an answer that is more than running text, under a title of its own.

    Its sentences are named by their place in the answer's list of sentences, from 0.

    - text: `items` in reading order.
    - claims: `items`, each to be shown with the passages it cites.
    - table: `rows` of cells under `columns`, beside `heads`; a cell is some sentences.
    - figure, data: the `exhibit`, and what is said of it as `items`.
    - papers: `items`, and the `papers` they speak of.
    """

    kind: PartKind
    title: str = ""
    items: tuple[int, ...] = ()
    columns: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[tuple[int, ...], ...], ...] = ()
    exhibit: Exhibit | None = None
    papers: tuple[Listed, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the stored and public form."""
        data = asdict(self)
        if self.exhibit:
            data["exhibit"] |= {
                "paper_id": str(self.exhibit.paper_id),
                "box": list(self.exhibit.box),
            }
        return data


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a turn. `estimated` when the server did not report them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    full_text_tokens: int = 0
    estimated: bool = False

    def plus(self, other: "Usage") -> "Usage":
        """Return the sum of two requests' tokens; the whole text is counted once."""
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            max(self.full_text_tokens, other.full_text_tokens),
            self.estimated or other.estimated,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the public form."""
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "full_text_tokens": self.full_text_tokens,
            "estimated": self.estimated,
        }


@dataclass(frozen=True, slots=True)
class PaperRow:
    """A paper as its owner's library lists it."""

    paper_id: UUID
    meta: PaperMeta
    pages: int
    chunks: int
    read_by: ReadBy
    added_at: str
    filename: str = ""
    file: str = ""
    characters: int = 0
    confidence: float | None = None
    pending_models: tuple[str, ...] = field(default=())
