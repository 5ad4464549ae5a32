"""What happens to a rollout.

An event that answers an action carries its number in ``answers``: what answers nothing that is
awaited is late or came twice, and changes nothing. Texts hold no key, header or customer text:
they are shown in the log of decisions and in alarms.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from denv.records import Verdict
from denv.rollout.states.actions import (
    Awaited,
    CheckHealth,
    Look,
    ProveIncumbent,
    RestoreWeights,
    RunGolden,
    RunParity,
    SetWeights,
    StartReplicas,
    StopReplicas,
    Wait,
    Watch,
)
from denv.rollout.states.strict import STRICT, Count, Seconds
from denv.rollout.states.tally import Tally


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Override:
    """A person's word that a failed proof may be tried again, once."""

    by: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Begin:
    """The rollout begins; ``latched`` says that its proof's digest has failed before."""

    latched: bool = False
    override: Override | None = None
    type: Literal["begin"] = "begin"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ReplicasStarted:
    """The batch's new replicas run, or there are none to start."""

    answers: Count
    type: Literal["replicas-started"] = "replicas-started"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ReplicasFailed:
    """A replica could not be started."""

    answers: Count
    why: str
    type: Literal["replicas-failed"] = "replicas-failed"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Healthy:
    """Every new replica passed its health check."""

    answers: Count
    type: Literal["healthy"] = "healthy"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Unhealthy:
    """A replica failed its health check, at the start or while it was watched."""

    answers: Count
    why: str
    type: Literal["unhealthy"] = "unhealthy"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class GoldenPassed:
    """All golden prompts passed on every new replica."""

    answers: Count
    run: str
    type: Literal["golden-passed"] = "golden-passed"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class GoldenFailed:
    """Golden prompts failed; ``cases`` names them."""

    answers: Count
    run: str
    cases: tuple[str, ...]
    type: Literal["golden-failed"] = "golden-failed"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class GoldenUnproven:
    """The golden prompts could not be decided, as where the reference does not answer."""

    answers: Count
    why: str
    type: Literal["golden-unproven"] = "golden-unproven"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ParityEnded:
    """A parity run ended.

    ``proof_digest`` is of what the run compared; ``unanswered`` counts the cases that asking
    again would ask; ``missing`` says in words what a pass lacks; ``cases`` names failed ones.
    ``gaming`` says how the stage was found to know the public cases, empty where it was not.
    """

    answers: Count
    run: str
    verdict: Verdict
    proof_digest: str
    tallies: tuple[Tally, ...]
    unanswered: Count = 0
    missing: str = ""
    cases: tuple[str, ...] = ()
    gaming: str = ""
    type: Literal["parity-ended"] = "parity-ended"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class WeightsSet:
    """The weights were set and read back as asked."""

    answers: Count
    type: Literal["weights-set"] = "weights-set"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class WeightsNotSet:
    """The weights could not be set, or read back as others."""

    answers: Count
    why: str
    type: Literal["weights-not-set"] = "weights-not-set"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Watched:
    """So long was the release watched and healthy; time that nobody watched is not in it."""

    answers: Count
    observed_s: Seconds
    type: Literal["watched"] = "watched"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class WeightsChanged:
    """Others' weights were read back while the release was watched; so long they were right."""

    answers: Count
    observed_s: Seconds
    why: str
    type: Literal["weights-changed"] = "weights-changed"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class LookEnded:
    """A look ended.

    ``down`` says that the stage could not be reached. Where it was the reference, or the look
    was cut off, nothing is counted and ``missing`` says why.
    """

    answers: Count
    run: str
    tallies: tuple[Tally, ...] = ()
    down: bool = False
    missing: str = ""
    cases: tuple[str, ...] = ()
    type: Literal["look-ended"] = "look-ended"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Deadline:
    """The batch has had its time."""

    batch: int
    type: Literal["deadline"] = "deadline"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class RetryDue:
    """A wait is over."""

    answers: Count
    type: Literal["retry-due"] = "retry-due"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Promote:
    """A person wants the bake to end now."""

    by: str
    type: Literal["promote"] = "promote"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Rollback:
    """A person wants the release off the stage."""

    by: str
    reason: str = ""
    type: Literal["rollback"] = "rollback"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Superseded:
    """A newer release wants the stage."""

    by_release: str
    type: Literal["superseded"] = "superseded"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Cancel:
    """The rollout is cancelled."""

    by: str
    type: Literal["cancel"] = "cancel"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class WeightsRestored:
    """The weights are the incumbent's again, or none, and read back so."""

    answers: Count
    type: Literal["weights-restored"] = "weights-restored"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class WeightsNotRestored:
    """The weights could not be restored, or read back as others."""

    answers: Count
    why: str
    type: Literal["weights-not-restored"] = "weights-not-restored"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class IncumbentProven:
    """The incumbent's golden prompts passed."""

    answers: Count
    type: Literal["incumbent-proven"] = "incumbent-proven"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class IncumbentNotProven:
    """The incumbent's golden prompts failed or could not be asked."""

    answers: Count
    why: str
    type: Literal["incumbent-not-proven"] = "incumbent-not-proven"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ReplicasStopped:
    """Stopping is over; ``why`` says what could not be stopped."""

    answers: Count
    why: str = ""
    type: Literal["replicas-stopped"] = "replicas-stopped"


Answer = (
    ReplicasStarted
    | ReplicasFailed
    | Healthy
    | Unhealthy
    | GoldenPassed
    | GoldenFailed
    | GoldenUnproven
    | ParityEnded
    | WeightsSet
    | WeightsNotSet
    | Watched
    | WeightsChanged
    | LookEnded
    | RetryDue
    | WeightsRestored
    | WeightsNotRestored
    | IncumbentProven
    | IncumbentNotProven
    | ReplicasStopped
)
"""Events that answer an action."""

Event = Annotated[
    Begin | Answer | Deadline | Promote | Rollback | Superseded | Cancel,
    Field(discriminator="type"),
]

ANSWERS: dict[type[Awaited], tuple[type[Answer], ...]] = {
    StartReplicas: (ReplicasStarted, ReplicasFailed),
    CheckHealth: (Healthy, Unhealthy),
    RunGolden: (GoldenPassed, GoldenFailed, GoldenUnproven),
    RunParity: (ParityEnded,),
    Wait: (RetryDue,),
    SetWeights: (WeightsSet, WeightsNotSet),
    Watch: (Watched, WeightsChanged, Unhealthy),
    Look: (LookEnded,),
    RestoreWeights: (WeightsRestored, WeightsNotRestored),
    ProveIncumbent: (IncumbentProven, IncumbentNotProven),
    StopReplicas: (ReplicasStopped,),
}
"""Which events answer which action."""
