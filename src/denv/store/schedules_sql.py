"""Schedules and their history in the database."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, tuple_, update

from denv.errors import ScheduleExistsError
from denv.records import Json
from denv.store import tables
from denv.store.alarming import Raise, Resolve
from denv.store.alarms_sql import raise_within, resolve_within
from denv.store.database import Database
from denv.store.forms import dump
from denv.store.scheduling import Firing, ScheduleRecord


class SqlScheduleStore:
    """Schedules in one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_schedule(self, record: ScheduleRecord) -> None:
        """Add a schedule; ``ScheduleExistsError`` where the name is taken by another."""
        with self._database.change() as connection:
            found = _find(connection, record.name)
            if found == record:
                return
            if found is not None:
                raise ScheduleExistsError(f"there is a schedule named {record.name}")
            connection.execute(insert(tables.schedules), _values(record))

    def get_schedule(self, name: str) -> ScheduleRecord | None:
        """Give one schedule, or None."""
        with self._database.read() as connection:
            return _find(connection, name)

    def list_schedules(self) -> list[ScheduleRecord]:
        """Give all schedules by name."""
        query = select(tables.schedules).order_by(tables.schedules.c.name)
        with self._database.read() as connection:
            return [_schedule(row) for row in connection.execute(query)]

    def pause_schedule(self, name: str, *, note: str | None) -> bool:
        """Pause with a note, or go on with None; False where there is no such schedule."""
        return self._update(name, {"paused": note})

    def set_baseline(self, name: str, run: str) -> bool:
        """Compare with another run from now on; False where there is no such schedule."""
        return self._update(name, {"baseline": run})

    def remove_schedule(self, name: str) -> bool:
        """Remove a schedule; its history stays. False where there is no such schedule."""
        with self._database.write() as connection:
            done = connection.execute(
                delete(tables.schedules).where(tables.schedules.c.name == name)
            )
            return bool(done.rowcount)

    def commit_firing(
        self,
        firing: Firing,
        *,
        detector: Mapping[str, Json] | None = None,
        baseline: str | None = None,
        raised: Sequence[Raise] = (),
        resolved: Sequence[Resolve] = (),
    ) -> bool:
        """Write a firing and all that follows from it at once.

        False, and nothing is changed, where this slot's firing of this kind is there already.
        """
        with self._database.change() as connection:
            found = _find(connection, firing.schedule)
            if _is_there(connection, firing):
                return False
            connection.execute(insert(tables.firings), _firing_values(firing))
            if found is not None:
                _learn(connection, found, firing.slot, detector=detector, baseline=baseline)
            for each in resolved:
                resolve_within(connection, each)
            for alarm in raised:
                raise_within(connection, alarm)
        return True

    def history(
        self,
        schedule: str,
        *,
        since: float | None = None,
        before: tuple[float, float, str] | None = None,
        most: int = 1000,
    ) -> list[Firing]:
        """Give a schedule's latest firings, the oldest of them first.

        ``before`` is the slot, the time and the kind of the oldest one seen.
        """
        columns = tables.firings.c
        query = (
            select(tables.firings)
            .where(columns.schedule == schedule)
            .order_by(columns.slot.desc(), columns.at.desc(), columns.kind)
            .limit(most)
        )
        if since is not None:
            query = query.where(columns.slot >= since)
        if before is not None:
            earlier = tuple_(columns.slot, columns.at) < tuple_(*before[:2])
            beside = (columns.slot == before[0]) & (columns.at == before[1])
            query = query.where(earlier | (beside & (columns.kind > before[2])))
        with self._database.read() as connection:
            return [_firing(row) for row in connection.execute(query)][::-1]

    def _update(self, name: str, values: Mapping[str, Any]) -> bool:
        columns = tables.schedules.c
        with self._database.write() as connection:
            done = connection.execute(
                update(tables.schedules).where(columns.name == name).values(values)
            )
            return bool(done.rowcount)


def _learn(
    connection: Connection,
    found: ScheduleRecord,
    slot: float,
    *,
    detector: Mapping[str, Json] | None,
    baseline: str | None,
) -> None:
    values: dict[str, Any] = {"last_slot": max(slot, found.last_slot or slot)}
    if detector is not None:
        values["detector"] = dump(detector)
    if baseline is not None:
        values["baseline"] = baseline
    connection.execute(
        update(tables.schedules).where(tables.schedules.c.name == found.name).values(values)
    )


def _is_there(connection: Connection, firing: Firing) -> bool:
    columns = tables.firings.c
    found = connection.scalar(
        select(columns.kind)
        .where(columns.schedule == firing.schedule)
        .where(columns.slot == firing.slot)
        .where(columns.kind == firing.kind)
    )
    return found is not None


def _find(connection: Connection, name: str) -> ScheduleRecord | None:
    row = connection.execute(
        select(tables.schedules).where(tables.schedules.c.name == name).with_for_update()
    ).one_or_none()
    return None if row is None else _schedule(row)


def _values(record: ScheduleRecord) -> dict[str, Any]:
    return {
        "name": record.name,
        "created": record.created,
        "spec": dump(record.spec),
        "plan": dump(record.plan),
        "paused": record.paused,
        "baseline": record.baseline,
        "detector": dump(record.detector),
        "last_slot": record.last_slot,
    }


def _schedule(row: Row[Any]) -> ScheduleRecord:
    return ScheduleRecord(
        name=row.name,
        created=row.created,
        spec=json.loads(row.spec),
        plan=json.loads(row.plan),
        paused=row.paused,
        baseline=row.baseline,
        detector=json.loads(row.detector),
        last_slot=row.last_slot,
    )


def _firing_values(firing: Firing) -> dict[str, Any]:
    return {
        "schedule": firing.schedule,
        "slot": firing.slot,
        "kind": firing.kind,
        "at": firing.at,
        "verdict": firing.verdict,
        "run": firing.run,
        "document": dump(firing.document),
    }


def _firing(row: Row[Any]) -> Firing:
    return Firing(
        schedule=row.schedule,
        slot=row.slot,
        kind=row.kind,
        at=row.at,
        verdict=row.verdict,
        run=row.run,
        document=json.loads(row.document),
    )
