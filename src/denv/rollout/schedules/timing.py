"""When a schedule fires, how patiently, and how seldom it may alarm by chance."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from math import inf

from denv.errors import StoreError, UsageError
from denv.records import Json

YEAR_S = 365 * 86_400.0
LEAST_EVERY_S = 60.0
DEFAULT_CATCH_UP_S = 3600.0
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,38}[A-Za-z0-9])?")


class Overlap(StrEnum):
    """What a slot does while the run before it still goes on."""

    SKIP = "skip"
    BUFFER_ONE = "buffer-one"
    BUFFER_ALL = "buffer-all"
    CANCEL_OTHER = "cancel-other"


class FailAlarm(StrEnum):
    """When a failing run raises ``parity-fail``."""

    POOLED = "pooled"
    """Once all runs together say so, so that many looks do not add up to an alarm by chance."""
    EACH = "each"
    """With each failing run."""


@dataclass(frozen=True, slots=True)
class Timing:
    """All of a schedule but what it asks; one of ``cron`` and ``every_s`` is there.

    ``cadence_s`` is the mean time between two slots, found when the schedule is made.
    """

    cron: str | None = None
    timezone: str = "UTC"
    every_s: float | None = None
    jitter_s: float = 0.0
    overlap: Overlap = Overlap.SKIP
    catch_up_s: float = DEFAULT_CATCH_UP_S
    sentinel_every_s: float | None = None
    sentinel_tokens: int = 2000
    false_alarm_every_s: float = YEAR_S
    fail_alarm: FailAlarm = FailAlarm.POOLED
    cadence_s: float | None = None

    def check(self) -> None:
        """Refuse what cannot be.

        Raises
        ------
        UsageError
            Names the option and what it takes.
        """
        if (self.cron is None) == (self.every_s is None):
            raise UsageError("give --cron or --every, one of them")
        if self.cron is not None and len(self.cron.split()) != 5:
            raise UsageError(
                f"--cron {self.cron!r}: write five fields, minute hour day month weekday"
            )
        if self.cron is None and self.timezone != "UTC":
            raise UsageError("--timezone belongs to --cron")
        for option, value, least in (
            ("--every", self.every_s, LEAST_EVERY_S),
            ("--jitter", self.jitter_s, 0.0),
            ("--catch-up", self.catch_up_s, 10.0),
            ("--sentinel-every", self.sentinel_every_s, LEAST_EVERY_S),
            ("--false-alarm-every", self.false_alarm_every_s, LEAST_EVERY_S),
        ):
            if value is not None and not least <= value < inf:
                raise UsageError(f"{option} must be at least {least:g}s")
        if self.every_s is not None and self.jitter_s >= self.every_s:
            raise UsageError("--jitter must be shorter than --every")

    @property
    def looks_between(self) -> float:
        """The stated mean number of full looks between two false alarms.

        A sentinel may ask for one more look after each slot.
        """
        cadence_s = self.every_s or self.cadence_s
        if cadence_s is None:
            raise StoreError("the schedule's mean time between two slots is not known")
        return self.false_alarm_every_s / cadence_s * (2 if self.sentinel_every_s else 1)

    @property
    def said(self) -> str:
        """Say when it fires."""
        if self.every_s is not None:
            return f"every {duration(self.every_s)}"
        return f"cron {self.cron} ({self.timezone})"

    def to_json(self) -> dict[str, Json]:
        """Write it as strict JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, kept: Mapping[str, Json]) -> Timing:
        """Read it back.

        Raises
        ------
        StoreError
            It is not of this form.
        """
        try:
            given = dict(kept)
            overlap, alarm = Overlap(given.pop("overlap")), FailAlarm(given.pop("fail_alarm"))
            return cls(**given, overlap=overlap, fail_alarm=alarm)
        except (KeyError, TypeError, ValueError) as error:
            raise StoreError(f"the schedule's timing cannot be read: {error}") from None


def check_name(name: str) -> str:
    """Refuse a name that cannot stand in files and identifiers.

    Raises
    ------
    UsageError
        It is none.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            "a schedule's name is 1 to 40 of A-Z, a-z, 0-9 and . _ - (a letter or digit at ends)"
        )
    return name


def duration(seconds: float) -> str:
    """Write a duration in the largest unit that it is a whole number of.

    >>> duration(21600), duration(90), duration(0.5)
    ('6h', '90s', '0.5s')
    """
    for unit, length in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds >= length and seconds % length == 0:
            return f"{seconds / length:g}{unit}"
    return f"{seconds:g}s"
