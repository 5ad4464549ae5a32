"""What a message and its usage say, at the edges of their shapes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from denv.observe import observe
from denv.observe.metadata import read_usage
from denv.observe.reasoning import Inline, find_inline
from denv.records import Exchange, Observation


def seen(message: Any, **fields: Any) -> Observation:
    """Observe an answer of this message."""
    body = {"choices": [{"message": message, "finish_reason": "stop"}], **fields}
    return observe(Exchange(200, body=json.dumps(body).encode()))


@pytest.mark.parametrize(
    ("thinking", "reasoning"),
    [
        ("hm", "hm"),
        (["a", {"type": "text", "text": "b"}, 5, {"text": 5}, {}], "ab"),
        (5, None),
        ({"text": "x"}, None),
    ],
)
def test_thinking_parts_are_reasoning(thinking: Any, reasoning: str | None) -> None:
    """A part's thinking is a text or a list of texts; other shapes say nothing."""
    answer = seen({"content": [{"type": "thinking", "thinking": thinking}, "yes"]})
    assert (answer.text, answer.reasoning) == ("yes", reasoning)


@pytest.mark.parametrize(
    ("given", "kept"),
    [(0, 0), (2**53 - 1, 2**53 - 1), (2**53, None), (-1, None), (True, None), (1.0, None)],
)
def test_counts_are_whole_numbers_in_bounds(given: Any, kept: int | None) -> None:
    """A count is an integer from 0 that every reader of a report keeps exactly."""
    usage = read_usage({"usage": {"prompt_tokens": given, "completion_tokens": given}}, [])
    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens) == (kept, kept)


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        (" \n<think>a</think> \n b", "b"),
        ("<think>a</think>\n<think>b</think>c", "c"),
        ("a</think>b</think>c", "b</think>c"),
        ("<think>a</think>b</think>c", "b</think>c"),
        ("analysis a assistantfinal b assistantfinal c", "b assistantfinal c"),
        ("<think>a", None),
    ],
)
def test_what_follows_inline_reasoning(text: str, rest: str | None) -> None:
    """Blanks before the block are passed over; without an opener the first closer ends it."""
    assert find_inline(text) == Inline(rest)


def test_tags_that_are_spoken_of_are_no_reasoning() -> None:
    """A block that stands amid the text belongs to it."""
    assert find_inline("write <think>x</think> first") is None


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "the body is empty"),
        (b'{"a": ', 'broken JSON (Expecting value at column 7): {"a":'),
        (b"  <html>", "HTML instead of an API: <html>"),
        (b"nope", "not JSON: nope"),
    ],
)
def test_a_body_that_is_no_json_is_said_and_quoted(body: bytes, message: str) -> None:
    """The message says what came instead."""
    problem = observe(Exchange(200, body=body)).problem
    assert problem is not None
    assert problem.message == message
