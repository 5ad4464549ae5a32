"""JSON values compared exactly: nothing is rounded, coerced or filled in.

Numbers are equal by value whatever their spelling (12, 12.0, 1.2e1); a boolean is never a
number; the order of an object's keys means nothing. All walks are iterative or bounded, so no
nesting raises RecursionError.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum, auto
from itertools import islice
from typing import Any

SHOWN_CHARACTERS = 60
SHOWN_ITEMS = 4
SHOWN_DEPTH = 3
SHOWN_INTEGER_BITS = 256


class Fault(Enum):
    """How two values differ."""

    MISSING = auto()
    EXTRA = auto()
    TYPE = auto()
    LENGTH = auto()
    VALUE = auto()


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two values differ, as a JSON path, and how."""

    path: str
    fault: Fault
    expected: Any = None
    got: Any = None

    def __str__(self) -> str:
        match self.fault:
            case Fault.MISSING:
                return f"{self.path} is missing"
            case Fault.EXTRA:
                return f"{self.path} is not expected"
            case Fault.LENGTH:
                return f"{self.path} has {len(self.got)} items instead of {len(self.expected)}"
            case Fault.TYPE:
                return (
                    f"{self.path} is the {type_name(self.got)} {excerpt(self.got)}"
                    f" instead of the {type_name(self.expected)} {excerpt(self.expected)}"
                )
            case Fault.VALUE:
                return f"{self.path} is {excerpt(self.got)} instead of {excerpt(self.expected)}"


def equal(expected: Any, got: Any) -> bool:
    """Whether two JSON values are the same, nested values without extras."""
    return next(_walk(expected, got, "$"), None) is None


def differences(expected: Mapping[str, Any], got: Mapping[str, Any]) -> Iterator[Difference]:
    """Give every way in which ``got`` lacks what is expected; extra keys may stand at the top."""
    for key, value in expected.items():
        path = f"${step(key)}"
        if key in got:
            yield from _walk(value, got[key], path)
        else:
            yield Difference(path, Fault.MISSING, value)


def matches(expected: Mapping[str, Any], got: Mapping[str, Any]) -> Difference | None:
    """Give the first difference of :func:`differences`, None where there is none."""
    return next(differences(expected, got), None)


def type_name(value: Any) -> str:
    """Name a value's JSON type."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float, Decimal)):
        return "number"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, Mapping) else "array"


def step(key: str) -> str:
    """Write one key of a JSON path."""
    return f".{key}" if key.isascii() and key.isidentifier() else f"[{excerpt(key)}]"


def _walk(expected: Any, got: Any, path: str) -> Iterator[Difference]:
    pending = [(expected, got, path)]
    while pending:
        want, have, at = pending.pop()
        kind = type_name(want)
        if kind != type_name(have):
            yield Difference(at, Fault.TYPE, want, have)
        elif kind == "object":
            yield from _key_faults(want, have, at)
            shared = [(want[k], have[k], at + step(k)) for k in want if k in have]
            pending.extend(reversed(shared))
        elif kind == "array":
            if len(want) != len(have):
                yield Difference(at, Fault.LENGTH, want, have)
            pairs = zip(want, have, strict=False)
            items = [(w, h, f"{at}[{i}]") for i, (w, h) in enumerate(pairs)]
            pending.extend(reversed(items))
        elif want != have:
            yield Difference(at, Fault.VALUE, want, have)


def _key_faults(want: Mapping[str, Any], have: Mapping[str, Any], at: str) -> Iterator[Difference]:
    for key in want:
        if key not in have:
            yield Difference(at + step(key), Fault.MISSING, want[key])
    for key in have:
        if key not in want:
            yield Difference(at + step(key), Fault.EXTRA, None, have[key])


def excerpt(value: Any) -> str:
    """Show a value in one short line of printable ASCII."""
    text = _shown(value, SHOWN_DEPTH)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"


def _shown(value: Any, depth: int) -> str:
    if not depth and isinstance(value, (Mapping, list, tuple)):
        return "…"
    if isinstance(value, Mapping):
        pairs = [f"{_scalar(k)}: {_shown(v, depth - 1)}" for k, v in _head(value.items())]
        return "{" + ", ".join(pairs) + (", …}" if len(value) > SHOWN_ITEMS else "}")
    if isinstance(value, (list, tuple)):
        items = [_shown(item, depth - 1) for item in _head(value)]
        return "[" + ", ".join(items) + (", …]" if len(value) > SHOWN_ITEMS else "]")
    return _scalar(value)


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value[:SHOWN_CHARACTERS])
    if isinstance(value, int) and value.bit_length() > SHOWN_INTEGER_BITS:
        return f"an integer of {value.bit_length()} bits"
    return str(value) if isinstance(value, Decimal) else json.dumps(value)


def _head(items: Any) -> list[Any]:
    return list(islice(items, SHOWN_ITEMS))
