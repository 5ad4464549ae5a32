"""The assertions of a promptfoo test, joined into the one check that a case has."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from denv.suite.expect import pattern_fault
from denv.suite.imports.gathering import Gathering, UncarriedError
from denv.suite.imports.patterns import (
    JSON_VALUE,
    all_of,
    any_of,
    begins,
    literal,
    none_of,
    whole,
)

_NOT = "not-"
_REFERS_BACK = re.compile(r"\\(?:[1-9]|k<|g<)|\(\?P[=>]|\(\?[(&R0-9]")
_AS_IT_IS: Mapping[str, str] = {"equals": "equals", "contains": "contains", "regex": "regex"}


def expect_of(asserts: list[Any], *, where: str, gathering: Gathering) -> dict[str, str] | None:
    """Give the check that holds where all carried assertions do; None where none is carried.

    Each one that cannot be carried over is noted.
    """
    carried: list[tuple[str, Any, str]] = []
    for number, each in enumerate(asserts, 1):
        try:
            carried.append(_read(each))
        except UncarriedError as error:
            gathering.without(f"{where}, assertion {number}", str(error))
    if len(carried) > 1:
        carried = _joinable(carried, where, gathering)
    if not carried:
        return None
    if len(carried) == 1:
        kind, value, pattern = carried[0]
        return {_AS_IT_IS[kind]: value} if kind in _AS_IT_IS else {"regex": pattern}
    return {"regex": all_of(pattern for _, _, pattern in carried)}


def _joinable(
    carried: list[tuple[str, Any, str]], where: str, gathering: Gathering
) -> list[tuple[str, Any, str]]:
    """Leave out patterns that refer to their own groups, whose numbers joining would change."""
    kept = []
    for kind, value, pattern in carried:
        if kind.removeprefix(_NOT) == "regex" and _REFERS_BACK.search(value):
            why = (
                f"its pattern refers to its groups, and cannot be joined with others: {value[:60]}"
            )
            gathering.without(where, why)
        else:
            kept.append((kind, value, pattern))
    return kept


def _read(given: Any) -> tuple[str, Any, str]:
    """Give an assertion's type, its value as a text, and the pattern that says the same."""
    if not isinstance(given, Mapping) or not isinstance(given.get("type"), str):
        raise UncarriedError("has no type" if isinstance(given, Mapping) else "is no mapping")
    kind = given["type"]
    if given.get("transform"):
        raise UncarriedError(f"{kind} compares a transformed output")
    if given.get("weight") == 0:
        raise UncarriedError(f"{kind} has weight 0, so that it fails nothing")
    if given.get("normalizeUnicode"):
        raise UncarriedError(f"{kind} compares after normalising, and nothing is normalised here")
    make = _PATTERNS.get(kind.removeprefix(_NOT))
    if make is None:
        raise UncarriedError(f"no check compares as {kind} does")
    value, pattern = make(kind, given.get("value"))
    return kind, value, none_of(pattern) if kind.startswith(_NOT) else pattern


def _text(kind: str, value: Any) -> str:
    """Write a value as promptfoo does, where it is no text."""
    if isinstance(value, str):
        if value.startswith("file://"):
            raise UncarriedError(f"{kind} takes its value from a file: {value[:60]}")
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(int(value)) if float(value).is_integer() else str(value)
    what = "has no value" if value is None else "compares structured values, which no check does"
    raise UncarriedError(f"{kind} {what}")


def _some(kind: str, value: Any) -> str:
    text = _text(kind, value)
    if not text:
        raise UncarriedError(f"{kind} has an empty value")
    return text


def _texts(kind: str, value: Any) -> list[str]:
    if not isinstance(value, list) or not value:
        raise UncarriedError(f"{kind} has no list of values")
    return [_some(kind, each) for each in value]


def _equals(kind: str, value: Any) -> tuple[Any, str]:
    text = _text(kind, value)
    return text, whole(literal(text))


def _one(*, ignore_case: bool) -> Callable[[str, Any], tuple[Any, str]]:
    def make(kind: str, value: Any) -> tuple[Any, str]:
        text = _some(kind, value)
        return text, literal(text, ignore_case=ignore_case)

    return make


def _starts(kind: str, value: Any) -> tuple[Any, str]:
    text = _some(kind, value)
    return text, begins(literal(text))


def _many(
    join: Callable[[Any], str], *, ignore_case: bool
) -> Callable[[str, Any], tuple[Any, str]]:
    def make(kind: str, value: Any) -> tuple[Any, str]:
        texts = _texts(kind, value)
        return texts, join([literal(text, ignore_case=ignore_case) for text in texts])

    return make


def _regex(kind: str, value: Any) -> tuple[Any, str]:
    text = _some(kind, value)
    fault = pattern_fault(text)
    if fault is not None:
        raise UncarriedError(f"{kind}: {fault}")
    return text, text


def _is_json(kind: str, value: Any) -> tuple[Any, str]:
    if value is not None:
        raise UncarriedError(f"{kind} has a schema, which no check holds an answer against")
    return value, JSON_VALUE


_PATTERNS: Mapping[str, Callable[[str, Any], tuple[Any, str]]] = {
    "equals": _equals,
    "contains": _one(ignore_case=False),
    "icontains": _one(ignore_case=True),
    "contains-all": _many(all_of, ignore_case=False),
    "icontains-all": _many(all_of, ignore_case=True),
    "contains-any": _many(any_of, ignore_case=False),
    "icontains-any": _many(any_of, ignore_case=True),
    "starts-with": _starts,
    "regex": _regex,
    "is-json": _is_json,
}
