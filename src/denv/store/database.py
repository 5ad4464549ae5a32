"""One database: how its transactions begin and how its errors are told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DatabaseError, SQLAlchemyError

from denv.errors import StoreError


class Database:
    """An engine, and ``name``, which errors are told with."""

    def __init__(self, engine: Engine, name: str) -> None:
        self.engine = engine
        self._name = name

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn what the database says into a ``StoreError``."""
        try:
            yield
        except DatabaseError as error:
            raise StoreError(f"{self._name}: {error.orig}") from error
        except SQLAlchemyError as error:
            raise StoreError(f"{self._name}: {error}") from error

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Read without holding up a writer."""
        with self.errors(), self.engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Write what depends on nothing that is read: one transaction."""
        with self.errors(), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def change(self) -> Iterator[Connection]:
        """Read and write what was read: one transaction that no other writer comes between.

        SQLite locks the whole file here, as a lock that is taken later fails at once where
        another process wrote meanwhile; other databases lock the rows that are read for update.
        """
        with self.errors(), self.engine.connect() as connection:
            if connection.dialect.name == "sqlite":
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            with _committed(connection):
                yield connection


@contextmanager
def _committed(connection: Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.rollback()
        raise
    connection.commit()
