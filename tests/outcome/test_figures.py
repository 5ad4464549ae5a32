"""What a result hands to the tally: tool calls, exchanges, retries and oddities."""

import pytest

from denv.records import (
    Attempt,
    Oddity,
    ProblemKind,
    Side,
)
from tests.outcomes import (
    PARIS,
    TOOLS,
    TWELVE,
    answer,
    broken_call,
    call,
    calling,
    decided,
    fault,
)

# ---------------------------------------------------------------- figures for the tally


def test_tool_figures():
    """Who called, and how the calls fit the tools, is kept for every case with tools."""
    ghost = answer(calls=(call(), call(name="ghost"), broken_call().observation.calls[0]))
    result = decided(TWELVE, answer("12"), answer("12"), tools=TOOLS)
    none = {"valid": 0, "invalid-json": 0, "unknown-name": 0, "schema-mismatch": 0}
    assert result.detail["tools"] == {
        "stage_called": False,
        "reference_called": False,
        "stage_calls": none,
        "reference_calls": none,
    }
    mixed = decided(PARIS, ghost, calling(), tools=TOOLS).detail["tools"]
    assert (mixed["stage_called"], mixed["reference_called"]) == (True, True)
    assert mixed["stage_calls"] == {**none, "valid": 1, "unknown-name": 1, "invalid-json": 1}
    assert mixed["reference_calls"] == {**none, "valid": 1}
    twice = decided(PARIS, answer(calls=(call(), call())), calling(), tools=TOOLS).detail["tools"]
    assert twice["stage_calls"] == {**none, "valid": 2}


def test_an_error_is_no_decision_against_a_call():
    """A side without a usable answer neither called nor refrained from calling."""
    down = decided(PARIS, fault(), calling(), tools=TOOLS).detail["tools"]
    assert (down["stage_called"], down["stage_calls"]) == (None, None)
    assert down["reference_called"] is True
    other = decided(PARIS, calling(), fault(), tools=TOOLS).detail["tools"]
    assert (other["stage_called"], other["reference_called"]) == (True, None)
    assert other["reference_calls"] is None
    assert "tools" not in decided(PARIS, fault(), fault(), tools=TOOLS).detail
    assert "tools" not in decided(PARIS, calling(), calling()).detail


def test_exchanges():
    """All requests of a side are summed, its repeats and streamed twin among them."""
    retried = (Attempt(503, "x", 0.1), Attempt(429, "x", 0.1), Attempt(None, "x", 0.1))
    stage = [
        answer("12", prompt=10, used=5, elapsed_s=0.5, attempts=retried),
        answer("12", prompt=10, used=7, elapsed_s=0.25, cached=True),
        fault(ProblemKind.RATE_LIMITED),
    ]
    twin = answer("12", prompt=11, used=None, elapsed_s=0.75)
    result = decided(TWELVE, stage, answer("12"), streamed={Side.STAGE: twin})
    assert result.detail["exchanges"] == {
        "stage": {
            "requests": 4,
            "retried": 1,
            "rate_limited": 2,
            "cached": 1,
            "prompt_tokens": 21,
            "completion_tokens": 5,
            "elapsed_s": [0.5, 0.75],
            "later_oddities": [],
        },
        "reference": {
            "requests": 1,
            "retried": 0,
            "rate_limited": 0,
            "cached": 0,
            "prompt_tokens": None,
            "completion_tokens": None,
            "elapsed_s": [],
            "later_oddities": [],
        },
    }


@pytest.mark.parametrize(
    ("tried", "retried", "limited"),
    [
        ((), 0, 0),
        ((429, 429), 0, 1),
        ((400,), 0, 0),
        ((422,), 0, 0),
        ((500, 502), 1, 0),
        ((None,), 1, 0),
        ((200,), 1, 0),
        ((408,), 1, 0),
    ],
)
def test_what_counts_as_a_retry(tried, retried, limited):
    """Asking again without a refused field, or after a rate limit, is no retry."""
    attempts = tuple(Attempt(status, "x", 0.0) for status in tried)
    result = decided(TWELVE, answer("12", attempts=attempts), answer("12"))
    took = result.detail["exchanges"]["stage"]
    assert (took["retried"], took["rate_limited"]) == (retried, limited)


def test_oddities_of_later_answers():
    """Oddities of repeats and streamed twins are kept apart from those of the first answer."""
    first, later = (Oddity(code, f"{code} is odd") for code in ("first", "later"))
    stage = [answer("12", oddities=(first,)), answer("12", oddities=(later,))]
    twin = answer("12", oddities=(later,))
    result = decided(TWELVE, stage, answer("12"), streamed={Side.STAGE: twin})
    shown = {"code": "later", "detail": "later is odd"}
    assert result.stage["oddities"] == [{"code": "first", "detail": "first is odd"}]
    assert result.detail["exchanges"]["stage"]["later_oddities"] == [shown, shown]
