"""What travels between a schedule's workflow, its activities and clients; strict JSON."""

from __future__ import annotations

from dataclasses import dataclass, field

from denv.rollout.engine.messages import Plain


@dataclass
class ScheduleOrder:
    """What a schedule's workflow is started with; ``rebase`` asks for a new baseline."""

    schedule: str
    kind: str = "full"
    rebase: bool = False


@dataclass
class DueAsked:
    """Which slots are to be done: at the time ``nominal``, or out of turn because of ``why``.

    ``started`` is when the server began with it, which it does not do before a slot's time.
    """

    order: ScheduleOrder
    nominal: float
    started: float
    why: list[str] = field(default_factory=list)


@dataclass
class DueFound:
    """The slot to be done and those that were missed; ``done`` where there is nothing to do.

    ``due`` says that the slot is the schedule's own.
    """

    slot: float
    missed: list[float] = field(default_factory=list)
    due: bool = True
    done: bool = False


@dataclass
class FireAsked:
    """A slot to be done."""

    order: ScheduleOrder
    due: DueFound
    why: list[str] = field(default_factory=list)


@dataclass
class FireDone:
    """What became of it."""

    kind: str
    verdict: str | None = None
    run: str | None = None
    raised: list[str] = field(default_factory=list)
    escalate: list[str] = field(default_factory=list)
    again: bool = False


@dataclass
class FullOpened:
    """A full run whose shards are to be asked; where ``done`` is given there is nothing to ask."""

    shards: Plain = field(default_factory=dict)
    to_ask: list[int] = field(default_factory=list)
    at_once: int = 1
    rebase: bool = False
    done: FireDone | None = None


@dataclass
class FullShard:
    """One shard of a full run, or with ``shard`` -1 its end.

    ``refused`` is why a side would not take what it was asked.
    """

    asked: FireAsked
    shards: Plain
    rebase: bool
    shard: int = -1
    refused: list[str] = field(default_factory=list)
