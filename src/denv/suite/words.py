"""How values and names of a suite are spoken of in its errors."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

Faults = list[tuple[str, str]]
"""What is wrong with one line: the field's path, and what is wrong there."""

_SHOWN = 40
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")


def shown(text: str) -> str:
    """Quote a text for one line of an error: cut, and without anything a terminal would obey."""
    cut = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    return json.dumps(cut, ensure_ascii=not cut.isprintable())


def label(name: str) -> str:
    """Give a field's name as it stands in a path: bare where it is plain, else quoted."""
    return name if _PLAIN_NAME.fullmatch(name) else shown(name)


def kind_of(value: Any) -> str:
    """Name a JSON value's type in words."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case str():
            return "a string"
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return "a number"


def suggestion(name: str, known: Iterable[str]) -> str:
    """Give ``; did you mean …?`` for a near miss, else nothing."""
    near = get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f'; did you mean "{near[0]}"?' if near else ""


def plain_number(value: Any) -> bool:
    """Say whether a value is a JSON number; booleans are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)
