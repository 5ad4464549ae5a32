"""Slots of a cron whose time of day is left out when clocks go forward: they come right after.

Temporal skips a time that does not exist; a daily run at 2:30 would be lost for a day. A time that
exists twice is one slot in Temporal's own calculation.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

YEARS = 20
"""How far ahead clock changes are looked for."""

MINUTE = timedelta(minutes=1)


def slots_in_gaps(
    cron: str, zone: ZoneInfo, *, start: datetime, years: int = YEARS
) -> list[datetime]:
    """Give the first moments after clock changes at which a slot is made up for, in local time.

    A cron that fires at that moment anyway, as hourly ones do, may be among them: it is one slot.

    Raises
    ------
    ValueError
        The cron cannot be read.
    """
    try:
        CronSim(cron, start)
    except CronSimError as error:
        raise ValueError(str(error)) from None
    found = []
    for change in _forward_changes(zone, start=start, end=start + timedelta(days=365 * years)):
        following = next(CronSim(cron, (change - MINUTE).astimezone(zone)), None)
        if following is not None and following.astimezone(UTC) == change:
            found.append(change.astimezone(zone))
    return found


def _forward_changes(zone: ZoneInfo, *, start: datetime, end: datetime) -> Iterator[datetime]:
    """Give the moments, in UTC, from which on a zone's clocks are ahead of what they were."""
    day = start.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    while day < end:
        after = day + timedelta(days=1)
        if _offset(zone, after) > _offset(zone, day):
            yield _moment(zone, day, after)
        day = after


def _moment(zone: ZoneInfo, low: datetime, high: datetime) -> datetime:
    """Find the change between two moments, to the minute."""
    before = _offset(zone, low)
    while high - low > MINUTE:
        middle = low + (high - low) // 2
        middle = middle.replace(second=0, microsecond=0)
        low, high = (middle, high) if _offset(zone, middle) == before else (low, middle)
    return high


def _offset(zone: ZoneInfo, moment: datetime) -> timedelta:
    return moment.astimezone(zone).utcoffset() or timedelta()
