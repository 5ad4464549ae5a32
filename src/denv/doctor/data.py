"""The data folder and the database: there, private, writable, whole, of this program's form."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Connection, select

from denv.doctor.finding import Finding, fault, note, ok, warning
from denv.errors import StoreError, UsageError
from denv.rollout.engine.address import ADDRESS, LOCK, find_serving
from denv.store import tables
from denv.store.database import Database
from denv.store.looking import database_as_it_is
from denv.store.revisions import PRESENT, form_of
from denv.store.sql import FILE_NAME

FULL_BYTES = 100 * 10**6
NEARLY_FULL_BYTES = 10**9
QUICK_BYTES = 2 * 10**9
"""A larger file is not read through here: it takes minutes, and `denv db check` is for that."""

_MEND = "denv db check tells how far it is damaged; put the last copy back"
_REACH = "see that its server runs, and that $DENV_DATABASE, user and password are right"

SHOWN = 5
WAIT_S = 5


def examine_data(folder: Path) -> Iterator[Finding]:
    """Look at a folder and its database."""
    yield from _folder(folder)
    yield from _database(folder)
    if folder.is_dir():
        yield from _private(folder)
        yield from _left_over(folder)


def _folder(folder: Path) -> Iterator[Finding]:
    if not folder.exists():
        yield _missing(folder)
        return
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(4096))
            file.flush()
        free = shutil.disk_usage(folder).free
    except OSError as error:
        advice = "name another by --store or $DENV_HOME, or see to its rights and its disk"
        yield fault("folder", f"{folder} cannot be written: {error.strerror}", advice)
        return
    yield ok("folder", f"{folder} can be written")
    told = f"{free / 1e9:,.1f} GB are free"
    if free < FULL_BYTES:
        yield fault("disk", told, "make room: denv db prune --older-than 90d takes old runs away")
    elif free < NEARLY_FULL_BYTES:
        yield warning("disk", told, "denv db prune --older-than 90d takes old runs away")
    else:
        yield ok("disk", told)


def _missing(folder: Path) -> Finding:
    there = next(parent for parent in folder.absolute().parents if parent.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        text = f"{folder} is not there, and {there} cannot be written"
        return fault("folder", text, "name another by --store or $DENV_HOME")
    return note("folder", f"{folder} is not there yet", "it is made when it is first needed")


def _database(folder: Path) -> Iterator[Finding]:
    try:
        database = database_as_it_is(folder, wait_s=WAIT_S)
    except UsageError as error:
        yield fault("database", str(error), "correct $DENV_DATABASE, or unset it")
        return
    if database is None:
        yield note("database", "there are no data yet", "the first run makes it")
        return
    try:
        with database.read() as connection:
            yield _form(database, connection)
            if database.is_sqlite:
                yield _whole(database, connection)
    except StoreError as error:
        yield fault("database", str(error), _MEND if database.is_sqlite else _REACH)
    finally:
        database.engine.dispose()


def _form(database: Database, connection: Connection) -> Finding:
    form = form_of(connection)
    if form.is_present:
        return ok("database", f"{database.name}, form {PRESENT!r}")
    if form.revision is None:
        return note("database", f"{database.name} is empty", "the first run makes its tables")
    if form.is_older:
        text = f"{database.name} has the form {form.revision!r} of an older denv"
        return fault("database", text, "end what works on it, then denv db upgrade")
    text = f"{database.name} has the form {form.revision!r}, newer than {PRESENT!r}"
    return fault("database", text, "install the newer denv that wrote it")


def _whole(database: Database, connection: Connection) -> Finding:
    size = Path(database.name).stat().st_size
    told = f"{size / 1e6:,.1f} MB"
    if size > QUICK_BYTES:
        text = f"{told}, too large for a quick look"
        return note("integrity", text, "denv db check reads it all")
    found = connection.exec_driver_sql(f"PRAGMA quick_check({SHOWN})").scalars().all()
    if found != ["ok"]:
        return fault("integrity", "; ".join(map(str, found)), _MEND)
    return ok("integrity", f"{told}, whole at a quick look")


# ---------------------------------------------------------------- files beside it


def _private(folder: Path) -> Iterator[Finding]:
    """Tell which secret files others can open: the keys that sign, and the data themselves."""
    open_ones = [path for path in _secret_files(folder) if path.stat().st_mode & 0o077]
    for path in open_ones:
        yield warning("private files", f"{path} can be opened by others", f"chmod 600 {path}")
    if not open_ones:
        yield ok("private files", "keys and data are their owner's alone")


def _secret_files(folder: Path) -> list[Path]:
    found = [path for pattern in ("*.key", f"{FILE_NAME}*") for path in folder.glob(pattern)]
    return sorted(path for path in found if path.is_file())


def _left_over(folder: Path) -> Iterator[Finding]:
    """Tell what processes that were killed have left, and the runs that wait to be gone on with."""
    locks = {lock.name: _is_held(lock) for lock in sorted(folder.glob("run-*.lock"))}
    if free := [name for name, held in locks.items() if not held]:
        text = f"held by nobody: {_some(free)}"
        yield note("locks", text, "they are in nobody's way; the next holder removes them")
    else:
        yield ok("locks", f"{len(locks)} held" if locks else "none is left over")
    if (folder / ADDRESS).exists() and find_serving(folder) is None:
        text = f"{ADDRESS} is there, and nobody holds {LOCK}: a denv serve was killed"
        yield note("locks", text, "the next denv serve writes it anew")
    yield from _stopped(folder)


def _is_held(lock: Path) -> bool:
    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False  # its holder has just ended
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _stopped(folder: Path) -> Iterator[Finding]:
    """Tell runs that say that they run while nobody holds them; who holds one is its lock's."""
    database = database_as_it_is(folder) if (folder / FILE_NAME).is_file() else None
    if database is None or not database.is_sqlite:
        return
    try:
        with database.read() as connection:
            if not form_of(connection).is_present:
                return
            running = select(tables.runs.c.run).where(tables.runs.c.state == "running")
            runs = [
                run
                for run in connection.scalars(running.order_by(tables.runs.c.started.desc()))
                if not _is_held(folder / f"run-{run}.lock")
            ]
    except StoreError:
        return  # told as the database's own fault
    finally:
        database.engine.dispose()
    if runs:
        text = f"nobody carries out: {_some(runs)}"
        yield note("stopped runs", text, f"denv parity run --resume {runs[0]} goes on with it")


def _some(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
