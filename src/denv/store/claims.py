"""Who carries out a run, or a part of it: locks that are gone with their process.

Beside a SQLite file they are files, in PostgreSQL they are advisory locks of a connection.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from denv.errors import ResumeError, StoreError
from denv.store.database import Database

Held = Callable[[], bool]
"""Whether a claim is still held; one in a database goes with its connection. It may block."""


class Claims(Protocol):
    """Who holds which run; ``ResumeError`` where another process does."""

    def run(self, run: str, *, shared: bool = False) -> AbstractContextManager[Held]:
        """Hold a run for the length of the block; with ``shared`` beside others that share it."""

    def shard(self, run: str, first: int, last: int) -> AbstractContextManager[None]:
        """Hold some cases of a run; others may hold other cases, but nobody the whole run."""


class FileClaims:
    """Lock files in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def run(self, run: str, *, shared: bool = False) -> Iterator[Held]:
        """Hold a run for the length of the block."""
        with claimed(self._folder / f"run-{run}.lock", run, shared=shared):
            yield lambda: True

    @contextmanager
    def shard(self, run: str, first: int, last: int) -> Iterator[None]:
        """Hold some cases of a run."""
        whole = self._folder / f"run-{run}.lock"
        part = self._folder / f"run-{run}.{first}-{last}.lock"
        with claimed(whole, run, shared=True), claimed(part, f"{run}, cases {first} to {last},"):
            yield


class AdvisoryClaims:
    """Advisory locks of PostgreSQL, held by a connection of their own."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @contextmanager
    def run(self, run: str, *, shared: bool = False) -> Iterator[Held]:
        """Hold a run for the length of the block."""
        with self._connection() as connection, _held(connection, f"run {run}", run, shared=shared):
            yield lambda: _lives(connection)

    @contextmanager
    def shard(self, run: str, first: int, last: int) -> Iterator[None]:
        """Hold some cases of a run."""
        part = f"{run}, cases {first} to {last},"
        with (
            self._connection() as connection,
            _held(connection, f"run {run}", run, shared=True),
            _held(connection, f"run {part}", part),
        ):
            yield

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        with self._database.errors(), self._database.engine.connect() as connection:
            yield connection


def _lives(connection: Connection) -> bool:
    """Whether a connection is the one that took the lock; it is not made anew."""
    if connection.invalidated:
        return False
    try:
        connection.exec_driver_sql("SELECT 1")
        connection.commit()
    except DBAPIError as error:
        if not error.connection_invalidated:
            raise
        connection.rollback()
        return False
    return True


@contextmanager
def _held(connection: Connection, name: str, run: str, *, shared: bool = False) -> Iterator[None]:
    how = "_shared" if shared else ""
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], signed=True)
    taken = connection.scalar(text(f"SELECT pg_try_advisory_lock{how}(:n)"), {"n": number})
    connection.commit()  # the lock is the connection's, not the transaction's
    if not taken:
        raise ResumeError(f"run {run} is being carried out by another process")
    try:
        yield
    finally:
        # A connection that was lost has let go already.
        if not connection.invalidated:
            try:
                connection.execute(text(f"SELECT pg_advisory_unlock{how}(:n)"), {"n": number})
                connection.commit()
            except DBAPIError as error:
                if not error.connection_invalidated:
                    raise


@contextmanager
def claimed(lock: Path, run: str, *, shared: bool = False) -> Iterator[None]:
    """Hold a run's lock file for the length of the block.

    ``shared`` lets others hold it too that share it; nobody then has it for himself.

    Raises
    ------
    ResumeError
        Another process holds it.
    StoreError
        The file cannot be made.
    """
    descriptor = _locked(lock, run, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
    try:
        yield
    finally:
        # A file that others may hold keeps its name; who next holds it alone removes it.
        if not shared:
            lock.unlink(missing_ok=True)
        os.close(descriptor)


def _locked(lock: Path, run: str, how: int) -> int:
    while True:
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreError(f"{lock}: {error.strerror}") from error
        try:
            fcntl.flock(descriptor, how | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise ResumeError(f"run {run} is being carried out by another process") from None
        # Its last holder may have removed the file between our opening and our locking it.
        if os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)
