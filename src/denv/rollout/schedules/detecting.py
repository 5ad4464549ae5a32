"""What a schedule has learned over all its looks: one e-detector for each thing that may change.

A detector's threshold is the stated number of looks times the number of detectors: the sum of
their statistics over their number then has that mean time to an alarm, whichever comes first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from denv.errors import StoreError
from denv.records import Json
from denv.stats.detection import PooledShiryaevRoberts

FORM = "denv.detectors/1"


@dataclass(frozen=True, slots=True)
class Counted:
    """What one look says of one thing."""

    failed: int
    counted: int


@dataclass(frozen=True, slots=True)
class Detectors:
    """All detectors of a schedule by the names of what they watch.

    ``between`` is the stated mean number of looks between two false alarms of all together.
    """

    between: float
    by_name: Mapping[str, PooledShiryaevRoberts]

    @classmethod
    def start(cls, bounds: Mapping[str, float], *, between: float) -> Detectors:
        """Begin; a bound is the share that may fail, and one of 1 cannot be exceeded: none is."""
        watched = {name: bound for name, bound in bounds.items() if bound < 1}
        threshold = max(between, 2.0) * max(len(watched), 1)
        made = {name: PooledShiryaevRoberts(bound, threshold) for name, bound in watched.items()}
        return cls(between, made)

    def look(self, counted: Mapping[str, Counted]) -> tuple[Detectors, tuple[str, ...]]:
        """Give the detectors after a look, and the names of those that alarm.

        A detector that alarms begins anew, so that the mean time holds between alarms too. One
        that the look says nothing of stays as it was.
        """
        after: dict[str, PooledShiryaevRoberts] = {}
        alarms = []
        for name, detector in self.by_name.items():
            after[name] = detector
            if name not in counted:
                continue
            found = counted[name]
            after[name] = detector.look(found.failed, counted=found.counted)
            if after[name].alarm_at is not None:
                alarms.append(name)
                after[name] = PooledShiryaevRoberts(detector.bound, detector.threshold)
        return replace(self, by_name=after), tuple(alarms)

    def evidence(self, name: str) -> tuple[float, float]:
        """Give a detector's statistic and what it alarms at."""
        detector = self.by_name[name]
        return detector.statistic, detector.threshold

    def to_json(self) -> dict[str, Json]:
        """Write the state as strict JSON."""
        return {
            "form": FORM,
            "between": self.between,
            "by_name": {
                name: {
                    "bound": one.bound,
                    "threshold": one.threshold,
                    "looks": one.looks,
                    "log_parts": list(one.log_parts),
                }
                for name, one in self.by_name.items()
            },
        }

    @classmethod
    def from_json(cls, kept: Mapping[str, Json]) -> Detectors:
        """Read a state back.

        Raises
        ------
        StoreError
            It is no state of this form.
        """
        if kept.get("form") != FORM:
            raise StoreError(f"the kept state of the detectors is not of the form {FORM}")
        try:
            by_name = {
                name: PooledShiryaevRoberts(
                    bound=one["bound"],
                    threshold=one["threshold"],
                    looks=one["looks"],
                    log_parts=tuple(one["log_parts"]),
                )
                for name, one in kept["by_name"].items()
            }
            return cls(kept["between"], by_name)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise StoreError(f"the kept state of the detectors cannot be read: {error}") from None
