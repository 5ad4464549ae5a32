"""Counts among some, with Wilson's interval."""

from __future__ import annotations

from dataclasses import dataclass

from denv.records import Json
from denv.stats.proportions import wilson


@dataclass(frozen=True, slots=True)
class Share:
    """A count among some and Wilson's interval; both are None where there was none to count."""

    count: int
    of: int
    value: float | None
    interval: tuple[float, float] | None

    def document(self) -> dict[str, Json]:
        """Give the figures as strict JSON."""
        return {
            "count": self.count,
            "of": self.of,
            "value": self.value,
            "interval": None if self.interval is None else list(self.interval),
        }


def share(count: int, of: int, *, confidence: float) -> Share:
    """Give a share and its interval."""
    if not of:
        return Share(count, of, None, None)
    limits = wilson(count, of, confidence=confidence)
    return Share(count, of, count / of, (limits.low, limits.high))
