"""Texts of models and servers, made fit to be shown.

A report shows what an answer holds without letting it act: control characters, terminal
escapes, and characters that turn the direction of writing appear as codes.
"""

from __future__ import annotations

import re

_SURROGATES = re.compile("[\ud800-\udfff]")

_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # controls, C0 and C1
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)


_OBEYED = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""Controls and changes of direction that JSON may hold as they are."""

_SHORT = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}


def _code(match: re.Match[str]) -> str:
    # codes rather than pictures (U+241B), for which many systems have no font
    point = ord(match[0])
    if 0xD800 <= point <= 0xDFFF:
        return "\ufffd"
    if match[0] in _SHORT:
        return _SHORT[match[0]]
    if point > 0xFFFF:
        return f"\\U{point:08x}"
    return f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}"


def escaped(text: str) -> str:
    r"""Write what a terminal may obey as ``\\uXXXX`` in a text that is JSON: the same document."""
    return _OBEYED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def without_surrogates(text: str) -> str:
    """Replace lone surrogates, which no encoding holds, by U+FFFD."""
    return _SURROGATES.sub("\ufffd", text)


def visible(text: str, *, keep: str = "\n\t") -> str:
    r"""Show what cannot be seen: ``\x1b`` for escape, ``\u202e`` for a change of direction."""
    return _UNSEEN.sub(lambda m: m[0] if m[0] in keep else _code(m), text)


def clipped(text: str, limit: int) -> str:
    """Keep the first ``limit`` characters, and say how many more there were."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text) - limit:,} more characters)"


def line(text: object, limit: int = 300) -> str:
    """Show a value as one bounded line."""
    return visible(clipped("" if text is None else str(text), limit), keep="")


def percent(rate: float | None) -> str:
    """Write a rate as a percentage that is never rounded to all or to nothing."""
    if rate is None:
        return "–"
    if 0 < rate < 0.0005:
        return "< 0.1 %"
    if 0.9995 <= rate < 1:
        return "> 99.9 %"
    return f"{round(rate * 100, 1):g} %"


def threshold(rate: float | None) -> str:
    """Write a threshold with all the digits that it was given."""
    return "–" if rate is None else f"{rate * 100:.10g} %"


def interval(limits: tuple[float, float] | list[float] | None) -> str:
    """Write an interval of rates."""
    if limits is None:
        return "–"
    low, high = (f"{round(limit * 100, 1):g}" for limit in limits)
    return f"{low} – {high} %"
