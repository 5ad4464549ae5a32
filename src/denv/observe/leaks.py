"""What a parser left standing in a text: tool calls and end tokens, known only to name a cause.

Every search is a plain find or a bounded number of parses, so the time is linear.
"""

from __future__ import annotations

import json

from denv.records import Json

_MARKERS = (
    "<tool_call>", "<function=", "<|tool_calls_section_begin|>", "<|tool_call_begin|>",
    "tool▁calls▁begin", "tool▁call▁begin", "<|python_tag|>", "<|channel|>commentary to=functions.",
    "<|channel|>analysis to=functions.",
    "<|start|>assistant to=functions.", "<｜DSML｜", "<|DSML|", "<minimax:tool_call>",
    "<function_calls>", "<|tool_call_start|>", "<|tool_call>", "<|tool_call|>", "<tool_calls>",
    "<TOOLCALL>", "<start_function_call>", "<|START_ACTION|>", "<|action_start|>", "<arg_key>",
    "<invoke name=",
)  # fmt: skip
_BRACKET_MARKERS = ("[TOOL_CALLS]", "[TOOL_CALL]", "functools[")
_OTHER_MARKERS = ("✿FUNCTION✿", "commentary to=functions.", "analysis to=functions.")

_END_MARKS = (
    "<|return|>", "<|call|>", "<|end|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>",
    "<|im_end|>", "<|endoftext|>", "<｜end▁of▁sentence｜>", "<end_of_turn>", "<turn|>", "<eos>",
    "</s>", "[EOS]", "<|eot|>", "<|user|>", "<|observation|>", "<|END_OF_TURN_TOKEN|>", "[e~[",
)  # fmt: skip
"""Tokens by which models end their answers, which no parser leaves to a client."""

_MOST_MARKS = 4

_SEARCHED = 200_000
_ATTEMPTS = 32
_DECODER = json.JSONDecoder()


def call_form(text: str | None) -> str | None:
    """Name the form of a tool call that stands in a text, None where none does."""
    if not text:
        return None
    if "<" in text:
        for marker in _MARKERS:
            if marker in text:
                return marker
    if "[" in text:
        for marker in _BRACKET_MARKERS:
            if marker in text:
                return marker
    for marker in _OTHER_MARKERS:
        if marker in text:
            return marker
    return "json" if "{" in text and _holds_json_call(text[:_SEARCHED]) else None


def before_end_marks(text: str) -> str | None:
    """Give a text without the end tokens at its end, None where there are none."""
    rest = text.rstrip()
    for _ in range(_MOST_MARKS):
        mark = next((mark for mark in _END_MARKS if rest.endswith(mark)), None)
        if mark is None:
            break
        rest = rest.removesuffix(mark)
    return None if rest == text.rstrip() else rest


def _holds_json_call(text: str) -> bool:
    if '"arguments"' not in text and '"parameters"' not in text:
        return False
    start = text.find("{")
    for _ in range(_ATTEMPTS):
        if start < 0:
            return False
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1  # not an object that begins here: the next brace may begin one
        else:
            if _is_or_wraps_call(value):
                return True
        start = text.find("{", end)
    return False


def _is_call(value: Json) -> bool:
    if not isinstance(value, dict):
        return False
    if not isinstance(value.get("name") or value.get("function"), str):
        return False
    if "arguments" in value:
        return True
    parameters = value.get("parameters")
    # a tool's definition also has a name and parameters, but those are a schema
    is_schema = isinstance(parameters, dict) and "properties" in parameters
    return "parameters" in value and not is_schema


def _is_or_wraps_call(value: dict[str, Json]) -> bool:
    calls = value.get("tool_calls")
    inner = calls[0] if isinstance(calls, list) and calls else value
    return _is_call(inner) or (isinstance(inner, dict) and _is_call(inner.get("function")))
