"""Postgres: the embedded server, the engine, the tables and what is done with them."""
