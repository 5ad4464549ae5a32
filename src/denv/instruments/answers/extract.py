r"""What a text answers: one integer, that it is not sure, or nothing that was asked for.

The answer stands on a line ``ANSWER: …``, the last one where there are several; a text that is
one integer and nothing else is an answer too. A number anywhere else never is one, so that the
last number of a reasoning is not taken for its result.

Models write that line in many forms: Markdown around it, ``\boxed{}``, thousand separators,
full-width digits, a unit or a remark behind the number. All of them are read; what may mean two
numbers (``12 or 13``) is not. Nothing is ever evaluated: ``2^10`` is no integer here. Work is
linear in the text, and no number of more than 40 digits is converted.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

MAX_DIGITS = 40
"""No truth of the bank is nearly as long."""

MAX_ANSWER = 4000
"""Code points that are read behind an ``ANSWER:``."""


@dataclass(frozen=True, slots=True)
class Given:
    """A number was given; it stands at ``text[start:end]``, its sign included.

    ``value`` is None for a number that is no integer or has over 40 digits: an answer, and
    never a right one.
    """

    value: int | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Unsure:
    """It says that it is not sure."""


@dataclass(frozen=True, slots=True)
class Absent:
    """Nothing was given in the form that was asked for; ``reason`` says what is missing."""

    reason: str


Extracted = Given | Unsure | Absent


def extract_answer(text: str) -> Extracted:
    r"""Read the answer of a text.

    Examples
    --------
    >>> extract_answer("31 * 43 is\n**ANSWER:** \\boxed{1{,}333} apples")
    Given(value=1333, start=30, end=37)
    >>> extract_answer("ANSWER: UNSURE"), extract_answer("It must be 1333.")
    (Unsure(), Absent(reason='no line ANSWER: …'))
    """
    plain = _plain(text)
    bare = _BARE.fullmatch(plain)
    if bare is not None:
        return _given(bare)
    if _BARE_UNSURE.fullmatch(plain):
        return Unsure()
    place = _answer_place(plain)
    if place is None:
        return Absent("no line ANSWER: …")
    start, end = place
    return _read(plain[: min(end, start + MAX_ANSWER)], start)


# ---------------------------------------------------------------- characters

_SAME = {
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d", "-"),
    **dict.fromkeys("\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u00ad\t\v\f", " "),
    **dict.fromkeys("\u2028\u2029\x85\r", "\n"),
    **dict.fromkeys("\u2019\u02bc\uff07", "'"),
    **dict.fromkeys("\uff1a\ufe55", ":"),
    **dict.fromkeys("\uff0c\u066c", ","),
    **dict.fromkeys("\uff0e\u066b", "."),
    **dict(zip("\uff1d\uff0b\uff0a\u3002", "=+*.", strict=True)),
}
"""Characters that stand for an ASCII one; one for one, so that places in the text stay."""

_MARKUP = re.compile(
    r"(?:\*\*)++|`|\\?\$|\\[()\[\]]|\\(?:boxed|fbox|text|textbf|textit|textrm|mathbf|mathrm|mathit"
    r"|bf|rm|boldsymbol|bm|displaystyle|left|right|large|Large|underline|quad)(?![A-Za-z])\s*\{?"
)


def _plain(text: str) -> str:
    """Write digits, signs and blanks in ASCII and blank out markup; all stays in its place."""
    table = {ord(one): _plain_character(one) for one in set(text)}
    return _MARKUP.sub(lambda found: "\x1f" * len(found[0]), text.translate(table))


def _plain_character(one: str) -> str:
    if one in _SAME:
        return _SAME[one]
    if one < "\x80":
        return one
    if "\uff21" <= one <= "\uff5a" and one.isalpha():
        return chr(ord(one) - 0xFEE0)
    digit = unicodedata.decimal(one, None)
    if digit is not None:
        return str(digit)
    category = unicodedata.category(one)
    # A superscript or a fraction goes on with a number and makes it another one.
    return "^" if category == "No" else " " if category == "Zs" else one


# ---------------------------------------------------------------- the line

_LABEL = r"answer(?:\s++is)?[\s*_\"')\]}]*+[:=]"
_LINE = re.compile(
    rf"[\W_]*+(?:[0-9]{{1,3}}[.)][\W_]*+)?(?:(?:the|my|final|correct)[\s*_]++)*{_LABEL}",
    re.IGNORECASE,
)
_ANYWHERE = re.compile(rf"(?<![A-Za-z]){_LABEL}", re.IGNORECASE)
_IN_CAPITALS = re.compile(rf"(?<![A-Za-z]){_LABEL.replace('answer', 'ANSWER')}")


def _answer_place(plain: str) -> tuple[int, int] | None:
    """Give where the last answer stands: behind its label, or on the line that follows it."""
    lines = [line.span() for line in re.finditer(r"[^\n]+", plain) if not line[0].isspace()]
    for index in range(len(lines) - 1, -1, -1):
        start, end = lines[index]
        line = plain[start:end]
        labelled = _LINE.match(line) is not None
        if not labelled and (index < len(lines) - 1 or not _IN_CAPITALS.search(line)):
            continue
        label = _ANYWHERE if labelled else _IN_CAPITALS
        behind = start + _last(label.finditer(line)).end()
        if plain[behind:end].strip(" \x1f*_") or index == len(lines) - 1:
            return behind, end
        return lines[index + 1]
    return None


def _last(found: Iterator[re.Match[str]]) -> re.Match[str]:
    *_, last = found
    return last


# ---------------------------------------------------------------- the number

_NUMBER_PATTERN = r"""
    (?P<sign> (?:[-+][ ]?)? ) (?! 0[xXbBoO][0-9A-Fa-f] )
    (?P<whole> [1-9][0-9]{0,2} (?P<gap> , | \{,\} | \\, | \\[ ] | ['_ ] ) [0-9]{3}
               (?: (?P=gap) [0-9]{3} )*+ (?![0-9])
             | [1-9][0-9]? (?: ,[0-9]{2} (?![0-9]) )++ ,[0-9]{3} (?![0-9])
             | [1-9][0-9]{0,2} (?: \.[0-9]{3} ){2,}+ (?![0-9])
             | [0-9]++ )
    (?P<part> (?: \.[0-9]++ )? )
    (?P<power> (?: [eE][-+]?[0-9]{1,4} (?![A-Za-z0-9]) )? )
"""
_LEAD = r"[\s*_<>(\[{\"'|\#~€£¥]*+"
_NUMBER = re.compile(_NUMBER_PATTERN, re.VERBOSE)
_ALONE = re.compile(rf"(?<![A-Za-z0-9.,^\\{{/]) {_NUMBER_PATTERN}", re.VERBOSE)
_LEADING = re.compile(rf"{_LEAD} {_NUMBER_PATTERN}", re.VERBOSE)
_BARE = re.compile(rf"{_LEAD} {_NUMBER_PATTERN} [\s*_>)\]}}\"'|.]*+", re.VERBOSE)
_UNSURE = re.compile(r"(?<![A-Za-z])unsure(?![A-Za-z])", re.IGNORECASE)
_BARE_UNSURE = re.compile(r"[\W_]*+unsure[\W_]*+", re.IGNORECASE)

_GOES_ON = re.compile(
    r"""\s*+ (?: = | \^
        | (?: [-+*/×÷·:,.|<>] | [xX] | \\(?:times|cdot|div|pm)
            | [,;]?\s*(?:or|to|and|maybe|perhaps|possibly|but)\b ) [\s({]*+ [-+]?[0-9] )""",
    re.VERBOSE,
)
"""What follows a number that is only the beginning of what is said."""

_CLAUSE_END = re.compile(r"[;!?()\[\]]|[.,](?![0-9])|\s-\s|[\u2014]")
_SENTENCE_END = re.compile(r"[.;!?](?=\s|$)")


def _read(plain: str, start: int) -> Extracted:
    """Read what stands behind the label, from ``start`` to the end of ``plain``."""
    unsure = _UNSURE.search(plain, start)
    if unsure is not None:
        before = plain[start : unsure.start()]
        first = _NUMBER.search(before)
        return Unsure() if first is None else Absent("a number and UNSURE")
    found = _claimed(plain, start)
    if found is not None:
        return _given(found)
    some = _NUMBER.search(plain, start)
    return Absent("no integer behind ANSWER:" if some is None else "no single integer in ANSWER:")


def _claimed(plain: str, start: int) -> re.Match[str] | None:
    """Find the one number that is claimed: in front, behind ``=``, or the only one there is."""
    found = _in_front(plain, start)
    if found is None and (equals := plain.rfind("=", start)) >= 0:
        found = _in_front(plain, equals + 1)
    if found is not None:
        return found
    sentence = _SENTENCE_END.search(plain, start)
    end = len(plain) if sentence is None else sentence.start()
    some = list(_ALONE.finditer(plain, start, end))
    return some[0] if len(some) == 1 and not _GOES_ON.match(plain, some[0].end()) else None


def _in_front(plain: str, start: int) -> re.Match[str] | None:
    found = _LEADING.match(plain, start)
    if found is None or _GOES_ON.match(plain, found.end()):
        return None
    clause = _CLAUSE_END.search(plain, found.end())
    end = len(plain) if clause is None else clause.start()
    return None if _ALONE.search(plain, found.end(), end) else found


def _given(found: re.Match[str]) -> Given:
    return Given(_value(found), found.start("sign"), found.end("power"))


def _value(found: re.Match[str]) -> int | None:
    whole = re.sub(r"[^0-9]", "", found["whole"])
    if len(whole) + len(found["part"]) > MAX_DIGITS or len(found["power"]) > 4:
        return None
    sign = found["sign"].strip()
    exact = Decimal(f"{sign}{whole}{found['part']}{found['power']}")
    return int(exact) if abs(exact.adjusted()) <= MAX_DIGITS and exact == int(exact) else None
