"""G5: chat against the raw completion of its own prompt, and whether reasoning is real."""

import pytest

from denv.instruments.gates import State
from denv.instruments.gates.serving_path import Raw, raw_check, reasoning_checks
from denv.records import Side
from tests.instruments.gates.samples import refused, reply, spoken, token

WORDS = [
    token(word, 0.6, other=0.3)
    for word in ("The", "sky", "is", "blue", "as", "light", "is", "bent")
]
ANSWER = spoken(*WORDS, completion=8)
TIED = token("is", 0.45, was=0.44)
CLEAR = token("is", 0.6, was=0.3)


def raw(*answers):
    return Raw(tuple(one.observation for one in answers))


def state(first, other):
    return raw_check(Side.STAGE, [first], raw(other), stable=True).state


def test_the_same_text_passes():
    """Blanks at the ends, which a server may strip, make no difference."""
    assert state(ANSWER, ANSWER) is State.PASS
    assert state(ANSWER, reply(" " + ANSWER.text + "\n")) is State.PASS


def test_another_text_fails_and_is_shown():
    """Both texts stand in the finding."""
    check = raw_check(Side.STAGE, [ANSWER], raw(reply("Because\x1b")), stable=True)
    assert check.state is State.FAIL
    assert "`Theskyisblueaslightisbent` against `Because\\x1b`" in check.finding


@pytest.mark.parametrize(("at", "right"), [(TIED, State.PASS), (CLEAR, State.FAIL)])
def test_another_choice_among_equals_is_no_difference(at, right):
    """Where the best two are within a tenth of a nat, either may come first."""
    chat = spoken(*WORDS[:2], at, *WORDS[3:], completion=8)
    other = spoken(*WORDS[:2], token("was", at.top[1].logprob and 0.44), completion=3)
    assert state(chat, other) is right


def test_a_less_probable_choice_is_no_tie():
    """Chat that took a much less probable token than raw completion did is another path."""
    chat = spoken(*WORDS[:2], token("was", 0.05, **{"is": 0.9}), *WORDS[3:], completion=8)
    assert state(chat, ANSWER) is State.FAIL


def test_thinking_stands_in_the_raw_text():
    """Chat that takes reasoning apart answers with both parts of the raw text."""
    apart = reply("Blue.", reasoning="Light bends.", completion=9)
    assert state(apart, reply("<think>\nLight bends.\n</think>\n\nBlue.")) is State.PASS
    assert state(apart, reply("<think>\nNo.\n</think>\n\nBlue.")) is State.FAIL


def test_a_side_that_does_not_repeat_itself_shows_nothing():
    """Another answer is then no sign of another path, and the same one still is of the same."""
    one = raw_check(Side.STAGE, [ANSWER], raw(reply("Because")), stable=False)
    assert one.state is State.UNKNOWN
    same = raw_check(Side.STAGE, [ANSWER], raw(ANSWER), stable=False)
    assert same.state is State.PASS


def test_too_little_is_no_evidence():
    """A few tokens, no raw completion and no prompt are unknown, a chat without answer fails."""
    assert state(reply("Blue", completion=1), reply("Blue")) is State.UNKNOWN
    lacking = raw_check(Side.STAGE, [ANSWER], Raw(lacking="shows no rendered prompt"), stable=True)
    assert (lacking.state, lacking.finding) == (
        State.UNKNOWN,
        "the stage shows no rendered prompt",
    )
    assert state(refused(), ANSWER) is State.FAIL


LONG = "x" * 200


def reasoning(stage, reference=None):
    """Judge traces of these lengths; None is an answer without reasoning."""
    sides = {Side.STAGE: stage, Side.REFERENCE: stage if reference is None else reference}
    replies = {
        side: [reply("42", reasoning="x" * n if n else None) for n in lengths]
        for side, lengths in sides.items()
    }
    return {(one.name, one.side): one for one in reasoning_checks(replies)}


@pytest.mark.parametrize(
    ("stage", "reference", "state"),
    [
        ([200, 300, 90], [180, 320, 70], State.PASS),
        ([3, 5, 4], [3, 5, 4], State.FAIL),
        ([3, 200, 300], [200, 200, 300], State.PASS),
        ([3, 10, 300], [200, 200, 300], State.FAIL),
        ([3, 11, 300], [200, 200, 300], State.PASS),
        ([0, 0, 0], [200, 200, 300], State.FAIL),
        ([0, 0, 0], [0, 0, 0], State.UNKNOWN),
    ],
)
def test_reasoning_is_real(stage, reference, state):
    """Traces of ten characters or fewer, or none where the other side thinks, are not."""
    found = reasoning(stage, reference)
    assert found["reasoning-real", Side.STAGE].state is state


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({}, State.PASS),
        ({"text_after_reasoning": "42"}, State.FAIL),
        ({"reasoning_open": True}, State.FAIL),
    ],
)
def test_none_is_left_in_the_content(fields, state):
    """A block of thinking in the text fails, closed or not."""
    replies = {side: [reply("42", **fields)] for side in Side}
    found = {(one.name, one.side): one.state for one in reasoning_checks(replies)}
    assert found["reasoning-left", Side.STAGE] is state


def test_no_answer_shows_nothing_of_reasoning():
    """Refused questions are no evidence."""
    replies = {side: [refused()] for side in Side}
    found = {(one.name, one.side): one.state for one in reasoning_checks(replies)}
    assert set(found.values()) == {State.UNKNOWN}
