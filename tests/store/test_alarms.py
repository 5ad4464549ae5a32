"""What the store promises of alarms: one open an identity, each sink told of each once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from denv.errors import StoreError
from denv.store import DeliveryAction, DeliveryState, Raise, Resolve

ALARM = Raise(
    once="r1/1/parity-fail",
    identity="parity-fail/chat",
    kind="parity-fail",
    stage="chat",
    release="chat-r8",
    summary="2 of 40 failed",
    at=11.0,
    run="run-1",
    details={"n": 1},
    sinks={"pager": {"routing-key-env": "PAGER"}, "hook": {}},
)
FIRE, RESOLVE = DeliveryAction.FIRE, DeliveryAction.RESOLVE
WAITING, DELIVERED = DeliveryState.WAITING, DeliveryState.DELIVERED


@pytest.fixture
def store(opened):
    return opened.alarms


def owed(store, **which):
    return [(each.sink, each.action) for each in store.waiting_deliveries(**which)]


def test_raised_comes_back_and_is_owed_to_each_sink(store):
    """The alarm is open as given, and each sink is to be told, with its own settings."""
    found = store.raise_alarm(ALARM)
    assert (found.identity, found.run, found.details) == ("parity-fail/chat", "run-1", {"n": 1})
    assert (found.opened, found.repeats, found.resolved) == (11.0, 0, None)
    assert store.open_alarm(ALARM.identity) == store.get_alarm(found.alarm) == found
    first, second = store.deliveries(found.alarm)
    assert (first.sink, first.settings) == ("hook", {})
    assert (second.sink, second.settings) == ("pager", {"routing-key-env": "PAGER"})
    assert (second.action, second.state, second.attempts) == (FIRE, WAITING, 0)


def test_repeat_counts_up_and_tells_nobody_again(store):
    """Another occasion of an open alarm is the same alarm, with what was said last."""
    first = store.raise_alarm(ALARM)
    again = store.raise_alarm(replace(ALARM, once="r1/2", run="run-2", at=15.0))
    assert again == replace(first, run="run-2", last=15.0, repeats=1)
    assert len(store.deliveries(first.alarm)) == 2


def test_an_occasion_counts_once(store):
    """The retry of a raise counts no repeat, and opens nothing after the alarm was resolved."""
    first = store.raise_alarm(ALARM)
    assert store.raise_alarm(ALARM) == first
    closed = store.resolve_alarm(Resolve(ALARM.identity, 20.0))
    assert store.raise_alarm(ALARM) == closed
    assert store.open_alarm(ALARM.identity) is None


def test_resolved_is_owed_to_all_that_were_told(store):
    """Each sink hears of the end, also one whose first message still waits; once."""
    alarm = store.raise_alarm(ALARM).alarm
    store.note_delivery(alarm, "pager", action=FIRE, state=DELIVERED, at=12.0)
    closed = store.resolve_alarm(Resolve(ALARM.identity, 20.0, "ann"))
    assert (closed.resolved, closed.resolved_by) == (20.0, "ann")
    assert owed(store) == [("hook", FIRE), ("hook", RESOLVE), ("pager", RESOLVE)]
    assert store.resolve_alarm(Resolve(ALARM.identity, 21.0)) is None
    assert len(store.deliveries(alarm)) == 4


def test_raised_after_its_end_is_another_alarm(store):
    """A new occasion after the end opens a new alarm of the same identity."""
    first = store.raise_alarm(ALARM)
    store.resolve_alarm(Resolve(ALARM.identity, 20.0))
    second = store.raise_alarm(replace(ALARM, once="r2/1", at=30.0))
    assert second.alarm != first.alarm
    assert [each.alarm for each in store.list_alarms()] == [second.alarm, first.alarm]
    assert store.list_alarms(only_open=True) == [second]


def test_failed_delivery_waits_until_it_is_due(store):
    """Attempts are counted with the last error; it is due again at the time that was noted."""
    alarm = store.raise_alarm(replace(ALARM, sinks={"hook": {}})).alarm
    for attempt in (1, 2):
        noted = store.note_delivery(
            alarm, "hook", action=FIRE, state=WAITING, at=12.0, error="503", next_at=40.0
        )
        assert (noted.attempts, noted.last_error) == (attempt, "503")
    assert owed(store, due=39.0) == []
    assert owed(store, due=40.0) == owed(store) == [("hook", FIRE)]


def test_delivered_stays_delivered(store):
    """A second worker's failure after the first one's success does not ask for it again."""
    alarm = store.raise_alarm(replace(ALARM, sinks={"hook": {}})).alarm
    store.note_delivery(alarm, "hook", action=FIRE, state=DELIVERED, at=12.0)
    late = store.note_delivery(alarm, "hook", action=FIRE, state=WAITING, at=13.0, error="503")
    assert (late.state, late.delivered, late.last_error, late.attempts) == (
        DELIVERED,
        12.0,
        None,
        2,
    )
    assert owed(store) == []


def test_what_is_owed_to_nobody_is_an_error(store):
    """A note about a message that was never to be sent is told, not swallowed."""
    alarm = store.raise_alarm(ALARM).alarm
    with pytest.raises(StoreError, match="nothing to resolve at hook"):
        store.note_delivery(alarm, "hook", action=RESOLVE, state=DELIVERED, at=1.0)
