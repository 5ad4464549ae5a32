"""Finish reasons: the servers' words and what they mean."""

from __future__ import annotations

from denv.observe import oddities
from denv.observe.oddities import Notes
from denv.records import Json

_MEANINGS = {
    "stop": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "stop_token": "stop",
    "complete": "stop",
    "completed": "stop",
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "max_length": "length",
    "model_length": "length",
    "tool_calls": "tool_calls",
    "tool_call": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
    "content_filtered": "content_filter",
    "safety": "content_filter",
    "sensitive": "content_filter",
    "refusal": "content_filter",
}
_FAILURES = frozenset({
    "abort", "aborted", "cancelled", "canceled", "error", "engine_error", "internal_error",
    "network_error", "server_error", "timeout", "insufficient_system_resource",
})  # fmt: skip


def is_failure(word: Json) -> bool:
    """Say whether a finish reason means that the server gave the answer up."""
    return isinstance(word, str) and word.lower() in _FAILURES


def read_finish(choice: dict[str, Json], notes: Notes) -> tuple[str | None, str | None]:
    """Give the normalised finish reason, and the server's own word where that differs."""
    word = choice.get("finish_reason")
    native = choice.get("native_finish_reason")
    if not isinstance(word, str) or not word:
        notes.append(oddities.FINISH_MISSING)
        return None, native if isinstance(native, str) else None
    meaning = _MEANINGS.get(word.lower())
    if meaning is None:
        notes.append(oddities.FINISH_UNKNOWN)
    if not isinstance(native, str) or not native:
        native = word
    return meaning, native if native != meaning else None
