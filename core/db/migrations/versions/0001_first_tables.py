"""The first tables: papers, files, pages, chunks, embeddings, libraries, conversations."""

import sqlalchemy as sa
from alembic import op
from pgvector.sqlalchemy import Vector
from sqlalchemy.dialects.postgresql import JSONB

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "conversations",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column(
            "updated_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("removed_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_conversations_user_id", "conversations", ["user_id"])
    op.create_table(
        "papers",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("authors", JSONB(), nullable=False),
        sa.Column("year", sa.Integer(), nullable=True),
        sa.Column("abstract", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("doi", sa.Text(), nullable=False),
        sa.Column("arxiv_id", sa.Text(), nullable=False),
        sa.Column("read_by", sa.Text(), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "files",
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("paper_id", sa.Uuid(), nullable=False),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("characters", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["paper_id"], ["papers.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("sha256"),
    )
    op.create_index("ix_files_paper_id", "files", ["paper_id"])
    op.create_table(
        "library",
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("paper_id", sa.Uuid(), nullable=False),
        sa.Column("filename", sa.Text(), nullable=False),
        sa.Column(
            "added_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False
        ),
        sa.Column("removed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["paper_id"], ["papers.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "paper_id"),
    )
    op.create_index("ix_library_paper_id", "library", ["paper_id"])
    op.create_table(
        "turns",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("selected", sa.Text(), nullable=False),
        sa.Column("scope", JSONB(), nullable=True),
        sa.Column("intent", sa.Text(), nullable=False),
        sa.Column("mode", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("citations", JSONB(), nullable=False),
        sa.Column("sentences", JSONB(), nullable=False),
        sa.Column("steps", JSONB(), nullable=False),
        sa.Column("usage", JSONB(), nullable=False),
        sa.Column("notices", JSONB(), nullable=False),
        sa.Column("error", JSONB(), nullable=True),
        sa.Column("runner", sa.BigInteger(), nullable=False),
        sa.Column(
            "started_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["conversation_id"], ["conversations.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("conversation_id", "position"),
    )
    op.create_table(
        "chunks",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("paper_id", sa.Uuid(), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("page", sa.Integer(), nullable=False),
        sa.Column("section", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("terms", sa.Text(), nullable=False),
        sa.Column("spans", JSONB(), nullable=False),
        sa.ForeignKeyConstraint(["file"], ["files.sha256"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["paper_id"], ["papers.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("paper_id", "ordinal"),
    )
    op.create_index("ix_chunks_file", "chunks", ["file"])
    op.create_table(
        "pages",
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("width", sa.Double(), nullable=False),
        sa.Column("height", sa.Double(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["file"], ["files.sha256"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("file", "number"),
    )
    op.create_table(
        "turn_events",
        sa.Column("turn_id", sa.Uuid(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("data", JSONB(), nullable=False),
        sa.ForeignKeyConstraint(["turn_id"], ["turns.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("turn_id", "seq"),
    )
    op.create_table(
        "embeddings",
        sa.Column("chunk_id", sa.BigInteger(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("dimension", sa.Integer(), nullable=False),
        sa.Column("vector", Vector(), nullable=False),
        sa.ForeignKeyConstraint(["chunk_id"], ["chunks.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("chunk_id", "model"),
    )
    op.create_index("embeddings_by_model", "embeddings", ["model"])
    # A vector of up to some 2,000 numbers stays in its row: reading it takes no second look-up.
    op.execute("ALTER TABLE embeddings SET (toast_tuple_target = 8160)")
    # PDFs are compressed already.
    op.execute("ALTER TABLE files ALTER COLUMN data SET STORAGE EXTERNAL")


def downgrade() -> None:
    op.drop_index("embeddings_by_model", table_name="embeddings")
    op.drop_table("embeddings")
    op.drop_table("turn_events")
    op.drop_table("pages")
    op.drop_index("ix_chunks_file", table_name="chunks")
    op.drop_table("chunks")
    op.drop_table("turns")
    op.drop_index("ix_library_paper_id", table_name="library")
    op.drop_table("library")
    op.drop_index("ix_files_paper_id", table_name="files")
    op.drop_table("files")
    op.drop_table("papers")
    op.drop_index("ix_conversations_user_id", table_name="conversations")
    op.drop_table("conversations")
