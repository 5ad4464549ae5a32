"""G4: what counts as the same answer, and what as a greedy one."""

from math import exp

import pytest

from denv.instruments.gates import State
from denv.instruments.gates.determinism import (
    DRIFT_NATS,
    Repeats,
    determinism_checks,
    difference,
    drift_of,
)
from denv.instruments.probes import SideFacts
from denv.records import Side
from tests.instruments.gates.samples import broken, reply, spoken, token

ONE, TWO = token("The", 0.6, A=0.3), token(" sky", 0.9, sea=0.05)
ANSWER = spoken(ONE, TWO)
FACTS = SideFacts("m")


def shifted(nats):
    """Give the answer with every logprob of its first token moved."""
    return spoken(token("The", 0.6 * exp(nats), A=0.3 * exp(nats)), TWO)


def checks(*, warm=ANSWER, batched=ANSWER, seeds=ANSWER, first=ANSWER, facts=FACTS):
    repeats = Repeats((first,) * 3, (warm,) * 3, ((batched,) * 3,) * 2, (seeds,) * 2)
    return {one.name: one for one in determinism_checks(Side.STAGE, repeats, facts=facts)}


def test_equal_answers_do_not_differ():
    """All tokens are shared and nothing moves."""
    assert difference(ANSWER, ANSWER) == type(difference(ANSWER, ANSWER))(None, 0.0, 2)


def test_logprobs_of_shared_tokens_are_compared():
    """The drift is the greatest difference of a likely token's logprob, chosen or not."""
    found = difference(ANSWER, shifted(-0.02))
    assert found.parts is None
    assert found.drift == pytest.approx(0.02)


def test_unlikely_alternatives_are_left_out():
    """A token of p < 0.001 may move by far more than anything that is ever chosen."""
    one, other = token("a", 0.9, b=1e-4), token("a", 0.9, b=1e-5)
    assert difference(spoken(one), spoken(other)).drift == 0.0


def test_texts_that_part_are_named():
    """The place is shown, and only tokens before it count for the drift."""
    found = difference(ANSWER, spoken(ONE, token(" sea", 0.5, sky=0.4)))
    assert found.parts == "at character 5: `The sky`, then `The sea`"
    assert (found.tokens, found.drift) == (1, 0.0)


def test_reasoning_and_tokens_count_as_well():
    """Another trace, or other tokens of the same text, are another answer."""
    assert difference(reply("a", reasoning="x"), reply("a", reasoning="y")).parts == (
        "in its reasoning"
    )
    cut = spoken(token("The sky", 0.5))
    assert difference(ANSWER, cut).parts == "at token 0, in the same text"


def test_answers_without_logprobs_are_compared_by_text():
    """Then there is no drift to tell of, and no zero in its place."""
    assert difference(reply("a"), reply("a")).drift is None
    assert checks(first=reply("a"), warm=reply("a"))["warm"].state is State.PASS
    assert checks(first=reply("a"), warm=reply("b"))["warm"].state is State.FAIL


@pytest.mark.parametrize("name", ["warm", "batched", "seeds"])
@pytest.mark.parametrize(
    ("again", "state"),
    [
        (ANSWER, State.PASS),
        (shifted(-DRIFT_NATS / 2), State.PASS),
        (shifted(-DRIFT_NATS * 2), State.FAIL),
        (spoken(ONE), State.FAIL),
        (broken(), State.UNKNOWN),
    ],
)
def test_each_way_of_asking_again(name, again, state):
    """Little drift is said, more of it or another text fails, and no answer is unknown."""
    found = checks(**{name: again})
    assert found[name].state is state
    others = {"warm", "batched", "seeds"} - {name}
    assert all(found[one].state is State.PASS for one in others)


def test_the_largest_drift_is_known_to_other_gates():
    """It is the worst of all ways of asking again; None where no logprobs are given."""
    found = list(checks(warm=shifted(-0.01), batched=shifted(-0.03)).values())
    assert drift_of(found, Side.STAGE) == pytest.approx(0.03)
    assert drift_of(found, Side.REFERENCE) is None
    silent = list(
        checks(**dict.fromkeys(("first", "warm", "batched", "seeds"), reply("a"))).values()
    )
    assert drift_of(silent, Side.STAGE) is None


def test_a_greedy_choice_is_the_most_probable_one():
    """A less probable token at temperature 0 fails; an equally probable one does not."""
    assert checks()["greedy"].state is State.PASS
    tie = token("a", 0.4, b=0.4)
    assert checks(first=spoken(tie), warm=spoken(tie))["greedy"].state is State.PASS
    found = checks(first=spoken(ONE, token("x", 0.2, y=0.7)))["greedy"]
    assert found.state is State.FAIL
    assert found.evidence == {"tokens": 6, "not_top": 3}


def test_without_alternatives_greedy_choice_is_unknown():
    """Repeats alone then speak for it, so the gate does not need the check."""
    found = checks(first=reply("a"))["greedy"]
    assert (found.state, found.needed) == (State.UNKNOWN, False)


def test_sampling_that_is_declared_is_not_greedy():
    """Whatever the answers look like."""
    found = checks(facts=SideFacts("m", sampled=True))["greedy"]
    assert found.state is State.FAIL
