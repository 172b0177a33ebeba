"""What a user knows better of a paper than its file says: theirs alone, others share the paper."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("library", sa.Column("meta", JSONB(), nullable=True))


def downgrade() -> None:
    op.drop_column("library", "meta")
