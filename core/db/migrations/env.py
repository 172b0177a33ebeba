"""What Alembic runs around the migrations; the connection comes from `core.db.migrate`."""

from alembic import context

from core.db.migrate import VERSION_TABLE
from core.db.orm import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    version_table=VERSION_TABLE,
    compare_server_default=True,
)
context.run_migrations()
