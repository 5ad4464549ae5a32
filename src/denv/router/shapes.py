"""An aggregate of traffic's parameter shapes, so that what measures need not stand out. Pure.

A request is counted by which parameters it sets and by coarse ranges of sizes. No prompt, name or
exact value is kept, and combinations of fewer than ``LEAST`` requests are shown as one number.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from threading import Lock
from typing import Any, NamedTuple

from denv.runner.drawing import MORE, SCHEMA, TOKENS, UNSET

LEAST = 20
"""Combinations of fewer requests than this are folded away."""

MOST_KEPT = 4096
"""Combinations that are counted apart; requests of all later ones are only counted."""

MESSAGES = (1, 2, 4, 8, 16, 32)
PROMPT = (256, 1024, 4096, 16384, 65536, 262144)
"""Upper ends of the ranges: of the number of messages, and of their characters."""

SET = "set"
_FORMATS = ("text", "json_object", "json_schema")


class Shape(NamedTuple):
    """Which parameters a request sets, in words and ranges."""

    stream: bool
    tools: bool
    response_format: str
    max_tokens: str
    temperature: str
    top_p: str
    seed: str
    logprobs: bool
    messages: str
    prompt: str


class Shapes:
    """Counts requests by their shape."""

    def __init__(self) -> None:
        self._counts: Counter[Shape] = Counter()
        self._others = 0
        self._requests = 0
        self._lock = Lock()

    def add(self, body: Any) -> None:
        """Count one parsed body of Chat Completions; what is no object is not counted."""
        if not isinstance(body, Mapping):
            return
        shape = shape_of(body)
        with self._lock:  # large bodies are counted from threads
            self._requests += 1
            if shape in self._counts or len(self._counts) < MOST_KEPT:
                self._counts[shape] += 1
            else:
                self._others += 1

    def document(self) -> dict[str, Any]:
        """Give the table as ``denv.shapes/1``, the most frequent shapes first."""
        with self._lock:
            counts, requests = self._counts.most_common(), self._requests
        shown = [(shape, n) for shape, n in counts if n >= LEAST]
        return {
            "schema": SCHEMA,
            "requests": requests,
            "least": LEAST,
            "folded": requests - sum(count for _, count in shown),
            "cells": [{**shape._asdict(), "count": count} for shape, count in shown],
        }

    def to_json(self) -> bytes:
        """Write the table as one line of strict JSON."""
        return json.dumps(self.document(), allow_nan=False).encode() + b"\n"


def shape_of(body: Mapping[str, Any]) -> Shape:
    """Give the shape of a body; whatever stands in a field, this raises nothing."""
    messages = body.get("messages")
    listed = messages if isinstance(messages, list) else []
    limit = body.get("max_completion_tokens", body.get("max_tokens"))
    return Shape(
        stream=body.get("stream") is True,
        tools=bool(body.get("tools")),
        response_format=_format(body.get("response_format")),
        max_tokens=UNSET if limit is None else _range(limit, TOKENS),
        temperature=_temperature(body.get("temperature")),
        top_p=_is_set(body.get("top_p")),
        seed=_is_set(body.get("seed")),
        logprobs=body.get("logprobs") is True,
        messages=_range(len(listed), MESSAGES),
        prompt=_range(sum(map(_length, listed)), PROMPT),
    )


def _is_set(value: Any) -> str:
    return UNSET if value is None else SET


def _temperature(value: Any) -> str:
    """Keep 0 apart: it asks for the likeliest answer, and every other value samples."""
    return "zero" if value == 0 and not isinstance(value, bool) else _is_set(value)


def _format(value: Any) -> str:
    kind = value.get("type") if isinstance(value, Mapping) else None
    if value is None:
        return UNSET
    return kind if isinstance(kind, str) and kind in _FORMATS else "other"


def _range(value: Any, ends: tuple[int, ...]) -> str:
    """Name the range that a number falls into by its upper end."""
    if not isinstance(value, int) or value > ends[-1]:
        return MORE
    return str(ends[bisect_left(ends, value)])


def _length(message: Any) -> int:
    """Count the characters of a message's texts; parts that are no text count nothing."""
    content = message.get("content") if isinstance(message, Mapping) else None
    if isinstance(content, str):
        return len(content)
    if not isinstance(content, list):
        return 0
    texts = (part.get("text") for part in content if isinstance(part, Mapping))
    return sum(len(text) for text in texts if isinstance(text, str))
