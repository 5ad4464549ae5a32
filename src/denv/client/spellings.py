"""The ways in which a server may write a key back, as patterns over raw bytes.

Encoders of JSON, HTML and URLs differ in which characters they escape, so every character of a
key may stand plainly or in any of their escapes, and one encoder's output may have gone through
another. Repetitions are bounded, and no text can be read in two ways by one part of a pattern:
matching takes linear time.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from functools import cache, cached_property
from html.entities import html5
from itertools import groupby

import regex

MIN_ENCODED = 8
"""Shorter secrets are not looked for in base64 and hexadecimal: their forms occur by chance."""

_HEAD = 16
_DEEP = "{0,4}"
_25 = f"(?:25){_DEEP}"
_BACKSLASH = rf"(?:\\(?:u005[cC])?|%{_25}5[cC])"
_HASH = rf"(?:#|%{_25}23|\\{{1,8}}u0023)"
_END = rf"(?:;|%{_25}3[bB]|\\{{1,8}}u003[bB])"
_AMPS = f"(?:(?:amp|{_HASH}38|{_HASH}[xX]26){_END}){_DEEP}"
_PERCENT = rf"(?:%|{_BACKSLASH}{{1,8}}+u0025|&{_AMPS}#37;){_25}"
_AMPERSAND = rf"(?:&|{_BACKSLASH}{{1,8}}+u0026|%{_25}26){_AMPS}"
_PERCENT_SIGN = re.compile(rb"%[2-9A-Fa-f][0-9A-Fa-f]")
_WRITTEN = bytes(c for c in range(128) if chr(c).isalnum()) + rb"\%&#;{}+/-_="
_LONG = 64
"""Characters of a secret that are spelled out; what follows them is part of it."""
_AT_MOST = 16
"""Bytes of one character, where a spelling is looked for that has not come to its end."""


class Spellings:
    """Finds one secret however it is written: escaped, in base64, or in hexadecimal.

    What must be there in any case is looked for first; a pattern is compiled and run only where
    that is found, and the whole one only where it fits at the start.
    """

    def __init__(self, secret: str) -> None:
        self._secret = secret
        self._plain = secret.encode("utf-8", "surrogatepass")
        self._cores = _base64_cores(self._plain) if len(self._plain) >= MIN_ENCODED else []
        pieces = [max(re.split(r"[+/]", core), key=len) for core in self._cores]
        if self._cores:
            pieces += _hex_pieces(self._plain.hex())
        self._pieces = [piece.encode() for piece in dict.fromkeys(pieces)]
        self._backslash, self._ampersand = _signs(frozenset(secret))

    def prepare(self) -> None:
        """Make now what is else made when it is first needed, which takes tenths of a second."""
        _ = self._head, self._whole, self._encoded, self._beginning

    def may_hold(self, raw: bytes) -> bool:
        """Tell quickly where the secret cannot be: False is certain."""
        find = raw.find  # quicker than ``in``, which tries to read bytes as a number first
        if find(self._plain) >= 0:
            return True
        for piece in self._pieces:
            if find(piece) >= 0:
                return True
        return self._may_be_escaped(raw)

    def cut(self, raw: bytes, mask: bytes) -> bytes:
        """Put ``mask`` in the place of the secret; give the same object where it is not."""
        return self._replaced(raw, lambda _: mask)

    def blank(self, raw: bytes) -> bytes:
        """Put as many stars in the place of the secret as it has bytes there."""
        return self._replaced(raw, _stars)

    def opening(self, raw: bytes) -> int:
        """Give where a spelling may begin that goes on behind the end, or the end.

        To be asked of what ``cut`` or ``blank`` has been through. Characters that take more than
        16 bytes each on the average are not followed so far.
        """
        most = _AT_MOST * (len(self._plain) + 1)
        tail = raw[-most:]
        begin = len(raw) - len(tail) + len(tail.rstrip(self._written))
        if begin == len(raw):
            return begin
        found = self._beginning.search(raw, begin, partial=True)
        return len(raw) if found is None else int(found.start())

    def cut_end(self, raw: bytes, mask: bytes) -> bytes:
        """Cut the start of the secret off the end of what was not read to its own end."""
        for length in range(len(self._plain) - 1, MIN_ENCODED - 1, -1):
            if raw.endswith(self._plain[:length]):
                return raw[:-length] + mask
        return raw

    def _replaced(self, raw: bytes, put: Callable[[re.Match[bytes]], bytes]) -> bytes:
        if self._plain in raw:
            raw = re.sub(re.escape(self._plain), put, raw)
        if self._may_be_escaped(raw) and self._head.search(raw):
            raw = self._whole.sub(put, raw)
        if any(piece in raw for piece in self._pieces):
            raw = self._encoded.sub(put, raw)
        return raw

    def _may_be_escaped(self, raw: bytes) -> bool:
        find = raw.find
        return (
            (find(b"\\") >= 0 and self._backslash.search(raw) is not None)
            or (find(b"%") >= 0 and _PERCENT_SIGN.search(raw) is not None)
            or (find(b"&") >= 0 and self._ampersand.search(raw) is not None)
        )

    @cached_property
    def _head(self) -> re.Pattern[bytes]:
        return _compiled(_spelled(self._secret[:_HEAD]))

    @cached_property
    def _whole(self) -> re.Pattern[bytes]:
        rest = len(self._secret) - _LONG
        return _compiled(_spelled(self._secret[:_LONG]) + self._going_on(rest))

    @cached_property
    def _encoded(self) -> re.Pattern[bytes]:
        forms = [
            "".join(map(_base64_digit, core[:_LONG])) + self._going_on(len(core) - _LONG)
            for core in self._cores
        ]
        digits = self._plain.hex()
        forms.append(_any_case(digits[:_LONG]) + self._going_on(len(digits) - _LONG))
        return _compiled("|".join(forms))

    def _going_on(self, rest: int) -> str:
        """Give the pattern of what follows the beginning of a long secret, however it is written.

        The beginning is proof enough; to spell out thousands of characters takes a minute. No
        backslash is taken at the end: it may escape the quotation mark that stands behind.
        """
        if rest <= 0:
            return ""
        within = "".join(rf"\x{byte:02x}" for byte in sorted(self._written))
        return rf"[{within}]{{0,{_AT_MOST * rest}}}(?<!\\)"

    @cached_property
    def _beginning(self) -> regex.Pattern[bytes]:
        """How each form begins, for the library that knows where one has not come to its end."""
        heads = ["".join(map(_base64_digit, core[:_HEAD])) for core in self._cores]
        if heads:
            heads.append(_any_case(self._plain[:_HEAD].hex()))
        whole = "|".join([_spelled(self._secret[:_HEAD]), *heads])
        return regex.compile(whole.encode("latin-1"))

    @cached_property
    def _written(self) -> bytes:
        """All bytes that may stand in a spelling."""
        return bytes(set(_WRITTEN) | set(self._plain))


def _compiled(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode("latin-1"))


def _stars(found: re.Match[bytes]) -> bytes:
    return b"*" * len(found[0])


# ---------------------------------------------------------------- escapes


def _signs(characters: frozenset[str]) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Give what a backslash and an ampersand look like where they escape one of these.

    A pattern each: with one literal at its start it is searched for at the speed of memory.
    """
    marks = sorted(c for c in characters if not c.isalnum())
    digits = r"u(?:00[2-7]|\{)|x[2-7]" if all(c.isascii() for c in characters) else "[uUx]"
    after_backslash = "|".join([digits, *map(_plain, marks)])
    after_ampersand = "|".join(["#", "amp", *(name for c in marks for name in _names(c))])
    return _compiled(rf"\\(?:{after_backslash})"), _compiled(f"&(?:{after_ampersand})")


def _spelled(text: str) -> str:
    """Give the pattern of a text of which every character may be escaped."""
    parts: list[str] = []
    after_backslash = False
    for character, run in groupby(text):
        count = len(list(run))
        if character == "\\":
            # One part for the run: how many of its backslashes escape others cannot be told.
            entity = _entity(_AMPERSAND, "92", "5[cC]", ["bsol"])
            one = rf"(?:{entity}|\\{{1,8}}(?:u005|x5)[cC]|{_BACKSLASH})"
            start = "" if parts else r"(?<!\\)"
            parts.append(f"{start}{one}{{{count},{8 * count}}}+")
        else:
            first = _atom(character, first=not parts, bare=after_backslash)
            parts += [first, *[_atom(character)] * (count - 1)]
        after_backslash = character == "\\"
    return "".join(parts)


@cache
def _atom(character: str, *, first: bool = False, bare: bool = False) -> str:
    """Give the pattern of one character.

    ``first`` writes it so that each branch starts with a literal, by which the search skips
    ahead. ``bare`` allows an escape whose backslashes are read already.
    """
    code, units = ord(character), character.encode("utf-8", "surrogatepass")
    number = _any_case(f"{code:x}")
    escaped = rf"u\{{0{_DEEP}{number}\}}|{_unicode_escape(code)}"
    if code < 256:
        escaped += f"|x{_any_case(f'{code:02x}')}"
    octets = [_any_case(f"{unit:02x}") for unit in units]
    tail = escaped
    if not character.isalnum():
        # What a backslash stands before may itself have been escaped after that.
        entity = _entity(f"&{_AMPS}", str(code), number, _names(character))
        tail = f"{escaped}|{_plain(character)}|%{_25}{_PERCENT.join(octets)}|{entity}"
    # A search starts at the first backslash of a run alone, else long runs would be slow.
    run = rf"\\(?<!\\\\)(?:u005[cC])?{_BACKSLASH}{{0,15}}+"
    lead = run if first else f"{_BACKSLASH}{{1,8}}+"
    percent, ampersand = (f"%{_25}", f"&{_AMPS}") if first else (_PERCENT, _AMPERSAND)
    branches = [
        _plain(character),
        f"{lead}(?:{tail})",
        percent + _PERCENT.join(octets),
        _entity(ampersand, str(code), number, _names(character)),
    ]
    # The escape's own first character may be escaped.
    entity = _entity(_AMPS, str(code), number, _names(character))
    octet = _25 + _PERCENT.join(octets)
    signs = f"(?:u0025{octet}|u0026{entity})"
    if first:
        branches += [
            f"{lead}{signs}",
            f"%{_25}(?:26{entity}|5[cC]{_BACKSLASH}{{0,7}}+(?:{tail}))",
            f"&{_AMPS}#37;{octet}",
        ]
    if bare:
        branches += [escaped, signs]
    return f"(?:{'|'.join(branches)})"


def _entity(ampersand: str, decimal: str, number: str, names: list[str]) -> str:
    spelled = "|".join([f"{_HASH}(?:0{{0,6}}{decimal}|[xX]0{{0,6}}{number})", *names])
    return f"{ampersand}(?:{spelled}){_END}?+"


def _unicode_escape(code: int) -> str:
    r"""Give the ``\u`` escape without its first backslash, a surrogate pair past 16 bits."""
    if code < 0x10000:
        return f"u{_any_case(f'{code:04x}')}"
    high, low = divmod(code - 0x10000, 0x400)
    pair = [_any_case(f"{unit:04x}") for unit in (0xD800 + high, 0xDC00 + low)]
    return rf"u{pair[0]}{_BACKSLASH}{{1,8}}u{pair[1]}"


@cache
def _names(character: str) -> list[str]:
    """Give the names that HTML has for a character, without their semicolons."""
    return sorted({name.rstrip(";") for name, meant in html5.items() if meant == character})


def _plain(character: str) -> str:
    return re.escape(character.encode("utf-8", "surrogatepass")).decode("latin-1")


def _any_case(digits: str) -> str:
    return "".join(f"[{d}{d.upper()}]" if d.isalpha() else d for d in digits)


# ---------------------------------------------------------------- base64, hexadecimal


def _base64_cores(secret: bytes) -> list[str]:
    """Give the part of a secret's base64 that stays whatever stands before and after it."""
    cores = []
    for offset in range(3):
        text = base64.b64encode(b"\0" * offset + secret).decode()
        cores.append(text[-(-offset * 8 // 6) : (offset + len(secret)) * 8 // 6])
    return cores


def _base64_digit(digit: str) -> str:
    """Give a digit of either alphabet; those that are no letters may be escaped."""
    other = {"+": "-", "/": "_"}.get(digit)
    return digit if other is None else f"(?:{other}|{_atom(digit)})"


def _hex_pieces(digits: str) -> list[str]:
    """Give what either case of a hexadecimal text has in common, or else both cases."""
    common = max(re.split("[a-f]", digits), key=len)
    return [common] if len(common) >= MIN_ENCODED else [digits, digits.upper()]
