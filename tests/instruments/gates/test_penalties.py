"""G6: penalties that act where they are sent, and only there."""

import pytest

from denv.instruments.gates import State
from denv.instruments.gates.penalties import Penalised, penalty_checks
from denv.records import Side
from tests.instruments.gates.samples import broken, refused, reply

REPEATS, VARIES = reply("ha ha ha ha"), reply("ha and then something else")
STABLE = dict.fromkeys(Side, True)


def asked(plain=REPEATS, off=REPEATS, frequency=VARIES, presence=VARIES):
    return Penalised(plain, off, frequency, presence)


def judged(stage, reference=None, *, stable=STABLE):
    sides = {Side.STAGE: stage, Side.REFERENCE: reference or asked()}
    return {(one.name, one.side): one for one in penalty_checks(sides, stable=stable)}


@pytest.mark.parametrize(
    ("off", "stable", "state"),
    [
        (REPEATS, True, State.PASS),
        (VARIES, True, State.FAIL),
        (VARIES, False, State.UNKNOWN),
        (broken(), True, State.UNKNOWN),
    ],
)
def test_no_penalty_by_default(off, stable, state):
    """Switched off explicitly, the answer is the same, or a penalty was on."""
    found = judged(asked(off=off), stable={Side.STAGE: stable, Side.REFERENCE: True})
    assert found["penalties-default", Side.STAGE].state is state


@pytest.mark.parametrize(
    ("stage", "reference", "state"),
    [
        (VARIES, VARIES, State.PASS),
        (REPEATS, VARIES, State.FAIL),
        (refused(), VARIES, State.FAIL),
        (VARIES, REPEATS, State.PASS),
        (REPEATS, REPEATS, State.PASS),
        (broken(), VARIES, State.UNKNOWN),
    ],
)
def test_penalties_have_an_effect(stage, reference, state):
    """The stage fails where the reference applies what the stage ignores or refuses."""
    found = judged(asked(frequency=stage), asked(frequency=reference))
    assert found["penalties-applied", None].state is state


def test_nothing_to_penalise():
    """An answer that repeats nothing shows nothing, and the gate does not need it."""
    found = judged(asked(plain=VARIES, off=VARIES))["penalties-applied", None]
    assert (found.state, found.needed) == (State.UNKNOWN, False)
    assert found.evidence["frequency_penalty"] == {"stage": "unknown", "reference": "applied"}
