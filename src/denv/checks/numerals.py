r"""Numbers as people and models write them: ``6,000``, ``$6{,}000.00``, ``\boxed{6\,000}``.

Only a hint beside a plain comparison is made of this, so it reads one number that is the whole
text and gives nothing for all else. The pattern is linear, and lengths and exponents are capped:
no input makes this slow. Text is never evaluated.
"""

from __future__ import annotations

from decimal import Decimal

import regex

from denv.strictjson import MAX_EXPONENT, MAX_NUMBER_DIGITS

_NUMBER = regex.compile(
    r"""
    (?P<sign> [-+\N{MINUS SIGN}]? ) \s?
    (?: \\? \$ )? \s?
    (?P<whole> [1-9][0-9]{0,2} (?P<separator> , | \{,\} | \\, | ['’ \u00a0\u2009\u202f] ) [0-9]{3}
               (?: (?P=separator) [0-9]{3} )*
             | [0-9]*+ )
    (?P<part> (?: \. [0-9]*+ )? )
    (?P<power> (?: [eE] [-+]? [0-9]{1,6} )? )
    """,
    regex.VERBOSE,
)

_BOX = "\\boxed{"


def same_number(left: str, right: str) -> bool:
    """Whether both texts are one finite number each, of exactly the same value."""
    first = parse_number(left)
    return first is not None and first == parse_number(right)


def parse_number(text: str) -> Decimal | None:
    """Read a text that is one finite number, None for anything else."""
    if len(text) > MAX_NUMBER_DIGITS:
        return None
    found = _NUMBER.fullmatch(_unwrapped(text))
    if found is None:
        return None
    separator = found["separator"]
    whole = found["whole"].replace(separator, "") if separator else found["whole"]
    if not whole and len(found["part"]) < 2:  # a lone point is no number
        return None
    sign = "-" if found["sign"] in {"-", "\N{MINUS SIGN}"} else ""
    value = Decimal(f"{sign}{whole or '0'}{found['part']}{found['power']}")
    return value if abs(value.adjusted()) <= MAX_EXPONENT else None


def _unwrapped(text: str) -> str:
    text = text.strip()
    if len(text) > 2 and text[0] == text[-1] == "$":
        text = text[1:-1].strip()
    if text.startswith(_BOX) and text.endswith("}"):
        text = text[len(_BOX) : -1].strip()
    return text
