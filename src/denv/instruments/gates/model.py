"""A gate, and the checks that decide it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from denv.records import Json, Side

_NAMED = 3
"""So many findings stand in a gate's own sentence; all of them are in its evidence."""


class State(StrEnum):
    """What a gate or a check says; ``unknown`` is the want of evidence, never a pass."""

    PASS = "pass"
    FAIL = "fail"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Check:
    """One question of a gate, its answer in one plain sentence, and the figures behind it.

    ``side`` is None where both sides are compared. An unknown check that is not ``needed``
    leaves its gate to the others.
    """

    name: str
    state: State
    finding: str
    side: Side | None = None
    needed: bool = True
    evidence: Mapping[str, Json] = field(default_factory=dict)

    def document(self) -> dict[str, Json]:
        """Give it as strict JSON."""
        return {
            "check": self.name,
            "side": None if self.side is None else self.side.value,
            "state": self.state.value,
            "finding": self.finding,
            "evidence": dict(self.evidence),
        }


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate: its state, a finding in one sentence, and the evidence as strict JSON."""

    id: str
    name: str
    state: State
    finding: str
    evidence: Mapping[str, Json]
    checks: tuple[Check, ...] = ()

    def document(self) -> dict[str, Json]:
        """Give it as strict JSON."""
        return {
            "id": self.id,
            "name": self.name,
            "state": self.state.value,
            "finding": self.finding,
            "evidence": {"checks": [check.document() for check in self.checks], **self.evidence},
        }

    def state_of(self, name: str, side: Side | None = None) -> State:
        """Give the state of a check; one that was not made is unknown."""
        found = [check.state for check in self.checks if (check.name, check.side) == (name, side)]
        return worst(found)


def worst(states: Sequence[State]) -> State:
    """Give ``fail`` before ``unknown`` before ``pass``; nothing at all is unknown."""
    for state in (State.FAIL, State.UNKNOWN):
        if state in states:
            return state
    return State.PASS if states else State.UNKNOWN


def judged(
    gate: tuple[str, str],
    checks: Sequence[Check],
    *,
    passes: str,
    evidence: Mapping[str, Json] | None = None,
) -> Gate:
    """Decide a gate by its checks.

    A check that fails fails it. One that is unknown makes it unknown, unless it is not needed:
    the reference is trusted, so what only it does not show is said and not held against the
    stage. A gate passes only with a check that passed. ``gate`` is its id and name, ``passes``
    the sentence for it.
    """
    failed = [check for check in checks if check.state is State.FAIL]
    unknown = [check for check in checks if check.state is State.UNKNOWN]
    wanted = [check for check in unknown if check.needed and check.side is not Side.REFERENCE]
    if failed:
        state, finding = State.FAIL, _joined(failed)
    elif wanted or not any(check.state is State.PASS for check in checks):
        state, finding = State.UNKNOWN, _joined(wanted or unknown) or "nothing could be asked"
    else:
        state, finding = State.PASS, "; ".join([passes, *([_joined(unknown)] if unknown else [])])
    return Gate(*gate, state, finding, dict(evidence or {}), tuple(checks))


def _joined(checks: Sequence[Check]) -> str:
    findings = list(dict.fromkeys(check.finding for check in checks))
    more = len(findings) - _NAMED
    return "; ".join(findings[:_NAMED]) + (f"; and {more} more" if more > 0 else "")
