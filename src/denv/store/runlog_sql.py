"""The log of ended runs in the database."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select

from denv.store import tables
from denv.store.database import Database
from denv.store.runlog import (
    FIRST,
    LogEntry,
    LogPlace,
    chain_faults,
    hash_of,
    place_of,
    report_digest,
    stage_digest,
)

_PAGE = 500


class SqlRunLog:
    """The log in one database; entries are only ever added, by :func:`add_entry`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def entries(self) -> Iterator[LogEntry]:
        """Stream the log from its beginning."""
        with self._database.read() as connection:
            yield from _entries(connection)

    def place(self, run: str) -> LogPlace | None:
        """Tell where a run stands; None where it has not ended, or ended before there was a log."""
        columns = tables.run_log.c
        with self._database.read() as connection:
            own = connection.execute(
                select(columns.suite, columns.stage).where(columns.run == run).limit(1)
            ).one_or_none()
            if own is None:
                return None
            alike = connection.execute(
                select(tables.run_log)
                .where(columns.suite == own.suite, columns.stage == own.stage)
                .order_by(columns.number)
            )
            entries = connection.scalar(select(func.count()).select_from(tables.run_log)) or 0
            return place_of(run, map(_entry, alike), entries=entries)

    def fault(self, run: str) -> str | None:
        """Tell what of a run's report or of the log was changed; None where all is as written."""
        with self._database.read() as connection:
            head = connection.scalar(select(tables.runs.c.head).where(tables.runs.c.run == run))
            ended = [] if head is None else [(run, head)]
            return next(_faults(connection, ended), None)


def add_entry(connection: Connection, run: str, digest: str) -> None:
    """Add a run that has just ended; the caller's transaction lets no other change between."""
    runs, log = tables.runs.c, tables.run_log.c
    row = connection.execute(select(tables.runs).where(runs.run == run)).one_or_none()
    if row is None:
        return
    before = connection.execute(
        select(log.number, log.entry).order_by(log.number.desc()).limit(1)
    ).one_or_none()
    number, previous = (0, FIRST) if before is None else (before.number, before.entry)
    identity = json.loads(row.settings).get("identity", {})
    content = {
        "run": run,
        "finished": row.started if row.finished is None else row.finished,
        "suite": identity.get("suite", {}).get("sha256", ""),
        "stage": stage_digest(identity.get("stage", {})),
        "verdict": json.loads(row.head).get("verdict", ""),
        "report": digest,
    }
    entry = {"number": number + 1, "previous": previous, "entry": hash_of(previous, content)}
    connection.execute(insert(tables.run_log), {**content, **entry})


def kept_digest(connection: Connection, run: str, head: str) -> str:
    """Give the digest of a run's head and of the results that are kept of it."""
    return report_digest(head, _documents(connection, run))


def _documents(connection: Connection, run: str) -> Iterator[str]:
    columns = tables.results.c
    query = select(columns.document).where(columns.run == run).order_by(columns.case_index)
    with connection.execution_options(yield_per=_PAGE).execute(query) as rows:
        yield from rows.scalars()


def log_faults(connection: Connection) -> Iterator[str]:
    """Tell what is wrong with the log, and which kept report is not the one that was logged."""
    runs = tables.runs.c
    ended = connection.execute(
        select(runs.run, runs.head)
        .where(runs.head.is_not(None), runs.state != "running")
        .order_by(runs.run)
    ).all()
    yield from _faults(connection, [(run, head) for run, head in ended])


def _faults(connection: Connection, ended: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Hold the log against itself, and runs, each with its head, against their last entries."""
    entries = list(_entries(connection))
    yield from chain_faults(entries)
    last = {entry.run: entry for entry in entries}
    for run, head in ended:
        if run in last and kept_digest(connection, run, head) != last[run].report:
            yield f"the report of run {run} is not the one in the log of runs"


def _entries(connection: Connection) -> Iterable[LogEntry]:
    return map(_entry, connection.execute(select(tables.run_log).order_by(tables.run_log.c.number)))


def _entry(row: Row[Any]) -> LogEntry:
    return LogEntry(**row._asdict())
