"""One database: how its transactions begin and how its errors are told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from json import JSONDecodeError

from sqlalchemy import Connection, Engine, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DatabaseError, SQLAlchemyError

from denv.errors import DamagedError, StoreError

_CHANGES = 0x64656E76
"""The lock that changes take in PostgreSQL: any number that no other program of it uses."""

_MALFORMED = "malformed"
_NO_TEXT = "Could not decode"
_HINTS = {
    _MALFORMED: "the file is damaged: put its last copy back",
    _NO_TEXT: "the file is damaged: put its last copy back",
    "not a database": "the file is no database of denv",
    "database is locked": "another process has written for 30 s without an end",
}


class Database:
    """An engine, and ``name``, which errors are told with."""

    def __init__(self, engine: Engine, name: str) -> None:
        self.engine = engine
        self.name = name

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a file of this machine."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn what the database says, and rows that are no JSON, into a ``StoreError``."""
        try:
            yield
        except (JSONDecodeError, UnicodeDecodeError) as error:
            raise DamagedError(f"{self.name}: {error}: {_HINTS[_MALFORMED]}") from error
        except DatabaseError as error:
            said = str(error.orig)
            damaged = any(sign in said for sign in (_MALFORMED, _NO_TEXT))
            kind = DamagedError if damaged else StoreError
            raise kind(f"{self.name}: {_told(said)}") from error
        except SQLAlchemyError as error:
            raise StoreError(f"{self.name}: {error}") from error

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
        """Read and write what was read: one transaction that no other change comes between.

        SQLite locks the whole file, as a lock that is taken later fails at once where another
        process wrote meanwhile; in PostgreSQL changes wait for one another by a lock of their own.
        """
        with self.errors(), self.engine.connect() as connection:
            if self.is_sqlite:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            else:
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_CHANGES})")
            with _committed(connection):
                yield connection

    def replacing(self, table: Table) -> str:
        """Compile the insertion of rows, values in the columns' order, in place of equal keys."""
        make = sqlite.insert if self.is_sqlite else postgresql.insert
        statement = make(table)
        others = {c.name: statement.excluded[c.name] for c in table.columns if not c.primary_key}
        keys = [column.name for column in table.primary_key]
        replacing = statement.on_conflict_do_update(index_elements=keys, set_=others)
        return str(replacing.compile(dialect=self.engine.dialect))


def _told(message: str) -> str:
    line = " ".join(message.split())
    hint = next((hint for sign, hint in _HINTS.items() if sign in line), None)
    return line if hint is None else f"{line}: {hint}"


@contextmanager
def _committed(connection: Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.rollback()
        raise
    connection.commit()
