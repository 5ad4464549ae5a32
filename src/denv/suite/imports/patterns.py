"""Ways to compare a text, written as the one pattern that a regex case takes.

Each pattern is meant for a search. Flags stay inside their own group, so that patterns can be
joined.
"""

from __future__ import annotations

from collections.abc import Iterable

import regex

ANY = r"(?s:.*?)"

JSON_VALUE = r"""(?x:
    \A(?&value)\Z
    (?(DEFINE)
      (?<value> [ \t\r\n]*+ (?: (?&object) | (?&array) | (?&string) | (?&number)
                | true | false | null ) [ \t\r\n]*+ )
      (?<object> \{ (?: [ \t\r\n]*+ \} | (?&member) (?: , (?&member) )*+ \} ) )
      (?<member> [ \t\r\n]*+ (?&string) [ \t\r\n]*+ : (?&value) )
      (?<array> \[ (?: [ \t\r\n]*+ \] | (?&value) (?: , (?&value) )*+ \] ) )
      (?<string> " (?: [^"\\\x00-\x1f]++ | \\ (?: ["\\/bfnrt] | u[0-9a-fA-F]{4} ) )*+ " )
      (?<number> -? (?: 0 | [1-9][0-9]*+ ) (?: \. [0-9]++ )? (?: [eE] [+-]? [0-9]++ )? )
    )
)"""
"""The whole text is one JSON value."""


def literal(text: str, *, ignore_case: bool = False) -> str:
    """Find a text as it stands, or in any case (as full case folding has it)."""
    escaped = regex.escape(text, special_only=True)
    return f"(?if:{escaped})" if ignore_case else escaped


def begins(pattern: str) -> str:
    """Find what the text begins with."""
    return rf"\A(?:{pattern})"


def ends(pattern: str) -> str:
    """Find what the text ends with."""
    return rf"(?:{pattern})\Z"


def whole(pattern: str) -> str:
    """Find what the whole text is."""
    return rf"\A(?:{pattern})\Z"


def any_of(patterns: Iterable[str]) -> str:
    """Find one of several."""
    listed = list(patterns)
    return listed[0] if len(listed) == 1 else "|".join(f"(?:{each})" for each in listed)


def all_of(patterns: Iterable[str]) -> str:
    """Find every one of several, in any order."""
    listed = list(patterns)
    if len(listed) == 1:
        return listed[0]
    return r"\A" + "".join(f"(?={ANY}(?:{each}))" for each in listed)


def none_of(pattern: str) -> str:
    """Match a text in which a pattern is not found."""
    return rf"\A(?!{ANY}(?:{pattern}))"
