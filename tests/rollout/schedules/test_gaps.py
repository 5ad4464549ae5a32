"""Slots in the hour that clocks leave out."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from denv.rollout.schedules.gaps import slots_in_gaps

START = datetime(2026, 11, 30, tzinfo=UTC)


def found(cron, zone, years=1):
    slots = slots_in_gaps(cron, ZoneInfo(zone), start=START, years=years)
    return [f"{one:%Y-%m-%d %H:%M}" for one in slots]


@pytest.mark.parametrize(
    ("cron", "zone", "slots"),
    [
        ("30 2 * * *", "Europe/Berlin", ["2027-03-28 03:00"]),
        ("30 2 * * *", "America/New_York", ["2027-03-14 03:00"]),
        ("10 2 * * *", "Australia/Lord_Howe", ["2027-10-03 02:30"]),
        ("30 1 * * *", "Europe/Berlin", []),
        ("15 * * * *", "Europe/Berlin", []),
        ("30 2 * * MON", "Europe/Berlin", []),
        ("30 2 * * *", "Asia/Kolkata", []),
    ],
)
def test_a_left_out_slot_comes_right_after(cron, zone, slots):
    """A daily time in the gap is made up for once; hourly ones, other days and zones need none."""
    assert found(cron, zone) == slots


def test_years_ahead():
    """Each spring has its own."""
    assert found("30 2 * * *", "Europe/Berlin", years=3) == [
        "2027-03-28 03:00", "2028-03-26 03:00", "2029-03-25 03:00",
    ]  # fmt: skip


def test_a_cron_that_is_none():
    """What cannot be read is said to be so."""
    with pytest.raises(ValueError, match="minute"):
        slots_in_gaps("99 2 * * *", ZoneInfo("Europe/Berlin"), start=START)
