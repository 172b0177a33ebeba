"""From a file's bytes to a paper in a user's library: whole or not at all."""

import hashlib
import logging
import re
import time
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Literal, get_args
from uuid import UUID

import numpy as np

from core.db.papers import PaperStore, StoredFile
from core.db.text import storable
from core.errors import Cancelled, Unavailable
from core.ingest.bibtex import Matched, match
from core.ingest.chunking import embeddable
from core.ingest.kinds import MEDIA_TYPES, Kind, is_pdf, tell
from core.ingest.versions import versions_of
from core.ingest.worker import Worker
from core.models.embed import Embedder, Vectors
from core.types import ChunkDraft, PaperMeta, ParsedPaper
from core.wording import say

Stage = Literal["fetching", "reading", "recognising", "sections", "chunks", "vectors", "saving"]
STAGES: tuple[Stage, ...] = get_args(Stage)

_BATCH = 64
_NAME_LIMIT = 120
_SUFFIX = re.compile(r"\.(?:pdf|x?html?|md|markdown|te?xt)$", re.I)
_UNSHOWN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]+"
)
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far adding a file has come: `done` of `total` (bytes, pages, chunks) of a stage."""

    stage: Stage
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Ingested:
    """A paper that is now in the library. `duplicate`: it was there already."""

    paper_id: UUID
    meta: PaperMeta
    pages: int
    chunks: int
    duplicate: bool
    seconds: float
    versions: tuple[str, ...] = ()
    """Titles of the papers in the library that are the same work in another form."""


class Ingestor:
    """Adds files to libraries. Thread-safe: files are read one at a time, the rest runs freely."""

    def __init__(
        self,
        store: PaperStore,
        worker: Worker,
        embedders: Sequence[Embedder],
        tokenize: Callable[[str], list[str]],
    ) -> None:
        self._store = store
        self._worker = worker
        self._embedders = tuple(embedders)
        self._tokenize = tokenize

    def ingest(
        self,
        user_id: UUID,
        filename: str,
        data: bytes,
        *,
        password: str = "",
        on_progress: Callable[[Progress], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Ingested:
        """Read a file, make it searchable and put it into the user's library.

        What kind of file it is (PDF, HTML, Markdown, plain text) its content says, not its name.

        Only the first embedder runs, and only over what is searched by default (the references
        wait): `Backfill` brings the rest. Nothing is stored unless all of it is.

        Raises:
            UnreadableFile: see its codes.
            Cancelled: `cancelled` returned true.
            DatabaseDown: nothing can be stored now.
        """
        started = time.perf_counter()
        steps = _Steps(on_progress, cancelled)
        name, password = display_name(filename), storable(password)
        sha256 = hashlib.sha256(data).hexdigest()
        known = self._store.find_file(sha256)
        if known is not None:
            # having the bytes is not yet knowing the password
            if is_pdf(data) and b"/Encrypt" in data:
                self._worker.check(data, password or None)
            return self._known(user_id, known, name, started)
        kind, parsed, copy = self._read(data, password, steps)
        file = StoredFile(sha256, copy or data, len(data), MEDIA_TYPES[kind])
        return self._store_whole(user_id, name, file, parsed, steps, started)

    def add_abstract(self, user_id: UUID, meta: PaperMeta) -> UUID:
        """Put a paper of which only the abstract can be had into the user's library; return its id.

        Raises:
            DatabaseDown: nothing can be stored now.
        """
        started = time.perf_counter()
        text = storable(f"# {_line(meta.title)}\n\n## Abstract\n\n{_line(meta.abstract)}\n")
        data = text.encode()
        sha256 = hashlib.sha256(data).hexdigest()
        known, name = self._store.find_file(sha256), display_name(f"{meta.title}.md")
        if known is None:
            read = self._worker.read_text(text, "markdown")
            own = replace(meta, language=read.meta.language)
            chunks = tuple(replace(chunk, kind="abstract") for chunk in read.chunks)
            parsed = replace(read, meta=own, chunks=chunks, read_by="abstract")
            file = StoredFile(sha256, data, len(data), MEDIA_TYPES["markdown"])
            done = self._store_whole(user_id, name, file, parsed, _Steps(None, None), started)
        else:
            done = self._known(user_id, known, name, started)
        self._store.set_meta(user_id, done.paper_id, meta)
        return done.paper_id

    def _store_whole(
        self,
        user_id: UUID,
        name: str,
        file: StoredFile,
        parsed: ParsedPaper,
        steps: "_Steps",
        started: float,
    ) -> Ingested:
        terms = [" ".join(self._tokenize(chunk.text)) for chunk in parsed.chunks]
        ordinals, vectors = self._vectors(parsed.chunks, steps)
        steps("saving", 0, 1)
        paper_id = self._store.add(user_id, name, file, parsed, terms, vectors, vectors_of=ordinals)
        steps.report("saving", 1, 1)
        meta = self._titled(user_id, paper_id, parsed.meta, name)
        return Ingested(
            paper_id,
            meta,
            len(parsed.pages),
            len(parsed.chunks),
            False,
            time.perf_counter() - started,
            self._versions(user_id, paper_id, meta),
        )

    def read_anew(
        self,
        user_id: UUID,
        paper_id: UUID,
        *,
        on_progress: Callable[[Progress], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> None:
        """Find the structure of a paper that an earlier version stored, from its stored bytes.

        Pages and passages stay as they are, and with them all that was ever cited.

        Raises:
            NotFound: the paper is not in the library.
            UnreadableFile: see its codes.
            Cancelled: `cancelled` returned true.
            DatabaseDown: nothing can be stored now.
        """
        steps = _Steps(on_progress, cancelled)
        _, parsed, _ = self._read(self._store.file(user_id, paper_id).data, "", steps)
        steps("saving", 0, 1)
        self._store.fill_structure(user_id, paper_id, parsed.structure)

    def _read(
        self, data: bytes, password: str, steps: "_Steps"
    ) -> tuple[Kind, ParsedPaper, bytes | None]:
        """Return what a file is, what reading it gave, and what to draw it from if not itself."""
        told = tell(data)
        if told.kind == "pdf":
            return told.kind, *self._worker.parse(data, password or None, steps)
        return told.kind, self._worker.read_text(told.text, told.kind, steps), None

    def import_bibtex(self, user_id: UUID, data: bytes) -> Matched:
        """Take what a BibTeX file says of papers of the library over, for this library alone.

        Raises:
            UnreadableFile: there is no entry in it that can be read.
            DatabaseDown: nothing can be stored now.
        """
        entries = self._worker.read_bibtex(data)
        matched = match(entries, self._store.papers(user_id))
        for entry, row in matched.pairs:
            self._store.set_meta(user_id, row.paper_id, entry.meta)
        return matched

    def name_arxiv_id(self, user_id: UUID, paper_id: UUID, arxiv_id: str) -> None:
        """Note the arXiv id a paper was fetched by, unless the paper says one itself."""
        if not self._store.paper(user_id, paper_id).meta.arxiv_id:
            self._store.set_meta(user_id, paper_id, PaperMeta(arxiv_id=arxiv_id))

    def _known(self, user_id: UUID, paper_id: UUID, name: str, started: float) -> Ingested:
        there = any(row.paper_id == paper_id for row in self._store.papers(user_id))
        self._store.add_to_library(user_id, paper_id, name)
        row = self._store.paper(user_id, paper_id)
        meta = self._titled(user_id, paper_id, row.meta, name)
        seconds = time.perf_counter() - started
        versions = self._versions(user_id, paper_id, meta)
        return Ingested(paper_id, meta, row.pages, row.chunks, there, seconds, versions)

    def _titled(self, user_id: UUID, paper_id: UUID, meta: PaperMeta, name: str) -> PaperMeta:
        """Call a paper that does not say its title by its file's name, in this library alone.

        Whoever else has the same bytes does not see what this user calls the file.
        """
        if meta.title:
            return meta
        title = re.sub(r"[_\s]+", " ", _SUFFIX.sub("", name)).strip() or name
        self._store.set_meta(user_id, paper_id, PaperMeta(title=title))
        return replace(meta, title=title)

    def _versions(self, user_id: UUID, paper_id: UUID, meta: PaperMeta) -> tuple[str, ...]:
        others = versions_of(paper_id, meta, self._store.papers(user_id))
        return tuple(row.meta.title or row.filename for row in others)

    def _vectors(
        self, chunks: Sequence[ChunkDraft], steps: "_Steps"
    ) -> tuple[list[int], dict[str, Vectors]]:
        """Return the ordinals of the chunks to search and the first model's vectors of them.

        Without a usable model the paper is stored all the same: keywords find it.
        """
        ordinals = [at for at, chunk in enumerate(chunks) if chunk.kind != "references"]
        ordinals = ordinals or list(range(len(chunks)))
        if not self._embedders:
            return ordinals, {}
        embedder = self._embedders[0]
        texts = [embeddable(chunks[at].text) for at in ordinals]
        parts = []
        try:
            for start in range(0, len(texts), _BATCH):
                steps("vectors", start, len(texts))
                parts.append(embedder.encode(texts[start : start + _BATCH]))
        except Unavailable as error:
            logger.warning("stored without vectors of %s: %s", embedder.name, error.message)
            return ordinals, {}
        return ordinals, {embedder.name: np.concatenate(parts)}


class _Steps:
    """Passes progress on and looks out for the user's stop."""

    def __init__(
        self,
        on_progress: Callable[[Progress], None] | None,
        cancelled: Callable[[], bool] | None,
    ) -> None:
        self._on_progress = on_progress
        self._cancelled = cancelled

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Report, and stop when the user wants it.

        Raises:
            Cancelled: the user stopped.
        """
        if self._cancelled is not None and self._cancelled():
            raise Cancelled(say("Adding the file was stopped; nothing of it was stored."))
        self.report(stage, done, total)

    def report(self, stage: str, done: int, total: int) -> None:
        """Report without a chance to stop: what is done is done."""
        named = next(known for known in STAGES if known == stage)
        if self._on_progress is not None:
            self._on_progress(Progress(named, done, total))


def _line(text: str) -> str:
    return " ".join(text.split())


def display_name(filename: str) -> str:
    """Return a file name fit to be shown: no folders, no control characters, not endless."""
    name = unicodedata.normalize("NFC", _UNSHOWN.sub("", filename))
    name = re.split(r"[/\\]", name)[-1].strip().strip(".").strip()
    if not name:
        return "paper.pdf"
    if len(name) > _NAME_LIMIT:
        suffix = PurePosixPath(name).suffix[:10]
        name = name[: _NAME_LIMIT - len(suffix) - 1] + "…" + suffix
    return name
