"""Answers in parts, turns run again, and what readers think of answers."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB, UUID

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("turns", sa.Column("parts", JSONB(), server_default="[]", nullable=False))
    op.add_column("turns", sa.Column("forced", sa.Text(), server_default="", nullable=False))
    op.add_column("turns", sa.Column("rating", sa.Integer(), nullable=True))
    op.add_column("turns", sa.Column("rating_reason", sa.Text(), server_default="", nullable=False))
    op.add_column("turns", sa.Column("repeats", UUID(as_uuid=True), nullable=True))
    op.create_foreign_key(
        "turns_repeats_fkey", "turns", "turns", ["repeats"], ["id"], ondelete="CASCADE"
    )
    op.create_index("ix_turns_repeats", "turns", ["repeats"])


def downgrade() -> None:
    op.execute("DELETE FROM turns WHERE repeats IS NOT NULL")
    for name in ("repeats", "rating_reason", "rating", "forced", "parts"):
        op.drop_column("turns", name)
