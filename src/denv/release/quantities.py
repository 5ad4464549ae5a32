"""Shares, durations, rates and thresholds as people write them; each error says what to write."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from fractions import Fraction

from denv.errors import UsageError
from denv.records import Kind

_NUMBER = r"[0-9]{1,18}(?:\.[0-9]{1,18})?"
_SHARE = re.compile(rf"(-?)({_NUMBER})\s*(%?)")
_DURATION = re.compile(rf"(?:{_NUMBER}(?:ms|s|m|h|d))+")
_DURATION_PART = re.compile(rf"({_NUMBER})(ms|s|m|h|d)")
_RATE = re.compile(rf"({_NUMBER})\s*/\s*(s|m|h)")
_SECONDS = {
    "d": Fraction(86_400),
    "h": Fraction(3_600),
    "m": Fraction(60),
    "s": Fraction(1),
    "ms": Fraction(1, 1_000),
}
_UNITS = tuple(_SECONDS)

LONGEST_S = 3_653 * 86_400
"""Ten years: a longer duration is a slip, and a bake of it would never end."""


def parse_share(text: str) -> Fraction:
    """Read ``99%`` or ``0.99`` as an exact fraction between 0 and 1."""
    found = _SHARE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"{_quoted(text)} is not a share: write it as 99% or 0.99")
    sign, digits, percent = found.groups()
    value = Fraction(digits) / (100 if percent else 1)
    whole = not percent and "." not in digits and value != 0
    if sign and value:
        raise UsageError(f"{_quoted(text)} is below 0 %")
    if whole and value <= 100:
        hint = " (or 100% for all)" if value == 1 else ""
        raise UsageError(f"{_quoted(text)} is a share without its sign: write {digits}%{hint}")
    if value > 1:
        hint = f": write {digits}%" if not percent and value <= 100 else ""
        raise UsageError(f"{_quoted(text)} is above 100 %{hint}")
    return value


def parse_duration(text: str) -> float:
    """Read ``30s``, ``10m``, ``24h``, ``1d``, ``500ms`` or ``1h30m`` as seconds."""
    stripped = text.strip()
    if not _DURATION.fullmatch(stripped):
        unit = re.fullmatch(_NUMBER, stripped)
        hint = f"write {stripped}s, or another unit" if unit else "write it as 30s, 10m, 24h or 1d"
        raise UsageError(f"{_quoted(text)} is not a duration: {hint}")
    parts = _DURATION_PART.findall(stripped)
    order = [_UNITS.index(unit) for _, unit in parts]
    if order != sorted(set(order)):
        raise UsageError(f"{_quoted(text)} is not a duration: the larger unit first, each once")
    value = sum(Fraction(digits) * _SECONDS[unit] for digits, unit in parts)
    if value > LONGEST_S:
        raise UsageError(f"{_quoted(text)} is longer than ten years")
    return float(value)


def parse_rate(text: str) -> float:
    """Read ``5/s``, ``300/m`` or ``1000/h`` as a number a second, more than 0."""
    found = _RATE.fullmatch(text.strip())
    if found is None:
        number = re.fullmatch(_NUMBER, text.strip())
        hint = f"write {text.strip()}/s" if number else "write it as 5/s, 300/m or 1000/h"
        raise UsageError(f"{_quoted(text)} is not a rate: {hint}")
    value = Fraction(found[1]) / _SECONDS[found[2]]
    if value == 0:
        raise UsageError(f"{_quoted(text)} is not a rate: it must be above 0")
    return float(value)


def parse_thresholds(text: str) -> Mapping[Kind, Fraction]:
    """Read ``tool-calls=99%,exact=95%``, in the order in which it is written."""
    rates: dict[Kind, Fraction] = {}
    for part in text.split(","):
        name, equals, share = (piece.strip() for piece in part.partition("="))
        if not name or not equals:
            raise UsageError(f"{_quoted(text)}: write thresholds as tool-calls=99%,exact=95%")
        kind = parse_kind(name)
        if kind in rates:
            raise UsageError(f"{_quoted(text)} names {kind} twice")
        rates[kind] = parse_share(share)
    return rates


def parse_kind(name: str) -> Kind:
    """Read what a threshold counts; checks are told apart from kinds."""
    try:
        return Kind(name)
    except ValueError:
        kinds = [kind.value for kind in Kind]
    known = {"equals": "exact", "contains": "exact", "regex": "exact"}
    near = known.get(name) or next(iter(get_close_matches(name, kinds, n=1)), None)
    hint = f"; did you mean {near}?" if near else ""
    raise UsageError(f"no kind {_quoted(name)} (kinds: {', '.join(kinds)}){hint}")


def _quoted(text: str) -> str:
    cut = text if len(text) <= 40 else text[:39] + "…"
    return repr(cut)
