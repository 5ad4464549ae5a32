"""Alarms and deliveries in the database."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Row, insert, or_, select, tuple_, update

from denv.errors import StoreError
from denv.records import Json
from denv.store import tables
from denv.store.alarming import (
    AlarmRecord,
    DeliveryAction,
    DeliveryRecord,
    DeliveryState,
    Raise,
    Resolve,
)
from denv.store.database import Database
from denv.store.forms import dump


def alarm_id(identity: str, once: str) -> str:
    """Derive an alarm's id, so that a retry of its first occasion names the same alarm."""
    text = dump(["denv.alarm/1", identity, once])
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def raise_within(connection: Connection, given: Raise) -> None:
    """Open an alarm or count a repeat, inside the caller's transaction."""
    if _alarm_of_occasion(connection, given.once) is not None:
        return
    found = _find(connection, tables.alarms.c.open_identity == given.identity)
    alarm = found.alarm if found else alarm_id(given.identity, given.once)
    if found:
        _count_repeat(connection, alarm, given)
    else:
        connection.execute(insert(tables.alarms), _new_alarm(alarm, given))
    connection.execute(
        insert(tables.occasions), {"once": given.once, "alarm": alarm, "at": given.at}
    )
    known = {each.sink for each in _deliveries(connection, alarm)}
    for sink, settings in given.sinks.items():
        if sink not in known:
            _owe(connection, alarm, DeliveryAction.FIRE, sink=sink, settings=settings, at=given.at)


def resolve_within(connection: Connection, given: Resolve) -> str | None:
    """Close an identity's open alarm, inside the caller's transaction; give the alarm's id."""
    columns = tables.alarms.c
    found = _find(connection, columns.open_identity == given.identity)
    if found is None:
        return None
    connection.execute(
        update(tables.alarms)
        .where(columns.alarm == found.alarm)
        .values(open_identity=None, resolved=given.at, resolved_by=given.by)
    )
    for each in _deliveries(connection, found.alarm):
        _owe(
            connection,
            found.alarm,
            DeliveryAction.RESOLVE,
            sink=each.sink,
            settings=each.settings,
            at=given.at,
        )
    return found.alarm


class SqlAlarmStore:
    """Alarms in one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def raise_alarm(self, given: Raise) -> AlarmRecord:
        """Open an alarm, or count a repeat; give it as it now is."""
        with self._database.change() as connection:
            raise_within(connection, given)
            alarm = _alarm_of_occasion(connection, given.once)
            found = _find(connection, tables.alarms.c.alarm == alarm)
        if found is None:
            raise StoreError(f"alarm {alarm} is gone")
        return found

    def resolve_alarm(self, given: Resolve) -> AlarmRecord | None:
        """Close an identity's open alarm; None where none is open."""
        with self._database.change() as connection:
            alarm = resolve_within(connection, given)
            return _find(connection, tables.alarms.c.alarm == alarm) if alarm else None

    def get_alarm(self, alarm: str) -> AlarmRecord | None:
        """Give one alarm, or None."""
        with self._database.read() as connection:
            return _find(connection, tables.alarms.c.alarm == alarm)

    def open_alarm(self, identity: str) -> AlarmRecord | None:
        """Give an identity's open alarm, or None."""
        with self._database.read() as connection:
            return _find(connection, tables.alarms.c.open_identity == identity)

    def list_alarms(
        self,
        *,
        only_open: bool = False,
        before: tuple[float, str] | None = None,
        most: int = 100,
    ) -> list[AlarmRecord]:
        """Give the alarms, the newest first; ``before`` is where the page before ended."""
        columns = tables.alarms.c
        newest = (columns.opened.desc(), columns.alarm.desc())
        query = select(tables.alarms).order_by(*newest).limit(most)
        if before is not None:
            query = query.where(tuple_(columns.opened, columns.alarm) < tuple_(*before))
        if only_open:
            query = query.where(columns.open_identity.is_not(None))
        with self._database.read() as connection:
            return [_alarm(row) for row in connection.execute(query)]

    def deliveries(self, alarm: str) -> list[DeliveryRecord]:
        """Give what each sink was told, in the order in which it was to be told."""
        with self._database.read() as connection:
            return _deliveries(connection, alarm)

    def waiting_deliveries(self, *, due: float | None = None) -> list[DeliveryRecord]:
        """Give what is still to be told, the oldest first; with ``due`` only what is due then."""
        columns = tables.deliveries.c
        query = (
            select(tables.deliveries)
            .where(columns.state == DeliveryState.WAITING.value)
            .order_by(columns.created, columns.alarm, columns.action, columns.sink)
        )
        if due is not None:
            query = query.where(or_(columns.next_at.is_(None), columns.next_at <= due))
        with self._database.read() as connection:
            return [_delivery(row) for row in connection.execute(query)]

    def note_delivery(
        self,
        alarm: str,
        sink: str,
        *,
        action: DeliveryAction,
        state: DeliveryState,
        at: float,
        error: str | None = None,
        next_at: float | None = None,
    ) -> DeliveryRecord:
        """Count an attempt and say how it ended; what was delivered stays delivered."""
        columns = tables.deliveries.c
        key = (columns.alarm == alarm, columns.sink == sink, columns.action == action.value)
        with self._database.change() as connection:
            row = connection.execute(
                select(tables.deliveries).where(*key).with_for_update()
            ).one_or_none()
            if row is None:
                raise StoreError(f"alarm {alarm} has nothing to {action.value} at {sink}")
            noted = _noted(_delivery(row), state, at=at, error=error, next_at=next_at)
            connection.execute(
                update(tables.deliveries)
                .where(*key)
                .values(
                    state=noted.state.value,
                    attempts=noted.attempts,
                    last_error=noted.last_error,
                    next_at=noted.next_at,
                    delivered=noted.delivered,
                )
            )
        return noted


def _noted(
    found: DeliveryRecord,
    state: DeliveryState,
    *,
    at: float,
    error: str | None,
    next_at: float | None,
) -> DeliveryRecord:
    if found.state is DeliveryState.DELIVERED:
        # A second worker sent the same again: the sinks take that as one.
        return replace(found, attempts=found.attempts + 1)
    done = state is DeliveryState.DELIVERED
    return replace(
        found,
        state=state,
        attempts=found.attempts + 1,
        last_error=None if done else error,
        next_at=next_at if state is DeliveryState.WAITING else None,
        delivered=at if done else None,
    )


def _new_alarm(alarm: str, given: Raise) -> dict[str, Any]:
    return {
        "alarm": alarm,
        "identity": given.identity,
        "open_identity": given.identity,
        "kind": given.kind,
        "stage": given.stage,
        "release": given.release,
        "summary": given.summary,
        "run": given.run,
        "rollout": given.rollout,
        "details": dump(given.details),
        "opened": given.at,
        "last": given.at,
        "repeats": 0,
    }


def _count_repeat(connection: Connection, alarm: str, given: Raise) -> None:
    columns = tables.alarms.c
    connection.execute(
        update(tables.alarms)
        .where(columns.alarm == alarm)
        .values(
            repeats=columns.repeats + 1,
            last=given.at,
            summary=given.summary,
            release=given.release,
            run=given.run,
            rollout=given.rollout,
            details=dump(given.details),
        )
    )


def _owe(
    connection: Connection,
    alarm: str,
    action: DeliveryAction,
    *,
    sink: str,
    settings: Mapping[str, Json],
    at: float,
) -> None:
    connection.execute(
        insert(tables.deliveries),
        {
            "alarm": alarm,
            "sink": sink,
            "action": action.value,
            "state": DeliveryState.WAITING.value,
            "settings": dump(settings),
            "created": at,
            "attempts": 0,
        },
    )


def _alarm_of_occasion(connection: Connection, once: str) -> str | None:
    columns = tables.occasions.c
    alarm: str | None = connection.scalar(select(columns.alarm).where(columns.once == once))
    return alarm


def _find(connection: Connection, condition: Any) -> AlarmRecord | None:
    row = connection.execute(select(tables.alarms).where(condition).with_for_update()).one_or_none()
    return None if row is None else _alarm(row)


def _deliveries(connection: Connection, alarm: str) -> list[DeliveryRecord]:
    columns = tables.deliveries.c
    rows = connection.execute(
        select(tables.deliveries)
        .where(columns.alarm == alarm)
        .order_by(columns.action, columns.created, columns.sink)
    )
    return [_delivery(row) for row in rows]


def _alarm(row: Row[Any]) -> AlarmRecord:
    return AlarmRecord(
        alarm=row.alarm,
        identity=row.identity,
        kind=row.kind,
        stage=row.stage,
        release=row.release,
        summary=row.summary,
        run=row.run,
        rollout=row.rollout,
        details=json.loads(row.details),
        opened=row.opened,
        last=row.last,
        repeats=row.repeats,
        resolved=row.resolved,
        resolved_by=row.resolved_by,
    )


def _delivery(row: Row[Any]) -> DeliveryRecord:
    return DeliveryRecord(
        alarm=row.alarm,
        sink=row.sink,
        action=DeliveryAction(row.action),
        state=DeliveryState(row.state),
        settings=json.loads(row.settings),
        created=row.created,
        attempts=row.attempts,
        last_error=row.last_error,
        next_at=row.next_at,
        delivered=row.delivered,
    )
