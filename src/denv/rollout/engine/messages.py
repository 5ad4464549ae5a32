"""What travels between workflows, activities and clients; all of it is strict JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Plain = dict[str, Any]

HEARTBEAT_S = 10.0
"""A process that has not been heard of for so long is dead, and another takes over."""


@dataclass
class RolloutOrder:
    """A rollout to be carried out; ``plan`` is empty once the store has it."""

    rollout: str
    stage: str
    release: str
    proof: str
    started: float
    plan: Plain = field(default_factory=dict)
    heartbeat_s: float = HEARTBEAT_S


@dataclass
class StageOrder:
    """What a stage's workflow carries out: a rollout, and the one that is to follow it.

    ``arrived`` are events that are not decided on yet; ``deadline`` is the Unix second at which
    the time of batch ``deadline_batch`` is over. The state itself is the store's.
    """

    order: RolloutOrder
    following: RolloutOrder | None = None
    arrived: list[Plain] = field(default_factory=list)
    deadline: float | None = None
    deadline_batch: int = 0


@dataclass
class Admitted:
    """Where a rollout stands in the store when it is taken up; ``events`` come first of all.

    ``first`` is another rollout that has its stage and must be taken up before it can begin.
    """

    state: Plain
    events: list[Plain]
    ended: bool
    first: RolloutOrder | None = None


@dataclass
class Word:
    """Someone's word about a rollout: promote, roll back or cancel it."""

    rollout: str
    by: str
    reason: str = ""


@dataclass
class StepGiven:
    """A decision to be written; ``ended`` says that nothing more is decided of its rollout."""

    rollout: str
    phase: str
    event: Plain
    step: Plain
    ended: bool


@dataclass
class StepTaken:
    """The state after the decision that stands in the store under its number."""

    state: Plain
    ended: bool


@dataclass
class Task:
    """An action of a rollout to be performed."""

    rollout: str
    action: Plain


@dataclass
class OpenedRun:
    """A parity run to be asked; where ``event`` is given there is nothing to ask."""

    shards: Plain = field(default_factory=dict)
    to_ask: list[int] = field(default_factory=list)
    at_once: int = 1
    event: Plain | None = None


@dataclass
class ShardTask:
    """One shard of a run, or with ``shard`` -1 the end of the run."""

    task: Task
    shards: Plain
    shard: int = -1


@dataclass
class ParityOrder:
    """A parity run of a rollout, shard by shard."""

    task: Task
    heartbeat_s: float = HEARTBEAT_S


@dataclass
class AlarmOrder:
    """The deliveries of one alarm to one sink."""

    alarm: str
    sink: str
    heartbeat_s: float = HEARTBEAT_S


@dataclass
class DeliveryGiven:
    """What is to be tried: all that is owed, or with ``again`` one more firing."""

    alarm: str
    sink: str
    again: bool


@dataclass
class Delivered:
    """How it went; ``wait_s`` is how long until the next try, None for as long as it takes."""

    over: bool
    wait_s: float | None
    error: str | None = None


@dataclass
class Status:
    """What a stage's workflow answers when it is asked."""

    rollout: str
    steps: int
    phase: str
    performing: list[str]
    deadline: float | None
    following: str | None
    proof: str = ""
    following_proof: str | None = None
