"""What became of one question on one side."""

from __future__ import annotations

import pytest

from denv.instruments.answers.readings import OPEN, Reading, State, read_answer
from denv.records import Call, Cause, Observation, Problem, ProblemKind, Usage
from tests.checks.answers import said, token, written

LOOP = "I will add them again. " * 30
FAULT = Problem(ProblemKind.SERVER_ERROR, Cause.AVAILABILITY, "HTTP 503")


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (said("ANSWER: 12", finish_reason="stop"), State.RIGHT),
        (said("ANSWER: 12"), State.RIGHT),
        (said("ANSWER: 13", finish_reason="stop"), State.WRONG),
        (said("ANSWER: 12.5", finish_reason="stop"), State.WRONG),
        (said("ANSWER: UNSURE", finish_reason="stop"), State.UNSURE),
        (said("It is 12.", finish_reason="stop"), State.ABSENT),
        (said("", finish_reason="stop"), State.ABSENT),
        (said("ANSWER: 12", finish_reason="length"), State.TRUNCATED),
        (said("So we add", finish_reason="length"), State.TRUNCATED),
        (said(None, reasoning="Let me", finish_reason="length"), State.TRUNCATED),
        (said(LOOP, finish_reason="length"), State.DEGENERATE),
        (said(LOOP, finish_reason="stop"), State.DEGENERATE),
        (said(None, reasoning=LOOP, finish_reason="length"), State.DEGENERATE),
        (said("\n\n", reasoning=LOOP, finish_reason="length"), State.DEGENERATE),
        (said("ANSWER: 12", reasoning=LOOP, finish_reason="stop"), State.RIGHT),
        (Observation(problem=FAULT), State.UNUSABLE),
        (None, State.UNUSABLE),
    ],
)
def test_states(answer, state):
    """A fault, a loop, a cut and what was answered are told apart, in this order."""
    assert read_answer(12, answer).state is state


def test_truncated_comes_from_the_finish_reason():
    """A short budget alone cuts nothing; without a finish reason, all of it used does."""
    used = Usage(10, 64)
    stopped = said("So we add", finish_reason="stop", usage=used)
    assert read_answer(12, stopped, max_tokens=64).state is State.ABSENT
    silent = said("So we add", usage=used)
    assert read_answer(12, silent, max_tokens=64).state is State.TRUNCATED
    assert read_answer(12, silent, max_tokens=65).state is State.ABSENT
    assert read_answer(12, silent).state is State.ABSENT
    whole = said("ANSWER: 12", usage=used)
    assert read_answer(12, whole, max_tokens=64).state is State.RIGHT


def test_what_is_kept():
    """Value, confidence and length are kept where there are such, and are None elsewhere."""
    answer = written(
        token("ANSWER:", -0.5), token(" 13", -0.25), finish_reason="stop", usage=Usage(9, 4)
    )
    found = read_answer(12, answer)
    assert found.trace is not None
    assert (found.value, found.trace.tokens) == (13, 4)
    assert found.confidence is not None
    assert found.confidence.logprob == -0.25
    absent = read_answer(12, said("It is 12."))
    assert absent.trace is not None
    assert (absent.value, absent.confidence, absent.trace.tokens) == (None, None, None)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "not asked"),
        (Observation(problem=FAULT), "HTTP 503"),
        (said(LOOP), "loop"),
        (said("x", finish_reason="length"), "finish reason length"),
        (said(None, calls=(Call("add", {}, "{}"),)), "a tool call instead"),
        (said(None, refusal="I cannot"), "a refusal instead"),
        (said(None, reasoning="Hm"), "no text after the reasoning"),
        (said(None), "no text"),
        (said("x"), "no line ANSWER"),
    ],
)
def test_reasons(answer, reason):
    """Whatever is no plain answer says why in a line."""
    assert reason in read_answer(12, answer).reason


def test_kinds_of_states():
    """Right and wrong are answers; truncated and unusable leave the answer open."""
    states = {state: Reading(state) for state in State}
    assert {s for s, one in states.items() if one.answered} == {State.RIGHT, State.WRONG}
    assert {s for s, one in states.items() if not one.resolved} == OPEN
