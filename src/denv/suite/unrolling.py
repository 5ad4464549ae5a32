"""How large a pattern becomes when it is compiled, told before that is done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from regex import _regex_core

core: Any = _regex_core
"""The types of the package tell of none of its parser."""

MOST_UNROLLED = 100_000
"""Compiling writes out the least count of each repeat, some 250 bytes a step: 25 MB."""


def unrolled(pattern: str) -> int:
    """Count the steps of a pattern whose repeats are written out as often as they must match.

    The package's own parser gives the tree, since no other reads its dialect.

    Raises
    ------
    regex.error
        The pattern cannot be parsed.
    RecursionError
        Its groups are nested too deeply.
    """
    return _steps(_parsed(pattern))


def _parsed(pattern: str) -> Any:
    flags = 0
    while True:
        source = core.Source(pattern)
        info = core.Info(flags, source.char_type, {})
        info.guess_encoding = core.UNICODE
        source.ignore_space = bool(info.flags & core.VERBOSE)
        try:
            return core._parse_pattern(source, info)  # noqa: SLF001 - there is no public one
        except core._UnscopedFlagSet:  # noqa: SLF001 - a flag that holds from the start on
            flags = info.global_flags


def _steps(node: Any) -> int:
    one = isinstance(node, core.SetBase)  # whatever it lists, it takes one character
    inner = 1 if one else sum(map(_steps, _parts(node)))
    return max(1, inner) * max(1, getattr(node, "min_count", 1))


def _parts(node: Any) -> Iterator[Any]:
    for value in vars(node).values():
        listed = value if isinstance(value, list | tuple) else (value,)
        yield from (each for each in listed if isinstance(each, core.RegexBase))
