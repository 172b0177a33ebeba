"""What a paper has beside running text, and how sure its OCR was."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("papers", sa.Column("confidence", sa.Float(), nullable=True))
    op.add_column(
        "papers", sa.Column("structure", JSONB(), server_default=sa.text("'{}'"), nullable=False)
    )


def downgrade() -> None:
    op.drop_column("papers", "structure")
    op.drop_column("papers", "confidence")
