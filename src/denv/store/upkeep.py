"""Looking after a database: is it whole, a copy before it is changed, and what may go."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Table, delete, func, select

from denv.errors import StoreError
from denv.store import tables
from denv.store.database import Database
from denv.store.runlog_sql import log_faults

_PAGE = 200


def faults_of(database: Database) -> list[str]:
    """Look through the whole database; give what is wrong with it, nothing where all is well."""
    with database.read() as connection:
        if database.is_sqlite:
            found = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
            if found != ["ok"]:
                return [str(line) for line in found]  # what rows say means nothing then
        # PostgreSQL checks pages as it reads them, which the counting does.
        return [*_orphans(connection), *log_faults(connection)]


def _orphans(connection: Connection) -> Iterator[str]:
    """Tell rows whose owner is gone: they are of no use, and say that something was lost."""
    for child, parent, column in _CHILDREN:
        owners = select(parent.c[column])
        count = connection.scalar(
            select(func.count()).select_from(child).where(child.c[column].not_in(owners))
        )
        if count:
            yield f"{count} rows of {child.name} belong to no {column} that is there"


_CHILDREN = (
    (tables.answers, tables.runs, "run"),
    (tables.results, tables.runs, "run"),
    (tables.probes, tables.measures, "measure"),
    (tables.decisions, tables.rollouts, "rollout"),
    (tables.deliveries, tables.alarms, "alarm"),
    (tables.publication_files, tables.publications, "publication"),
    (tables.sessions, tables.tokens, "token"),
)


def counts_of(database: Database) -> dict[str, int]:
    """Count the rows of each table."""
    with database.read() as connection:
        return {
            table.name: connection.scalar(select(func.count()).select_from(table)) or 0
            for table in tables.metadata.sorted_tables
        }


def copy_file(database: Database, target: Path) -> None:
    """Copy a SQLite database as it is now, while others may go on with it.

    Raises
    ------
    StoreError
        The copy cannot be made, or there is one of that name.
    """
    source = Path(database.name)
    # Half a copy, where this is killed, bears another name: whoever needs one takes the last.
    part = target.with_name(f"{target.name}.part")
    there = f"{target} is there already: move it away first"
    if target.exists():
        raise StoreError(there)
    try:
        part.touch(mode=0o600, exist_ok=False)
        with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(part)) as new:
            old.backup(new)
        part.rename(target)
    except FileExistsError:
        raise StoreError(there) from None
    except (OSError, sqlite3.Error) as error:
        part.unlink(missing_ok=True)
        raise StoreError(f"{target}: {error}") from error


# ---------------------------------------------------------------- retention


@dataclass(frozen=True, slots=True)
class Old:
    """A run or measurement that may go; ``size`` in bytes is that of its journal."""

    what: str
    name: str
    started: float
    size: int


def prunable(
    database: Database, *, before: float | None, most_bytes: int | None
) -> tuple[Old, ...]:
    """Give what retention takes away, the oldest first.

    That is what started earlier than ``before`` (Unix s), and more of the oldest until all
    journals together are no larger than ``most_bytes``; what has no journal, as a speed run,
    would make no room. What is still under way, the run that a schedule compares with, and the
    runs of rollouts that have not ended stay whatever their age.
    """
    with database.read() as connection:
        kept = _kept(connection)
        everything = sorted(_aged(connection), key=lambda old: (old.started, old.name))
    total = sum(old.size for old in everything)
    gone = []
    for old in everything:
        too_old = before is not None and old.started < before
        too_large = most_bytes is not None and total > most_bytes and old.size > 0
        if old.name not in kept and (too_old or too_large):
            gone.append(old)
            total -= old.size
    return tuple(gone)


def _kept(connection: Connection) -> frozenset[str]:
    """Name what something else still reads."""
    running = connection.scalars(select(tables.runs.c.run).where(tables.runs.c.state == "running"))
    measuring = connection.scalars(
        select(tables.measures.c.measure).where(tables.measures.c.state == "running")
    )
    baselines = connection.scalars(
        select(tables.schedules.c.baseline).where(tables.schedules.c.baseline.is_not(None))
    )
    states = connection.scalars(
        select(tables.rollouts.c.state).where(tables.rollouts.c.ended.is_(None))
    )
    named = {text for state in states for text in _texts(json.loads(state))}
    return frozenset({*running, *measuring, *baselines, *named})


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _aged(connection: Connection) -> Iterator[Old]:
    for owner, journal, column in (
        (tables.runs, tables.answers, "run"),
        (tables.measures, tables.probes, "measure"),
    ):
        # Bytes of the body, characters of the rest: near enough to what it takes.
        size = func.sum(func.length(journal.c.body) + func.length(journal.c.exchange))
        sizes = (
            select(journal.c[column].label("name"), size.label("size"))
            .group_by(journal.c[column])
            .subquery()
        )
        rows = connection.execute(
            select(owner.c[column], owner.c.started, sizes.c.size).outerjoin(
                sizes, sizes.c.name == owner.c[column]
            )
        )
        for name, started, taken in rows:
            yield Old(column, name, started, int(taken or 0))


def prune(database: Database, gone: Sequence[Old]) -> None:
    """Take runs and measurements away with all that belongs to them, and give the room back."""
    for first in range(0, len(gone), _PAGE):
        names = [old.name for old in gone[first : first + _PAGE]]
        with database.change() as connection:
            for table, column in _OWNED:
                connection.execute(delete(table).where(table.c[column].in_(names)))
    if gone and database.is_sqlite:
        with database.errors(), database.engine.connect() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT").exec_driver_sql("VACUUM")


_OWNED: tuple[tuple[Table, str], ...] = (
    (tables.answers, "run"),
    (tables.results, "run"),
    (tables.runs, "run"),
    (tables.probes, "measure"),
    (tables.measures, "measure"),
)
