"""The tables, as SQLAlchemy models. Alembic migrations in `migrations/` create them."""

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from pgvector.sqlalchemy import Vector
from sqlalchemy import (
    BigInteger,
    Boolean,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    Text,
    UniqueConstraint,
    func,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """All of Lectern's own tables."""

    type_annotation_map = {datetime: DateTime(timezone=True), str: Text}  # noqa: RUF012


class PaperTable(Base):
    """A work, stored whole or not at all.

    `structure`: see `core.types.Structure`; `{}` when an earlier version stored the paper and never
    looked for any.
    """

    __tablename__ = "papers"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    title: Mapped[str]
    authors: Mapped[list[str]] = mapped_column(JSONB)
    year: Mapped[int | None] = mapped_column(Integer)
    abstract: Mapped[str] = mapped_column(default="")
    language: Mapped[str]
    doi: Mapped[str] = mapped_column(default="")
    arxiv_id: Mapped[str] = mapped_column(default="")
    read_by: Mapped[str] = mapped_column(default="text")
    confidence: Mapped[float | None]
    structure: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default="{}", deferred=True)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class FileTable(Base):
    """The bytes of a paper, known by the SHA-256 (lower-case hex) of the file as it came.

    `data` is what pages are drawn from: for an encrypted file the unlocked copy. `characters`
    counts the text of its pages.
    """

    __tablename__ = "files"

    sha256: Mapped[str] = mapped_column(primary_key=True)
    paper_id: Mapped[UUID] = mapped_column(ForeignKey("papers.id", ondelete="CASCADE"), index=True)
    media_type: Mapped[str] = mapped_column(default="application/pdf")
    size: Mapped[int] = mapped_column(Integer)
    characters: Mapped[int] = mapped_column(Integer, default=0)
    data: Mapped[bytes] = mapped_column(LargeBinary, deferred=True)


class PageTable(Base):
    """A page's own text and size in points."""

    __tablename__ = "pages"

    file: Mapped[str] = mapped_column(
        ForeignKey("files.sha256", ondelete="CASCADE"), primary_key=True
    )
    number: Mapped[int] = mapped_column(Integer, primary_key=True)
    label: Mapped[str] = mapped_column(default="")
    width: Mapped[float]
    height: Mapped[float]
    text: Mapped[str]


class ChunkTable(Base):
    """A chunk; `spans` is a list of [start, end, x0, y0, x1, y1]; `terms` its BM25 tokens."""

    __tablename__ = "chunks"
    __table_args__ = (UniqueConstraint("paper_id", "ordinal"),)

    id: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    paper_id: Mapped[UUID] = mapped_column(ForeignKey("papers.id", ondelete="CASCADE"))
    file: Mapped[str] = mapped_column(ForeignKey("files.sha256", ondelete="CASCADE"), index=True)
    ordinal: Mapped[int] = mapped_column(Integer)
    page: Mapped[int] = mapped_column(Integer)
    section: Mapped[str] = mapped_column(default="")
    kind: Mapped[str] = mapped_column(default="body")
    text: Mapped[str]
    terms: Mapped[str]
    spans: Mapped[list[list[float]]] = mapped_column(JSONB)


class EmbeddingTable(Base):
    """One chunk's vector by one model, unit length. The column has no fixed dimension."""

    __tablename__ = "embeddings"
    __table_args__ = (Index("embeddings_by_model", "model"),)

    chunk_id: Mapped[int] = mapped_column(
        ForeignKey("chunks.id", ondelete="CASCADE"), primary_key=True
    )
    model: Mapped[str] = mapped_column(primary_key=True)
    dimension: Mapped[int] = mapped_column(Integer)
    vector: Mapped[Any] = mapped_column(Vector())


class LibraryTable(Base):
    """Which user has which paper. `removed_at` set: removed, and can still be undone.

    `meta`: fields of `core.types.PaperMeta` that this user set; they hide what the file says.
    """

    __tablename__ = "library"

    user_id: Mapped[UUID] = mapped_column(primary_key=True)
    paper_id: Mapped[UUID] = mapped_column(
        ForeignKey("papers.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    filename: Mapped[str] = mapped_column(default="")
    added_at: Mapped[datetime] = mapped_column(server_default=func.now())
    removed_at: Mapped[datetime | None]
    meta: Mapped[dict[str, Any] | None] = mapped_column(JSONB)


class AccountTable(Base):
    """A user as the app met them. `kind`: local, login or guest. `language`: en, zh, or unknown."""

    __tablename__ = "accounts"
    __table_args__ = (Index("accounts_by_kind", "kind", "seen_at"),)

    user_id: Mapped[UUID] = mapped_column(primary_key=True)
    kind: Mapped[str]
    language: Mapped[str] = mapped_column(default="")
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    seen_at: Mapped[datetime] = mapped_column(server_default=func.now())


class ConversationTable(Base):
    """Turns under one id, of one user."""

    __tablename__ = "conversations"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    user_id: Mapped[UUID] = mapped_column(index=True)
    title: Mapped[str] = mapped_column(default="")
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())
    removed_at: Mapped[datetime | None]


class TurnTable(Base):
    """A question and all that came of it, self-contained.

    `state`: running, finished, stopped, failed. `scope`: list of paper ids, or null for all.
    `forced`: the intent the reader chose, '' when the router did. `repeats`: the turn that this one
    runs again; its position is negative then. `rating`: 1 or -1, with the reader's reason.
    `runner`: the advisory lock its runner holds while it lives; free means the turn is orphaned.
    """

    __tablename__ = "turns"
    __table_args__ = (UniqueConstraint("conversation_id", "position"),)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    conversation_id: Mapped[UUID] = mapped_column(
        ForeignKey("conversations.id", ondelete="CASCADE")
    )
    position: Mapped[int] = mapped_column(Integer)
    question: Mapped[str]
    selected: Mapped[str] = mapped_column(default="")
    scope: Mapped[list[str] | None] = mapped_column(JSONB)
    intent: Mapped[str] = mapped_column(default="")
    mode: Mapped[str] = mapped_column(default="")
    state: Mapped[str] = mapped_column(default="running")
    answer: Mapped[str] = mapped_column(default="")
    citations: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, default=list)
    sentences: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, default=list)
    steps: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, default=list)
    parts: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, default=list, server_default="[]")
    usage: Mapped[dict[str, Any]] = mapped_column(JSONB, default=dict)
    notices: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, default=list)
    error: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    forced: Mapped[str] = mapped_column(default="", server_default="")
    repeats: Mapped[UUID | None] = mapped_column(
        ForeignKey("turns.id", ondelete="CASCADE"), index=True
    )
    rating: Mapped[int | None] = mapped_column(Integer)
    rating_reason: Mapped[str] = mapped_column(default="", server_default="")
    runner: Mapped[int] = mapped_column(BigInteger, default=0)
    started_at: Mapped[datetime] = mapped_column(server_default=func.now())
    finished_at: Mapped[datetime | None]


class TurnEventTable(Base):
    """A turn's events in order, for pages that attach later."""

    __tablename__ = "turn_events"

    turn_id: Mapped[UUID] = mapped_column(
        ForeignKey("turns.id", ondelete="CASCADE"), primary_key=True
    )
    seq: Mapped[int] = mapped_column(Integer, primary_key=True)
    kind: Mapped[str]
    data: Mapped[dict[str, Any]] = mapped_column(JSONB)


class ReadingTable(Base):
    """A paper that a user has read. Neither paper nor conversation need be there any more.

    `embedding` is of unit length, of any dimension. `removed_at` set: forgotten, and can still be
    undone.
    """

    __tablename__ = "user_paper_profile"
    __table_args__ = (UniqueConstraint("user_id", "doc_id"),)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    user_id: Mapped[UUID]
    doc_id: Mapped[UUID]
    title: Mapped[str]
    summary: Mapped[str]
    embedding: Mapped[Any] = mapped_column(Vector())
    embedding_model: Mapped[str]
    model_name: Mapped[str] = mapped_column(default="")
    conversation_id: Mapped[UUID | None]
    read_at: Mapped[datetime] = mapped_column(server_default=func.now())
    removed_at: Mapped[datetime | None]


class ReadingVoteTable(Base):
    """What a user thought of a paper that was shown `beside` another: 1 useful, -1 not useful.

    A paper that was suggested stands beside itself.
    """

    __tablename__ = "reading_votes"

    user_id: Mapped[UUID] = mapped_column(primary_key=True)
    doc_id: Mapped[UUID] = mapped_column(primary_key=True)
    beside: Mapped[UUID] = mapped_column(primary_key=True)
    vote: Mapped[int] = mapped_column(SmallInteger)
    removed_at: Mapped[datetime | None]


class ReadingPauseTable(Base):
    """A user for whom nothing is remembered at present."""

    __tablename__ = "reading_pauses"

    user_id: Mapped[UUID] = mapped_column(primary_key=True)
    since: Mapped[datetime] = mapped_column(server_default=func.now())


class ReviewTable(Base):
    """A literature review of one user.

    `request`: see `core.review.request.ReviewRequest`. `state`: searching, choosing, writing,
    stopping, stopped, failed, finished. `run` counts how often work on it was begun. `stages`: a
    list of {name, began, seconds, detail}. `document`: see `core.review.document`, null before it
    is written.
    """

    __tablename__ = "reviews"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    user_id: Mapped[UUID] = mapped_column(index=True)
    topic: Mapped[str]
    request: Mapped[dict[str, Any]] = mapped_column(JSONB)
    state: Mapped[str] = mapped_column(default="searching")
    run: Mapped[int] = mapped_column(Integer, default=1)
    stages: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, default=list)
    notices: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, default=list)
    document: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    error: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())
    removed_at: Mapped[datetime | None]


class ReviewPaperTable(Base):
    """A paper found for a review, in the order of its relevance.

    `found`: see `core.tools.found.Found`, with `relevance`. `state`: waiting, fetching, reading,
    done, failed. `got`: html, pdf, abstract or library, '' before. `paper_id` is set once the paper
    is in the user's library.
    """

    __tablename__ = "review_papers"

    review_id: Mapped[UUID] = mapped_column(
        ForeignKey("reviews.id", ondelete="CASCADE"), primary_key=True
    )
    position: Mapped[int] = mapped_column(Integer, primary_key=True)
    found: Mapped[dict[str, Any]] = mapped_column(JSONB)
    chosen: Mapped[bool] = mapped_column(Boolean)
    state: Mapped[str] = mapped_column(default="waiting")
    got: Mapped[str] = mapped_column(default="")
    paper_id: Mapped[UUID | None]
    error: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    seconds: Mapped[float | None]
    notes: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
