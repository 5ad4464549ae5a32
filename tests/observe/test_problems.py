"""Why there is no answer: each message as it is shown, and what an error's words mean."""

from __future__ import annotations

import json
from typing import Any

import pytest

from denv.observe import observe
from denv.observe.problems import QUOTED, ErrorText, UnusableError, quote
from denv.records import Call, Cause, Exchange, Fault, FaultKind, Problem, ProblemKind


def found(body: Any, status: int | None = 200, **fields: Any) -> Problem:
    """Give the problem of a body, which is written as JSON unless it is bytes."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    problem = observe(Exchange(status, body=raw, **fields)).problem
    assert problem is not None
    return problem


def choice(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"finish_reason": "stop", **fields}]}


# ---------------------------------------------------------------- shapes


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (None, "the body is null"),
        ([], "the body is an empty list"),
        ([1], "the body is a list"),
        ("text", "the body is a string"),
        (True, "the body is a boolean"),
        (4, "the body is a number"),
        ({"id": "r"}, "no answer: choices is missing"),
        ({"choices": None}, "no answer: choices is null"),
        ({"choices": []}, "no answer: choices is an empty list"),
        ({"choices": {"a": 1}}, "no answer: choices is an object"),
        ({"choices": [None]}, "no answer: choices[0] is null"),
        ({"choices": [5]}, "no answer: choices[0] is a number"),
        ({"choices": [{}]}, "no answer: message is missing"),
        ({"choices": [{"message": None}]}, "no answer: message is null"),
        (choice(message="x"), "no answer: message is a string"),
        (choice(message={"content": {"a": 1}}), "content is an object"),
        (choice(message={"content": None}),
         "no answer: the message has no text, call, reasoning or refusal"),
    ],
)  # fmt: skip
def test_a_broken_shape_is_named_and_quoted(body: Any, message: str) -> None:
    """The message says what is there instead of an answer, and quotes the body."""
    shown = f"{message}: {json.dumps(body)}"
    assert found(body) == Problem(ProblemKind.CONTRACT, Cause.CONTRACT, shown)


@pytest.mark.parametrize(
    ("calls", "message"),
    [
        ({"a": 1}, "tool_calls is not a list"),
        ([{}] * 1001, "1001 tool calls in one answer"),
    ],
)
def test_calls_of_a_broken_shape(calls: Any, message: str) -> None:
    """Calls that no client could read are no answer."""
    broken = found(choice(message={"tool_calls": calls}))
    assert broken == Problem(ProblemKind.CONTRACT, Cause.CONTRACT, message)


def test_as_many_calls_as_are_read() -> None:
    """A thousand calls are an answer, each with what it lacks."""
    calls = [5, {"id": "a"}, {"id": 5, "function": {"name": 5}}] + [{}] * 997
    body = json.dumps(choice(message={"tool_calls": calls})).encode()
    seen = observe(Exchange(200, body=body))
    assert len(seen.calls) == 1000
    assert seen.calls[0] == Call(None, None, "", error="the call is not an object")
    assert seen.calls[1] == Call(None, None, "", "a", "the call has no function")
    assert seen.calls[2] == Call(None, {}, "")


DELTA = {"index": 0, "delta": {"content": "x"}}
STOP = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


def stream(*events: Any, done: bool = True) -> bytes:
    """Write events, which are written as JSON unless they are text."""
    texts = [one if isinstance(one, str) else "data: " + json.dumps(one) for one in events]
    return "\n\n".join([*texts, *(["data: [DONE]"] if done else []), ""]).encode()


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (5, "a chunk of the stream is not an object"),
        ({"choices": [5]}, "a choice of the stream is not an object"),
        ({"choices": [{"delta": 5}]}, "a delta of the stream is not an object"),
        ({"choices": [{"delta": {"content": 5}}]}, "the content of a delta is not a string"),
        ({"choices": [{"delta": {"tool_calls": [5]}}]},
         "a tool call of the stream is not an object"),
        ({"choices": [{"delta": {"tool_calls": [{"id": str(n)} for n in range(1002)]}}]},
         "over 1000 tool calls in one answer"),
        ("data: words", "not JSON: words"),
        ("data: <html>", "HTML instead of an API: <html>"),
    ],
)  # fmt: skip
def test_a_broken_stream_is_named(event: Any, message: str) -> None:
    """The message says which part of the stream is of no known shape."""
    problem = found(stream(event, STOP), streamed=True)
    assert (problem.kind, problem.message) == (ProblemKind.CONTRACT, message)


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ({"error": {"message": "busy"}}, "error in the answer: busy"),
        ({"error": {"code": 5}}, "error in the answer: no message"),
        ({"object": "error", "message": "busy"}, "error in the answer: busy"),
        ({"message": "busy"}, "error in the answer: busy"),
        ({"object": "error", "code": 5}, "error in the answer: no message"),
        ({"choices": [{"error": {"message": "busy"}}]}, "error in the answer: busy"),
        ({"choices": [{"finish_reason": "error"}]}, "finish reason error"),
        ("event: error\ndata: busy", "error in the answer: busy"),
        ("event: error\ndata: 5", "error in the answer: 5"),
    ],
)
def test_an_error_in_a_stream_is_quoted(event: Any, message: str) -> None:
    """An error anywhere is the server's, whatever came before."""
    problem = found(stream({"choices": [DELTA]}, event, STOP), streamed=True)
    assert problem == Problem(ProblemKind.SERVER_ERROR, Cause.AVAILABILITY, message, retry=True)


def test_a_stream_of_nothing() -> None:
    """A stream that ends as it should, without an answer, has no body to quote."""
    problem = found(stream(STOP), streamed=True)
    message = "no answer: the message has no text, call, reasoning or refusal"
    assert problem == Problem(ProblemKind.CONTRACT, Cause.CONTRACT, message)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"[" * 100_000, "JSON nested too deeply"),
        (b'{"n": ' + b"1" * 100_000 + b"}", "JSON with a number too long to read"),
    ],
)
def test_json_that_cannot_be_held(body: bytes, message: str) -> None:
    """Nesting and numbers beyond all bounds break the contract, and are quoted in short."""
    problem = found(body)
    assert problem.kind is ProblemKind.CONTRACT
    assert problem.message == f"{message}: {quote(body.decode())}"


def test_a_page_is_no_error_text() -> None:
    """Words of its markup name no cause, blanks before it or not."""
    problem = found(b' \n<div role="main">jinja</div>', 500)
    assert problem.cause is Cause.AVAILABILITY


def test_a_stream_that_was_cut() -> None:
    """Without a finish reason there is no answer."""
    problem = found(stream({"choices": [DELTA]}), streamed=True)
    message = "the stream ended without a finish reason"
    assert problem == Problem(ProblemKind.INCOMPLETE, Cause.AVAILABILITY, message, retry=True)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": {"message": "busy"}}, "error in the answer: busy"),
        ({"object": "error", "message": "busy"}, "error in the answer: busy"),
        (choice(error={"message": "busy"}), "error in the answer: busy"),
        (choice(finish_reason="abort"), "finish reason abort"),
    ],
)
def test_an_error_under_200_is_quoted(body: Any, message: str) -> None:
    """An answer that holds an error is the server's failure."""
    problem = found(body)
    assert problem == Problem(ProblemKind.SERVER_ERROR, Cause.AVAILABILITY, message, retry=True)


def test_events_where_json_was_asked_for() -> None:
    """An event stream is no plain answer, however it begins."""
    for body in (b"data: {}\n\n", b"\xef\xbb\xbf event: x\n\n", b"\r\n\t: ping\n\n"):
        problem = found(body)
        assert problem.kind is ProblemKind.CONTRACT
        start = "an event stream where plain JSON was asked for: "
        assert problem.message == start + quote(body.decode("utf-8-sig"))


# ---------------------------------------------------------------- statuses and faults


@pytest.mark.parametrize(
    ("status", "kind", "cause", "retry"),
    [
        (302, "transport", "availability", False),
        (399, "transport", "availability", False),
        (400, "refused", "contract", False),
        (401, "refused", "availability", False),
        (402, "refused", "availability", False),
        (403, "refused", "availability", False),
        (404, "refused", "contract", False),
        (408, "server-error", "availability", True),
        (422, "refused", "contract", False),
        (425, "server-error", "availability", True),
        (429, "rate-limited", "availability", True),
        (499, "refused", "contract", False),
        (500, "server-error", "availability", True),
        (503, "server-error", "availability", True),
    ],
)
def test_what_a_status_means(status: int, kind: str, cause: str, retry: bool) -> None:
    """Each class of statuses has its kind, its cause and whether to ask again."""
    problem = found({"error": {"message": "no"}}, status)
    assert (problem.kind, problem.cause, problem.retry) == (kind, cause, retry)
    assert problem.message == f"HTTP {status}: no"


@pytest.mark.parametrize(
    ("status", "headers", "body", "message"),
    [
        (500, {}, b"", "HTTP 500"),
        (500, {"content-type": "text/plain; charset=x"}, b"oh", "HTTP 500 (text/plain): oh"),
        (500, {"content-type": "application/json"}, b'{"error": "oh"}', "HTTP 500: oh"),
        (500, {}, b'{"a": 1}', 'HTTP 500: {"a": 1}'),
        (307, {"location": "https://x.test/v1?key=1"}, b"", "HTTP 307 redirects to https://x.test/v1"),
        (300, {"location": "/a"}, b"", "HTTP 300 redirects to /a"),
        (400, {"location": "/a"}, b"", "HTTP 400"),
        (307, {}, b"", "HTTP 307"),
    ],
)  # fmt: skip
def test_how_a_status_is_shown(
    status: int, headers: dict[str, str], body: bytes, message: str
) -> None:
    """The status, the type of what is no JSON, the redirect's target, then what the body says."""
    assert found(body, status, headers=tuple(headers.items())).message == message


@pytest.mark.parametrize("status", [200, 204, 299])
def test_a_success_is_read(status: int) -> None:
    """Every status from 200 to 299 may bear an answer."""
    body = json.dumps(choice(message={"content": "x"})).encode()
    assert observe(Exchange(status, body=body)).text == "x"


def test_no_response_at_all() -> None:
    """Neither a status nor a fault is a failure of the transport."""
    problem = found(b"", None)
    assert problem == Problem(ProblemKind.TRANSPORT, Cause.AVAILABILITY, "no response", retry=True)
    assert found(b"", None, fault=Fault(FaultKind.DNS, "x")).message == "dns: x"


# ---------------------------------------------------------------- words of an error


@pytest.mark.parametrize(
    ("body", "message", "kind", "code"),
    [
        ({"error": {"message": "m", "type": "t", "code": 5}}, "m", "t", 5),
        ({"error": "m"}, "m", "", None),
        ({"message": "m", "error_type": "t", "status": 5}, "m", "t", 5),
        ({"msg": "m"}, "m", "", None),
        ({"detail": "m"}, "m", "", None),
        ({"detail": [{"loc": ["a", 0], "msg": "m"}, "n", ["x"]]}, "a.0: m; n", "", None),
        ({"detail": {"loc": "a", "message": "m"}}, "m", "", None),
        ({"detail": ["1", "2", "3", "4", "5", "6"]}, "1; 2; 3; 4; 5", "", None),
        ({"detail": [{"loc": list(range(12)), "msg": "m"}]}, "0.1.2.3.4.5.6.7.8.9: m", "", None),
        ({"detail": [{"loc": [None, 2.5, "b"], "msg": 5}]}, "..b: 5", "", None),
        ("m", "m", "", None),
        (5, "5", "", None),
        (None, "", "", None),
        ({}, "", "", None),
    ],
)  # fmt: skip
def test_what_an_error_body_says(body: Any, message: str, kind: str, code: Any) -> None:
    """Every known shape gives its message, type and code."""
    read = ErrorText(body)
    assert (read.message, read.type, read.code) == (message, kind, code)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"code": 400}, 400),
        ({"code": 599}, 599),
        ({"code": 600}, 500),
        ({"code": 399}, 500),
        ({"code": "429"}, 429),
        ({"code": "4290"}, 500),
        ({"code": "٤٢٩"}, 500),
        ({"type": "rate_limit_error"}, 429),
        ({"code": "RateLimit"}, 429),
        ({"type": "invalid_request_error"}, 400),
        ({"type": "BadRequestError"}, 400),
        ({"code": "bad_request"}, 400),
        ({"type": "exceed_context_size_error"}, 400),
        ({"code": "context_length_exceeded"}, 400),
        ({"type": "server_error", "code": 5}, 500),
        ({}, 500),
    ],
)
def test_the_status_of_an_error_under_200(body: dict[str, Any], status: int) -> None:
    """The code decides, then the words of type and code; else it is a 500."""
    assert ErrorText(body).status() == status


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        ({"message": "Maximum Context of 9"}, Cause.LIMIT),
        ({"type": "context_length"}, Cause.LIMIT),
        ({"code": "context_length_exceeded"}, Cause.LIMIT),
        ({"message": "max_tokens is too large"}, Cause.LIMIT),
        ({"message": "max_completion_tokens: maximum value is 9"}, Cause.LIMIT),
        ({"message": "max_tokens is not supported"}, Cause.UNKNOWN),
        ({"message": "the image is too large"}, Cause.UNKNOWN),
        ({"message": "Jinja failed"}, Cause.TEMPLATE),
        ({"message": "unexpected role: tool"}, Cause.TEMPLATE),
        ({"message": "these roles"}, Cause.TEMPLATE),
        ({"message": "enrolement"}, Cause.UNKNOWN),
        ({"message": "x" * 3992 + " jinja "}, Cause.TEMPLATE),
        ({"message": "x" * 4000 + " jinja "}, Cause.UNKNOWN),
        ({"message": "no", "input": "role"}, Cause.UNKNOWN),
    ],
)
def test_the_cause_that_an_error_names(body: dict[str, Any], cause: Cause) -> None:
    """Limits come before templates; only the error's own first words are read."""
    assert ErrorText(body).cause(default=Cause.UNKNOWN) is cause


def test_an_unusable_answer_says_why() -> None:
    """The exception that ends the reading reads as its problem does."""
    problem = Problem(ProblemKind.CONTRACT, Cause.CONTRACT, "no answer")
    assert str(UnusableError(problem)) == "no answer"


# ---------------------------------------------------------------- quotes


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("  a b \n", "a b"),
        ("x" * QUOTED, "x" * QUOTED),
        ("x" * (QUOTED + 1), "x" * QUOTED + "…"),
        (" " * 2 * QUOTED + "x", ""),
        (" " * (2 * QUOTED - 1) + "xy", "x"),
        ("key sk-12345678 and Bearer  abc.def-ghi_j!", "key *** and ***!"),
        ("sk-1234567 task-12345678", "sk-1234567 task-12345678"),
        ("é\ud83d", "é\ufffd"),
        ("\ud83d\ude0a", "😊"),
    ],
)
def test_what_is_quoted(text: str, shown: str) -> None:
    """A quote is short, masks what looks like a key, and can be written as UTF-8."""
    assert quote(text) == shown
