"""Which measurements the gates allow, as a table."""

import pytest

from denv.instruments.gates import Check, State
from denv.instruments.gates.admissible import MEASUREMENTS, NEEDS, admissible, refusals
from denv.instruments.gates.model import judged
from denv.records import Side

CHECKS = {
    "G1": ("selfcheck",),
    "G2": ("prose",),
    "G3": ("plain",),
    "G4": ("warm", "batched", "seeds", "greedy"),
    "G5": ("raw-completion",),
    "G6": ("context", "logprobs-real", "logprobs-unscaled", "logprobs-raw", "temperature"),
}


def gates(**states):
    """Give gates that pass but for checks of these names, as ``G4_warm``."""
    found = []
    for gate, names in CHECKS.items():
        checks = [
            Check(name, states.get(f"{gate}_{name}", State.PASS), f"{name} of the {side}", side)
            for name in names
            for side in Side
        ]
        found.append(judged((gate, gate.lower()), checks, passes="holds"))
    return found


def refused(**states):
    allowed = admissible(gates(**states))
    assert tuple(allowed) == MEASUREMENTS
    return {name for name, may in allowed.items() if not may}


ALL_BUT_SPEED = set(MEASUREMENTS) - {"speed"}


@pytest.mark.parametrize(
    ("states", "right"),
    [
        ({}, set()),
        ({"G1_selfcheck": State.FAIL}, ALL_BUT_SPEED),
        ({"G1_selfcheck": State.UNKNOWN}, ALL_BUT_SPEED),
        ({"G2_prose": State.FAIL}, {"logprobs-close", "tokens"}),
        ({"G2_prose": State.UNKNOWN}, set()),
        ({"G3_plain": State.FAIL}, {"logprobs-close", "tokens", "answers", "derivations"}),
        ({"G4_warm": State.FAIL}, {"equals", "logprobs-close"}),
        ({"G4_warm": State.UNKNOWN}, {"logprobs-close"}),
        ({"G5_raw-completion": State.FAIL}, {"answers", "derivations"}),
        ({"G6_context": State.FAIL}, {"answers", "derivations"}),
        ({"G6_logprobs-real": State.FAIL}, {"logprobs-close", "tokens"}),
        ({"G6_logprobs-real": State.UNKNOWN}, {"logprobs-close", "tokens"}),
        ({"G6_logprobs-raw": State.FAIL}, {"logprobs-close", "tokens"}),
        ({"G6_logprobs-raw": State.UNKNOWN}, set()),
        ({"G6_temperature": State.FAIL}, set()),
    ],
)
def test_the_table(states, right):
    """A failure shuts out what it would falsify; want of evidence only what needs proof."""
    assert refused(**states) == right


def test_the_reason_names_gate_and_finding():
    """Each measurement that is not allowed says why, equal reasons once."""
    reasons = refusals(gates(G4_warm=State.FAIL))
    assert reasons["equals"] == ["G4 g4: warm of the stage", "G4 g4: warm of the reference"]
    assert reasons["speed"] == []
    assert len(reasons["logprobs-close"]) == 2


def test_gates_that_were_not_asked():
    """What needs proof is not allowed without it; what needs no failure is."""
    assert admissible([]) == dict.fromkeys(MEASUREMENTS, False) | {"speed": True}
    assert refusals([])["contains"] == ["G1: not asked"]


def test_a_reference_without_logprobs_leaves_tokens():
    """Top-1 agreement needs the stage's distribution alone."""
    found = gates()
    checks = [
        Check("logprobs-real", State.PASS, "real", Side.STAGE),
        Check("logprobs-real", State.UNKNOWN, "the reference gives none", Side.REFERENCE),
    ]
    found[-1] = judged(("G6", "g6"), checks, passes="holds")
    allowed = admissible(found)
    assert (allowed["tokens"], allowed["logprobs-close"]) == (True, False)


def test_every_measurement_has_a_row():
    """The table and the list of measurements are one."""
    assert set(NEEDS) == set(MEASUREMENTS)
