"""Folds the chunks of a stream into a completion of the plain form."""

from __future__ import annotations

import json
from typing import NoReturn

from denv.observe import oddities
from denv.observe.body import lenient_loads, mend_surrogates, parse
from denv.observe.deltas import CallFold
from denv.observe.finish import is_failure
from denv.observe.message import sort_parts
from denv.observe.oddities import Notes
from denv.observe.problems import (
    ErrorText,
    UnusableError,
    broken_shape,
    incomplete,
    quote,
    server_gave_up,
    status_problem,
)
from denv.observe.sse import SseDecoder, SseEvent
from denv.records import Json

_WORDS = ("model", "system_fingerprint", "provider")
_TEXTS = ("reasoning", "reasoning_content", "thinking", "refusal")
_LOGPROB_LISTS = ("content", "reasoning_content", "tokens")
_LEGACY_LISTS = ("token_logprobs", "top_logprobs")


def raise_error(error: Json) -> NoReturn:
    """End the reading where an answer that began well holds an error."""
    read = ErrorText(error)
    said = quote(read.message) or "no message"
    raise UnusableError(status_problem(read.status(), read, shown=f"error in the answer: {said}"))


def read_stream(body: bytes, notes: Notes) -> dict[str, Json]:
    """Read server-sent events to their end.

    Raises
    ------
    UnusableError
        For an error frame anywhere, and for a stream that was cut short: what came before is
        never an answer.
    """
    decoder = SseDecoder()
    events = decoder.feed(body) + decoder.close()
    if decoder.invalid_utf8:
        notes.append(oddities.INVALID_UTF8)
    fold = _Fold(notes)
    done = False
    for event in events:
        data = event.data.strip()
        if data == "[DONE]":
            done = True
            break
        for chunk in _chunks(data, event, notes):
            done = done or chunk is _DONE
            fold.add(chunk, error=event.type == "error")
    return fold.completion(done=done, surrogates=b"\\ud" in body or b"\\uD" in body)


_DONE: dict[str, Json] = {}


def _chunks(data: str, event: SseEvent, notes: Notes) -> list[Json]:
    """Parse an event's data, which may be several chunks where no empty line parts them."""
    if not data:
        return []
    lines = data.split("\n")
    if len(lines) > 1 and all(line[:1] == "{" or line.strip() == "[DONE]" for line in lines):
        notes.append(oddities.STREAM_EVENTS_JOINED)
    else:
        lines = [data]
    try:
        return [
            _DONE if line.strip() == "[DONE]" else parse(line, notes, mend=False) for line in lines
        ]
    except UnusableError:
        if event.type == "error":
            raise_error(data)
        raise


class _Fold:
    """The completion as far as it has come."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._seen = False
        self._finish: str | None = None
        self._native: str | None = None
        self._usage: Json = None
        self._words: dict[str, str] = {}
        self._content: list[str] = []
        self._thinking: list[str] = []
        self._texts: dict[str, list[str]] = {name: [] for name in _TEXTS}
        self._details: list[Json] = []
        self._calls = CallFold(notes)
        self._legacy_name: list[str] = []
        self._legacy_arguments: list[str] = []
        self._logprobs: Json = _MISSING
        self._token_ids: list[Json] = []

    def add(self, chunk: Json, *, error: bool) -> None:
        """Take one chunk; an error ends the reading."""
        if not isinstance(chunk, dict):
            if error:
                raise_error(chunk)
            broken_shape("a chunk of the stream is not an object")
        if error or chunk.get("error") or _is_bare_error(chunk):
            raise_error(chunk)
        for name in _WORDS:
            if isinstance(chunk.get(name), str) and name not in self._words:
                self._words[name] = chunk[name]
        self._usage = chunk.get("usage") or self._usage
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            self._add_choice(choice)

    def _add_choice(self, choice: Json) -> None:
        if not isinstance(choice, dict):
            broken_shape("a choice of the stream is not an object")
        if choice.get("index") not in (None, 0):  # a tuple, as the index may be unhashable
            self._notes.append(oddities.EXTRA_CHOICES)
            return
        if choice.get("error"):
            raise_error(choice)
        finish: Json = choice.get("finish_reason")
        if is_failure(finish):
            server_gave_up(f"finish reason {quote(finish)}")
        if isinstance(finish, str) and finish:
            self._finish = finish
        native = choice.get("native_finish_reason")
        self._native = native if isinstance(native, str) else self._native
        self._add_delta(self._delta(choice))
        if "logprobs" in choice:
            self._add_logprobs(choice["logprobs"])
        ids = choice.get("token_ids")
        self._token_ids += ids if isinstance(ids, list) else ()

    def _delta(self, choice: dict[str, Json]) -> dict[str, Json]:
        delta = choice.get("delta")
        if isinstance(choice.get("text"), str) and not delta:
            self._notes.append(oddities.LEGACY_TEXT)
            return {"content": choice["text"]}
        if delta is None and isinstance(choice.get("message"), dict) and not self._seen:
            self._notes.append(oddities.STREAM_MESSAGE)
            delta = choice["message"]
        if delta is None:
            return {}
        if not isinstance(delta, dict):
            broken_shape("a delta of the stream is not an object")
        return delta

    def _add_delta(self, delta: dict[str, Json]) -> None:
        self._seen = self._seen or bool(delta)
        content = delta.get("content")
        if isinstance(content, str):
            self._content.append(content)
        elif isinstance(content, list):
            self._add_parts(content)
        elif content is not None:
            broken_shape("the content of a delta is not a string")
        for name, pieces in self._texts.items():
            if isinstance(delta.get(name), str):
                pieces.append(delta[name])
        details = delta.get("reasoning_details")
        self._details += details if isinstance(details, list) else ()
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            self._calls.add(call)
        legacy = delta.get("function_call")
        if isinstance(legacy, dict):
            self._add_legacy_call(legacy)

    def _add_parts(self, parts: list[Json]) -> None:
        self._notes.append(oddities.CONTENT_PARTS)
        text, thinking, refusal = sort_parts(parts, self._notes)
        self._content += [text] if text is not None else []
        self._thinking += [thinking] if thinking is not None else []
        self._texts["refusal"] += [refusal] if refusal is not None else []

    def _add_legacy_call(self, call: dict[str, Json]) -> None:
        if isinstance(call.get("name"), str):
            self._legacy_name.append(call["name"])
        if isinstance(call.get("arguments"), str):
            self._legacy_arguments.append(call["arguments"])

    def _add_logprobs(self, given: Json) -> None:
        if not isinstance(given, dict):
            self._logprobs = None if self._logprobs is _MISSING else self._logprobs
            return
        if not isinstance(self._logprobs, dict):
            self._logprobs = {}
        for name in _LOGPROB_LISTS:
            if isinstance(given.get(name), list):
                self._logprobs.setdefault(name, []).extend(given[name])
        tokens: Json = given.get("tokens")
        for name in _LEGACY_LISTS if isinstance(tokens, list) else ():
            own = given.get(name)
            own = own[: len(tokens)] if isinstance(own, list) else []
            padded = [*own, *[None] * (len(tokens) - len(own))]
            self._logprobs.setdefault(name, []).extend(padded)

    # ------------------------------------------------------------ the end

    def completion(self, *, done: bool, surrogates: bool) -> dict[str, Json]:
        """Give the folded completion; ``surrogates`` says that halves of pairs may meet in it."""
        if self._finish is None:
            incomplete("the stream ended without a finish reason")
        if not done:
            self._notes.append(oddities.STREAM_NO_DONE)
        choice: dict[str, Json] = {"index": 0, "finish_reason": self._finish}
        choice["message"] = self._message()
        if self._native is not None:
            choice["native_finish_reason"] = self._native
        if self._logprobs is not _MISSING:
            choice["logprobs"] = self._logprobs
        if self._token_ids:
            choice["token_ids"] = self._token_ids
        folded = {"choices": [choice], "usage": self._usage, **self._words}
        return self._mended(folded) if surrogates else folded

    def _message(self) -> dict[str, Json]:
        message: dict[str, Json] = {"content": "".join(self._content) if self._content else None}
        message |= {name: "".join(pieces) for name, pieces in self._texts.items() if pieces}
        if self._thinking:
            parts = [{"type": "thinking", "thinking": "".join(self._thinking)}]
            text = message["content"]
            message["content"] = parts if text is None else [*parts, text]
        if self._details:
            message["reasoning_details"] = self._details
        if calls := self._calls.folded():
            message["tool_calls"] = calls
        elif self._legacy_name:
            message["function_call"] = {
                "name": "".join(self._legacy_name),
                "arguments": "".join(self._legacy_arguments),
            }
        return message

    def _mended(self, folded: dict[str, Json]) -> dict[str, Json]:
        """Join the halves of pairs that two chunks held, and replace those that stay alone."""
        try:
            text = json.dumps(folded, default=float)
            mended: dict[str, Json] = lenient_loads(mend_surrogates(text, self._notes), exact=False)
        except RecursionError:
            broken_shape("JSON nested too deeply")
        return mended


_MISSING = object()


def _is_bare_error(chunk: dict[str, Json]) -> bool:
    """Recognise an error without envelope: no choices, but a message."""
    return "choices" not in chunk and (
        chunk.get("object") == "error" or isinstance(chunk.get("message"), str)
    )
