"""G6: stop strings, default max_tokens, and prompts that are cut silently."""

import pytest

from denv.instruments.gates import State
from denv.instruments.gates.context import Context, context_checks
from denv.instruments.gates.limits import Limits, limit_checks, stop_word, unique_tail
from denv.instruments.gates.texts import long_prompt
from denv.records import Side
from tests.instruments.gates.samples import broken, refused, reply, spoken, token

TEXT = "The answer to this question is long."
PLAIN = reply(TEXT)
ENDS = reply("…", completion=60)
CUT_AT_16 = reply("…", completion=16, finish_reason="length")


def limits(*, stopped=None, unset=ENDS, stop="this"):
    bounded = reply("…", completion=60, finish_reason="length")
    found = reply("The answer to ") if stopped is None else stopped
    return Limits(bounded, unset, stop, PLAIN, found if stop else None)


def stop_check(**fields):
    sides = {Side.STAGE: limits(**fields), Side.REFERENCE: limits()}
    return limit_checks(sides)[0]


@pytest.mark.parametrize(
    ("stopped", "state", "says"),
    [
        (reply("The answer to "), State.PASS, "stops before"),
        (reply("The answer to"), State.PASS, "stops before"),
        (reply("The answer to this"), State.FAIL, "leaves the stop string at the answer's end"),
        (reply(TEXT), State.FAIL, "goes on after a stop string"),
        (reply("Another", finish_reason="length"), State.UNKNOWN, "did not come to"),
        (broken(), State.UNKNOWN, "gave no answer with stop"),
    ],
)
def test_stop_strings(stopped, state, says):
    """The answer ends before the string; with it, or beyond it, is a failure."""
    check = stop_check(stopped=stopped)
    assert check.state is state
    assert says in check.finding


def test_an_answer_without_words_has_nothing_to_stop_at():
    """Then the check is unknown."""
    assert stop_check(stop=None).state is State.UNKNOWN
    assert stop_word("No") is None
    assert stop_word(TEXT) == "this"


def default(stage, reference=ENDS):
    sides = {Side.STAGE: limits(unset=stage), Side.REFERENCE: limits(unset=reference)}
    return limit_checks(sides)[-1]


@pytest.mark.parametrize(
    ("stage", "reference", "state", "says"),
    [
        (ENDS, ENDS, State.PASS, "both sides end by themselves, after 60 tokens and more"),
        (CUT_AT_16, ENDS, State.FAIL, "the stage cuts after 16 tokens, the reference ends"),
        (ENDS, CUT_AT_16, State.FAIL, "the stage ends by itself, the reference cuts after 16"),
        (CUT_AT_16, CUT_AT_16, State.PASS, "both sides cut after 16 tokens"),
        (
            CUT_AT_16,
            reply("…", finish_reason="length"),
            State.FAIL,
            "the reference cuts at a limit",
        ),
        (broken(), ENDS, State.UNKNOWN, "the stage gave no answer without max_tokens"),
        (None, ENDS, State.UNKNOWN, "nothing ends an answer of the stage"),
    ],
)
def test_default_max_tokens(stage, reference, state, says):
    """Both sides end alike where no max_tokens is sent, or the gate fails."""
    check = default(stage, reference)
    assert check.state is state
    assert says in check.finding


def test_a_tail_that_ends_a_loop():
    """In a text that repeats itself the tail is where it last said something new."""
    assert unique_tail("") is None
    assert unique_tail("short") is None
    assert unique_tail("a" * 50) is None
    text = "one two three four five six seven " + "seven seven " * 20
    tail = unique_tail(text)
    assert tail is not None
    assert text.count(tail) >= 1
    assert text.find(tail) < 60


# ---------------------------------------------------------------- context


def context(answer, *, tokens=1000, **changed):
    """Give a side's context; ``north`` and ``south`` are the answers with another code."""
    return Context(answer, tokens, changed)


BLIND = spoken(token("I", 0.5, The=0.4), prompt=1030)
SEES = spoken(token("I", 0.4, The=0.5), prompt=1030)
SILENT = reply("I", prompt=1030)
RECALLS = reply("48213 and 90571", prompt=1030)


def judged(stage, *, drift=0.0, reference=None):
    sides = {Side.STAGE: stage, Side.REFERENCE: reference or context(RECALLS)}
    return context_checks(sides, drifts={Side.STAGE: drift, Side.REFERENCE: 0.0})[0]


@pytest.mark.parametrize(
    ("stage", "drift", "state", "says"),
    [
        (context(RECALLS), 0.0, State.PASS, "sees the head and the middle of 1030 tokens"),
        (context(BLIND, north=SEES, south=SEES), 0.0, State.PASS, "sees the head and the middle"),
        (context(BLIND, north=BLIND, south=SEES), 0.0, State.FAIL, "does not see the head of"),
        (context(BLIND, north=SEES, south=BLIND), 0.0, State.FAIL, "does not see the middle of"),
        (context(BLIND, north=BLIND, south=BLIND), 0.0, State.FAIL, "the head and the middle"),
        (context(BLIND, north=BLIND, south=SEES), 0.02, State.UNKNOWN, "does not show"),
        (context(BLIND, north=SEES, south=SEES), 0.2, State.UNKNOWN, "does not show"),
        (context(SILENT, north=SILENT, south=SILENT), None, State.UNKNOWN, "does not show"),
        (context(reply("", prompt=512)), 0.0, State.FAIL, "counts 512 tokens of a prompt that"),
        (context(broken()), 0.0, State.UNKNOWN, "gave no answer"),
        (context(refused("HTTP 400: too long")), 0.0, State.FAIL, "of 1030 tokens that the ref"),
    ],
)
def test_context(stage, drift, state, says):
    """A code is recalled, or another one changes the next token's odds by more than noise."""
    check = judged(stage, drift=drift)
    assert check.state is state
    assert says in check.finding


def test_a_prompt_that_both_refuse_is_not_cut():
    """Neither side cuts it silently, and its length is then no longer known to be taken."""
    refusal = context(refused("HTTP 400: too long"))
    check = judged(refusal, reference=refusal)
    assert (check.state, check.needed) == (State.UNKNOWN, False)
    assert "does not cut it" in check.finding


@pytest.mark.parametrize("tokens", [30, 800, 20_000])
def test_the_prompt_hides_codes_at_its_head_and_in_its_middle(tokens):
    """It grows with the tokens that are asked for, and holds each code once."""
    text = long_prompt(tokens, north="48213", south="90571")
    assert (text.count("48213"), text.count("90571")) == (1, 1)
    assert text.find("48213") < 40
    assert 0.3 < text.find("90571") / len(text) < 0.7
    assert 3 * tokens < len(text) < 7 * tokens + 400
