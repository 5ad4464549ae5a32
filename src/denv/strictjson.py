"""JSON as the standard has it: no NaN, no duplicate keys hidden, no rounding, bounded work.

The standard library's parser accepts NaN and Infinity, keeps the last of two equal keys, and
raises three different exceptions on hostile input; this wraps it so that callers see one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from math import isfinite
from typing import Any, NoReturn

MAX_NUMBER_DIGITS = 4000
"""Longer digit strings cost quadratic time to convert; Python itself refuses beyond 4300."""

MAX_EXPONENT = 10_000
"""Decimal keeps 1e999999999 cheaply, but comparing it by value would write it out."""


class StrictJsonError(ValueError):
    """The text is not strict JSON; the message says why in a few words."""


class DuplicateKeyError(StrictJsonError):
    """An object holds the same key twice."""


def _reject_constant(word: str) -> NoReturn:
    raise StrictJsonError(f"{word} is not JSON")


def _bounded_int(digits: str) -> int:
    if len(digits) > MAX_NUMBER_DIGITS:
        raise StrictJsonError(f"a number of {len(digits)} digits")
    return int(digits)


def _bounded_decimal(digits: str) -> Decimal:
    if len(digits) > MAX_NUMBER_DIGITS:
        raise StrictJsonError(f"a number of {len(digits)} digits")
    try:
        value = Decimal(digits)
    except InvalidOperation:
        raise StrictJsonError("a number out of range") from None
    if value.is_finite() and abs(value.adjusted()) > MAX_EXPONENT:
        raise StrictJsonError("a number out of range")
    return value


def _finite_float(digits: str) -> float:
    value = float(digits)
    if not isfinite(value):
        raise StrictJsonError("a number out of range")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise DuplicateKeyError(f"the key {key!r} stands twice")
            seen.add(key)
    return found


def loads(text: str | bytes, *, exact: bool = False) -> Any:
    """Parse strict JSON.

    Parameters
    ----------
    text
        The document. Bytes must be UTF-8, without a byte order mark.
    exact
        Give non-integer numbers as ``Decimal`` instead of ``float``.

    Raises
    ------
    StrictJsonError
        For anything that is not strict JSON, for nesting beyond what the parser can hold,
        and for numbers too long to convert in bounded time.
    """
    return _load(text, exact=exact)


def _decoder(
    parse_float: Callable[[str], Any], parse_int: Callable[[str], int] = _bounded_int
) -> json.JSONDecoder:
    return json.JSONDecoder(
        parse_float=parse_float,
        parse_int=parse_int,
        parse_constant=_reject_constant,
        object_pairs_hook=_unique,
    )


def _decoded(text: str | bytes) -> str:
    """Read bytes as UTF-8; a byte order mark at the start is no part of JSON."""
    if not isinstance(text, str):
        text = text.decode("utf-8")
    if text.startswith("\ufeff"):
        raise StrictJsonError("it begins with a byte order mark")
    return text


# Made once: json.loads makes a decoder for each call that is not plain.
_PLAIN, _EXACT = _decoder(_finite_float), _decoder(_bounded_decimal)
_SHORT_PLAIN, _SHORT_EXACT = _decoder(_finite_float, int), _decoder(_bounded_decimal, int)


def _load(text: str | bytes, *, exact: bool) -> Any:
    try:
        text = _decoded(text)
        if len(text) <= MAX_NUMBER_DIGITS:  # no number in it can be too long
            return (_SHORT_EXACT if exact else _SHORT_PLAIN).decode(text)
        return (_EXACT if exact else _PLAIN).decode(text)
    except StrictJsonError:
        raise
    except UnicodeDecodeError:
        raise StrictJsonError("not UTF-8") from None
    except RecursionError:
        raise StrictJsonError("nested too deeply") from None
    except json.JSONDecodeError as error:
        raise StrictJsonError(f"{error.msg} at column {error.colno}") from None
    except ValueError as error:
        raise StrictJsonError(str(error)) from None
