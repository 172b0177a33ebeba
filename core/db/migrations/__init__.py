"""Alembic migrations, run by `core.db.migrate`."""
