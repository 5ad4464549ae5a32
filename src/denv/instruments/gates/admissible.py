"""Which measurements the gates allow, and why not where they do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from denv.instruments.gates.model import Check, Gate, State
from denv.records import Side

MEASUREMENTS = (
    "equals",
    "contains",
    "regex",
    "tool-call",
    "logprobs-close",
    "tokens",
    "answers",
    "derivations",
    "speed",
)


@dataclass(frozen=True, slots=True)
class Need:
    """What a measurement needs of a gate, or of some of its checks.

    ``proven`` asks for a pass; without it only a failure stands in the way. ``side`` None means
    both sides and what is compared between them.
    """

    gate: str
    checks: tuple[str, ...] = ()
    side: Side | None = None
    proven: bool = False


_LOGPROBS = ("logprobs-real", "logprobs-unscaled", "logprobs-raw", "logprobs-factor")
_STABLE = ("warm", "batched", "greedy")
_SOUND = Need("G1", proven=True)
_TOKENIZER, _TEMPLATE = Need("G2"), Need("G3")
_PATH = Need("G5")

NEEDS: Mapping[str, tuple[Need, ...]] = {
    # What customers get is judged whatever causes it, as long as it can be read.
    "contains": (_SOUND,),
    "regex": (_SOUND,),
    "tool-call": (_SOUND,),
    "equals": (_SOUND, Need("G4", _STABLE)),
    "logprobs-close": (
        _SOUND,
        _TOKENIZER,
        _TEMPLATE,
        Need("G4", _STABLE, proven=True),
        Need("G6", ("logprobs-real",), proven=True),
        Need("G6", _LOGPROBS),
    ),
    # Noise is measured there; a reference without logprobs leaves top-1 agreement.
    "tokens": (
        _SOUND,
        _TOKENIZER,
        _TEMPLATE,
        Need("G6", ("logprobs-real",), side=Side.STAGE, proven=True),
        Need("G6", _LOGPROBS),
    ),
    "answers": (_SOUND, _TEMPLATE, _PATH, Need("G6", ("context",))),
    "derivations": (_SOUND, _TEMPLATE, _PATH, Need("G6", ("context",))),
    "speed": (),
}


def refusals(gates: Sequence[Gate]) -> dict[str, list[str]]:
    """Give for each measurement why it is not admissible; an empty list allows it."""
    by_id = {gate.id: gate for gate in gates}
    return {
        name: list(dict.fromkeys(why for need in NEEDS[name] for why in _unmet(need, by_id)))
        for name in MEASUREMENTS
    }


def admissible(gates: Sequence[Gate]) -> dict[str, bool]:
    """Tell which measurements the gates allow."""
    return {name: not reasons for name, reasons in refusals(gates).items()}


def _unmet(need: Need, gates: Mapping[str, Gate]) -> list[str]:
    gate = gates.get(need.gate)
    if gate is None:
        return [f"{need.gate}: not asked"] if need.proven else []
    if not need.checks:
        return [_why(gate, gate.checks)] if gate.state in _bad(need) else []
    wanted = [check for check in gate.checks if check.name in need.checks and _meant(need, check)]
    if not wanted:
        return [_why(gate, ())] if need.proven else []
    return [_why(gate, (check,)) for check in wanted if check.state in _bad(need)]


def _bad(need: Need) -> tuple[State, ...]:
    return (State.FAIL, State.UNKNOWN) if need.proven else (State.FAIL,)


def _meant(need: Need, check: Check) -> bool:
    return need.side is None or check.side is need.side


def _why(gate: Gate, checks: Sequence[Check]) -> str:
    """Name the gate and the first of its checks that stands in the way."""
    for state in (State.FAIL, State.UNKNOWN):
        for check in checks:
            if check.state is state:
                return f"{gate.id} {gate.name}: {check.finding}"
    return f"{gate.id} {gate.name}: {gate.finding}"
