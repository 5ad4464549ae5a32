"""Bytes of a body → JSON, with what is not quite standard noted instead of refused."""

from __future__ import annotations

import codecs
import json
import re
from decimal import Decimal
from typing import Any

from denv import strictjson
from denv.observe import oddities
from denv.observe.oddities import Notes
from denv.observe.problems import UnusableError, broken_shape, incomplete, quote
from denv.records import Cause, Json, Problem, ProblemKind

_SURROGATE_ESCAPES = re.compile(
    r"\\\\"  # an escaped backslash, so that what follows it is no escape
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)


class RepeatedKeys(dict[str, Any]):
    """An object in which a key stood more than once; its last value is kept."""


def decode(body: bytes, notes: Notes) -> str:
    """Decode UTF-8, with a byte order mark dropped and invalid bytes read as U+FFFD."""
    body = body.removeprefix(codecs.BOM_UTF8)
    try:
        return body.decode()
    except UnicodeDecodeError:
        notes.append(oddities.INVALID_UTF8)
        return body.decode(errors="replace")


def parse(text: str, notes: Notes, *, mend: bool = True) -> Json:
    """Parse a body or a chunk of a stream.

    Non-integer numbers are Decimal where the text may hold arguments as an object. ``mend``
    replaces lone surrogates; without it they stay, for halves that other chunks complete.

    Raises
    ------
    UnusableError
        When the text is no JSON, or JSON that cannot be held.
    """
    if mend:
        text = mend_surrogates(text, notes)
    exact = '"arguments"' in text
    try:
        return strictjson.loads(text, exact=exact)
    except strictjson.StrictJsonError as error:
        reason = str(error)
    try:
        value = lenient_loads(text, exact=exact)
    except RecursionError:
        broken_shape("JSON nested too deeply", text)
    except json.JSONDecodeError:
        _not_json(text, reason)
    except ValueError:
        broken_shape("JSON with a number too long to read", text)
    notes.append(oddities.NOT_STRICT_JSON)
    return value


def lenient_loads(text: str, *, exact: bool) -> Json:
    """Parse JSON as lenient clients do: NaN, Infinity and 1e999 are non-finite floats.

    An object that repeats a key is a ``RepeatedKeys``.
    """
    return json.loads(
        text,
        parse_float=_exact_or_infinite if exact else float,
        parse_int=_bounded_int,
        object_pairs_hook=_repeats_marked,
    )


def mend_surrogates(text: str, notes: Notes) -> str:
    r"""Replace each ``\ud83d`` of a JSON text that has no other half by ``\ufffd``."""
    if "\\ud" not in text and "\\uD" not in text:
        return text
    mended = _SURROGATE_ESCAPES.sub(_whole_or_replaced, text)
    if mended != text:
        notes.append(oddities.LONE_SURROGATE)
    return mended


def _whole_or_replaced(match: re.Match[str]) -> str:
    escape = match.group()
    return "\\ufffd" if len(escape) == 6 else escape


def _bounded_int(digits: str) -> int:
    if len(digits) > strictjson.MAX_NUMBER_DIGITS:
        raise ValueError("too many digits")
    return int(digits)


def _exact_or_infinite(digits: str) -> Decimal | float:
    if len(digits) > strictjson.MAX_NUMBER_DIGITS:
        raise ValueError("too many digits")
    try:
        value: Decimal | float = strictjson.loads(digits, exact=True)
    except strictjson.StrictJsonError:
        return float("inf")
    return value


def _repeats_marked(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else RepeatedKeys(found)


def _not_json(text: str, reason: str) -> None:
    shown = text.lstrip()
    if not shown:
        incomplete("the body is empty")
    if shown[0] == "<":
        broken_shape("HTML instead of an API", shown)
    if shown[0] in "{[":
        incomplete(f"broken JSON ({reason})", shown)
    message = f"not JSON: {quote(shown)}"
    raise UnusableError(Problem(ProblemKind.CONTRACT, Cause.CONTRACT, message, retry=True))
