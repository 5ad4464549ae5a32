"""What the store promises of schedules: a slot is done once, and its history stays."""

from __future__ import annotations

from dataclasses import replace

import pytest

from denv.errors import ScheduleExistsError
from denv.store import Firing, Raise, Resolve, ScheduleRecord

SCHEDULE = ScheduleRecord(
    name="nightly", created=1.0, spec={"cron": "0 3 * * *"}, plan={"suite": "s"}, baseline="run-0"
)
FIRING = Firing("nightly", 100.0, "full", 101.0, "pass", "run-1", {"pass_rate": 0.99})
DRIFT = Raise("nightly/100", "parity-drift/chat", "parity-drift", "chat", "r", "drifted", 101.0)


@pytest.fixture
def store(opened):
    opened.schedules.add_schedule(SCHEDULE)
    return opened.schedules


def test_schedule_comes_back(store):
    """What was added is listed as given; the same again is no error, another of the name is."""
    store.add_schedule(SCHEDULE)
    assert store.list_schedules() == [SCHEDULE]
    assert store.get_schedule("nightly") == SCHEDULE
    assert store.get_schedule("absent") is None
    with pytest.raises(ScheduleExistsError, match="nightly"):
        store.add_schedule(replace(SCHEDULE, plan={}))


def test_pause_has_a_note(store):
    """A pause is noted and lifted; of a schedule that is not there it says so."""
    assert store.pause_schedule("nightly", note="moving house")
    assert store.get_schedule("nightly").paused == "moving house"
    assert store.pause_schedule("nightly", note=None)
    assert store.get_schedule("nightly") == SCHEDULE
    assert not store.pause_schedule("absent", note="x")
    assert not store.set_baseline("absent", "run")


def test_a_slot_is_done_once(opened, store):
    """Firing, detector, baseline and alarms are written together, and a retry changes nothing."""
    assert store.commit_firing(FIRING, detector={"e": 2.5}, baseline="run-1", raised=[DRIFT])
    expected = replace(SCHEDULE, detector={"e": 2.5}, baseline="run-1", last_slot=100.0)
    assert store.get_schedule("nightly") == expected
    assert not store.commit_firing(FIRING, detector={"e": 5.0}, raised=[DRIFT])
    assert store.get_schedule("nightly") == expected
    assert opened.alarms.open_alarm(DRIFT.identity).repeats == 0
    later = replace(FIRING, slot=200.0)
    assert store.commit_firing(later, resolved=[Resolve(DRIFT.identity, 201.0)])
    assert opened.alarms.open_alarm(DRIFT.identity) is None


def test_an_earlier_slot_does_not_turn_back(store):
    """A slot that is done late leaves the last slot where it was."""
    store.commit_firing(replace(FIRING, slot=200.0))
    store.commit_firing(replace(FIRING, slot=100.0))
    assert store.get_schedule("nightly").last_slot == 200.0


def test_history_outlives_its_schedule(store):
    """The latest firings come oldest first, a sentinel and its full run of one slot both."""
    firings = [replace(FIRING, slot=float(n), at=n + 1.0) for n in (1, 2, 3)]
    sentinel = replace(FIRING, slot=3.0, at=3.5, kind="sentinel")
    for firing in (*firings, sentinel):
        assert store.commit_firing(firing)
    assert store.remove_schedule("nightly")
    assert not store.remove_schedule("nightly")
    assert store.history("nightly") == [*firings[:2], sentinel, firings[2]]
    assert store.history("nightly", most=1) == [firings[2]]
    assert store.history("nightly", since=2.0) == [firings[1], sentinel, firings[2]]
