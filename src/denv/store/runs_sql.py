"""Runs in the database: their own rows, the journal of answers, the cache."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Row, delete, insert, select, true, update

from denv.records import CaseResult, Exchange, Json, Side
from denv.store import tables
from denv.store.database import Database
from denv.store.figures import spent_of
from denv.store.figures_sql import SPENT_COLUMNS
from denv.store.forms import (
    dump,
    exchange_from_text,
    exchange_to_text,
    result_from_document,
    result_to_document,
)
from denv.store.protocol import AnswerKey, RunRecord, StoredAnswer
from denv.store.purposes import purpose_of
from denv.store.runlog import stage_column
from denv.store.runlog_sql import add_entry, kept_digest

_PAGE = 500


class SqlRuns:
    """Runs in one database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._write, self._read = database.write, database.read
        # Compiled once: the journal is written thousands of times a minute.
        self._insert_answers = database.replacing(tables.answers)
        self._insert_results = database.replacing(tables.results)

    def create_run(self, record: RunRecord) -> None:
        """Add a new run."""
        identity = record.settings.get("identity") or {}
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
                    "suite": (identity.get("suite") or {}).get("sha256") or "",
                    "stage": stage_column(identity),
                    "verdict": (record.head or {}).get("verdict"),
                    "purpose": purpose_of(record.settings).value,
                    **_spent(record.head or {}),
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
        """Change what is given of a run; with a head it has ended, and comes into the log."""
        values: dict[str, Any] = {"state": state, "finished": finished}
        values["notes"] = None if notes is None else dump(notes)
        values["head"] = None if head is None else dump(head)
        values["verdict"] = None if head is None else head.get("verdict")
        values |= {} if head is None else _spent(head)
        given = {name: value for name, value in values.items() if value is not None}
        changed = update(tables.runs).where(tables.runs.c.run == run).values(given)
        if head is None:
            with self._write() as connection:
                connection.execute(changed)
            return
        # All results are there by now: what takes long holds up no other writer.
        with self._read() as connection:
            digest = kept_digest(connection, run, given["head"])
        with self._database.change() as connection:
            connection.execute(changed)
            add_entry(connection, run, digest)

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
            return {answer.key: answer for answer in map(_stored_answer, rows)}

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
        with (
            self._read() as connection,
            connection.execution_options(yield_per=_PAGE).execute(
                query.order_by(columns.case_index)
            ) as rows,
        ):
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

    def cached(
        self, keys: Sequence[bytes], *, not_before: float, not_after: float | None = None
    ) -> dict[bytes, StoredAnswer]:
        """Give the newest answer of each key between two times, both of them included."""
        columns = tables.answers.c
        latest = true() if not_after is None else columns.answered <= not_after
        found: dict[bytes, StoredAnswer] = {}
        with self._read() as connection:
            # A statement takes only so many values.
            for first in range(0, len(keys), _PAGE):
                rows = connection.execute(
                    select(tables.answers)
                    .where(columns.cache_key.in_(keys[first : first + _PAGE]))
                    .where(columns.answered >= not_before, latest)
                    .order_by(columns.answered)
                ).all()
                found |= {row.cache_key: _stored_answer(row) for row in rows}
        return found


def _spent(head: Mapping[str, Json]) -> dict[str, int | None]:
    """Give the columns of the tokens that a head counts."""
    return {c.name: n for c, n in zip(SPENT_COLUMNS, spent_of(head), strict=True)}


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
