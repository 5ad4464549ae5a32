"""What callers name in an address: a thing, a number, and the row that a list goes on from."""

from __future__ import annotations

from math import isfinite

from starlette.exceptions import HTTPException
from starlette.requests import Request

from denv.store import can_be_kept


def name_of(request: Request, what: str, *, missing: str) -> str:
    """Give the id that stands in the path.

    Raises
    ------
    HTTPException
        Nothing can have this name; ``missing`` says so as of any that is not there.
    """
    name = str(request.path_params[what])
    if not can_be_kept(name):
        raise HTTPException(404, missing)
    return name


def number_of(request: Request, name: str, *, default: int, top: int) -> int:
    """Read a number of the query, from 1 on.

    Raises
    ------
    HTTPException
        It is none.
    """
    text = request.query_params.get(name)
    if text is None:
        return default
    if not text.isascii() or not text.isdecimal() or len(text) > 6 or int(text) < 1:
        raise HTTPException(400, f"“{name}” in the address takes a number from 1 to {top}.")
    return min(int(text), top)


def cursor_of(started: float, name: str) -> str:
    """Write where a list goes on: after the row of this time and id."""
    return f"{started!r}~{name}"


def before_of(request: Request) -> tuple[float, str] | None:
    """Read where a list goes on.

    Raises
    ------
    HTTPException
        It is no such place.
    """
    text = request.query_params.get("before")
    if text is None:
        return None
    started, _, name = text.partition("~")
    try:
        at = float(started)
    except ValueError:
        at = float("nan")
    if not isfinite(at) or not name or len(name) > 64 or not can_be_kept(name):
        raise HTTPException(400, "“before” in the address is no place in this list.")
    return at, name
