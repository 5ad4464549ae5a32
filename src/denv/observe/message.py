"""Choices of a completion → what the message says: text, reasoning, calls, refusal."""

from __future__ import annotations

from typing import NamedTuple

from denv.observe import oddities
from denv.observe.calls import read_calls
from denv.observe.oddities import Notes
from denv.observe.problems import broken_shape
from denv.observe.reasoning import read_reasoning
from denv.records import Call, Json


class Message(NamedTuple):
    """What one choice says; text is None where the server sent none."""

    text: str | None
    reasoning: str | None
    calls: tuple[Call, ...]
    refusal: str | None


class Parts(NamedTuple):
    """Content that came as a list of parts, sorted by kind; None where a kind is missing."""

    text: str | None
    thinking: str | None
    refusal: str | None


def read_choice(completion: Json, body: str, notes: Notes) -> dict[str, Json]:
    """Give the first choice, as clients do; a body without one is a problem that quotes it."""
    if not isinstance(completion, dict):
        broken_shape(f"the body is {_kind(completion)}", body)
    choices = completion.get("choices")
    if not isinstance(choices, list) or not choices:
        what = _kind(choices) if "choices" in completion else "missing"
        broken_shape(f"no answer: choices is {what}", body)
    choice = choices[0]
    if not isinstance(choice, dict):
        broken_shape(f"no answer: choices[0] is {_kind(choice)}", body)
    if len(choices) > 1:
        notes.append(oddities.EXTRA_CHOICES)
    return choice


def read_message(choice: dict[str, Json], body: str, notes: Notes) -> Message:
    """Read a choice's message, or its legacy text."""
    message = choice.get("message")
    if message is None and isinstance(choice.get("text"), str):
        notes.append(oddities.LEGACY_TEXT)
        message = {"content": choice["text"]}
    if not isinstance(message, dict):
        what = _kind(message) if "message" in choice else "missing"
        broken_shape(f"no answer: message is {what}", body)
    content = message.get("content")
    refusal = message.get("refusal")
    thinking = None
    if content is not None and not isinstance(content, str):
        if not isinstance(content, list):
            broken_shape(f"content is {_kind(content)}", body)
        notes.append(oddities.CONTENT_PARTS)
        content, thinking, refused = sort_parts(content, notes)
        refusal = refusal or refused
    return Message(
        content,
        read_reasoning(message, thinking),
        read_calls(message, notes),
        refusal if isinstance(refusal, str) and refusal else None,
    )


def sort_parts(parts: list[Json], notes: Notes) -> Parts:
    """Join a content's parts by kind: text, thinking (itself maybe a list of parts), refusal."""
    texts: list[str] = []
    thoughts: list[str] = []
    refusals: list[str] = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif not isinstance(part, dict):
            notes.append(oddities.UNKNOWN_PART)
        elif isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif "thinking" in part:
            thoughts.append(_thought(part["thinking"]))
        elif isinstance(part.get("refusal"), str):
            refusals.append(part["refusal"])
        else:
            notes.append(oddities.UNKNOWN_PART)
    return Parts(*("".join(found) if found else None for found in (texts, thoughts, refusals)))


def _thought(thinking: Json) -> str:
    if isinstance(thinking, str):
        return thinking
    if not isinstance(thinking, list):
        return ""
    texts = [part.get("text") if isinstance(part, dict) else part for part in thinking]
    return "".join(text for text in texts if isinstance(text, str))


def _kind(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    return {dict: "an object", str: "a string", bool: "a boolean"}.get(type(value), "a number")
