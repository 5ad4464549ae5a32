"""What a generator gives: a request, what is expected, a right answer, a wrong one, and why."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

Json = Mapping[str, Any]
"""An object as JSON has it."""

Made = tuple[dict[str, Any], dict[str, Any]]
"""A suite's line and the line of its answers."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A case without its name and tags, and the answers that belong to it.

    ``right`` passes the check and ``wrong`` is what a faulty deployment would say; ``why`` argues
    the expected value.
    """

    request: Json
    expect: Json
    right: Json
    wrong: Json
    why: str


@dataclass(frozen=True, slots=True)
class Family:
    """Cases that differ in numbers, names and words alone, made from a seed.

    ``make`` is given a random source and the number of the case, from 0.
    """

    name: str
    part: str
    count: int
    make: Callable[[Random, int], Draft]


@dataclass(frozen=True, slots=True)
class Authored:
    """One case that was written by hand."""

    name: str
    part: str
    draft: Draft


def user(text: str) -> dict[str, Any]:
    """Give a user's message."""
    return {"role": "user", "content": text}


def system(text: str) -> dict[str, Any]:
    """Give a system message."""
    return {"role": "system", "content": text}


def said(text: str) -> dict[str, Any]:
    """Give an earlier message of the assistant."""
    return {"role": "assistant", "content": text}


def called(*calls: tuple[str, str, Json]) -> dict[str, Any]:
    """Give an earlier message of the assistant with calls: (id, tool, arguments) each."""
    written = [
        {
            "id": call_id,
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)},
        }
        for call_id, name, arguments in calls
    ]
    return {"role": "assistant", "content": None, "tool_calls": written}


def result(call_id: str, value: Any) -> dict[str, Any]:
    """Give a tool's result, as JSON unless it is a text."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def answer(text: str) -> dict[str, Any]:
    """Give an answer in text."""
    return {"content": text, "finish_reason": "stop"}


def calling(name: str, arguments: Json | str, *more: tuple[str, Json]) -> dict[str, Any]:
    """Give an answer that calls tools."""
    calls = [{"name": name, "arguments": arguments}]
    calls += [{"name": other, "arguments": given} for other, given in more]
    return {"content": None, "tool_calls": calls, "finish_reason": "tool_calls"}


def expect_call(name: str, arguments: Json) -> dict[str, Any]:
    """Give what is expected of a call."""
    return {"tool-call": {"name": name, "arguments": arguments}}


def request(*messages: Json, tools: Sequence[Json] = (), **fields: Any) -> dict[str, Any]:
    """Give a request: messages, tools where there are some, and further fields."""
    given: dict[str, Any] = {"messages": list(messages)}
    if tools:
        given["tools"] = list(tools)
    return {**given, **fields}


def line(value: Json) -> str:
    """Write one line of a file."""
    return json.dumps(value, ensure_ascii=False) + "\n"
