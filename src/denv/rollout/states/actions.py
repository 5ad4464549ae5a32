"""What the table asks the shell to do.

Each action has a number, which rises within a rollout; with the rollout's own name it is the key
under which the shell does the action at most once in effect. An action that is awaited stands in
``State.pending`` until an event answers its number; the others (alarms, latch, promotion) are
done in the transaction that stores the step.
"""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from denv.rollout.states.strict import STRICT, Count, Seconds


class AlarmKind(StrEnum):
    """What a rollout raises."""

    PARITY_FAIL = "parity-fail"
    PARITY_GAMING = "parity-gaming"
    PARITY_UNPROVEN = "parity-unproven"
    HEALTH_FAIL = "health-fail"
    GOLDEN_FAIL = "golden-fail"
    ROLLBACK_INCOMPLETE = "rollback-incomplete"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class StartReplicas:
    """Start the replicas that are new in the batch; with none to start, say so at once."""

    number: Count = 0
    batch: int
    type: Literal["start-replicas"] = "start-replicas"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class CheckHealth:
    """Check the health of the batch's new replicas."""

    number: Count = 0
    batch: int
    type: Literal["check-health"] = "check-health"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class RunGolden:
    """Ask each new replica the golden prompts, all of which must pass."""

    number: Count = 0
    batch: int
    attempt: int
    type: Literal["run-golden"] = "run-golden"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class RunParity:
    """Run the suite over the batch's replicas.

    ``again`` names the run of which only what was not answered is asked; None begins a new one.
    """

    number: Count = 0
    batch: int
    attempt: int
    again: str | None
    type: Literal["run-parity"] = "run-parity"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Wait:
    """Wait so long, then answer with RetryDue."""

    number: Count = 0
    seconds: Seconds
    type: Literal["wait"] = "wait"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class SetWeights:
    """Send this share of the stage's traffic to the release, and read it back."""

    number: Count = 0
    share: Fraction
    type: Literal["set-weights"] = "set-weights"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Watch:
    """Watch the health of all replicas that serve for so long of observed time.

    The shell may answer earlier with what it has observed; the rest is then asked for again.
    """

    number: Count = 0
    seconds: Seconds
    type: Literal["watch"] = "watch"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Look:
    """Draw cases afresh and without replacement from the whole suite, and ask them.

    ``look`` counts the looks of the rollout from 1: the seed of the draw.
    """

    number: Count = 0
    look: int
    type: Literal["look"] = "look"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class RestoreWeights:
    """Send all traffic to the incumbent, or none anywhere without one, and read it back."""

    number: Count = 0
    to_incumbent: bool
    type: Literal["restore-weights"] = "restore-weights"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ProveIncumbent:
    """Ask the incumbent its golden prompts, all of which must pass."""

    number: Count = 0
    type: Literal["prove-incumbent"] = "prove-incumbent"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class StopReplicas:
    """Stop those replicas of the release that the rollout started."""

    number: Count = 0
    type: Literal["stop-replicas"] = "stop-replicas"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class RaiseAlarm:
    """Open the stage's alarm of this kind, or count it up where it is open."""

    number: Count = 0
    kind: AlarmKind
    summary: str
    run: str | None = None
    type: Literal["raise-alarm"] = "raise-alarm"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ResolveAlarms:
    """Resolve the stage's open alarms of these kinds; of every kind where none is named."""

    number: Count = 0
    kinds: tuple[AlarmKind, ...] = ()
    type: Literal["resolve-alarms"] = "resolve-alarms"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Latch:
    """Remember that the proof of this digest failed: no rerun erases it."""

    number: Count = 0
    proof_digest: str
    run: str | None
    type: Literal["latch"] = "latch"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class MarkPromoted:
    """Make the release the stage's incumbent."""

    number: Count = 0
    type: Literal["mark-promoted"] = "mark-promoted"


Awaited = (
    StartReplicas
    | CheckHealth
    | RunGolden
    | RunParity
    | Wait
    | SetWeights
    | Watch
    | Look
    | RestoreWeights
    | ProveIncumbent
    | StopReplicas
)
"""Actions that an event answers."""

Recorded = RaiseAlarm | ResolveAlarms | Latch | MarkPromoted
"""Actions that are done once the step is stored."""

Action = Annotated[Awaited | Recorded, Field(discriminator="type")]
