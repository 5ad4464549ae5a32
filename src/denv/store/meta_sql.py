"""Short texts about the database as a whole, under names of their own."""

from __future__ import annotations

import secrets

from sqlalchemy import Connection, insert, select

from denv.store import tables
from denv.store.database import Database

_IDENTITY = "identity"
_META = tables.meta.c


class SqlMeta:
    """What is known of one database as a whole."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, name: str) -> str | None:
        """Give a text, or None."""
        with self._database.read() as connection:
            return _value(connection, name)

    def put(self, name: str, value: str) -> None:
        """Write a text in place of the one that was there."""
        with self._database.write() as connection:
            connection.exec_driver_sql(self._database.replacing(tables.meta), (name, value))

    def identity(self) -> str:
        """Give what tells these data from others: eight random digits, chosen when first asked for.

        It tells nothing of where the data are, and whoever uses the same database gets the same.
        """
        found = self.get(_IDENTITY)
        if found is not None:
            return found
        with self._database.change() as connection:
            found = _value(connection, _IDENTITY)
            if found is None:
                found = secrets.token_hex(4)
                connection.execute(insert(tables.meta), {"name": _IDENTITY, "value": found})
        return found


def _value(connection: Connection, name: str) -> str | None:
    found: str | None = connection.scalar(select(_META.value).where(_META.name == name))
    return found
