"""What is open to all, what is for programs, and where a browser may be led."""

from __future__ import annotations

import re
from enum import Enum, auto

MOST_NEXT = 2000
_ODD = re.compile(r"[\x00-\x1f\x7f\\]|//|/\.{1,2}(/|$)")
_OPEN = re.compile(r"/health|/r/.+|/static/[^/]+")
_GATE = re.compile(r"/gate/.+")


class Place(Enum):
    """What an address is of."""

    OPEN = auto()
    GATE = auto()
    SIGN_IN = auto()
    PROGRAMS = auto()
    PAGES = auto()

    @property
    def is_private(self) -> bool:
        """Whether only known callers may ask there."""
        return self in {Place.PROGRAMS, Place.PAGES}


def place_of(path: str) -> Place:
    """Tell what the path of a request is of: all that is not known to be open is private."""
    if _ODD.search(path) is None:
        if _OPEN.fullmatch(path):
            return Place.OPEN
        if _GATE.fullmatch(path):
            return Place.GATE
        if path == "/sign-in":
            return Place.SIGN_IN
    if path == "/metrics" or path.startswith("/api/"):
        return Place.PROGRAMS
    return Place.PAGES


def local_path(given: str) -> str:
    """Give where a browser may be led after it has signed in: a page of ours, else the first.

    Browsers read a backslash as a slash and leave control characters out, so that neither may
    stand in it: what begins with two slashes is another server's.
    """
    if not given.startswith("/") or len(given) > MOST_NEXT or not given.isprintable():
        return "/"
    path = re.split("[?#]", given, maxsplit=1)[0]  # as it stands: urlsplit reads "///a" as "/a"
    if "\\" in given or _ODD.search(path) is not None:
        return "/"
    if place_of(path) is not Place.PAGES or path == "/sign-out":
        return "/"
    return given
