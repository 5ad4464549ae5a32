"""The lists of pages, API and metrics, from the database.

No list reads what grows with a run. Runs carry what lists are filtered by in columns of their own,
which are written once a run. Results that did not pass are in an index that passing ones, nearly
all, cost nothing: it is in the suite's order, so that a page of any filter is read from it alone.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    case,
    func,
    literal,
    select,
    tuple_,
)

from denv.records import Json
from denv.store import tables
from denv.store.browsing import (
    AHEAD_S,
    MOST_ROWS,
    SILENT,
    MeasureRow,
    RunRow,
    StageRow,
    SuiteRow,
    can_be_kept,
)
from denv.store.database import Database
from denv.store.purposes import Purpose
from denv.store.tables import NOT_PASSED

_RUNS, _RESULTS, _MEASURES = tables.runs.c, tables.results.c, tables.measures.c
_BEYOND = 2**31
"""Case indexes are below it; PostgreSQL refuses to compare with what its integers do not hold."""

_RUN_COLUMNS = (
    _RUNS.run, _RUNS.started, _RUNS.finished, _RUNS.state, _RUNS.verdict, _RUNS.stage,
    _RUNS.settings, _RUNS.notes, _RUNS.purpose,
)  # fmt: skip
_MEASURE_COLUMNS = (
    _MEASURES.measure, _MEASURES.instrument, _MEASURES.started, _MEASURES.finished,
    _MEASURES.state, _MEASURES.verdict, _MEASURES.stage, _MEASURES.settings, _MEASURES.notes,
)  # fmt: skip


class SqlBrowsing:
    """Read-only lists of one database."""

    def __init__(self, database: Database) -> None:
        self._read, self._is_sqlite = database.read, database.is_sqlite

    def runs(
        self,
        *,
        stage: str | None = None,
        suite: str | None = None,
        verdict: str | None = None,
        state: str | None = None,
        purpose: Purpose | None = None,
        before: tuple[float, str] | None = None,
        limit: int = 50,
    ) -> list[RunRow]:
        """Give runs, the newest first, that are as every given filter says."""
        if not _kept(stage, suite, verdict, state, before[1] if before else None):
            return []
        query = runs_query(stage=stage, suite=suite, verdict=verdict, state=state, before=before)
        if purpose is not None:
            query = query.where(_RUNS.purpose == purpose.value)
        with self._read() as connection:
            return [_run_row(row) for row in connection.execute(query.limit(_bounded(limit)))]

    def run(self, run: str) -> RunRow | None:
        """Give one run as it stands in a list, or None."""
        if not _kept(run):
            return None
        query: Select[Any] = select(*_RUN_COLUMNS).where(_RUNS.run == run)
        with self._read() as connection:
            row = connection.execute(query).one_or_none()
            return None if row is None else _run_row(row)

    def cases(
        self,
        run: str,
        *,
        outcome: str | None = None,
        cause: str | None = None,
        check: str | None = None,
        after: int = -1,
        limit: int = 50,
    ) -> list[tuple[int, dict[str, Json]]]:
        """Give a run's cases beyond index ``after`` in the suite's order, with their documents."""
        if after >= _BEYOND - 1 or not _kept(run, outcome, cause, check):
            return []
        query = cases_query(run, outcome=outcome, cause=cause, after=max(after, -1))
        if check is not None:
            query = query.where(self._checks(check))
        with self._read() as connection:
            query = query.where(_RESULTS.case_index < _shown(connection, run))
            rows = connection.execute(query.limit(_bounded(limit)))
            return [(row.case_index, json.loads(row.document)) for row in rows]

    def _checks(self, check: str) -> ColumnElement[bool]:
        """Compare the name of the check within the document, of which no column tells.

        A column would have to be written with every result and filled in for all that are there.
        A document begins with the case's id, its index and its check, in which the key is found
        at once; JSON functions would read it whole, and PostgreSQL's refuse lone surrogates.
        """
        key = ',"check":"'
        find = func.instr if self._is_sqlite else func.strpos
        begin = find(_RESULTS.document, key) + len(key)
        return func.substr(_RESULTS.document, begin, len(check) + 1) == f'{check}"'

    def case(self, run: str, index: int) -> dict[str, Json] | None:
        """Give one case's document, or None."""
        if not 0 <= index < _BEYOND or not _kept(run):
            return None
        query = select(_RESULTS.document).where(_RESULTS.run == run, _RESULTS.case_index == index)
        with self._read() as connection:
            document = connection.scalar(query) if index < _shown(connection, run) else None
            return None if document is None else json.loads(document)

    def beside(self, run: str, index: int, *, outcome: str) -> tuple[int | None, int | None]:
        """Give the case before and the one after index ``index`` that came out so."""
        if not 0 <= index < _BEYOND or not _kept(run, outcome):
            return None, None
        query = cases_query(run, outcome=outcome, cause=None, after=-1)
        query = query.with_only_columns(_RESULTS.case_index).order_by(None).limit(1)
        before = query.where(_RESULTS.case_index < index).order_by(_RESULTS.case_index.desc())
        after = query.where(_RESULTS.case_index > index).order_by(_RESULTS.case_index)
        with self._read() as connection:
            shown = _shown(connection, run)
            after = after.where(_RESULTS.case_index < shown)
            return connection.scalar(before), connection.scalar(after)

    def counts(self, run: str) -> dict[tuple[str, str | None], int]:
        """Count a run's results by outcome and cause; those that passed are all the others."""
        if not _kept(run):
            return {}
        every = select(func.count()).select_from(tables.results).where(_RESULTS.run == run)
        with self._read() as connection:
            public = _RESULTS.case_index < _shown(connection, run)
            others = connection.execute(not_passed_counts_query(run).where(public))
            found = {(row.outcome, row.cause): row.n for row in others}
            passed = (connection.scalar(every.where(public)) or 0) - sum(found.values())
        return {("pass", None): passed, **found} if passed > 0 else found

    def stages(self) -> list[StageRow]:
        """Give the stages that were asked, the one with the newest run first."""
        with self._read() as connection:
            asked = connection.execute(stages_query()).all()
            names = {name for row in asked for name in (row.latest, row.standing) if name}
            runs = {run.run: run for run in _runs_by_name(connection, names)}
        rows = [
            StageRow(
                stage=row.stage,
                url=runs[row.latest].stage_url,
                model=runs[row.latest].stage_model,
                latest=runs[row.latest],
                runs=row.n,
                parity_runs=row.parity,
                standing=runs.get(row.standing),
            )
            for row in asked
        ]
        return sorted(rows, key=lambda row: (row.latest.started, row.latest.run), reverse=True)

    def standing(self, stage: str) -> RunRow | None:
        """Give the run whose verdict stands for a stage, or None."""
        if not _kept(stage):
            return None
        with self._read() as connection:
            run = connection.scalar(select(_standing(literal(stage))))
        return None if run is None else self.run(run)

    def measures(
        self,
        *,
        instrument: str | None = None,
        before: tuple[float, str] | None = None,
        limit: int = 50,
    ) -> list[MeasureRow]:
        """Give measurements, the newest first."""
        if not _kept(instrument, before[1] if before else None):
            return []
        query: Select[Any] = select(*_MEASURE_COLUMNS)
        if instrument is not None:
            query = query.where(_MEASURES.instrument == instrument)
        query = _newest(query, _MEASURES.started, _MEASURES.measure, before)
        with self._read() as connection:
            return [_measure_row(row) for row in connection.execute(query.limit(_bounded(limit)))]

    def measured(self, measures: Sequence[str]) -> dict[str, dict[str, Json]]:
        """Give the documents of those of the named measurements that have ended."""
        names = [name for name in measures if can_be_kept(name)][:MOST_ROWS]
        query = select(_MEASURES.measure, _MEASURES.document).where(
            _MEASURES.measure.in_(names), _MEASURES.document.is_not(None)
        )
        with self._read() as connection:
            return {row.measure: json.loads(row.document) for row in connection.execute(query)}

    def suites(self) -> list[SuiteRow]:
        """Give the suites that were run, the one with the newest run first."""
        with self._read() as connection:
            found = connection.execute(_latest_by(_RUNS.suite)).all()
            heads = {row.suite: row for row in connection.execute(_ended_heads())}
            return [_suite_row(row, heads.get(row.suite)) for row in found]


def _kept(*names: str | None) -> bool:
    return all(name is None or can_be_kept(name) for name in names)


def _shown(connection: Connection, run: str) -> int:
    """Give the number of cases that are shown of a run; what comes after them is private."""
    settings = connection.scalar(select(_RUNS.settings).where(_RUNS.run == run))
    identity = _mapping(json.loads(settings or "{}"), "identity")
    cases = _mapping(identity, "suite").get("cases")
    if isinstance(cases, int):
        return min(cases, _BEYOND - 1)
    return 0 if "private" in identity else _BEYOND - 1


def _bounded(limit: int) -> int:
    return max(0, min(limit, MOST_ROWS))


# ---------------------------------------------------------------- queries


def runs_query(
    *,
    stage: str | None,
    suite: str | None,
    verdict: str | None,
    state: str | None,
    before: tuple[float, str] | None,
) -> Select[Any]:
    """Ask for runs, the newest first."""
    filters = {"stage": stage, "suite": suite, "verdict": verdict, "state": state}
    query = select(*_RUN_COLUMNS)
    for name, value in filters.items():
        if value is not None:
            query = query.where(_RUNS[name] == value)
    return _newest(query, _RUNS.started, _RUNS.run, before)


def _newest(
    query: Select[Any],
    started: ColumnElement[float],
    name: ColumnElement[str],
    before: tuple[float, str] | None,
) -> Select[Any]:
    if before is not None:
        query = query.where(tuple_(started, name) < tuple_(*before))
    return query.order_by(started.desc(), name.desc())


def cases_query(run: str, *, outcome: str | None, cause: str | None, after: int) -> Select[Any]:
    """Ask for a run's cases in the suite's order.

    What cannot have passed is looked for in the index of such results, which SQLite takes only
    where a condition is the very one of the index.
    """
    query = select(_RESULTS.case_index, _RESULTS.document)
    query = query.where(_RESULTS.run == run, _RESULTS.case_index > after)
    if outcome is not None:
        query = query.where(_RESULTS.outcome == outcome)
    if cause is not None:
        query = query.where(_RESULTS.cause == cause)
    if cause is not None or outcome not in {None, "pass"}:
        query = query.where(NOT_PASSED)
        query = query.with_hint(tables.results, "INDEXED BY results_not_passed", "sqlite")
    return query.order_by(_RESULTS.case_index)


def not_passed_counts_query(run: str) -> Select[Any]:
    """Count a run's results that did not pass, from their index alone."""
    columns = (_RESULTS.outcome, _RESULTS.cause)
    return (
        select(*columns, func.count().label("n"))
        .where(_RESULTS.run == run, NOT_PASSED)
        .with_hint(tables.results, "INDEXED BY results_not_passed", "sqlite")
        .group_by(*columns)
        .order_by(*columns)
    )


def stages_query() -> Select[Any]:
    """Ask for each stage: how many runs it has, which was started last, and whose verdict stands.

    The counts are of an index alone, and both runs are found at the end of one.
    """
    parity = func.sum(case((_RUNS.purpose == Purpose.PARITY.value, 1), else_=0))
    counted = (
        select(_RUNS.stage, func.count().label("n"), parity.label("parity"))
        .where(_RUNS.stage != "")
        .group_by(_RUNS.stage)
        .subquery()
    )
    own = tables.runs.alias().c
    latest = (
        select(own.run)
        .where(own.stage == counted.c.stage)
        .order_by(own.started.desc(), own.run.desc())
        .limit(1)
        .scalar_subquery()
    )
    return select(counted, latest.label("latest"), _standing(counted.c.stage).label("standing"))


def _standing(stage: ColumnElement[str]) -> ColumnElement[str]:
    """Ask for the parity run of a stage that ended last, a silent one where there is no other.

    A failure is not over since somebody has ended the next run, or since that run broke. An end
    that is still to come is a clock's that ran ahead: it stands over no other.
    """
    own = tables.runs.alias().c
    ended = (
        select(own.run)
        .where(own.stage == stage, own.purpose == Purpose.PARITY.value)
        .where(own.finished.is_not(None), own.verdict.is_not(None))
        .order_by(own.finished.desc(), own.run.desc())
        .limit(1)
    )
    said = ended.where(own.verdict.not_in(sorted(SILENT)))
    over = own.finished <= time.time() + AHEAD_S
    asked = (said.where(over), said, ended.where(over), ended)
    return func.coalesce(*(each.scalar_subquery() for each in asked))


def _runs_by_name(connection: Connection, names: Collection[str]) -> Iterator[RunRow]:
    every = sorted(names)
    for first in range(0, len(every), MOST_ROWS):
        query: Select[Any] = select(*_RUN_COLUMNS)
        query = query.where(_RUNS.run.in_(every[first : first + MOST_ROWS]))
        yield from map(_run_row, connection.execute(query))


def _latest_by(column: ColumnElement[str]) -> Select[Any]:
    """Ask for the newest run of each value of a column, and how many runs have that value."""
    ranked = _ranked(column).subquery()
    newest = ranked.c.place == 1
    return (
        select(*_RUN_COLUMNS, _RUNS.suite, ranked.c.n)
        .join(ranked, ranked.c.run == _RUNS.run)
        .where(newest)
        .order_by(_RUNS.started.desc(), _RUNS.run.desc())
    )


def _ranked(column: ColumnElement[str]) -> Select[Any]:
    place = func.row_number().over(
        partition_by=column, order_by=(_RUNS.started.desc(), _RUNS.run.desc())
    )
    count = func.count().over(partition_by=column)
    return select(_RUNS.run, place.label("place"), count.label("n")).where(column != "")


_PART = case((_RUNS.purpose == Purpose.LOOK.value, 1), else_=0)
"""Whether a run asked some cases alone."""


def _ended_heads() -> Select[Any]:
    """Ask for the head of the newest run of each suite, of those that asked all if there are any.

    A look while a release bakes asks a few cases: the suite has more to show.
    """
    place = func.row_number().over(
        partition_by=_RUNS.suite, order_by=(_PART, _RUNS.started.desc(), _RUNS.run.desc())
    )
    ended = (_RUNS.suite != "", _RUNS.verdict.is_not(None))
    ranked = select(_RUNS.run, place.label("place")).where(*ended).subquery()
    return (
        select(_RUNS.suite, _RUNS.run, _RUNS.head)
        .join(ranked, ranked.c.run == _RUNS.run)
        .where(ranked.c.place == 1)
    )


# ---------------------------------------------------------------- rows


def _run_row(row: Row[Any]) -> RunRow:
    identity = _mapping(json.loads(row.settings), "identity")
    suite, notes = _mapping(identity, "suite"), json.loads(row.notes)
    return RunRow(
        run=row.run,
        started=row.started,
        finished=row.finished,
        state=row.state,
        verdict=row.verdict,
        suite_name=suite.get("name") or "",
        suite_sha256=suite.get("sha256") or "",
        cases=suite.get("cases") or 0,
        stage=row.stage,
        stage_url=_mapping(identity, "stage").get("url") or "",
        stage_model=_model(identity, notes, "stage"),
        reference_model=_model(identity, notes, "reference"),
        release=identity.get("release"),
        purpose=Purpose(row.purpose),
    )


def _measure_row(row: Row[Any]) -> MeasureRow:
    settings, notes = json.loads(row.settings), json.loads(row.notes)
    return MeasureRow(
        measure=row.measure,
        instrument=row.instrument,
        started=row.started,
        finished=row.finished,
        state=row.state,
        verdict=row.verdict,
        stage=row.stage,
        stage_url=_mapping(settings, "stage").get("url") or "",
        stage_model=_model(settings, notes, "stage"),
        reference_model=_model(settings, notes, "reference"),
    )


def _suite_row(row: Row[Any], ended: Row[Any] | None) -> SuiteRow:
    run = _run_row(row)
    kinds = _mapping({} if ended is None else json.loads(ended.head), "kinds")
    planned = {kind: counted["planned"] for kind, counted in kinds.items()}
    measured = None if ended is None else ended.run
    return SuiteRow(run.suite_sha256, run.suite_name, run.cases, row.n, run.run, planned, measured)


def _model(identity: Mapping[str, Any], notes: Mapping[str, Any], side: str) -> str | None:
    """Give the model that was asked for, or the one that the side was found to serve."""
    return _mapping(identity, side).get("model") or _mapping(notes, side).get("model")


def _mapping(within: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = within.get(name)
    return found if isinstance(found, dict) else {}
