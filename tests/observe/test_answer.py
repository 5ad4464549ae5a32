"""One answer as a whole: what is read from it, what is noted, and what is no answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from denv.observe import observe
from denv.records import Exchange, Observation, TokenLogprob, Usage

CALL = {"id": "a", "function": {"name": "f", "arguments": "{}"}}


def seen(message: Any, finish: Any = "stop", *, beside: Any = None, **fields: Any) -> Observation:
    """Observe an answer of this message; ``beside`` stands in the choice."""
    choice = {"message": message, "finish_reason": finish, **(beside or {})}
    body = {"choices": [choice], **fields}
    return observe(Exchange(200, body=json.dumps(body).encode()))


def codes(answer: Observation) -> list[str]:
    return [oddity.code for oddity in answer.oddities]


def test_all_that_an_answer_says() -> None:
    """Each field of an answer is where its name says."""
    logprobs = {"content": [{"token": "x", "logprob": -1}], "reasoning_content": [{}]}
    answer = seen(
        {"content": "x", "reasoning": "hm"},
        "stop",
        beside={"native_finish_reason": "EOS", "logprobs": logprobs},
        model="m",
        system_fingerprint="s",
        provider="p",
        usage={"prompt_tokens": 1, "completion_tokens": 2, "reasoning_tokens": 3},
    )
    assert answer == Observation(
        text="x",
        reasoning="hm",
        finish_reason="stop",
        native_finish_reason="EOS",
        logprobs=(TokenLogprob("x", -1.0, b"x"),),
        logprobs_reasoning=1,
        usage=Usage(1, 2, 3),
        model="m",
        system_fingerprint="s",
        provider="p",
    )


@pytest.mark.parametrize("given", [None, "", 5])
def test_names_that_are_not_there(given: Any) -> None:
    """What is no text names nobody."""
    answer = seen({"content": "x"}, model=given, system_fingerprint=given, provider=given)
    assert (answer.model, answer.system_fingerprint, answer.provider) == (None, None, None)


@pytest.mark.parametrize(
    ("usage", "right"),
    [
        (None, None),
        ({}, None),
        (5, None),
        ({"prompt_tokens": 1}, Usage(1, None)),
        ({"completion_tokens_details": {"reasoning_tokens": 4}, "reasoning_tokens": 5},
         Usage(None, None, 4)),
        ({"completion_tokens_details": {"reasoning_tokens": None}, "reasoning_tokens": 5},
         Usage(None, None, 5)),
        ({"completion_tokens_details": 5, "reasoning_tokens": 5}, Usage(None, None, 5)),
    ],
)  # fmt: skip
def test_usage(usage: Any, right: Usage | None) -> None:
    """Each count is read where it stands, those of reasoning in two places."""
    assert seen({"content": "x"}, usage=usage).usage == right


@pytest.mark.parametrize("message", [{"content": ""}, {"refusal": "no"}, {"reasoning": "hm"}])
def test_what_is_an_answer(message: Any) -> None:
    """An empty text, a refusal or a thought is one, whatever it ended with."""
    for finish in ("stop", "length", None):
        assert seen(message, finish).problem is None
        assert "empty-message" not in codes(seen(message, finish))


@pytest.mark.parametrize(
    ("finish", "answered"),
    [("length", True), ("content_filter", True), ("stop", False), ("tool_calls", False)],
)
def test_an_answer_of_nothing(finish: str, answered: bool) -> None:
    """It is one where the finish reason explains the void, and is noted."""
    answer = seen({"content": None}, finish)
    assert (answer.problem is None) is answered
    assert ("empty-message" in codes(answer)) is answered


@pytest.mark.parametrize(
    ("message", "finish", "noted"),
    [
        ({"tool_calls": [CALL]}, "tool_calls", []),
        ({"tool_calls": [CALL]}, "stop", ["finish-stop-with-calls"]),
        ({"tool_calls": [CALL]}, "length", []),
        ({"content": "x"}, "tool_calls", ["finish-calls-without-calls"]),
        ({"content": "x"}, "stop", []),
    ],
)
def test_calls_and_the_finish_reason(message: Any, finish: str, noted: list[str]) -> None:
    """Where one says calls and the other none, it is noted and nothing more."""
    assert codes(seen(message, finish)) == noted


@pytest.mark.parametrize(
    ("message", "raw"),
    [
        ({"content": "\ufffd"}, b"\xef\xbf\xbd"),
        ({"content": "x", "reasoning": "\ufffd"}, b"\xef\xbf\xbd"),
        ({"content": "x"}, None),
    ],
)
def test_a_replacement_character_that_the_answer_holds(message: Any, raw: bytes | None) -> None:
    """A token of it is that character; elsewhere it stands for bytes that are not said."""
    token = {"token": "\ufffd", "logprob": -1, "bytes": [239, 191, 189]}
    answer = seen(message, beside={"logprobs": {"content": [token]}})
    assert answer.logprobs == (TokenLogprob("\ufffd", -1.0, raw),)


@pytest.mark.parametrize(
    ("text", "rest", "opened", "noted"),
    [
        ("<think>a</think>b", "b", False, ["inline-reasoning"]),
        ("<think>a", None, True, ["inline-reasoning"]),
        ("b", None, False, []),
    ],
)
def test_inline_reasoning(text: str, rest: str | None, opened: bool, noted: list[str]) -> None:
    """What is left of the text, or that the block never ends, stands beside the text."""
    answer = seen({"content": text})
    assert (answer.text, answer.text_after_reasoning) == (text, rest)
    assert (answer.reasoning_open, codes(answer)) == (opened, noted)


def test_calls_that_stand_as_text() -> None:
    """Those in the content are told from those in the reasoning."""
    text = seen({"content": "<tool_call>", "reasoning": "[TOOL_CALLS]"})
    assert (text.calls_in_text, text.calls_in_reasoning) == ("<tool_call>", "[TOOL_CALLS]")


def test_oddities_are_said_once() -> None:
    """However often one is met, and beside a problem too."""
    answer = seen({"content": [{"a": 1}, {"a": 2}, "x"]})
    assert codes(answer) == ["content-parts", "unknown-part"]
    broken = observe(Exchange(200, body=b'{"choices": [], "x": "\xff"}'))
    assert broken.problem is not None
    assert codes(broken) == ["invalid-utf8"]


@pytest.mark.parametrize(
    ("body", "streamed", "text", "noted"),
    [
        (b'\xef\xbb\xbf{"choices":[{"text":"x","finish_reason":"stop"}]}', False, "x",
         ["legacy-text"]),
        (b' \r\n\t{"choices":[{"text":"x","finish_reason":"stop"}]}', True, "x",
         ["stream-plain-json", "legacy-text"]),
        (b'data: {"choices":[{"text":"x","finish_reason":"stop"}]}\n\ndata: [DONE]', True, "x",
         ["legacy-text"]),
    ],
)  # fmt: skip
def test_how_a_body_begins(body: bytes, streamed: bool, text: str, noted: list[str]) -> None:
    """A byte order mark and blanks are passed over; plain JSON in place of a stream is noted."""
    answer = observe(Exchange(200, body=body, streamed=streamed))
    assert (answer.text, codes(answer)) == (text, noted)


def test_a_list_in_place_of_a_stream() -> None:
    """It is a body of broken shape, not a stream that was cut."""
    problem = observe(Exchange(200, body=b"[1]", streamed=True)).problem
    assert problem is not None
    assert problem.message == "the body is a list: [1]"


@pytest.mark.parametrize(
    ("fields", "answered"),
    [
        ({"error": None}, True),
        ({"error": {}}, True),
        ({"object": "error"}, True),
        ({"object": "chat.completion"}, True),
        ({"error": "x"}, False),
    ],
)
def test_an_error_beside_choices(fields: dict[str, Any], answered: bool) -> None:
    """An empty error is none, and an object that calls itself one is none beside choices."""
    assert (seen({"content": "x"}, **fields).problem is None) is answered


def test_an_error_body_of_a_million_bytes() -> None:
    """It is read up to that length; of a longer one the head is quoted."""
    for size, said in ((1_000_000, "busy"), (1_000_001, '{"error": {"message": "busy", "pad": "')):
        start = b'{"error": {"message": "busy", "pad": "'
        body = start + b"x" * (size - len(start) - 3) + b'"}}'
        assert len(body) == size
        problem = observe(Exchange(500, body=body)).problem
        assert problem is not None
        assert problem.message.startswith(f"HTTP 500: {said}")
        assert len(problem.message) < 250


def test_a_header_that_comes_twice() -> None:
    """The first one counts."""
    headers = (("x", "y"), ("location", "/a"), ("location", "/b"))
    problem = observe(Exchange(302, headers)).problem
    assert problem is not None
    assert problem.message == "HTTP 302 redirects to /a"


@pytest.mark.parametrize(
    ("word", "native", "right"),
    [
        ("stop", "EOS", ("stop", "EOS")),
        ("EOS", None, ("stop", "EOS")),
        ("EOS", "", ("stop", "EOS")),
        ("EOS", 5, ("stop", "EOS")),
        ("odd", None, (None, "odd")),
        (None, "EOS", (None, "EOS")),
        (None, 5, (None, None)),
    ],
)
def test_the_servers_own_finish_reason(word: Any, native: Any, right: tuple[Any, Any]) -> None:
    """It is kept where it differs, read from the plain one where it is no text."""
    answer = seen({"content": "x"}, word, beside={"native_finish_reason": native})
    assert (answer.finish_reason, answer.native_finish_reason) == right


@pytest.mark.parametrize(
    ("message", "noted"),
    [
        ({"content": [5, "x"]}, ["content-parts", "unknown-part"]),
        ({"function_call": {"name": "f", "arguments": {"a": 1}}},
         ["function-call", "arguments-object"]),
        ({"content": "\ud83d"}, ["lone-surrogate"]),
    ],
)  # fmt: skip
def test_what_is_noted_of_a_message(message: Any, noted: list[str]) -> None:
    """Each oddity of a message has its note."""
    assert codes(seen(message, "length")) == noted


def test_half_a_pair_in_capital_letters() -> None:
    """However its escape is spelt, half a pair is U+FFFD."""
    body = rb'{"choices":[{"message":{"content":"\uD83D"},"finish_reason":"stop"}]}'
    answer = observe(Exchange(200, body=body))
    assert (answer.text, codes(answer)) == ("\ufffd", ["lone-surrogate"])


@pytest.mark.parametrize("refusal", ["", 5, None])
def test_a_refusal_is_a_text(refusal: Any) -> None:
    """Another shape refuses nothing."""
    assert seen({"content": "x", "refusal": refusal}).refusal is None


def test_reasoning_of_several_fields() -> None:
    """Different texts stand a line each, equal ones once."""
    message = {"content": "x", "reasoning": "a", "reasoning_content": "a", "thinking": "b"}
    assert seen(message).reasoning == "a\nb"


def test_a_count_that_is_none() -> None:
    """It is left out and noted, among the counts of reasoning too."""
    answer = seen({"content": "x"}, usage={"reasoning_tokens": "many"})
    assert (answer.usage, codes(answer)) == (Usage(None, None), ["usage-not-integer"])
