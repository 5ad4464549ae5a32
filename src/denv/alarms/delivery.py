"""Alarms out of the store to their sinks: at least once, fire before resolve, each sink alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from denv.alarms.identity import first_opened
from denv.alarms.records import Action, Alarm, Sink
from denv.alarms.sinks import make_sink
from denv.errors import DeliveryError
from denv.store.alarming import AlarmStore, DeliveryRecord, DeliveryState

FIRST_WAIT_S = 5.0
LONGEST_WAIT_S = 300.0
LOOKED_THROUGH = 200
"""How many of the newest alarms are looked through for the one that an alarm goes on from."""

MakeSink = Callable[[Mapping[str, Any]], Sink]


@dataclass(frozen=True, slots=True)
class Attempt:
    """How the delivery to one sink went; ``error`` is None where it has all it is owed."""

    sink: str
    shown: str
    error: str | None = None


async def give(sink: Sink, alarm: Alarm, action: Action) -> None:
    """Give a sink an alarm; a fault within the sink is a delivery that failed, as any other.

    Raises
    ------
    DeliveryError
        The sink did not take it.
    """
    try:
        await sink.deliver(alarm, action)
    except DeliveryError:
        raise
    except Exception as error:
        # Of a fault that was not foreseen the kind alone is told: its text may hold a secret.
        raise DeliveryError(f"internal error: {type(error).__name__}") from error


async def deliver_once(
    store: AlarmStore, alarm: Alarm, sink: Sink, *, clock: Callable[[], float]
) -> bool:
    """Give one sink what it is still owed of one alarm, in order, and mark it in the store.

    False where it was owed nothing.

    A crash between the delivery and its mark delivers once more: sinks know an alarm again by
    its identity.

    Raises
    ------
    DeliveryError
        The sink did not take it. That is marked too, with the time of the next attempt.
    """
    owed = await asyncio.to_thread(_owed, store, alarm, sink.key)
    if not owed:
        return False
    # Read after what is owed: where that is the resolving, the alarm says when it was.
    latest = await asyncio.to_thread(store.get_alarm, alarm.alarm)
    told = await asyncio.to_thread(as_told, store, latest or alarm)
    for delivery in owed:
        try:
            await give(sink, told, delivery.action)
        except DeliveryError as error:
            await asyncio.to_thread(_mark, store, delivery, at=clock(), error=str(error))
            raise
        await asyncio.to_thread(_mark, store, delivery, at=clock())
    return True


async def deliver_due(
    store: AlarmStore,
    *,
    clock: Callable[[], float],
    only: Alarm | None = None,
    make: MakeSink = make_sink,
) -> list[Attempt]:
    """Give every sink what it is owed and due, all sinks at once: none waits for another.

    With ``only`` it is that alarm's, due or not.
    """
    due = None if only else clock()
    waiting = await asyncio.to_thread(lambda: store.waiting_deliveries(due=due))
    pairs = {
        (each.alarm, each.sink): each
        for each in waiting
        if only is None or each.alarm == only.alarm
    }
    ended = [_attempt(store, each, clock=clock, make=make) for each in pairs.values()]
    return list(await asyncio.gather(*ended))


async def resend(store: AlarmStore, alarm: str, sink: Sink) -> bool:
    """Fire an open alarm once more, where its sink asks for that; False when it is resolved.

    Raises
    ------
    DeliveryError
        The sink did not take it.
    """
    found = await asyncio.to_thread(store.get_alarm, alarm)
    if found is None or found.resolved is not None:
        return False
    told = await asyncio.to_thread(as_told, store, found)
    await give(sink, told, Action.FIRE)
    after = await asyncio.to_thread(store.get_alarm, alarm)
    if after is None or after.resolved is None:
        return True
    # Resolved while this was under way: what was sent last would stand.
    await give(sink, replace(told, resolved=after.resolved), Action.RESOLVE)
    return False


def as_told(store: AlarmStore, alarm: Alarm) -> Alarm:
    """Give the alarm as sinks are told of it: one that was reopened began when it first did."""
    earlier = store.list_alarms(most=LOOKED_THROUGH)
    return replace(alarm, opened=first_opened(alarm, earlier))


def wait_s(attempts: int) -> float:
    """Give how long to wait after so many failed attempts: 5 s, doubled up to 5 minutes."""
    return float(min(FIRST_WAIT_S * 2 ** min(max(attempts, 0), 16), LONGEST_WAIT_S))


async def _attempt(
    store: AlarmStore, delivery: DeliveryRecord, *, clock: Callable[[], float], make: MakeSink
) -> Attempt:
    alarm = await asyncio.to_thread(store.get_alarm, delivery.alarm)
    shown = delivery.sink
    try:
        sink = make(delivery.settings)
        shown = sink.shown
        if alarm is not None:
            await deliver_once(store, alarm, sink, clock=clock)
    except DeliveryError as error:
        return Attempt(delivery.sink, shown, str(error))
    return Attempt(delivery.sink, shown)


def _owed(store: AlarmStore, alarm: Alarm, key: str) -> list[DeliveryRecord]:
    owed = [
        each
        for each in store.deliveries(alarm.alarm)
        if each.sink == key and each.state is DeliveryState.WAITING
    ]
    return sorted(owed, key=lambda each: each.action is Action.RESOLVE)


def _mark(
    store: AlarmStore, delivery: DeliveryRecord, *, at: float, error: str | None = None
) -> None:
    failed = error is not None
    store.note_delivery(
        delivery.alarm,
        delivery.sink,
        action=delivery.action,
        state=DeliveryState.WAITING if failed else DeliveryState.DELIVERED,
        at=at,
        error=error,
        next_at=at + wait_s(delivery.attempts) if failed else None,
    )
