"""What a run or a look counted of one kind."""

from __future__ import annotations

from pydantic.dataclasses import dataclass

from denv.records import Kind
from denv.rollout.states.strict import STRICT, Count


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Tally:
    """Cases of one kind: passed, failed, and those that were asked and do not count."""

    kind: Kind
    passed: Count
    failed: Count
    uncounted: Count = 0

    @property
    def counted(self) -> int:
        """Cases that decide."""
        return self.passed + self.failed
