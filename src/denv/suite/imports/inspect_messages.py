"""The conversation of an Inspect sample, as Chat Completions has it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from denv.suite.imports.gathering import UncarriedError

_ATTACHMENT = "attachment://"


def asked_messages(sample: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Give what the model was asked before its first answer.

    Raises
    ------
    UncarriedError
        The model answered more than once, or a message holds what no text can say.
    """
    attachments = sample.get("attachments")
    kept = attachments if isinstance(attachments, Mapping) else {}
    logged = sample.get("messages")
    if not isinstance(logged, list) or not logged:
        return [_message(each, kept) for each in _input(sample)]
    given = [at for at, each in enumerate(logged) if _is_answer(each)]
    if len(given) > 1:
        raise UncarriedError(f"the model answers {len(given)} times in it, and a case asks once")
    if given and any(_role(each) != "assistant" for each in logged[given[0] + 1 :]):
        raise UncarriedError("goes on after the model's answer, and a case asks once")
    asked = logged[: given[0]] if given else _without_last_answer(logged)
    return [_message(each, kept) for each in asked]


def _input(sample: Mapping[str, Any]) -> list[Any]:
    given = sample.get("input")
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    if not isinstance(given, list) or not given:
        raise UncarriedError("has no input")
    return given


def _role(message: Any) -> Any:
    return message.get("role") if isinstance(message, Mapping) else None


def _is_answer(message: Any) -> bool:
    """Whether the evaluated model wrote it, as logs say since they name each message's source."""
    return _role(message) == "assistant" and bool(message.get("source") == "generate")


def _without_last_answer(messages: list[Any]) -> list[Any]:
    """Leave out the last message of a log that names no sources, if an assistant wrote it."""
    if any(_role(each) == "tool" for each in messages):
        raise UncarriedError("uses tools, and the log does not say which answers are the model's")
    return messages[:-1] if _role(messages[-1]) == "assistant" else messages


def _message(message: Any, attachments: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(message, Mapping):
        raise UncarriedError("a message of it is no object")
    role = message.get("role")
    found: dict[str, Any] = {"role": role, "content": _content(message, attachments)}
    calls = message.get("tool_calls")
    if role == "assistant" and calls:
        found["tool_calls"] = [_call(each) for each in calls]
    if role == "tool" and message.get("tool_call_id"):
        found["tool_call_id"] = message["tool_call_id"]
    return found


def _content(message: Mapping[str, Any], attachments: Mapping[str, Any]) -> str | None:
    content = message.get("content")
    if content is None or isinstance(content, str):
        return _resolved(content, attachments)
    texts = []
    for part in content if isinstance(content, list) else [content]:
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind == "reasoning":
            continue  # what an assistant thought is no part of what the next turn is asked
        if kind != "text" or not isinstance(part.get("text"), str):
            raise UncarriedError(f"a message holds {kind or 'something unknown'}, not text alone")
        texts.append(_resolved(part["text"], attachments) or "")
    return "\n".join(texts)


def _resolved(text: str | None, attachments: Mapping[str, Any]) -> str | None:
    """Give the text that a long one was replaced by a reference to."""
    if text is None or not text.startswith(_ATTACHMENT):
        return text
    kept = attachments.get(text.removeprefix(_ATTACHMENT))
    if not isinstance(kept, str):
        raise UncarriedError("a message refers to an attachment that is not in the log")
    return kept


def _call(call: Any) -> dict[str, Any]:
    if not isinstance(call, Mapping) or not isinstance(call.get("function"), str):
        raise UncarriedError("a message holds a tool call without a name")
    arguments = call.get("arguments")
    written = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return {
        "id": call.get("id"),
        "type": "function",
        "function": {"name": call["function"], "arguments": written},
    }
