"""What a going run tells whoever watches it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from denv.records import Side

BEAT_S = 1.0
"""Whoever watches is told this often even where no case ends."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    ``resumed`` cases were done by an earlier part of the same run. ``cost`` is None where no
    price was given. Tokens are those of both sides, as the servers report them. ``held`` says,
    for each side to which all requests are held back, how long and why; ``waits`` is how many
    such waits have begun, so that each can be told of once.
    """

    planned: int
    done: int
    resumed: int
    failures: int
    not_counted: int
    tokens: int
    cost: float | None
    elapsed_s: float
    held: Mapping[Side, str] = field(default_factory=dict)
    waits: int = 0

    @property
    def cases_per_s(self) -> float:
        """Cases a second since this part of the run began."""
        return (self.done - self.resumed) / self.elapsed_s if self.elapsed_s > 0 else 0.0

    @property
    def left_s(self) -> float | None:
        """Seconds that the rest takes at this rate, None while there is no rate."""
        rate = self.cases_per_s
        return (self.planned - self.done) / rate if rate > 0 else None


def held_line(side: Side, *, seconds: float, why: str) -> str:
    """Say how long requests to a side are still held back; ``why`` is a status or another word."""
    rest = f"{max(1, round(seconds))} s"
    if why.isdecimal():
        return f"{side} asks to wait {rest} ({why})"
    return f"{side} is asked again in {rest} ({why})"


Watch = Callable[[Progress], None]
