"""Rollouts, their decisions and what outlives them. Times are Unix seconds, from the caller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from denv.records import Json
from denv.store.alarming import Raise, Resolve


@dataclass(frozen=True, slots=True)
class RolloutRecord:
    """A rollout; active while ``ended`` is None.

    ``plan`` is frozen when it is created. ``state`` and ``phase`` are those after decision
    ``seq``, which is 0 before the first.
    """

    rollout: str
    stage: str
    release: str
    proof: str
    started: float
    plan: Mapping[str, Json]
    state: Mapping[str, Json]
    phase: str = "pending"
    seq: int = 0
    ended: float | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """One line of a rollout's log: in ``phase`` came ``event``; ``rule`` led to ``next_phase``.

    ``actions`` are what the decision asks to be done, ``detail`` its counts and cases.
    """

    seq: int
    at: float
    phase: str
    event: Mapping[str, Json]
    rule: str
    text: str
    next_phase: str
    actions: Sequence[Mapping[str, Json]] = ()
    detail: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Latch:
    """A proof that failed in a rollout: nothing with these digests is taken out again unasked."""

    proof: str
    rollout: str
    at: float
    kind: str
    run: str | None = None


@dataclass(frozen=True, slots=True)
class Override:
    """Someone's word that a latched proof may be tried once more; ``used_by`` is that rollout."""

    proof: str
    by: str
    reason: str
    at: float
    used_by: str | None = None
    used_at: float | None = None


@dataclass(frozen=True, slots=True)
class Incumbent:
    """The release that a stage serves: the plan of the rollout that was promoted last."""

    rollout: str
    release: str
    proof: str
    plan: Mapping[str, Json]
    since: float


@dataclass(frozen=True, slots=True)
class StageRecord:
    """A stage: what it serves, and the traffic weights set last."""

    stage: str
    incumbent: Incumbent | None = None
    weights: Mapping[str, Json] | None = None
    weighed: float | None = None


@dataclass(frozen=True, slots=True)
class StepCommit:
    """All that one decision changes; it is written in one transaction.

    ``promoted`` makes the rollout its stage's incumbent; ``ended`` ends it, whatever its phase.
    """

    decision: Decision
    state: Mapping[str, Json]
    raised: Sequence[Raise] = ()
    resolved: Sequence[Resolve] = ()
    latch: Latch | None = None
    promoted: bool = False
    ended: bool = False


class RolloutStore(Protocol):
    """Keeps rollouts. Every method raises ``StoreError`` when data cannot be read or written."""

    def create_rollout(self, record: RolloutRecord) -> None:
        """Add a rollout; the same one again changes nothing.

        ``ActiveRolloutError`` where its stage has another that has not ended.
        """

    def get_rollout(self, rollout: str) -> RolloutRecord | None:
        """Give one rollout, or None."""

    def active_rollout(self, stage: str) -> RolloutRecord | None:
        """Give a stage's rollout that has not ended, or None."""

    def list_rollouts(
        self,
        *,
        stage: str | None = None,
        active: bool | None = None,
        before: tuple[float, str] | None = None,
        most: int = 100,
    ) -> Sequence[RolloutRecord]:
        """Give rollouts, the newest first.

        ``before`` is the started time and the id of the last one seen.
        """

    def commit_step(self, rollout: str, step: StepCommit) -> bool:
        """Write a decision and all that follows from it at once.

        True when it was written, False when just this decision was there already and nothing
        was changed. ``StepConflictError`` where another decision has that number, where
        earlier ones are missing, or where the rollout has ended.
        """

    def decisions(self, rollout: str, *, after: int = 0) -> Sequence[Decision]:
        """Give a rollout's decisions in their order, those after a number."""

    def latched(self, proof: str) -> Latch | None:
        """Give the latest failure of a proof, or None; an override does not erase it."""

    def add_override(self, given: Override) -> None:
        """Let a latched proof be tried once.

        ``OverrideError`` where it is not latched or has an override that is not used yet.
        """

    def take_override(self, proof: str, *, rollout: str, at: float) -> Override | None:
        """Use up a proof's override for a rollout; None where there is none left.

        Asked again for the same rollout it gives what that rollout has used.
        """

    def overrides(self, proof: str) -> Sequence[Override]:
        """Give all overrides of a proof, the oldest first."""

    def get_stage(self, stage: str) -> StageRecord | None:
        """Give a stage that was ever promoted to or weighed, or None."""

    def list_stages(self) -> Sequence[StageRecord]:
        """Give all stages by name."""

    def set_weights(self, stage: str, weights: Mapping[str, Json], *, at: float) -> None:
        """Note the traffic weights of a stage."""
