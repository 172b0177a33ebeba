"""The pipe between the app and its reading process: one JSON header and one blob a message.

A message is two big-endian lengths (4 bytes each), the header in UTF-8, and the blob.
"""

import json
import struct
from typing import Any, BinaryIO

from core.ingest.bibtex import Entry
from core.types import Box, ChunkDraft, Page, PaperMeta, ParsedPaper, Span, Structure

_LENGTHS = struct.Struct(">II")
MAX_HEADER = 512 * 1024 * 1024


def send(stream: BinaryIO, header: dict[str, Any], blob: bytes = b"") -> None:
    """Write one message and flush it."""
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    stream.write(_LENGTHS.pack(len(text), len(blob)))
    stream.write(text)
    stream.write(blob)
    stream.flush()


def receive(stream: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    """Read one message; None when the other side is gone."""
    head = _exactly(stream, _LENGTHS.size)
    if head is None:
        return None
    size, more = _LENGTHS.unpack(head)
    if size > MAX_HEADER:
        return None
    text = _exactly(stream, size)
    blob = _exactly(stream, more)
    if text is None or blob is None:
        return None
    return json.loads(text), blob


def _exactly(stream: BinaryIO, size: int) -> bytes | None:
    parts = []
    while size:
        part = stream.read(size)
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def entry_to_json(entry: Entry) -> dict[str, Any]:
    """Return an entry of a BibTeX file as plain JSON values."""
    return {"key": entry.key, "meta": _meta_to_json(entry.meta), "files": list(entry.files)}


def entry_from_json(data: dict[str, Any]) -> Entry:
    """Read back what `entry_to_json` wrote."""
    return Entry(data["key"], _meta_from_json(data["meta"]), tuple(data["files"]))


def _meta_to_json(meta: PaperMeta) -> list[Any]:
    return [
        meta.title,
        list(meta.authors),
        meta.year,
        meta.abstract,
        meta.language,
        meta.doi,
        meta.arxiv_id,
    ]


def _meta_from_json(data: list[Any]) -> PaperMeta:
    title, authors, *rest = data
    return PaperMeta(title, tuple(authors), *rest)


def paper_to_json(paper: ParsedPaper) -> dict[str, Any]:
    """Return a parsed paper as plain JSON values."""
    return {
        "meta": _meta_to_json(paper.meta),
        "pages": [[p.number, p.width, p.height, p.text, p.label] for p in paper.pages],
        "chunks": [
            [c.page, c.section, c.kind, c.text, [[s.start, s.end, *s.box] for s in c.spans]]
            for c in paper.chunks
        ],
        "structure": paper.structure.to_json(),
        "read_by": paper.read_by,
        "confidence": paper.confidence,
    }


def paper_from_json(data: dict[str, Any]) -> ParsedPaper:
    """Read back what `paper_to_json` wrote."""
    return ParsedPaper(
        _meta_from_json(data["meta"]),
        tuple(Page(*page) for page in data["pages"]),
        tuple(
            ChunkDraft(
                page,
                section,
                kind,
                text,
                tuple(Span(span[0], span[1], Box(*span[2:])) for span in spans),
            )
            for page, section, kind, text, spans in data["chunks"]
        ),
        Structure.from_json(data["structure"]),
        data["read_by"],
        data["confidence"],
    )
