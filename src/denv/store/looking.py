"""The data for those who only look: nothing is made, nothing is changed, nobody has to wait."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import create_engine

from denv.store.claims import AdvisoryClaims, FileClaims
from denv.store.database import Database
from denv.store.engines import database_url, postgres_database
from denv.store.revisions import require_present
from denv.store.sql import FILE_NAME, SqlStore

WAIT_S = 2


def database_as_it_is(folder: Path, *, wait_s: int = WAIT_S) -> Database | None:
    """Give the database of a folder, whatever its form; None where there is no file.

    Raises
    ------
    UsageError
        ``$DENV_DATABASE`` names no database that can be used.
    """
    url = database_url()
    if url is not None:
        return postgres_database(url, connect_s=wait_s)
    file = folder / FILE_NAME
    if not file.is_file():
        return None
    address = f"{file.absolute().as_uri()}?mode=ro"
    engine = create_engine(
        "sqlite://",
        creator=lambda: sqlite3.connect(address, uri=True, timeout=wait_s, check_same_thread=False),
    )
    return Database(engine, str(file))


@contextmanager
def store_as_it_is(folder: Path, *, wait_s: int = WAIT_S) -> Iterator[SqlStore | None]:
    """Give the store of a folder for the length of the block; None where there is none.

    Raises
    ------
    StoreError
        The data cannot be read, or have the form of another program version.
    UsageError
        ``$DENV_DATABASE`` names no database that can be used.
    """
    database = database_as_it_is(folder, wait_s=wait_s)
    if database is None:
        yield None
        return
    try:
        require_present(database)
        claims = FileClaims(folder) if database.is_sqlite else AdvisoryClaims(database)
        yield SqlStore(database, claims)
    finally:
        database.engine.dispose()
