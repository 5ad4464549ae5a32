"""Where a rollout stands, as its page shows it: batches, log, and what may be done to it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from denv.records import Json
from denv.rollout.states.state import BACK, Phase

Document = Mapping[str, Any]

MOST_LOGGED = 200
"""Decisions that the page shows; of a longer log the latest."""

PHASES: Mapping[str, str] = {
    "waiting": "The rollout waits to be taken up.",
    Phase.PENDING: "The rollout has been ordered and has not begun.",
    Phase.STARTING: "The batch's new replicas are started.",
    Phase.HEALTH: "The new replicas are checked for health.",
    Phase.GOLDEN: "The new replicas are asked the golden prompts.",
    Phase.PARITY: "The suite is asked of the new replicas and of the reference.",
    Phase.HOLDING: "Parity could not be decided. It is asked again until the deadline.",
    Phase.SHIFTING: "Traffic is moved to the release, and read back.",
    Phase.BAKING: "The release has its share of the traffic and is watched.",
    Phase.PROMOTING: "All batches are proven. The weights are confirmed a last time.",
    Phase.PROMOTED: "The release serves the stage.",
    Phase.RESTORING: "The release is taken back: the weights are restored.",
    Phase.VERIFYING: "The release is taken back: the incumbent is proven.",
    Phase.STOPPING: "The release is taken back: its replicas are stopped.",
    Phase.ROLLED_BACK: "The release was taken back. The stage serves what it served before.",
    Phase.ROLLBACK_INCOMPLETE: "The release could not be taken back: traffic may still be on it.",
    Phase.CANCELLED: "The rollout was called off before anything was changed.",
    Phase.REFUSED: "This release failed before, and nobody has overridden that.",
}

TONES: Mapping[str, str] = {
    Phase.PROMOTED: "pass",
    Phase.ROLLED_BACK: "fail",
    Phase.ROLLBACK_INCOMPLETE: "fail",
    Phase.CANCELLED: "cancelled",
    Phase.REFUSED: "cancelled",
    Phase.HOLDING: "inconclusive",
}
"""The colour of each phase, by the verdicts' names; the others are under way."""

Said = Literal["promote", "rollback", "cancel", "override"]

WORDS: Mapping[Said, str] = {
    "promote": "End the bake of this batch now; the next one begins, or the release is promoted.",
    "rollback": "Take the release off the stage. Traffic goes back to the incumbent, verified.",
    "cancel": "Call the rollout off. What it has changed is taken back; no alarm is raised.",
    "override": "Let the next rollout of this release try again what failed, once.",
}


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch: its share of the traffic, how far it is, and the replicas that come with it."""

    number: int
    share: float
    state: str
    replicas: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One decision of the log; ``tone`` is that of the phase it leads to."""

    seq: int
    at: str
    phase: str
    rule: str
    text: str
    counts: Sequence[str] = ()
    cases: Sequence[str] = ()
    run: str | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """All that the page shows of a rollout beside its document."""

    says: str
    tone: str
    live: bool
    batches: Sequence[Batch]
    log: Sequence[Entry]
    hidden: int
    may: Sequence[str]
    runs: Sequence[str] = field(default=())


def standing_of(document: Document, *, plan: Mapping[str, Json], latched: bool) -> Standing:
    """Say where a rollout stands; ``latched`` is whether its failure awaits a person's override."""
    phase, ended = document["phase"], document["ended"] is not None
    decisions = document["decisions"]
    log = [_entry(one) for one in decisions]
    return Standing(
        says=PHASES[phase],
        tone=TONES.get(phase, "running"),
        live=not ended,
        batches=list(_batches(document, plan)),
        log=log[::-1][:MOST_LOGGED],
        hidden=max(0, len(log) - MOST_LOGGED),
        may=[*_may_say(phase, ended=ended), *(["override"] if latched else [])],
        runs=list(dict.fromkeys(one.run for one in log if one.run)),
    )


def _may_say(phase: str, *, ended: bool) -> Iterator[str]:
    """Give the words that would change something now."""
    if ended:
        return
    if phase == Phase.BAKING:
        yield "promote"
    if phase not in BACK:
        yield from ("rollback", "cancel")
    elif phase == Phase.ROLLBACK_INCOMPLETE:
        yield "rollback"


def _batches(document: Document, plan: Mapping[str, Json]) -> Iterator[Batch]:
    for number, share in enumerate(document["batches"], 1):
        new = [one["name"] for one in plan.get("replicas", ()) if one["batch"] == number]
        yield Batch(number, share, _state(document, number), new)


def _state(document: Document, number: int) -> str:
    phase, batch = document["phase"], document["batch"]
    if phase == Phase.PROMOTED or number < batch:
        return "done"
    if number > batch or not batch:
        return "to come"
    if phase in BACK or document["ended"] is not None:
        return "stopped here"
    return "now"


def _entry(decision: Document) -> Entry:
    detail = decision["detail"]
    before, after = decision["phase"], decision["next_phase"]
    return Entry(
        seq=decision["seq"],
        at=decision["at"],
        phase=before if before == after else f"{before} → {after}",
        rule=decision["rule"],
        text=decision["text"],
        counts=[_count(one) for one in detail.get("tallies", ())],
        cases=detail.get("cases", ()),
        run=detail.get("run"),
    )


def _count(tally: Document) -> str:
    aside = f", {tally['uncounted']} not counted" if tally.get("uncounted") else ""
    return f"{tally['kind']}: {tally['passed']} passed, {tally['failed']} failed{aside}"
