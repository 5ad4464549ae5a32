"""A chat's answer as a text that can be forced, or why it cannot."""

from __future__ import annotations

from typing import Any

import pytest

from denv.instruments.bank import Prompt
from denv.instruments.tokens.targets import MOST_REASON, Text, Unusable, text_of
from denv.records import (
    Call,
    Cause,
    Observation,
    Problem,
    ProblemKind,
    Side,
    TokenLogprob,
    Usage,
)

PROMPT = Prompt("p", "prose", ())


def entry(piece: bytes, token_id: int | None) -> TokenLogprob:
    return TokenLogprob(piece.decode("utf-8", "replace"), -0.1, piece, token_id)


HI = (entry(b"Hi", 5), entry(b"!", 6))
END = entry(b"", 2)


def read(*entries: TokenLogprob, counted: int | None, document: Any = None, **fields: Any):
    usage = None if counted is None else Usage(9, counted)
    observation = Observation(logprobs=entries or None, usage=usage, **fields)
    return text_of(PROMPT, observation, document or {}, side=Side.REFERENCE)


CASES = [
    ("all listed, cut at the limit", (*HI,), 2, {"text": "Hi!", "finish_reason": "length"}, (5, 6)),
    ("the end token too", (*HI, END), 3, {"text": "Hi!", "finish_reason": "stop"}, (5, 6, 2)),
    ("the end counted, not listed", HI, 3, {"text": "Hi!", "finish_reason": "stop"}, (5, 6)),
    ("a part is missing", HI, 3, {"text": "Hi!", "finish_reason": "length"}, None),
    (
        "the last part of a character alone",
        (entry("é".encode(), 7), END),
        3,
        {"text": "é", "finish_reason": "stop"},
        None,
    ),
    ("nothing counted, plain", HI, None, {"text": "Hi!", "finish_reason": "stop"}, (5, 6)),
    ("nothing counted, not plain", HI, None, {"text": "Hié", "finish_reason": "stop"}, None),
    ("no ids", (entry(b"Hi", None),), 1, {"text": "Hi", "finish_reason": "stop"}, None),
]


@pytest.mark.parametrize(
    ("name", "entries", "counted", "fields", "ids"), CASES, ids=[one[0] for one in CASES]
)
def test_ids_are_taken_only_where_they_are_all(name, entries, counted, fields, ids):
    """A text with a token missing would be another text."""
    found = read(*entries, counted=counted, **fields)
    assert isinstance(found, Text)
    assert found.ids == ids


def test_ids_of_the_choice_go_first():
    """VLLM lists all token ids of a choice, reasoning and calls among them."""
    document = {"choices": [{"token_ids": [5, 6, 2]}]}
    found = read(*HI, counted=3, document=document, text=None, reasoning="so", finish_reason="stop")
    assert isinstance(found, Text)
    assert found.ids == (5, 6, 2)
    assert found.read == ()  # two entries for three tokens are not its tokens'


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"text": "Hi", "reasoning": "so"}, "reasoning"),
        ({"text": None, "calls": (Call("f", {}, "{}"),)}, "tool calls"),
        ({"text": ""}, "no text"),
    ],
)
def test_what_the_text_does_not_show_cannot_be_forced_without_ids(fields, said):
    """Reasoning and calls were cut out of what was generated."""
    found = read(counted=4, finish_reason="stop", **fields)
    assert isinstance(found, Unusable)
    assert said in found.reason


def test_a_problem_is_one_line():
    """A server's message becomes a short reason."""
    message = "HTTP 400:\n" + "long " * 100
    problem = Problem(ProblemKind.REFUSED, Cause.CONTRACT, message)
    found = read(counted=None, problem=problem)
    assert isinstance(found, Unusable)
    assert "\n" not in found.reason
    assert len(found.reason) <= MOST_REASON
