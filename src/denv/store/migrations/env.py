"""Alembic's environment: migrations run in the caller's connection and transaction."""

from alembic import context

from denv.store import tables

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=tables.metadata,
    transactional_ddl=False,  # the transaction is the caller's
)
context.run_migrations()
