"""When a schedule fires, and how many runs a false alarm's time means."""

from __future__ import annotations

import json

import pytest

from denv.errors import StoreError, UsageError
from denv.rollout.schedules.timing import Overlap, Timing, check_name, duration


def test_looks_between_false_alarms():
    """A year is 1460 runs of six hours; a sentinel may ask for one more after each."""
    assert Timing(every_s=21_600.0).looks_between == 1460
    assert Timing(every_s=21_600.0, sentinel_every_s=600.0).looks_between == 2920
    assert Timing(cron="0 4 * * *", cadence_s=86_400.0).looks_between == 365
    with pytest.raises(StoreError, match="mean time between two slots is not known"):
        assert Timing(cron="0 4 * * *").looks_between


def test_survives_the_store():
    """Written as strict JSON and read back it is the same."""
    timing = Timing(cron="0 4 * * *", timezone="Europe/Berlin", overlap=Overlap.BUFFER_ONE)
    assert Timing.from_json(json.loads(json.dumps(timing.to_json(), allow_nan=False))) == timing


@pytest.mark.parametrize("kept", [{}, {"overlap": "x", "fail_alarm": "each"}, {"later": 1}])
def test_another_form_is_refused(kept):
    """What is no timing is said to be none."""
    with pytest.raises(StoreError, match="timing cannot be read"):
        Timing.from_json(kept)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"every_s": float("inf")}, "--every must be"),
        ({"every_s": 3600.0, "catch_up_s": 1.0}, "--catch-up must be at least 10s"),
        ({"every_s": 3600.0, "jitter_s": -1.0}, "--jitter must be"),
        ({"every_s": 3600.0, "sentinel_every_s": 1.0}, "--sentinel-every must be"),
        ({"every_s": 3600.0, "false_alarm_every_s": 0.0}, "--false-alarm-every must be"),
    ],
)
def test_what_cannot_be(given, words):
    """The option is named, and what it takes."""
    with pytest.raises(UsageError, match=words):
        Timing(**given).check()


@pytest.mark.parametrize("name", ["", "a b", "-a", "a/b", "x" * 41, "ä"])
def test_names(name):
    """A name can stand in a file's name and an identifier."""
    assert check_name("nightly.2-eu_1") == "nightly.2-eu_1"
    with pytest.raises(UsageError, match="a schedule's name is"):
        check_name(name)


def test_durations():
    """The largest unit that fits is taken."""
    assert [duration(s) for s in (86_400, 5400, 60, 0.25)] == ["1d", "90m", "1m", "0.25s"]
