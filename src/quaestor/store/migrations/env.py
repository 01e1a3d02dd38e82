"""The entry point of Alembic: runs the migrations in the caller's transaction."""

from __future__ import annotations

from alembic import context

from quaestor.store.schema import VERSIONS

context.configure(
    connection=context.config.attributes["connection"],
    version_table=VERSIONS,
)
with context.begin_transaction():
    context.run_migrations()
