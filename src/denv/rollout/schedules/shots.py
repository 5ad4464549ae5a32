"""What a schedule fires, what became of it, and what is written of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from denv.rollout.schedules.learned import Learned
from denv.store import Firing, Raise, Resolve

FORM = "denv.schedule.firing/1"

Kind = Literal["full", "sentinel"]


@dataclass(frozen=True, slots=True)
class Fired:
    """What became of a firing. ``escalate`` is why a full run is to follow a sentinel's look.

    ``again`` says that this slot was done before, and nothing was asked.
    """

    kind: str
    verdict: str | None = None
    run: str | None = None
    raised: tuple[str, ...] = ()
    escalate: tuple[str, ...] = ()
    again: bool = False


@dataclass(frozen=True, slots=True)
class Shot:
    """A firing that is to be.

    ``due`` says that the slot is one of the schedule's own, not a word by hand or a sentinel's.
    ``why`` is why a full run is made out of turn; with ``rebase`` it becomes the baseline.
    """

    schedule: str
    slot: float
    kind: Kind = "full"
    missed: tuple[float, ...] = ()
    due: bool = True
    why: tuple[str, ...] = ()
    rebase: bool = False


@dataclass(frozen=True, slots=True)
class Commit:
    """A firing and all that is written with it."""

    firing: Firing
    learned: Learned
    baseline: str | None = None
    raised: Sequence[Raise] = ()
    resolved: Sequence[Resolve] = ()
