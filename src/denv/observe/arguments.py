"""Arguments of a tool call, as they came: parsed exactly, never repaired."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from math import isfinite
from typing import NamedTuple

from denv import strictjson
from denv.observe import oddities
from denv.observe.body import RepeatedKeys, mend_surrogates
from denv.observe.oddities import Notes
from denv.records import Json

MAX_DEPTH = 100
"""Nesting beyond this is an error, so that whatever walks arguments may recurse."""


class Arguments(NamedTuple):
    """The text, and the mapping that it holds or why it holds none."""

    raw: str
    value: Mapping[str, Json] | None
    error: str | None = None
    unwrapped: Mapping[str, Json] | None = None


def read_arguments(arguments: Json, notes: Notes) -> Arguments:
    """Read what stands in ``function.arguments``; absent, null and blank mean ``{}``."""
    if arguments is None:
        return Arguments("", {})
    if isinstance(arguments, str):
        return _from_text(arguments, notes) if arguments.strip() else Arguments(arguments, {})
    fault = _fault(arguments)
    raw = "" if fault == _TOO_DEEP else compact(arguments)
    if not isinstance(arguments, dict):
        return Arguments(raw, None, "not an object")
    notes.append(oddities.ARGUMENTS_OBJECT)
    return Arguments(raw, None if fault else arguments, fault)


def _from_text(text: str, notes: Notes) -> Arguments:
    try:
        value = _load(text, notes)
    except strictjson.StrictJsonError as error:
        return Arguments(text, None, _reason(error))
    if isinstance(value, dict):
        return Arguments(text, value)
    if isinstance(value, str):
        inner = _inner_object(value, notes)
        if inner is not None:
            return Arguments(text, None, "double-encoded", inner)
    return Arguments(text, None, "not an object")


def _inner_object(text: str, notes: Notes) -> Mapping[str, Json] | None:
    try:
        value = _load(text, notes)
    except strictjson.StrictJsonError:
        return None  # an ordinary string, which the caller reports as such
    return value if isinstance(value, dict) else None


def _load(text: str, notes: Notes) -> Json:
    value = strictjson.loads(mend_surrogates(text, notes), exact=True)
    if text.count("{") + text.count("[") > MAX_DEPTH and _fault(value) == _TOO_DEEP:
        raise strictjson.StrictJsonError(_TOO_DEEP)
    return value


def _reason(error: strictjson.StrictJsonError) -> str:
    if isinstance(error, strictjson.DuplicateKeyError):
        return "duplicate key"
    reason = str(error)
    if reason.startswith("Extra data"):
        return f"trailing text{reason.removeprefix('Extra data')}"
    return reason if reason.endswith("is not JSON") else f"not JSON: {reason}"


_TOO_DEEP = "nested too deeply"


def _fault(value: Json) -> str | None:
    """Say what keeps parsed JSON from being exact arguments; walks level by level."""
    level = [value]
    for _ in range(MAX_DEPTH):
        below: list[Json] = []
        for item in level:
            if isinstance(item, RepeatedKeys):
                return "duplicate key"
            if isinstance(item, float) and not isfinite(item):
                return "NaN is not JSON"
            if isinstance(item, dict):
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
        if not below:
            return None
        level = below
    return _TOO_DEEP


def compact(value: Json) -> str:
    """Write JSON without blanks and with Decimals as exact numbers (nesting is bounded)."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(k)}:{compact(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(compact, value)) + "]"
    if isinstance(value, Decimal):
        return str(value)
    return json.dumps(value, ensure_ascii=False)
