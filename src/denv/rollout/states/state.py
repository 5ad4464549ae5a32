"""Where a rollout stands: what was fixed at its start, and what has become of it since."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise
from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass

from denv.records import Kind, Verdict
from denv.rollout.states.actions import Action, AlarmKind, Awaited
from denv.rollout.states.events import Override
from denv.rollout.states.strict import STRICT, Count, Seconds
from denv.rollout.states.tally import Tally


class Phase(StrEnum):
    """What a rollout is doing."""

    PENDING = "pending"
    STARTING = "starting"
    HEALTH = "health"
    GOLDEN = "golden"
    PARITY = "parity"
    HOLDING = "holding"
    SHIFTING = "shifting"
    BAKING = "baking"
    PROMOTING = "promoting"
    PROMOTED = "promoted"
    RESTORING = "restoring"
    VERIFYING = "verifying"
    STOPPING = "stopping"
    ROLLED_BACK = "rolled-back"
    ROLLBACK_INCOMPLETE = "rollback-incomplete"
    CANCELLED = "cancelled"
    REFUSED = "refused"


TERMINAL = frozenset(
    {
        Phase.PROMOTED,
        Phase.ROLLED_BACK,
        Phase.ROLLBACK_INCOMPLETE,
        Phase.CANCELLED,
        Phase.REFUSED,
    }
)
"""Phases in which nothing more is done by itself; an incomplete rollback can be tried again."""

BACK = frozenset({Phase.RESTORING, Phase.VERIFYING, Phase.STOPPING, Phase.ROLLBACK_INCOMPLETE})
"""Phases of a release that is being taken back, or could not be."""


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Terms:
    """What is fixed when a rollout starts; edits of files later do not move it.

    ``batches`` are the shares of the traffic, rising, the last of them 1. ``thresholds`` hold
    each gated kind's least pass rate, with the defaults filled in. ``deadline_s`` is counted by
    the shell, for each batch anew. Without ``parity_every_s`` there is no look while baking.
    """

    release: str
    proof_digest: str
    batches: tuple[Fraction, ...]
    thresholds: Mapping[Kind, Fraction]
    has_incumbent: bool
    bake_s: Seconds
    deadline_s: Seconds
    parity_every_s: Seconds | None = None
    attempts: Annotated[int, Field(ge=1)] = 5
    first_backoff_s: Seconds = 10.0
    most_backoff_s: Seconds = 300.0

    def __post_init__(self) -> None:
        """Refuse batches that do not rise to all of the traffic, and looks without a pause."""
        if not self.batches or self.batches[-1] != 1:
            raise ValueError("the last batch is not all of the traffic")
        if self.batches[0] <= 0 or any(b <= a for a, b in pairwise(self.batches)):
            raise ValueError("the batches do not rise from above 0")
        if self.parity_every_s == 0:
            raise ValueError("parity_every_s is 0")


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Measured:
    """How a parity run ended: all that a decision about it needs."""

    run: str
    verdict: Verdict
    proof_digest: str
    tallies: tuple[Tally, ...]
    unanswered: Count
    missing: str = ""

    @property
    def counted(self) -> int:
        """Cases that decide."""
        return sum(tally.counted for tally in self.tallies)


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Looked:
    """What one look counted; ``look`` is its number from 1."""

    look: int
    run: str
    tallies: tuple[Tally, ...]


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Cause:
    """Why a release was taken back; no alarm where a person or a newer release wanted it."""

    alarm: AlarmKind | None
    text: str
    run: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class State:
    """One rollout.

    ``batch`` counts from 1, and is 0 before the first. ``steps`` counts decisions: the sequence
    number under which the shell stores each. ``issued`` is the last action's number; ``pending``
    are the actions that still await an answer: what a shell that restarts does again, and what
    is no longer among them it stops. ``proofs`` has a pass for each batch that has one, in order.
    ``attempts`` counts the tries of the phase, ``measured`` is the batch's last parity run.
    ``baked_s`` and ``looked_s`` are observed seconds of this bake: so far, and at its last look.
    ``weights_changed`` counts how often others' weights were read back while baking. ``failed``
    says that the proof's digest is latched. ``seen_to`` says that a person has taken an
    incomplete rollback in hand.
    """

    terms: Terms
    phase: Phase = Phase.PENDING
    batch: Count = 0
    steps: Count = 0
    issued: Count = 0
    pending: tuple[Annotated[Awaited, Field(discriminator="type")], ...] = ()
    proofs: tuple[Measured, ...] = ()
    attempts: Count = 0
    measured: Measured | None = None
    baked_s: Seconds = 0.0
    looked_s: Seconds = 0.0
    looks_begun: Count = 0
    looks: tuple[Looked, ...] = ()
    cause: Cause | None = None
    weights_changed: Count = 0
    failed: bool = False
    incomplete: str = ""
    seen_to: bool = False
    override: Override | None = None

    def __post_init__(self) -> None:
        """Refuse a batch that the terms do not have."""
        if self.batch > len(self.terms.batches):
            raise ValueError(f"batch {self.batch} of {len(self.terms.batches)}")

    @property
    def ended(self) -> bool:
        """Whether nothing can follow, so that the stage is free for another rollout.

        A rollback that is incomplete has not ended: traffic may still be on the release.
        """
        return self.phase in TERMINAL and self.phase is not Phase.ROLLBACK_INCOMPLETE

    @property
    def proven(self) -> bool:
        """Whether each batch up to this one has a pass for exactly the rollout's digest."""
        digest = self.terms.proof_digest
        return 0 < len(self.proofs) == self.batch and all(
            proof.verdict is Verdict.PASS and proof.proof_digest == digest and proof.counted
            for proof in self.proofs
        )


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Step:
    """One decision: the state after it, what is to be done, and the rule with its words."""

    state: State
    actions: tuple[Action, ...]
    rule: str
    text: str
