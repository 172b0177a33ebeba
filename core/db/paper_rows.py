"""Rows of papers, files, chunks and vectors, written and read in psycopg's binary form."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg.types.json import Jsonb

from core.db.text import storable, storable_json
from core.errors import BadInput, NotFound
from core.types import Box, Chunk, ChunkDraft, Page, PaperMeta, PaperRow, ParsedPaper, Span
from core.wording import say

Cursor = psycopg.Cursor[Any]
Vectors = NDArray[np.float32]

CHUNK_COLUMNS = "id, paper_id, file, page, section, kind, text, spans"
PAPER_ROWS = """
    SELECT p.id, p.title, p.authors, p.year, p.abstract, p.language, p.doi, p.arxiv_id,
           p.read_by, p.confidence, l.added_at, l.filename, f.sha256, f.characters,
           (SELECT count(*) FROM pages WHERE pages.file = f.sha256),
           (SELECT count(*) FROM chunks WHERE chunks.paper_id = p.id),
           l.meta
    FROM library l JOIN papers p ON p.id = l.paper_id JOIN files f ON f.paper_id = p.id
    WHERE l.user_id = %s AND l.removed_at IS NULL
"""
OWN_FIELDS = ("title", "authors", "year", "abstract", "doi", "arxiv_id")
_PREFIX = re.compile(r"[0-9a-f-]{4,36}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A paper's file. `sha256` is of the bytes as they came, `data` what pages are drawn from."""

    sha256: str
    data: bytes
    size: int
    media_type: str = "application/pdf"


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What is known of a paper's file without reading its bytes; `pages` counts them."""

    sha256: str
    media_type: str
    pages: int


def check_lengths(
    parsed: ParsedPaper, terms: Sequence[str], vectors: Mapping[str, Vectors], embedded: int
) -> None:
    """Refuse terms or vectors that are not one a chunk.

    Raises:
        ValueError: they are not.
    """
    found = {"terms": (len(terms), len(parsed.chunks))}
    found |= {model: (len(rows), embedded) for model, rows in vectors.items()}
    for name, (number, expected) in found.items():
        if number != expected:
            raise ValueError(f"{number} rows of {name} for {expected} chunks")


def paper_of_file(cursor: Cursor, sha256: str) -> UUID | None:
    """Return the paper that has a file, if any, and keep it from being purged meanwhile."""
    # The lock waits for a purge that is deleting the paper, and keeps a later one from it.
    row = cursor.execute(
        "SELECT p.id FROM files f JOIN papers p ON p.id = f.paper_id WHERE f.sha256 = %s "
        "FOR KEY SHARE OF p",
        [sha256],
    ).fetchone()
    return None if row is None else UUID(str(row[0]))


def insert_paper(cursor: Cursor, parsed: ParsedPaper) -> UUID:
    """Insert a paper's row; return its new id."""
    paper_id, meta = uuid4(), parsed.meta
    cursor.execute(
        "INSERT INTO papers (id, title, authors, year, abstract, language, doi, arxiv_id, "
        "read_by, confidence, structure) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
        [
            paper_id,
            storable(meta.title),
            Jsonb([storable(author) for author in meta.authors]),
            meta.year,
            storable(meta.abstract),
            meta.language,
            storable(meta.doi),
            storable(meta.arxiv_id),
            parsed.read_by,
            parsed.confidence,
            Jsonb(storable_json(parsed.structure.to_json())),
        ],
    )
    return paper_id


def insert_file(cursor: Cursor, paper_id: UUID, file: StoredFile, pages: Sequence[Page]) -> None:
    """Insert a file and its pages."""
    characters = sum(len(page.text) for page in pages)
    cursor.execute(
        "INSERT INTO files (sha256, paper_id, media_type, size, characters, data) "
        "VALUES (%s, %s, %s, %s, %s, %s)",
        [file.sha256, paper_id, file.media_type, file.size, characters, file.data],
    )
    rows = [
        (file.sha256, p.number, storable(p.label), p.width, p.height, storable(p.text))
        for p in pages
    ]
    columns = {
        "file": "text",
        "number": "int4",
        "label": "text",
        "width": "float8",
        "height": "float8",
        "text": "text",
    }
    _copy(cursor, "pages", columns, rows)


def insert_chunks(
    cursor: Cursor,
    paper_id: UUID,
    sha256: str,
    chunks: Sequence[ChunkDraft],
    terms: Sequence[str],
) -> list[int]:
    """Insert chunks; return their new ids in order."""
    cursor.execute(
        "SELECT nextval(pg_get_serial_sequence('chunks', 'id')) FROM generate_series(1, %s)",
        [len(chunks)],
    )
    ids = [row[0] for row in cursor]
    rows = [
        (
            number,
            paper_id,
            sha256,
            ordinal,
            chunk.page,
            storable(chunk.section),
            chunk.kind,
            storable(chunk.text),
            storable(terms[ordinal]),
            Jsonb([[span.start, span.end, *span.box] for span in chunk.spans]),
        )
        for ordinal, (number, chunk) in enumerate(zip(ids, chunks, strict=True))
    ]
    columns = {
        "id": "int8",
        "paper_id": "uuid",
        "file": "text",
        "ordinal": "int4",
        "page": "int4",
        "section": "text",
        "kind": "text",
        "text": "text",
        "terms": "text",
        "spans": "jsonb",
    }
    _copy(cursor, "chunks", columns, rows)
    return ids


def insert_vectors(cursor: Cursor, ids: Sequence[int], vectors: Mapping[str, Vectors]) -> None:
    """Insert each model's vectors of the chunks `ids`."""
    columns = {"chunk_id": "int8", "model": "text", "dimension": "int4", "vector": "vector"}
    rows = [
        (number, model, len(vector), vector)
        for model, of_model in vectors.items()
        for number, vector in zip(ids, of_model, strict=True)
    ]
    _copy(cursor, "embeddings", columns, rows)


def _copy(
    cursor: Cursor, table: str, columns: Mapping[str, str], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Write rows with COPY in binary; `columns` gives each column's type."""
    names = ", ".join(columns)
    with cursor.copy(f"COPY {table} ({names}) FROM STDIN (FORMAT BINARY)") as copy:
        copy.set_types(list(columns.values()))
        for row in rows:
            copy.write_row(row)


def put_into_library(cursor: Cursor, user_id: UUID, paper_id: UUID, filename: str) -> None:
    """Put a paper into a library; undoes a removal.

    Raises:
        NotFound: there is no such paper.
    """
    cursor.execute(
        """
        INSERT INTO library (user_id, paper_id, filename)
        SELECT %s, id, %s FROM papers WHERE id = %s FOR KEY SHARE
        ON CONFLICT (user_id, paper_id) DO UPDATE SET removed_at = NULL,
            filename = excluded.filename,
            added_at = CASE WHEN library.removed_at IS NULL
                       THEN library.added_at ELSE excluded.added_at END
        """,
        [user_id, file_name(filename), paper_id],
    )
    if cursor.rowcount == 0:
        raise no_such(str(paper_id))


def file_name(text: str) -> str:
    """Return the name without folders, composed (macOS decomposes umlauts and accents)."""
    return unicodedata.normalize("NFC", storable(re.split(r"[/\\]", text)[-1]))


def readings(wanted: str) -> Iterator[tuple[str, Any]]:
    """Yield what `wanted` may be, the surest first: a condition on library and its value."""
    lower = wanted.lower()
    with suppress(ValueError):
        yield "paper_id = %s", UUID(lower)
    if _SHA256.fullmatch(lower):
        yield "paper_id IN (SELECT paper_id FROM files WHERE sha256 = %s)", lower
    if name := file_name(wanted):
        yield "filename = %s", name
    if _PREFIX.fullmatch(lower):
        yield "starts_with(paper_id::text, %s)", lower


def no_such(wanted: str) -> NotFound:
    """Return the failure of asking for a paper that is not in the library."""
    return NotFound(
        say("There is no paper {wanted!r} in your library.", wanted=wanted[:_SHOWN]),
        hint=say("The list of papers shows their ids and file names."),
    )


def no_page(number: int) -> NotFound:
    """Return the failure of asking for a page that is not there."""
    return NotFound(say("The paper has no page {number}.", number=number))


def ambiguous(wanted: str, found: Sequence[UUID]) -> BadInput:
    """Return the failure of a text that fits several papers."""
    return BadInput(
        say("{wanted!r} fits {count:d} papers.", wanted=wanted[:_SHOWN], count=len(found)),
        hint=say(
            "Give one of their ids: {ids}.",
            ids=", ".join(str(paper_id) for paper_id in found[:5]),
        ),
    )


def own_meta(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of `PaperMeta` that a user set for their library."""
    return {
        name: tuple(value) if name == "authors" else value
        for name, value in stored.items()
        if name in OWN_FIELDS
    }


def paper_row(row: tuple[Any, ...]) -> PaperRow:
    """Read a row of `PAPER_ROWS`."""
    paper_id, title, authors, year, abstract, language, doi, arxiv_id, *rest = row
    read_by, confidence, added_at, filename, sha256, characters, pages, chunks, own = rest
    meta = PaperMeta(title, tuple(authors), year, abstract, language, doi, arxiv_id)
    return PaperRow(
        paper_id=paper_id,
        meta=replace(meta, **own_meta(own)) if own else meta,
        pages=pages,
        chunks=chunks,
        read_by=read_by,
        added_at=added_at.astimezone(UTC).isoformat(),
        filename=filename,
        file=sha256,
        characters=characters,
        confidence=confidence,
    )


def chunk_of(row: tuple[Any, ...]) -> Chunk:
    """Read a row of `CHUNK_COLUMNS`."""
    number, paper_id, file, page, section, kind, text, spans = row
    places = tuple(Span(int(start), int(end), Box(*box)) for start, end, *box in spans)
    return Chunk(number, paper_id, file, page, section, kind, text, places)


def to_arrays(rows: Sequence[tuple[int, bytes]]) -> tuple[NDArray[np.int64], Vectors]:
    """Decode pgvector's binary form: int16 dimension, int16 unused, big-endian float32s."""
    by_length: dict[int, list[tuple[int, bytes]]] = defaultdict(list)
    for row in rows:
        by_length[len(row[1])].append(row)
    if not by_length:
        return np.empty(0, np.int64), np.empty((0, 0), np.float32)
    newest = max(by_length.values(), key=lambda group: max(number for number, _ in group))
    ids = np.array([number for number, _ in newest], np.int64)
    packed = np.frombuffer(b"".join(data for _, data in newest), np.uint8)
    numbers = np.ascontiguousarray(packed.reshape(len(newest), -1)[:, 4:])
    return ids, numbers.view(">f4").astype(np.float32)
