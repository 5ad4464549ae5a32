"""G6, penalties: whether they act where they are sent, and only there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from denv.instruments.gates.asking import Reply, chat, greedy, user
from denv.instruments.gates.model import Check, State
from denv.instruments.gates.parting import parting
from denv.instruments.gates.texts import REPETITION
from denv.instruments.probes import Strand
from denv.records import Json, ProblemKind, Side

TOKENS = 32
STRONG = 2.0
"""The most that the API allows."""

_OFF: Mapping[str, Json] = {"frequency_penalty": 0, "presence_penalty": 0}
_OFF_TOO: Mapping[str, Json] = {"repetition_penalty": 1, "repeat_penalty": 1}
_REPEATED = 3


@dataclass(frozen=True, slots=True)
class Penalised:
    """A repetitive answer: as it comes, with all penalties off, and with either at its most."""

    plain: Reply
    off: Reply
    frequency: Reply
    presence: Reply

    def changed(self, reply: Reply) -> bool | None:
        """Tell whether a penalty changed the answer; None where there was nothing to penalise."""
        words = Counter(self.off.said.split())
        if not words or max(words.values()) < _REPEATED:
            return None
        return reply.said != self.off.said


def ask_penalised(side: Side) -> Strand[Penalised]:
    """Ask for a repetition in four ways."""
    plain = yield from _ask(side, {})
    off: Reply = yield from _ask(side, {**_OFF, **_OFF_TOO})
    problem = off.observation.problem
    if problem is not None and problem.kind is ProblemKind.REFUSED:
        off = yield from _ask(side, _OFF)
    frequency = yield from _ask(side, {"frequency_penalty": STRONG})
    presence = yield from _ask(side, {"presence_penalty": STRONG})
    return Penalised(plain, off, frequency, presence)


def _ask(side: Side, fields: Mapping[str, Json]) -> Strand[Reply]:
    return (yield from chat(side, {**greedy(user(REPETITION), max_tokens=TOKENS), **fields}))


def penalty_checks(
    penalised: Mapping[Side, Penalised], *, stable: Mapping[Side, bool]
) -> list[Check]:
    """Judge both sides; ``stable`` says which of them repeat themselves."""
    return [
        *(_default(side, penalised[side], stable=stable[side]) for side in Side),
        _applied(penalised),
    ]


def _default(side: Side, one: Penalised, *, stable: bool) -> Check:
    name = "penalties-default"
    trouble = one.plain.trouble or one.off.trouble
    if trouble is not None:
        return Check(name, State.UNKNOWN, f"the {side} gave no answer ({trouble})", side)
    found = parting(one.plain.said, one.off.said)
    evidence: dict[str, Json] = {"characters": len(one.plain.said), "same": found is None}
    if found is None:
        said = f"the {side} has no penalty where none is sent"
        return Check(name, State.PASS, said, side, evidence=evidence)
    how = f"`{found.stage}` against `{found.reference}`"
    if not stable:
        said = f"the {side} does not repeat itself, so that a default penalty would not show"
        return Check(name, State.UNKNOWN, said, side, evidence=evidence)
    said = f"the {side} has a penalty on by default: switched off it answers otherwise ({how})"
    return Check(name, State.FAIL, said, side, evidence=evidence)


def _applied(penalised: Mapping[Side, Penalised]) -> Check:
    name = "penalties-applied"
    frequency = {side: _effect(one, one.frequency) for side, one in penalised.items()}
    presence = {side: _effect(one, one.presence) for side, one in penalised.items()}
    evidence: dict[str, Json] = {
        "frequency_penalty": {side.value: word for side, word in frequency.items()},
        "presence_penalty": {side.value: word for side, word in presence.items()},
    }
    ours, theirs = frequency[Side.STAGE], frequency[Side.REFERENCE]
    if ours == "ignored" and theirs == "applied":
        said = "the stage ignores frequency_penalty, the reference applies it"
        return Check(name, State.FAIL, said, evidence=evidence)
    if ours == "refused" and theirs == "applied":
        said = "the stage refuses frequency_penalty, the reference applies it"
        return Check(name, State.FAIL, said, evidence=evidence)
    if ours == "unknown":
        said = "the stage repeats nothing that a penalty could act on"
        return Check(name, State.UNKNOWN, said, needed=False, evidence=evidence)
    said = f"frequency_penalty is {ours} by the stage and {theirs} by the reference"
    return Check(name, State.PASS, said, evidence=evidence)


def _effect(one: Penalised, reply: Reply) -> str:
    problem = reply.observation.problem
    if problem is not None:
        return "refused" if problem.kind is ProblemKind.REFUSED else "unknown"
    changed = one.changed(reply)
    if changed is None or one.off.trouble is not None:
        return "unknown"
    return "applied" if changed else "ignored"
