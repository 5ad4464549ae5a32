"""How an answer is shown: strict JSON, cut where it is long or deep."""

import json
from decimal import Decimal

import pytest

from denv.outcome import side_view
from denv.records import (
    Attempt,
    Call,
    Oddity,
    ProblemKind,
)
from tests.outcomes import (
    CLOSE,
    TWELVE,
    answer,
    broken_call,
    call,
    decided,
    fault,
    logprobs,
)

# ---------------------------------------------------------------- views


def test_view_of_an_answer():
    """An answer is shown field by field, in strict JSON values."""
    seen = answer(
        "hi",
        reasoning="hm",
        calls=(call(), broken_call().observation.calls[0]),
        finish_reason="tool_calls",
        native_finish_reason="tool_use",
        prompt=3,
        used=4,
        system_fingerprint="f1",
        provider="p",
        replica="r",
        model="m",
        elapsed_s=0.25,
        oddities=(Oddity("no-id", "a call has no id"),),
        attempts=(Attempt(429, "x", 1.0), Attempt(503, "x", 1.0), Attempt(None, "x", 1.0)),
        cached=True,
    )
    assert side_view(seen) == {
        "text": "hi",
        "reasoning": "hm",
        "tool_calls": [
            {"name": "get_weather", "arguments": {"city": "Paris"}, "error": None},
            {
                "name": "get_weather",
                "arguments": '{"city": "Par',
                "error": "unterminated string",
            },
        ],
        "finish_reason": "tool_calls",
        "native_finish_reason": "tool_use",
        "usage": {"prompt_tokens": 3, "completion_tokens": 4},
        "problem": None,
        "status": None,
        "system_fingerprint": "f1",
        "provider": "p",
        "replica": "r",
        "model": "m",
        "retried": 2,
        "rate_limited": 1,
        "elapsed_s": 0.25,
        "cached": True,
        "oddities": [{"code": "no-id", "detail": "a call has no id"}],
    }


def test_view_of_a_fault():
    """A side without an answer shows its problem and nothing made up."""
    view = side_view(fault(ProblemKind.RATE_LIMITED, tried=(429,), message="slow down"))
    assert view["problem"] == "slow down"
    assert (view["text"], view["usage"], view["tool_calls"]) == (None, None, [])
    assert (view["retried"], view["rate_limited"], view["cached"]) == (0, 2, False)


def test_tokens_are_shown_for_logprobs_alone():
    """The tokens of an answer are part of the view of a logprobs-close case, 2,000 at the most."""
    result = decided(CLOSE, logprobs(), logprobs())
    assert result.stage["tokens"][1] == {"token": " w1", "logprob": -0.5}
    assert len(result.reference["tokens"]) == 10
    assert "tokens" not in decided(TWELVE, answer("12"), answer("12")).stage
    assert len(side_view(logprobs(count=2_001), tokens=True)["tokens"]) == 2_000
    assert side_view(answer("x"), tokens=True)["tokens"] == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a" * 65_536, "a" * 65_536),
        ("a" * 65_537, "a" * 65_536 + "… [cut here, 65537 bytes in all]"),
        # Two bytes a character: the 32,769th no longer fits.
        ("é" * 32_769, "é" * 32_768 + "… [cut here, 65538 bytes in all]"),
        ("a" + "é" * 32_768, "a" + "é" * 32_767 + "… [cut here, 65537 bytes in all]"),
        ("\ud83d", "\ud83d"),
    ],
)
def test_long_texts(text, shown):
    """Texts over 64 KiB are cut between characters, with a mark that says so."""
    view = side_view(answer(text, reasoning=text))
    assert (view["text"], view["reasoning"]) == (shown, shown)


def arguments_shown(arguments):
    raw = Call("f", arguments, "{}")
    view = side_view(answer(calls=(raw,)))
    json.dumps(view, allow_nan=False)
    return view["tool_calls"][0]["arguments"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Decimal("0.1"), 0.1),
        (Decimal("12.0"), 12.0),
        (Decimal("-2.5e3"), -2500.0),
        (Decimal("1e400"), "1E+400"),
        (Decimal("1e-400"), "1E-400"),
        (Decimal("0.1234567890123456789"), "0.1234567890123456789"),
        (Decimal("Infinity"), "Infinity"),
        (Decimal("NaN"), "NaN"),
        (2**70, 2**70),
        (True, True),
        (None, None),
        ("x", "x"),
        ([Decimal("0.5"), {"b": Decimal("1e999")}], [0.5, {"b": "1E+999"}]),
    ],
)
def test_numbers_in_arguments(value, shown):
    """A decimal is a JSON number where that shows the same value, else its digits as a string."""
    seen = arguments_shown({"a": value})["a"]
    assert seen == shown
    assert type(seen) is type(shown)


def nested(depth):
    value: object = 1
    for _ in range(depth):
        value = [value]
    return {"a": value}


def test_deep_arguments():
    """Arguments nested beyond what readers follow are shown as the text they came as."""
    assert arguments_shown(nested(99)) == nested(99)
    assert arguments_shown(nested(100)) == "{}"


def test_long_arguments():
    """Arguments over 64 KiB are shown as the beginning of the text they came as."""
    raw = json.dumps({"a": "x" * 70_000})
    view = side_view(answer(calls=(Call("f", json.loads(raw), raw),)))
    shown = view["tool_calls"][0]["arguments"]
    assert shown.startswith('{"a": "xxx')
    assert shown.endswith(f"[cut here, {len(raw)} bytes in all]")
