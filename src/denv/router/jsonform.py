"""A body as strict JSON, written back in one form: the keys' order and the values are kept. Pure.

Numbers keep their value exactly. Whole numbers are written in full; the others as the shortest
text of a double where that is the same number, and else digit by digit with an exponent, so that
``0.70``, ``7e-1`` and ``0.7`` become one text and ``1.0`` does not become ``1``.
"""

from __future__ import annotations

import json
from decimal import Decimal
from math import isfinite
from typing import Any

import orjson

from denv import strictjson


class BodyError(ValueError):
    """A body is no JSON object; the message says why and shows nothing of it."""


class _NoDoubleError(TypeError):
    """A number is no double, so that the quick writer cannot write it."""


def read_object(body: bytes) -> dict[str, Any]:
    """Read a strict JSON object.

    Raises
    ------
    BodyError
        It is something else, or an object in it has a key twice.
    """
    try:
        value = strictjson.loads(body, exact=True)
    except strictjson.DuplicateKeyError:
        raise BodyError("the body has a key twice in one object") from None
    except strictjson.StrictJsonError:
        raise BodyError("the body is no strict JSON") from None
    if not isinstance(value, dict):
        raise BodyError("the body is no JSON object")
    return value


def write_object(value: dict[str, Any]) -> bytes:
    """Write compact JSON in UTF-8.

    Raises
    ------
    BodyError
        It is nested more deeply than it can be written.
    """
    try:
        return orjson.dumps(value, default=_double)
    except TypeError:  # whole numbers beyond 64 bits, half characters, deep nesting, long digits
        pass
    try:
        return _slowly(value).encode()
    except RecursionError:
        raise BodyError("the body is nested too deeply") from None


def _double(value: Decimal) -> float:
    number = float(value)
    if isfinite(number) and Decimal(repr(number)) == value:
        return number
    raise _NoDoubleError


def _slowly(value: Any) -> str:
    match value:
        case dict():
            return "{" + ",".join(f"{_text(k)}:{_slowly(v)}" for k, v in value.items()) + "}"
        case list():
            return "[" + ",".join(map(_slowly, value)) + "]"
        case str():
            return _text(value)
        case bool() | None:
            return json.dumps(value)
        case int():
            return str(value)
        case _:
            return _number(value)


def _text(value: str) -> str:
    """Write a text as the quick writer does; half a character can only be written as it came."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return json.dumps(value)


def _number(value: Decimal) -> str:
    try:
        return orjson.dumps(_double(value)).decode()
    except _NoDoubleError:
        sign, digits, _ = value.as_tuple()
        text = "".join(map(str, digits)).rstrip("0")
        return f"{'-' if sign else ''}{text[0]}.{text[1:] or '0'}e{value.adjusted()}"
