"""Where the database is: a file of the data folder, or what ``$DENV_DATABASE`` names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sqlalchemy import URL, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from denv.errors import StoreError, UsageError
from denv.store.database import Database

VARIABLE = "DENV_DATABASE"
DRIVER = "postgresql+psycopg"
LOCK_WAIT_S = 30
_CONNECT_S = 10


def database_url() -> URL | None:
    """Read which database the environment names, None where the data are in the folder.

    Raises
    ------
    UsageError
        It is no URL of a database that can be used.
    """
    text = os.environ.get(VARIABLE)
    if not text:
        return None
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise UsageError(f"${VARIABLE}: no URL of a database: {DRIVER}://HOST/NAME") from None
    if url.drivername not in {DRIVER, "postgresql", "postgres"}:
        raise UsageError(
            f"${VARIABLE}: {url.drivername} is not supported; use {DRIVER}://HOST/NAME"
        )
    return url.set(drivername=DRIVER)


def shown(url: URL) -> str:
    """Give a database's name without user, password and options."""
    host = url.host or "localhost"
    port = f":{url.port}" if url.port else ""
    return f"{DRIVER}://{host}{port}/{url.database or ''}"


def postgres_database(url: URL, *, connect_s: int = _CONNECT_S) -> Database:
    """Give a database of PostgreSQL; nothing is connected yet.

    Raises
    ------
    UsageError
        The extra is not installed, or an option of the URL is unknown.
    """
    limits = f"-c lock_timeout={LOCK_WAIT_S * 1000} -c idle_in_transaction_session_timeout=600000"
    # A machine that vanished lets go of what it held within a minute, not within hours.
    limits += " -c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3"
    try:
        engine = create_engine(
            url,
            paramstyle="format",  # values in the columns' order, as SQLite takes them
            pool_pre_ping=True,  # a server that was started again is found again
            connect_args={"connect_timeout": connect_s, "options": limits},
        )
    except (NoSuchModuleError, ModuleNotFoundError):
        raise UsageError(
            f"${VARIABLE} needs the extra `postgres`: pip install 'denv-parity[postgres]'"
        ) from None
    except (ArgumentError, TypeError) as error:
        raise UsageError(f"${VARIABLE}: {error}") from None
    return Database(engine, shown(url))


def sqlite_database(path: Path) -> Database:
    """Give the database of a file, which is made where it is missing.

    Raises
    ------
    StoreError
        The file cannot be made.
    """
    _keep_private(path)
    engine = create_engine(
        # Not written as a text, where a ? or % in a folder's name would mean something.
        URL.create("sqlite", database=str(path)),
        connect_args={"timeout": LOCK_WAIT_S, "check_same_thread": False},
    )
    event.listen(engine, "connect", _set_pragmas)
    return Database(engine, str(path))


def _keep_private(path: Path) -> None:
    """Make a new file that only its owner can read: it holds prompts and answers."""
    try:
        path.touch(mode=0o600)
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}") from error


def _set_pragmas(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    # WAL with NORMAL loses nothing when the process is killed, and cannot corrupt the file.
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.close()
