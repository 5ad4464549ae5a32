"""Which tokens carry an answer's digits, and what their logprobs add up to."""

from __future__ import annotations

from math import exp

import pytest

from denv.checks.text import readable_text
from denv.instruments.answers.confidence import Confidence, measure_confidence
from denv.instruments.answers.extract import Given, extract_answer
from denv.records import Observation, TokenLogprob
from tests.checks.answers import said, token, written

LEAD = (token("The", -0.5), token(" 12", -0.7), token("\n", -0.1), token("ANSWER", -0.2),
        token(":", -0.01))  # fmt: skip


def confidence(answer: Observation) -> Confidence | None:
    found = extract_answer(readable_text(answer) or "")
    assert isinstance(found, Given)
    return measure_confidence(answer, found)


@pytest.mark.parametrize(
    ("tokens", "total"),
    [
        ((token(" 391", -0.25),), -0.25),
        ((token(" ", -0.125), token("391", -0.25)), -0.25),
        ((token(" ", -0.1), token("3", -0.25), token("9", -0.5), token("1", -1.0)), -1.75),
        ((token(" 39", -0.25), token("1.", -0.5)), -0.75),
        ((token(" -", -0.25), token("391", -0.5)), -0.75),
        ((token(" \N{MINUS SIGN}", -0.25), token("391", -0.5)), -0.75),
        ((token(" **", -0.1), token("391", -0.5), token("**", -0.2)), -0.5),
        ((token(" 1,", -0.5), token("391", -0.25), token(" apples", -0.1)), -0.75),
        ((token(" ３９", -0.5), token("１", -0.25)), -0.75),
        ((token(" 391", -0.25), token("", -0.3, raw=b"")), -0.25),
    ],
)
def test_sum_of_the_carrying_tokens(tokens, total):
    """The tokens that cover the number count, sign included and each as a whole; no others do."""
    found = confidence(written(*LEAD, *tokens))
    assert found is not None
    assert found.logprob == pytest.approx(total)
    assert found.probability == pytest.approx(exp(total))


def test_split_character():
    """A character that two tokens share by its bytes takes both with it."""
    minus = "\N{MINUS SIGN}".encode()
    tokens = (token("", -0.5, raw=minus[:2]), token("", -0.25, raw=minus[2:]), token("7", -1.0))
    answer = written(*LEAD, token(" ", -0.1), *tokens, text="The 12\nANSWER: \N{MINUS SIGN}7")
    assert confidence(answer) == Confidence(-1.75, 3)


def test_the_same_number_before():
    """The same digits in the reasoning are other tokens than those of the answer."""
    answer = written(*LEAD, token(" 12", -2.0))
    assert confidence(answer) == Confidence(-2.0, 1)


def test_reasoning_that_was_left_in():
    """Tokens of reasoning ahead of the text that is read are passed over."""
    thought = (token("<think>", -0.1), token("7", -3.0), token("</think>", -0.1))
    answer = written(
        *thought, token("ANSWER:", -0.2), token(" 7", -0.5), text_after_reasoning="ANSWER: 7"
    )
    assert confidence(answer) == Confidence(-0.5, 1)


@pytest.mark.parametrize(
    "answer",
    [
        said("ANSWER: 12", logprobs_absent="no logprobs field"),
        written(*LEAD, token(" 12", None)),
        written(*LEAD, token(" 1", -0.5), token("2", None)),
        written(token("ANSWER:", 0.0), token(" 12", 0.0)),
        written(*LEAD, token(" 12", 0.5)),
        written(token("other", -0.5), token(" words", -0.5), text="ANSWER: 12"),
        written(token(" 12", -0.5), text="ANSWER: 12"),
        written(*LEAD, token("\ufffd", -0.5, known=False), text="The 12\nANSWER: 12"),
    ],
)
def test_nothing_to_go_by(answer):
    """Logprobs that are absent, unreal or not those of the text give no confidence at all."""
    assert confidence(answer) is None


def test_zero_is_real_beside_others():
    """A token of logprob 0 is a certain one where other values show that they are measured."""
    assert confidence(written(*LEAD, token(" 12", 0.0))) == Confidence(0.0, 1)
    assert confidence(written(*LEAD, token(" 12", 5e-7))) == Confidence(0.0, 1)


def test_no_text():
    """An answer without text has no confidence."""
    answer = Observation(logprobs=(TokenLogprob("7", -0.5),))
    assert measure_confidence(answer, Given(7, 0, 1)) is None
