"""What holds for every exchange, whatever a server sends."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from time import process_time
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from denv.observe import observe
from denv.records import (
    Attempt,
    Cause,
    Exchange,
    Fault,
    FaultKind,
    Observation,
    ProblemKind,
)

NAMES = st.sampled_from([
    "choices", "message", "delta", "content", "tool_calls", "function", "arguments", "name", "id",
    "index", "logprobs", "token", "logprob", "bytes", "top_logprobs", "tokens", "token_logprobs",
    "finish_reason", "usage", "prompt_tokens", "error", "code", "reasoning", "reasoning_details",
    "text", "thinking", "token_ids", "function_call", "refusal", "type", "detail", "loc", "msg",
])  # fmt: skip
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=()))
    | st.sampled_from(["stop", "error", "<think>", "{", "\ud83d", "token_id:7", "bytes:\\xf0"])
)
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5)
)


def shaped(value: Any) -> Any:
    """Put a value where an answer has its choice, message, call or entry."""
    choice = {"index": 0, "finish_reason": "stop"}
    message = {"content": "x"}
    return st.sampled_from(
        [
            value,
            {"choices": value},
            {"choices": [value], "usage": value},
            {"choices": [{**choice, "message": value, "delta": value}]},
            {"choices": [{**choice, "message": message, "delta": message, "logprobs": value}]},
            {"choices": [{**choice, "message": message, "logprobs": {"content": [value]}}]},
            {
                "choices": [
                    {**choice, "message": {"tool_calls": value}, "delta": {"tool_calls": value}}
                ]
            },
            {"choices": [{**choice, "message": {"content": value}, "delta": {"content": value}}]},
            {"error": value},
        ]
    )


def is_writable(seen: Observation) -> None:
    """Hold an observation to what later parts rely on."""
    repr(seen).encode()
    assert (seen.problem is None) or (seen.text is None and seen.calls == ())
    for token in seen.logprobs or ():
        assert token.logprob is None or abs(token.logprob) < float("inf")


@given(st.binary(), st.sampled_from([None, 200, 204, 301, 400, 429, 500]), st.booleans())
@example(b'{"choices":[{"message":{"content":"x"},"index":[]}]}', 200, True)
@example(b'data: {"choices":[{"index":{}}]}', 200, True)
@example(b"\xef\xbb\xbf", 200, False)
@settings(deadline=None)
def test_bytes_never_raise(body: Any, status: Any, streamed: Any) -> None:
    """Any bytes under any status are an observation that can be written as UTF-8."""
    is_writable(observe(Exchange(status, body=body, streamed=streamed)))


@given(JSON.flatmap(shaped), st.sampled_from([200, 400, 500]), st.booleans())
@settings(max_examples=4 * settings().max_examples, deadline=None)
def test_json_never_raises(value: Any, status: Any, streamed: Any) -> None:
    """Any JSON where an answer has its parts is an observation that can be written as UTF-8."""
    body = json.dumps(value).encode()
    if streamed:
        body = b"data: " + body + b'\n\ndata: {"choices":[{"finish_reason":"stop"}]}\n\n'
    is_writable(observe(Exchange(status, body=body, streamed=streamed)))


@pytest.mark.parametrize("depth", [90, 400, 900, 5000, 100_000])
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("name", ["content", "tool_calls", "reasoning_details", "refusal", "error"])
def test_nesting_never_raises(depth: Any, streamed: Any, name: Any) -> None:
    """Nesting of any depth in any place is an observation, never an exception."""
    nest = "[" * depth + '"\\ud83d"' + "]" * depth
    if name == "tool_calls":
        nest = f'[{{"function":{{"name":"f","arguments":{nest}}}}}]'
    part = f'{{"content":"x","{name}":{nest}}}'
    if name == "content":
        part = f'{{"content":{nest}}}'
    body = f'{{"choices":[{{"finish_reason":"stop","message":{part},"delta":{part}}}]}}'
    if name == "error":
        body = f'{{"error":{nest}}}'
    if streamed:
        body = f"data: {body}\n\ndata: [DONE]\n\n"
    is_writable(observe(Exchange(200, body=body.encode(), streamed=streamed)))


# ---------------------------------------------------------------- folding

WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
CALLS = st.lists(
    st.tuples(WORDS, st.dictionaries(st.text(max_size=3), st.integers() | WORDS, max_size=3)),
    min_size=1,
    max_size=3,
)
ENTRIES = st.lists(
    st.builds(
        lambda token, value: {"token": token, "logprob": value, "bytes": list(token.encode())},
        WORDS,
        st.floats(-50, 0),
    ),
    min_size=1,
    max_size=5,
)


@st.composite
def pieces(draw: Any, text: Any) -> Any:
    """Split a text at arbitrary places."""
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=4)))
    borders = [0, *cuts, len(text)]
    return [text[a:b] for a, b in pairwise(borders)]


def call_deltas(draw: Any, calls: Any) -> Any:
    """Split calls into deltas: the first of each has id and name, the others its index alone."""
    for index, call in enumerate(calls):
        function = call["function"]
        first = {**call, "index": index, "function": {**function, "arguments": ""}}
        yield {"tool_calls": [first]}
        for piece in draw(pieces(function["arguments"])):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


@given(st.data())
@settings(deadline=None)
def test_folding_equals_the_plain_answer(data: Any) -> None:
    """A message split into arbitrary deltas is seen as the same message sent whole."""
    draw = data.draw
    text = draw(st.none() | WORDS)
    reasoning = draw(st.none() | WORDS)
    calls = [
        {"id": f"k{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(a)}}
        for n, (name, a) in enumerate(draw(CALLS))
    ]
    entries = draw(ENTRIES)
    message = {"content": text, "reasoning": reasoning, "tool_calls": calls}
    deltas = [{"reasoning": piece} for piece in (draw(pieces(reasoning)) if reasoning else ())]
    deltas += [{"content": piece} for piece in (draw(pieces(text)) if text else ())]
    deltas += call_deltas(draw, calls)
    choices: list[Any] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices += [{"index": 0, "delta": {}, "logprobs": {"content": [entry]}} for entry in entries]
    choices += [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]
    usage = {"prompt_tokens": 3, "completion_tokens": 5}
    chunks = [{"model": "m", "choices": [choice]} for choice in choices] + [{"usage": usage}]
    ascii_only = draw(st.booleans())
    wire = [json.dumps(chunk, ensure_ascii=ascii_only) for chunk in chunks] + ["[DONE]"]
    stream = "".join(f"data: {event}\n\n" for event in wire).encode()
    choice = {"message": message, "finish_reason": "tool_calls", "logprobs": {"content": entries}}
    plain = json.dumps({"model": "m", "choices": [choice], "usage": usage}).encode()
    seen = observe(Exchange(200, body=stream, streamed=True))
    assert seen == observe(Exchange(200, body=plain))


# ---------------------------------------------------------------- the transport


@pytest.mark.parametrize("kind", FaultKind)
def test_faults(kind: Any) -> None:
    """A fault of the transport is a problem whatever was read before it."""
    whole = b'{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}'
    problem = observe(Exchange(200, body=whole, fault=Fault(kind, "why"))).problem
    assert problem is not None
    too_large = kind is FaultKind.TOO_LARGE
    assert problem.kind is (ProblemKind.CONTRACT if too_large else ProblemKind.TRANSPORT)
    assert problem.cause is (Cause.CONTRACT if too_large else Cause.AVAILABILITY)
    assert problem.retry is (kind not in {FaultKind.TOO_LARGE, FaultKind.REDIRECT})
    assert problem.message == f"{kind}: why"


@pytest.mark.parametrize("body", [b"", b'{"choices":[{"message":{"content":"x"}}]}'])
def test_exchange_fields_are_copied(body: Any) -> None:
    """Attempts, times and replica come along, with an answer or without."""
    attempts = (Attempt(503, "busy", 1.0),)
    exchange = Exchange(
        200, body=body, attempts=attempts, first_byte_s=0.1, elapsed_s=0.2, replica="r1"
    )
    seen = observe(exchange)
    assert (seen.attempts, seen.first_byte_s, seen.elapsed_s, seen.replica) == (
        attempts,
        0.1,
        0.2,
        "r1",
    )
    assert seen == observe(replace(exchange))


# ---------------------------------------------------------------- size


def answer(message: str) -> Exchange:
    """Build an answer around a message that is written as JSON."""
    body = f'{{"choices":[{{"message":{message},"finish_reason":"stop"}}]}}'
    return Exchange(200, body=body.encode())


MILLION = 1_000_000
LARGE = {
    "text": answer(f'{{"content":"{"x" * 8 * MILLION}"}}'),
    "braces": answer(f'{{"content":"{"{" * 4 * MILLION} \\"arguments\\""}}'),
    "blocks": answer(f'{{"content":"{"<think></think>" * 300_000}"}}'),
    "escapes": answer(f'{{"content":"{chr(92) + "ud83d"}{chr(92) * 2 * MILLION}"}}'),
    "junk": Exchange(200, body=b"{" * 4 * MILLION),
    "lines": Exchange(200, body=b"data:\n" * 500_000, streamed=True),
    "error": Exchange(500, body=b"<html>" * MILLION),
    "names": Exchange(
        200,
        body=b"".join(
            b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f",'
            b'"arguments":"[["}}]}}]}\n\n'
            for _ in range(20_000)
        ),
        streamed=True,
    ),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_bodies_take_linear_time(name: Any) -> None:
    """Megabytes made to be slow take seconds at the most, and quote little."""
    begin = process_time()
    seen = observe(LARGE[name])
    assert process_time() - begin < 5
    assert seen.problem is None or len(seen.problem.message) < 400


def test_too_many_calls_are_no_answer() -> None:
    """Thousands of calls break the contract, streamed or not."""
    call = '{"id":"%d","function":{"name":"f"}}'
    calls = "[" + ",".join(call % n for n in range(1500)) + "]"
    for streamed in (False, True):
        field = "delta" if streamed else "message"
        body = f'{{"choices":[{{"{field}":{{"tool_calls":{calls}}},"finish_reason":"stop"}}]}}'
        body = f"data: {body}\n\ndata: [DONE]\n\n" if streamed else body
        problem = observe(Exchange(200, body=body.encode(), streamed=streamed)).problem
        assert problem is not None
        assert problem.kind is ProblemKind.CONTRACT


def test_too_many_logprobs_are_set_aside() -> None:
    """More entries than any answer has are absent logprobs, said as such; the text stays."""
    entries = ",".join(['{"token":"a","logprob":0}'] * 262_145)
    body = (
        '{"choices":[{"message":{"content":"a"},"finish_reason":"stop",'
        f'"logprobs":{{"content":[{entries}]}}}}]}}'
    )
    seen = observe(Exchange(200, body=body.encode()))
    assert (seen.text, seen.logprobs) == ("a", None)
    assert seen.logprobs_absent == "more than 262144 entries"
