"""Times and durations as pages write them. Pure: what is now is an argument."""

from __future__ import annotations

from datetime import UTC, datetime

from denv.rollout.documents import in_utc

_UNITS = ((86_400.0, "day"), (3_600.0, "hour"), (60.0, "minute"), (1.0, "second"))

Moment = float | str | datetime
"""Unix seconds, ISO 8601, or a time with its zone."""


def _of(at: Moment) -> datetime:
    if isinstance(at, datetime):
        return at.astimezone(UTC)
    if isinstance(at, str):
        return datetime.fromisoformat(at).astimezone(UTC)
    return in_utc(at)


def iso(at: Moment) -> str:
    """Write a time for machines.

    >>> iso(1796083200.0)
    '2026-12-01T00:00:00Z'
    """
    return _of(at).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment(at: Moment, *, seconds: bool = False) -> str:
    """Write a time for people.

    >>> moment("2026-12-01T03:04:05Z"), moment(1796083200.0, seconds=True)
    ('2026-12-01 03:04 UTC', '2026-12-01 00:00:00 UTC')
    """
    return _of(at).strftime(f"%Y-%m-%d %H:%M{':%S' if seconds else ''} UTC")


def ago(at: Moment, now: Moment) -> str:
    """Write how long ago a time was, or how far ahead it is, in its largest whole unit.

    >>> ago(1000.0, 1000.4), ago(1000.0, 8300.0), ago(90_000.0, 0.0)
    ('just now', '2 hours ago', 'in 1 day')
    """
    apart = (_of(now) - _of(at)).total_seconds()
    if abs(apart) < 1:
        return "just now"
    words = _largest(abs(apart))
    return f"{words} ago" if apart > 0 else f"in {words}"


def _largest(seconds: float) -> str:
    length, unit = next(each for each in _UNITS if seconds >= each[0])
    number = int(seconds // length)
    return f"{number:,} {unit}{'' if number == 1 else 's'}"


def span(seconds: float) -> str:
    """Write a duration in its two largest units.

    >>> span(0.42), span(75), span(7200), span(97_200)
    ('0.42 s', '1 min 15 s', '2 h', '1 d 3 h')
    """
    if seconds < 60:
        return f"{seconds:.3g} s"
    whole = round(seconds)
    units = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
    at = next(place for place, (length, _) in enumerate(units) if whole >= length)
    parts = []
    for length, unit in units[at : at + 2]:
        number, whole = divmod(whole, length)
        if number:
            parts.append(f"{number} {unit}")
    return " ".join(parts)
