"""Patterns for ``regex`` checks that take every right spelling and no wrong value."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import regex


def number(value: int) -> str:
    """Match a whole number that stands alone: not as a part of another one.

    Word boundaries will not do: a letter of Chinese or Thai may follow a digit at once. Thousands
    may be grouped.
    """
    digits = f"{abs(value):,}".replace(",", r"[,.'\s]?")
    sign = r"[-−]\s?" if value < 0 else r"(?<![-−])"
    return rf"(?<!\d)(?<!\d[.,]){sign}{digits}(?!\d)(?![.,]\d)"


def alone(text: str) -> str:
    """Match an answer that is a text and nothing else, but for quotes, a full stop, emphasis."""
    plain = regex.escape(text, literal_spaces=True)
    return rf"\A[\s\"'`*“„«]*{plain}[\s\"'`*”“».。!]*\Z"


def word(text: str) -> str:
    """Match a word in either case, not as a part of another word."""
    return rf"(?i)(?<!\w){regex.escape(text)}(?!\w)"


def json_object(fields: Mapping[str, Any]) -> str:
    """Match an answer that is one JSON object and holds the fields, in any order and spacing."""
    inside = "".join(f"(?=.*{_pair(key, value)})" for key, value in fields.items())
    return rf"(?s)\A\s*\{{{inside}.*\}}\s*\Z"


def _pair(key: str, value: Any) -> str:
    return rf"{regex.escape(json.dumps(key))}\s*:\s*{_value(value)}"


def _value(value: Any) -> str:
    match value:
        case list():
            items = r"\s*,\s*".join(map(_value, value))
            return rf"\[\s*{items}\s*\]"
        case bool() | str() | None:
            return regex.escape(json.dumps(value, ensure_ascii=False))
        case _:
            # 12 is 12.0 as JSON has it.
            return rf"{regex.escape(json.dumps(value))}(?:\.0+)?(?![\d.eE])"
