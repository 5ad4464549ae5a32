"""The store on SQLAlchemy Core: SQLite in WAL mode."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    Connection,
    Row,
    Table,
    create_engine,
    delete,
    event,
    insert,
    inspect,
    select,
    update,
)

from denv.errors import StoreError
from denv.records import CaseResult, Exchange, Json, Side
from denv.store import tables
from denv.store.alarming import AlarmStore
from denv.store.alarms_sql import SqlAlarmStore
from denv.store.claims import claimed
from denv.store.database import Database
from denv.store.forms import (
    dump,
    exchange_from_text,
    exchange_to_text,
    result_from_document,
    result_to_document,
)
from denv.store.protocol import (
    AnswerKey,
    MeasureRecord,
    RunRecord,
    StoredAnswer,
    StoredProbe,
)
from denv.store.rollouts import RolloutStore
from denv.store.rollouts_sql import SqlRolloutStore
from denv.store.schedules_sql import SqlScheduleStore
from denv.store.scheduling import ScheduleStore

_LOCK_WAIT_S = 30
_PAGE = 500


def open_store(folder: Path) -> SqlStore:
    """Open the data of a folder, which is made where it is missing.

    Raises
    ------
    StoreError
        The folder cannot be made or written, or holds data of another program version.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder}: {error.strerror}") from error
    return SqlStore(folder / "denv.sqlite3")


class SqlStore:
    """Runs in one SQLite file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        _keep_private(path)
        self._engine = create_engine(
            # Not written as a text, where a ? or % in a folder's name would mean something.
            URL.create("sqlite", database=str(path)),
            connect_args={"timeout": _LOCK_WAIT_S, "check_same_thread": False},
        )
        # Compiled once: the journal is written thousands of times a minute.
        self._insert_answers = self._compiled_insert(tables.answers)
        self._insert_results = self._compiled_insert(tables.results)
        self._insert_probes = self._compiled_insert(tables.probes)
        event.listen(self._engine, "connect", _set_pragmas)
        database = self._database = Database(self._engine, str(path))
        self._errors, self._write, self._read = database.errors, database.write, database.read
        with self._errors():
            self._prepare()
        self.rollouts: RolloutStore = SqlRolloutStore(database)
        self.alarms: AlarmStore = SqlAlarmStore(database)
        self.schedules: ScheduleStore = SqlScheduleStore(database)

    def _compiled_insert(self, table: Table) -> str:
        return str(insert(table).prefix_with("OR REPLACE").compile(dialect=self._engine.dialect))

    def _prepare(self) -> None:
        with self._engine.connect() as connection:
            found = self._schema_version(connection)
            if found is None:
                # Others may be opening the same new file: one of them makes the tables.
                connection.exec_driver_sql("BEGIN IMMEDIATE")
                tables.metadata.create_all(connection)
                connection.execute(
                    insert(tables.meta).prefix_with("OR IGNORE"),
                    {"name": "schema_version", "value": str(tables.SCHEMA_VERSION)},
                )
                connection.commit()
            elif found != str(tables.SCHEMA_VERSION):
                raise StoreError(
                    f"{self._path}: the data have form {found}, this program reads "
                    f"{tables.SCHEMA_VERSION}"
                )
            elif set(tables.metadata.tables) - set(inspect(connection).get_table_names()):
                # What came after the first files of this form is in tables of its own.
                connection.exec_driver_sql("BEGIN IMMEDIATE")
                tables.metadata.create_all(connection)
                connection.commit()

    def try_writing(self) -> None:
        """Write a row of no meaning.

        Raises
        ------
        StoreError
            The store cannot be written.
        """
        row = {"name": "tried", "value": os.urandom(8).hex()}
        with self._write() as connection:
            connection.execute(insert(tables.meta).prefix_with("OR REPLACE"), row)

    @staticmethod
    def _schema_version(connection: Connection) -> str | None:
        """Give the form of what is there, before anything of it is changed."""
        if not inspect(connection).has_table(tables.meta.name):
            return None
        version: str | None = connection.scalar(
            select(tables.meta.c.value).where(tables.meta.c.name == "schema_version")
        )
        return version

    # -------------------------------------------------------------- runs

    def claim(self, run: str) -> AbstractContextManager[None]:
        """Hold a run for the length of the block; ``ResumeError`` where another process does."""
        return claimed(self._path.with_name(f"run-{run}.lock"), run)

    @contextmanager
    def claim_shard(self, run: str, first: int, last: int) -> Iterator[None]:
        """Hold some cases of a run; others may hold other cases, but nobody the whole run."""
        whole = self._path.with_name(f"run-{run}.lock")
        part = self._path.with_name(f"run-{run}.{first}-{last}.lock")
        with claimed(whole, run, shared=True), claimed(part, f"{run}, cases {first} to {last},"):
            yield

    def create_run(self, record: RunRecord) -> None:
        """Add a new run."""
        with self._write() as connection:
            connection.execute(
                insert(tables.runs),
                {
                    "run": record.run,
                    "started": record.started,
                    "state": record.state,
                    "settings": dump(record.settings),
                    "notes": dump(record.notes),
                    "head": None if record.head is None else dump(record.head),
                    "finished": record.finished,
                },
            )

    def get_run(self, run: str) -> RunRecord | None:
        """Give one run, or None."""
        with self._read() as connection:
            row = connection.execute(
                select(tables.runs).where(tables.runs.c.run == run)
            ).one_or_none()
        return None if row is None else _run_record(row)

    def latest_run(self) -> RunRecord | None:
        """Give the run that was started last, or None."""
        with self._read() as connection:
            row = connection.execute(
                select(tables.runs).order_by(tables.runs.c.started.desc()).limit(1)
            ).one_or_none()
        return None if row is None else _run_record(row)

    def update_run(
        self,
        run: str,
        *,
        state: str | None = None,
        notes: Mapping[str, Json] | None = None,
        head: Mapping[str, Json] | None = None,
        finished: float | None = None,
    ) -> None:
        """Change what is given of a run."""
        values: dict[str, Any] = {"state": state, "finished": finished}
        values["notes"] = None if notes is None else dump(notes)
        values["head"] = None if head is None else dump(head)
        given = {name: value for name, value in values.items() if value is not None}
        with self._write() as connection:
            connection.execute(update(tables.runs).where(tables.runs.c.run == run).values(given))

    def change_notes(
        self, run: str, change: Callable[[Mapping[str, Json]], Mapping[str, Json]]
    ) -> None:
        """Replace a run's notes by what ``change`` makes of them; no other writer comes between."""
        columns = tables.runs.c
        with self._database.change() as connection:
            notes = connection.scalar(
                select(columns.notes).where(columns.run == run).with_for_update()
            )
            if notes is not None:
                changed = dump(change(json.loads(notes)))
                connection.execute(
                    update(tables.runs).where(columns.run == run).values(notes=changed)
                )

    # -------------------------------------------------------------- journal

    def append(
        self, run: str, answers: Sequence[StoredAnswer], results: Sequence[CaseResult]
    ) -> None:
        """Journal answers and results in one transaction; what is there already is replaced."""
        with self._write() as connection:
            if answers:
                rows = [_answer_row(run, answer) for answer in answers]
                connection.exec_driver_sql(self._insert_answers, rows)
            if results:
                rows = [_result_row(run, result) for result in results]
                connection.exec_driver_sql(self._insert_results, rows)

    def answers(self, run: str, first: int, last: int) -> dict[AnswerKey, StoredAnswer]:
        """Give the journaled answers of the cases ``first`` to ``last``, both included."""
        columns = tables.answers.c
        with self._read() as connection:
            rows = connection.execute(
                select(tables.answers)
                .where(columns.run == run)
                .where(columns.case_index.between(first, last))
            ).all()
        found = map(_stored_answer, rows)
        return {answer.key: answer for answer in found}

    def finished(self, run: str, first: int, last: int) -> set[int]:
        """Give which of the cases ``first`` to ``last`` have a result."""
        columns = tables.results.c
        with self._read() as connection:
            return set(
                connection.scalars(
                    select(columns.case_index)
                    .where(columns.run == run)
                    .where(columns.case_index.between(first, last))
                )
            )

    def results(self, run: str, first: int = 0, last: int | None = None) -> Iterator[CaseResult]:
        """Stream a run's results in the suite's order, or those of some cases."""
        return map(result_from_document, self._documents(run, first, last))

    def documents(self, run: str) -> Iterator[dict[str, Json]]:
        """Stream a run's results in the suite's order, as the report shows them."""
        return self._documents(run, 0, None)

    def _documents(self, run: str, first: int, last: int | None) -> Iterator[dict[str, Json]]:
        columns = tables.results.c
        query = select(columns.document).where(columns.run == run, columns.case_index >= first)
        if last is not None:
            query = query.where(columns.case_index <= last)
        with self._read() as connection:
            rows = connection.execution_options(yield_per=_PAGE).execute(
                query.order_by(columns.case_index)
            )
            for (document,) in rows:
                yield json.loads(document)

    def forget(self, run: str, keys: Sequence[AnswerKey]) -> None:
        """Take answers, and their cases' results, out of a run, so that they are asked again."""
        answers, results = tables.answers.c, tables.results.c
        with self._write() as connection:
            for key in keys:
                connection.execute(
                    delete(tables.answers)
                    .where(answers.run == run, answers.case_index == key.case)
                    .where(answers.side == key.side, answers.repeat == key.repeat)
                    .where(answers.streamed == int(key.streamed))
                )
                connection.execute(
                    delete(tables.results).where(results.run == run, results.case_index == key.case)
                )

    # -------------------------------------------------------------- cache

    def cached(self, keys: Sequence[bytes], *, not_before: float) -> dict[bytes, StoredAnswer]:
        """Give the newest answer of each key that is no older than ``not_before``."""
        columns = tables.answers.c
        found: dict[bytes, StoredAnswer] = {}
        with self._read() as connection:
            # A statement takes only so many values.
            for first in range(0, len(keys), _PAGE):
                rows = connection.execute(
                    select(tables.answers)
                    .where(columns.cache_key.in_(keys[first : first + _PAGE]))
                    .where(columns.answered >= not_before)
                    .order_by(columns.answered)
                ).all()
                found |= {row.cache_key: _stored_answer(row) for row in rows}
        return found

    # -------------------------------------------------------------- measurements

    def create_measure(self, record: MeasureRecord) -> None:
        """Add a new measurement."""
        with self._write() as connection:
            connection.execute(
                insert(tables.measures),
                {
                    "measure": record.measure,
                    "instrument": record.instrument,
                    "started": record.started,
                    "state": record.state,
                    "settings": dump(record.settings),
                    "notes": dump(record.notes),
                    "document": None if record.document is None else dump(record.document),
                    "finished": record.finished,
                },
            )

    def get_measure(self, measure: str) -> MeasureRecord | None:
        """Give one measurement, or None."""
        with self._read() as connection:
            row = connection.execute(
                select(tables.measures).where(tables.measures.c.measure == measure)
            ).one_or_none()
        if row is None:
            return None
        return MeasureRecord(
            measure=row.measure,
            instrument=row.instrument,
            started=row.started,
            state=row.state,
            settings=json.loads(row.settings),
            notes=json.loads(row.notes),
            document=None if row.document is None else json.loads(row.document),
            finished=row.finished,
        )

    def update_measure(
        self,
        measure: str,
        *,
        state: str | None = None,
        notes: Mapping[str, Json] | None = None,
        document: Mapping[str, Json] | None = None,
        finished: float | None = None,
    ) -> None:
        """Change what is given of a measurement."""
        values: dict[str, Any] = {"state": state, "finished": finished}
        values["notes"] = None if notes is None else dump(notes)
        values["document"] = None if document is None else dump(document)
        given = {name: value for name, value in values.items() if value is not None}
        columns = tables.measures.c
        with self._write() as connection:
            connection.execute(
                update(tables.measures).where(columns.measure == measure).values(given)
            )

    def keep_probe(self, measure: str, probe: StoredProbe) -> None:
        """Journal one answer; what is there already is replaced."""
        exchange = probe.exchange
        row = (
            measure,
            probe.key,
            probe.side.value,
            probe.answered,
            exchange_to_text(exchange),
            exchange.body,
        )
        with self._write() as connection:
            connection.exec_driver_sql(self._insert_probes, row)

    def find_probe(self, measure: str, key: bytes) -> StoredProbe | None:
        """Give the journaled answer of a probe, or None."""
        columns = tables.probes.c
        with self._read() as connection:
            row = connection.execute(
                select(tables.probes).where(columns.measure == measure).where(columns.key == key)
            ).one_or_none()
        if row is None:
            return None
        exchange = exchange_from_text(row.exchange, row.body)
        return StoredProbe(row.key, Side(row.side), exchange, row.answered)

    def close(self) -> None:
        """Let go of the file."""
        self._engine.dispose()


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


def _answer_row(run: str, answer: StoredAnswer) -> tuple[Any, ...]:
    """Give the values of the table's columns, in their order."""
    key = answer.key
    return (
        run,
        key.case,
        key.side.value,
        key.repeat,
        int(key.streamed),
        answer.max_tokens,
        answer.answered,
        answer.cache_key,
        exchange_to_text(answer.exchange),
        answer.exchange.body,
    )


def _result_row(run: str, result: CaseResult) -> tuple[Any, ...]:
    """Give the values of the table's columns, in their order."""
    return (
        run,
        result.index,
        result.outcome.value,
        result.cause.value if result.cause else None,
        dump(result_to_document(result)),
    )


def _stored_answer(row: Row[Any]) -> StoredAnswer:
    exchange: Exchange = exchange_from_text(row.exchange, row.body)
    return StoredAnswer(
        key=AnswerKey(row.case_index, Side(row.side), row.repeat, bool(row.streamed)),
        exchange=exchange,
        max_tokens=row.max_tokens,
        answered=row.answered,
        cache_key=row.cache_key,
    )


def _run_record(row: Row[Any]) -> RunRecord:
    return RunRecord(
        run=row.run,
        started=row.started,
        state=row.state,
        settings=json.loads(row.settings),
        notes=json.loads(row.notes),
        head=None if row.head is None else json.loads(row.head),
        finished=row.finished,
    )
