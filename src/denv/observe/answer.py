"""One exchange → one observation: what the other modules read, put together."""

from __future__ import annotations

from denv.observe import oddities
from denv.observe.body import decode, parse
from denv.observe.finish import is_failure, read_finish
from denv.observe.leaks import call_form
from denv.observe.logprobs import read_logprobs
from denv.observe.message import Message, read_choice, read_message
from denv.observe.metadata import read_usage, word
from denv.observe.oddities import Notes
from denv.observe.problems import (
    ErrorText,
    UnusableError,
    broken_shape,
    fault_problem,
    quote,
    server_gave_up,
    status_problem,
)
from denv.observe.reasoning import find_inline
from denv.observe.stream import raise_error, read_stream
from denv.records import Exchange, Json, Observation, Problem

_PARSED_ERROR = 1_000_000
"""Bytes of an error body that are parsed; of a longer one the head is quoted."""


def observe(exchange: Exchange) -> Observation:
    """Normalise what an engine sent; never raises, and never invents an answer."""
    notes: Notes = []
    try:
        problem = fault_problem(exchange) or _refusal(exchange)
        if problem is not None:
            return _without_answer(exchange, problem, notes)
        return _observe_answer(exchange, notes)
    except UnusableError as unusable:
        return _without_answer(exchange, unusable.problem, notes)


def _without_answer(exchange: Exchange, problem: Problem, notes: Notes) -> Observation:
    return Observation(
        problem=problem,
        oddities=tuple(dict.fromkeys(notes)),
        replica=exchange.replica,
        attempts=exchange.attempts,
        first_byte_s=exchange.first_byte_s,
        elapsed_s=exchange.elapsed_s,
    )


# ---------------------------------------------------------------- statuses


def _header(exchange: Exchange, name: str) -> str:
    return next((value for key, value in exchange.headers if key == name), "")


def _refusal(exchange: Exchange) -> Problem | None:
    status = exchange.status
    if status is None or 200 <= status < 300:
        return None
    text = decode(exchange.body[:_PARSED_ERROR], [])
    try:
        error = ErrorText(parse(text, []))
    except UnusableError:
        # a page is no error text: its markup is full of words such as role
        error = ErrorText("" if text.lstrip().startswith("<") else text)
        kind = _header(exchange, "content-type").partition(";")[0].strip()
        head = f"HTTP {status} ({quote(kind)})" if kind else f"HTTP {status}"
    else:
        head = f"HTTP {status}"
    target = _header(exchange, "location").partition("?")[0]
    if 300 <= status < 400 and target:
        head += f" redirects to {quote(target)}"
    said = quote(error.message) or quote(text)
    return status_problem(status, error, shown=f"{head}: {said}" if said else head)


# ---------------------------------------------------------------- answers


def _observe_answer(exchange: Exchange, notes: Notes) -> Observation:
    completion, body = _completion(exchange, notes)
    choice = read_choice(completion, body, notes)
    if choice.get("error"):
        raise_error(choice["error"])
    if is_failure(choice.get("finish_reason")):
        server_gave_up(f"finish reason {quote(choice['finish_reason'])}")
    message = read_message(choice, body, notes)
    finish, native = read_finish(choice, notes)
    _note_emptiness(message, finish, body, notes)
    _note_finish(message, finish, notes)
    literal = "\N{REPLACEMENT CHARACTER}" in f"{message.text}{message.reasoning}"
    logprobs = read_logprobs(choice, literal=literal, notes=notes)
    inline = find_inline(message.text) if message.text else None
    if inline is not None:
        notes.append(oddities.INLINE_REASONING)
    return Observation(
        text=message.text,
        reasoning=message.reasoning,
        calls=message.calls,
        finish_reason=finish,
        native_finish_reason=native,
        logprobs=logprobs.entries,
        logprobs_absent=logprobs.absent,
        logprobs_reasoning=logprobs.reasoning,
        usage=read_usage(completion, notes),
        model=word(completion, "model"),
        system_fingerprint=word(completion, "system_fingerprint"),
        provider=word(completion, "provider"),
        replica=exchange.replica,
        refusal=message.refusal,
        text_after_reasoning=inline.rest if inline is not None else None,
        reasoning_open=inline is not None and inline.rest is None,
        calls_in_text=call_form(message.text),
        calls_in_reasoning=call_form(message.reasoning),
        oddities=tuple(dict.fromkeys(notes)) if notes else (),
        attempts=exchange.attempts,
        first_byte_s=exchange.first_byte_s,
        elapsed_s=exchange.elapsed_s,
    )


def _completion(exchange: Exchange, notes: Notes) -> tuple[dict[str, Json], str]:
    """Read the body as JSON or as a stream; errors inside a 200 end here."""
    head = exchange.body[:64].lstrip(b"\xef\xbb\xbf \t\r\n")
    if exchange.streamed and not head.startswith((b"{", b"[", b"<")):
        return read_stream(exchange.body, notes), ""
    text = decode(exchange.body, notes)
    if head.startswith((b"data:", b"event:", b":")):
        broken_shape("an event stream where plain JSON was asked for", text)
    completion = parse(text, notes)
    if exchange.streamed:
        notes.append(oddities.STREAM_PLAIN_JSON)
    if isinstance(completion, dict):
        if completion.get("error"):
            raise_error(completion)
        if "choices" not in completion and completion.get("object") == "error":
            raise_error(completion)
    return completion, text


def _note_emptiness(message: Message, finish: str | None, body: str, notes: Notes) -> None:
    """Refuse an answer of nothing, unless the finish reason explains the void."""
    if message.text is not None or message.calls or message.reasoning or message.refusal:
        return
    if finish not in {"length", "content_filter"}:
        broken_shape("no answer: the message has no text, call, reasoning or refusal", body)
    notes.append(oddities.EMPTY_MESSAGE)


def _note_finish(message: Message, finish: str | None, notes: Notes) -> None:
    if message.calls and finish == "stop":
        notes.append(oddities.FINISH_STOP_WITH_CALLS)
    elif finish == "tool_calls" and not message.calls:
        notes.append(oddities.FINISH_CALLS_WITHOUT_CALLS)
