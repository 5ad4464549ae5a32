"""Degenerate loops: a text whose tail repeats one unit until it is no answer any more.

Whether the tail is periodic comes from the Z-function of the reversed tail: ``p + z[p]`` is the
length of the longest suffix that has period ``p`` (Gusfield, Algorithms on Strings, 1997,
section 1.4). Time and memory are linear in the tail that is looked at, which is bounded.

A loop is a suffix that repeats one unit exactly, the last one perhaps cut, where

* it is 256 code points or longer, or 512 where the unit holds no letter, so that rules, tables
  with empty rows, long numbers and indentation are left alone;
* the unit stands there 8 times or oftener, or 4 times where it has 250 code points or more, so
  that a chorus or a repeated line of code is left alone.

Blanks at the end are looked past. Loops that change with each turn (a counter) are not found.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_TAIL = 64 * 1024
"""Code points looked at; a unit is found if four of it fit, so up to 16 Ki."""

MIN_LENGTH = 256
MIN_LENGTH_WITHOUT_LETTERS = 512
MIN_REPEATS = 8
LONG_UNIT = 250
MIN_REPEATS_OF_LONG_UNIT = 4

_PROBE = 64
"""A loop repeats its last code points: where these stand nowhere else, there is none."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A repeated unit, how often it stands there whole, and where in the text it begins."""

    unit: str
    repeats: int
    start: int


def find_loop(text: str) -> Loop | None:
    """Find the loop in which a text ends, None where there is none."""
    return _periodic_tail(text) or _periodic_tail(text.rstrip())


def _periodic_tail(text: str) -> Loop | None:
    if len(text) < MIN_LENGTH:
        return None
    tail = text[-MAX_TAIL:]
    if tail.find(tail[-_PROBE:]) == len(tail) - _PROBE:
        return None
    longest = _z_function(tail[::-1])
    for period in range(1, len(tail) // MIN_REPEATS_OF_LONG_UNIT + 1):
        length = period + longest[period]
        if length >= MIN_LENGTH and _is_loop(tail, period, length):
            start = len(text) - length
            return Loop(text[start : start + period], length // period, start)
    return None


def _is_loop(tail: str, period: int, length: int) -> bool:
    needed = MIN_REPEATS if period < LONG_UNIT else MIN_REPEATS_OF_LONG_UNIT
    if length < period * needed:
        return False
    has_letter = any(map(str.isalpha, tail[-period:]))
    return has_letter or length >= MIN_LENGTH_WITHOUT_LETTERS


def _z_function(text: str) -> list[int]:
    """Give, for each index, how many code points from there on repeat the text's beginning."""
    size = len(text)
    found = [0] * size
    left = right = 0
    for at in range(1, size):
        length = min(right - at, found[at - left]) if at < right else 0
        while at + length < size and text[length] == text[at + length]:
            length += 1
        found[at] = length
        if at + length > right:
            left, right = at, at + length
    return found
