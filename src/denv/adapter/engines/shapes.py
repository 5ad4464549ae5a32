"""Fields of an engine's documents, each with the type that it must have."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NoReturn

from denv.adapter.engines.protocol import EngineFault
from denv.observe.problems import ErrorText, quote
from denv.records import Json


def wrong(what: str) -> NoReturn:
    """End the reading of an answer that has another shape than it should."""
    raise EngineFault(f"its answer has a wrong shape: {what}")


def of_error(body: Json, *, status: int | None = None) -> EngineFault:
    """Give the fault that an error body means, in the engine's own words."""
    read = ErrorText(body)
    status = read.status() if status is None else status
    retry = status in {408, 425, 429, 502, 503, 504}
    return EngineFault(quote(read.message) or f"status {status}", status=status, retry=retry)


def mapping(value: Json, what: str) -> Mapping[str, Any]:
    """Give an object, or say that it is none."""
    if not isinstance(value, dict):
        wrong(f"{what} is not an object")
    return value


def listing(value: Json, what: str) -> list[Any]:
    """Give a list, or say that it is none."""
    if not isinstance(value, list):
        wrong(f"{what} is not a list")
    return value


def text(value: Json, what: str) -> str:
    """Give a string, or say that it is none; half of a surrogate pair becomes U+FFFD."""
    if not isinstance(value, str):
        wrong(f"{what} is not a string")
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def whole(value: Json, what: str) -> int:
    """Give a number of 0 or more, or say that it is none."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        wrong(f"{what} is not a whole number")
    return value


def count(value: Json) -> int | None:
    """Give a count, None where there is none."""
    return value if type(value) is int and value >= 0 else None


def ids(value: Json, what: str) -> list[int]:
    """Give a list of token ids, or say that it is none."""
    return [whole(one, what) for one in listing(value, what)]


def logprob(value: Json) -> float:
    """Give a logprob; what some engines write for a token that cannot come is minus infinity."""
    if value is None:
        return -math.inf
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        wrong("a logprob is not a number")
    return float(value)


def raw_bytes(value: Json) -> bytes | None:
    """Give the bytes of a list of numbers, None where there is none."""
    if value is None:
        return None
    try:
        return bytes(ids(value, "bytes"))
    except ValueError:
        wrong("bytes are not below 256")
