"""When a run need not go on: a threshold that no remaining case could meet any more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

from denv.records import CaseResult, Kind, Outcome, Thresholds
from denv.verdict import effective_rates


class Enough:
    """Counts what decides early, exactly as the verdict will count it."""

    def __init__(self, planned: Mapping[Kind, int], thresholds: Thresholds) -> None:
        self._planned = planned
        self._rates = effective_rates(thresholds, planned)
        self._counts: dict[Kind, Counter[Outcome]] = {kind: Counter() for kind in planned}

    def add(self, result: CaseResult) -> None:
        """Count one result."""
        self._counts[result.kind][result.outcome] += 1

    @property
    def failures(self) -> int:
        """Cases that failed."""
        return sum(counts[Outcome.FAIL] for counts in self._counts.values())

    @property
    def not_counted(self) -> int:
        """Cases with a result that is neither a pass nor a failure."""
        counted = (Outcome.PASS, Outcome.FAIL)
        return sum(
            number
            for counts in self._counts.values()
            for outcome, number in counts.items()
            if outcome not in counted
        )

    @property
    def decided(self) -> bool:
        """Whether some kind fails even if all of its remaining cases pass."""
        return any(self._hopeless(kind, rate) for kind, rate in self._rates.items())

    def _hopeless(self, kind: Kind, rate: Fraction) -> bool:
        counts = self._counts[kind]
        failed = counts[Outcome.FAIL]
        lost = counts.total() - counts[Outcome.PASS] - failed
        most_counted = self._planned[kind] - lost
        return failed > 0 and Fraction(most_counted - failed, most_counted) < rate
