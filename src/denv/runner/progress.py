"""What a going run tells whoever watches it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    ``resumed`` cases were done by an earlier part of the same run. ``cost`` is None where no
    price was given. Tokens are those of both sides, as the servers report them.
    """

    planned: int
    done: int
    resumed: int
    failures: int
    not_counted: int
    tokens: int
    cost: float | None
    elapsed_s: float

    @property
    def cases_per_s(self) -> float:
        """Cases a second since this part of the run began."""
        return (self.done - self.resumed) / self.elapsed_s if self.elapsed_s > 0 else 0.0

    @property
    def left_s(self) -> float | None:
        """Seconds that the rest takes at this rate, None while there is no rate."""
        rate = self.cases_per_s
        return (self.planned - self.done) / rate if rate > 0 else None


Watch = Callable[[Progress], None]
