"""Literature reviews: what was asked for, the papers found for it, how far it is, what came of it."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_NOW = sa.text("now()")


def upgrade() -> None:
    op.create_table(
        "reviews",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("request", JSONB(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("stages", JSONB(), nullable=False),
        sa.Column("notices", JSONB(), nullable=False),
        sa.Column("document", JSONB(), nullable=True),
        sa.Column("error", JSONB(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=_NOW, nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=_NOW, nullable=False),
        sa.Column("removed_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_reviews_user_id", "reviews", ["user_id"])
    op.create_table(
        "review_papers",
        sa.Column("review_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("found", JSONB(), nullable=False),
        sa.Column("chosen", sa.Boolean(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("got", sa.Text(), nullable=False),
        sa.Column("paper_id", sa.Uuid(), nullable=True),
        sa.Column("error", JSONB(), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("notes", JSONB(), nullable=True),
        sa.ForeignKeyConstraint(["review_id"], ["reviews.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("review_id", "position"),
    )


def downgrade() -> None:
    for table in ("review_papers", "reviews"):
        op.drop_table(table)
