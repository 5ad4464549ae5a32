"""What the pages of schedules say of their slots and detectors."""

from __future__ import annotations

import pytest

from denv.rollout.engine.schedules import Described
from denv.rollout.schedules.detecting import Detectors
from denv.rollout.schedules.learned import Learned
from denv.rollout.schedules.timing import Overlap, Timing
from denv.serve.pages.firings import (
    OVERLAPS,
    chart_says,
    fired_of,
    learning_of,
    points_of,
    rhythm_of,
)
from denv.store import Firing, ScheduleRecord

TIMING = Timing(every_s=21_600.0, sentinel_every_s=1800.0)


def schedule(**changes):
    fields = {"name": "nightly", "created": 1.0, "spec": TIMING.to_json(), "plan": {}}
    return ScheduleRecord(**{**fields, **changes})


def full(slot, passed, failed, **document):
    kinds = {"exact": {"pass": passed, "fail": failed}}
    return Firing("nightly", slot, "full", slot + 9, "pass", "run-1", {"kinds": kinds, **document})


def test_every_overlap_is_said():
    """No choice of a schedule is without its words."""
    assert set(OVERLAPS) == {each.value for each in Overlap}


def test_next_times_are_the_engine_s_and_none_in_a_pause():
    """A paused schedule has no next time; without an engine the reason is given."""
    times = tuple(float(n) for n in range(9))
    found = Described(times, paused=False, note=None, running=1, lost=0, overlapped=0)
    shown = rhythm_of(schedule(), found)
    assert (shown.said, list(shown.next_times), shown.running) == ("every 6h", [0, 1, 2, 3, 4], 1)
    paused = Described(times, paused=True, note="x", running=0, lost=0, overlapped=0)
    assert list(rhythm_of(schedule(), paused).next_times) == []
    assert rhythm_of(schedule(), None, "no engine").missing == "no engine"


def test_a_full_run_shows_its_rate_drift_and_alarms():
    """Rate over all kinds, and what followed of it."""
    shown = fired_of(
        full(5.0, 39, 1, drift={"verdict": "stage"}, alarms={"parity-drift": "text"}, baseline=True)
    )
    assert shown.rate == pytest.approx(0.975)
    assert list(shown.notes) == ["the baseline from now on", "drift: stage", "alarm parity-drift"]
    assert (shown.run, shown.is_measure) == ("run-1", False)


def test_other_slots_say_what_they_were():
    """A sentinel's run is a measurement; missed slots are counted; a pause gives its note."""
    look = Firing("n", 1.0, "sentinel", 1.0, "escalate", "sentinel-1", {"why": ["it fails <b>"]})
    assert (fired_of(look).is_measure, list(fired_of(look).notes)) == (True, ["it fails <b>"])
    missed = fired_of(Firing("n", 1.0, "missed", 1.0, document={"count": 3}))
    assert list(missed.notes) == ["3 slots, made up for by one run"]
    skipped = fired_of(Firing("n", 1.0, "skipped", 1.0, document={"note": "holidays"}))
    assert list(skipped.notes) == ["resumed after: holidays"]


def test_detectors_say_how_near_an_alarm_is():
    """Each stands by what it watches, with its statistic and what it alarms at."""
    detectors = Detectors.start({"threshold:exact": 0.05, "drift:stage": 0.02}, between=100.0)
    record = schedule(detector=Learned(detectors=detectors).to_json())
    drift = {"verdict": "none", "sentences": ["the stage is as it was"]}
    found = learning_of(record, [full(5.0, 40, 0, drift=drift), full(6.0, 40, 0)])
    assert [(d.name, d.threshold, d.bound) for d in found.detectors] == [
        ("exact against its threshold", 200.0, 0.05),
        ("drift of the stage", 200.0, 0.02),
    ]
    assert (found.drift, found.sentences, found.between) == ("none", drift["sentences"], "365d")


def test_the_chart_is_said_in_words():
    """Those who cannot see it are told the last, the lowest and the highest rate."""
    history = [full(1.0, 40, 0), full(2.0, 30, 10, alarms={"x": "y"}), full(3.0, 38, 2)]
    said = chart_says(points_of(history))
    assert "3 full runs: the pass rate is 95.0% at the last, 75.0% at the lowest" in said
    assert "1 raised an alarm" in said
    assert "none counted a case" in chart_says(points_of([full(1.0, 0, 0)]))
