"""Tool calls of a message, read from the message and never from the finish reason."""

from __future__ import annotations

from denv.observe import oddities
from denv.observe.arguments import read_arguments
from denv.observe.oddities import Notes
from denv.observe.problems import broken_shape
from denv.records import Call, Json

MAX_CALLS = 1000
"""More calls than this in one answer are no answer."""


def read_calls(message: dict[str, Json], notes: Notes) -> tuple[Call, ...]:
    """Read ``tool_calls``, or the legacy ``function_call`` where there are none."""
    calls = message.get("tool_calls")
    if calls:
        if not isinstance(calls, list):
            broken_shape("tool_calls is not a list")
        if len(calls) > MAX_CALLS:
            broken_shape(f"{len(calls)} tool calls in one answer")
        return tuple(_read_call(call, notes) for call in calls)
    legacy = message.get("function_call")
    if not legacy:
        return ()
    notes.append(oddities.FUNCTION_CALL)
    return (_read_function(legacy, None, notes),)


def _read_call(call: Json, notes: Notes) -> Call:
    if not isinstance(call, dict):
        return Call(None, None, "", error="the call is not an object")
    call_id = call["id"] if isinstance(call.get("id"), str) else None
    return _read_function(call.get("function"), call_id, notes)


def _read_function(function: Json, call_id: str | None, notes: Notes) -> Call:
    if not isinstance(function, dict):
        return Call(None, None, "", call_id, "the call has no function")
    name = function.get("name")
    read = read_arguments(function.get("arguments"), notes)
    return Call(
        name if isinstance(name, str) else None,
        read.value,
        read.raw,
        call_id,
        read.error,
        read.unwrapped,
    )
