"""Logprobs of an answer, in the shape of chat (``content[]``) and of completions (``tokens``)."""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import chain, repeat
from math import isfinite
from typing import NamedTuple

from denv.observe import oddities
from denv.observe.oddities import Notes
from denv.records import Json, TokenLogprob, TopLogprob

MAX_ENTRIES = 262_144
"""No answer to one case is longer; more entries than this are set aside as a whole."""

SENTINEL = -1000.0
"""At or below this a value is a placeholder (-9999, -3.4e38), not a logprob."""

_POSITIVE = 1e-6
_FLOAT_HOLDS = 10**300
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_REPLACEMENT_BYTES = _REPLACEMENT.encode()
_TOKEN_ID = "token_id:"
_ESCAPED = re.compile(rb"\\x([0-9a-fA-F]{2})")
_ONLY_ESCAPES = re.compile(r"(?:\\x[89a-fA-F][0-9a-fA-F])+")
_BYTE_TOKEN = re.compile(r"<0x([0-9A-F]{2})>")


class Logprobs(NamedTuple):
    """The entries, or how they are absent; and how many tokens of reasoning were set aside."""

    entries: tuple[TokenLogprob, ...] | None
    absent: str | None
    reasoning: int = 0


def read_logprobs(choice: dict[str, Json], *, literal: bool, notes: Notes) -> Logprobs:
    """Read a choice's logprobs in the order in which they stand.

    ``literal`` says that the answer itself holds U+FFFD, so that a token of it is one and not
    a sign of bytes that the server does not say.
    """
    given = choice.get("logprobs")
    if given is None:
        return Logprobs(None, "logprobs is null" if "logprobs" in choice else "no logprobs field")
    if not isinstance(given, dict):
        return Logprobs(None, "logprobs is not an object")
    apart = given.get("reasoning_content")
    reasoning = len(apart) if isinstance(apart, list) else 0
    legacy = not given.get("content") and bool(given.get("tokens"))
    listed: Json = _legacy_entries(given) if legacy else given.get("content")
    absent = _absence(given, listed)
    if absent is not None:
        return Logprobs(None, absent, reasoning)
    if legacy:
        notes.append(oddities.LOGPROBS_LEGACY)
    if len(listed) > MAX_ENTRIES:
        notes.append(oddities.LOGPROBS_TOO_MANY)
        return Logprobs(None, f"more than {MAX_ENTRIES} entries", reasoning)
    reader = _Reader(notes, literal=literal)
    ids = _ids_of_choice(choice, len(listed))
    entries = tuple(map(reader.token, listed, ids))
    whole = [entry for entry in entries if entry is not None]
    if len(whole) < len(entries):
        notes.append(oddities.LOGPROB_ENTRY)
        return Logprobs(None, "an entry of logprobs is not a token", reasoning)
    return Logprobs(tuple(whole), None, reasoning)


def _absence(given: dict[str, Json], listed: Json) -> str | None:
    if isinstance(listed, list):
        return None if listed else "logprobs.content is empty"
    if not given:
        return "logprobs is empty"
    if listed is None:
        return "logprobs.content is null" if "content" in given else "no logprobs.content field"
    return "logprobs.content is not a list"


def _legacy_entries(given: dict[str, Json]) -> Json:
    """Bring completions' parallel lists into the entries of chat."""
    tokens = given["tokens"]
    if not isinstance(tokens, list):
        return tokens
    own, tops = given.get("token_logprobs"), given.get("top_logprobs")
    own = own if isinstance(own, list) else []
    tops = tops if isinstance(tops, list) else []
    padded = zip(tokens, chain(own, repeat(None)), chain(tops, repeat(None)), strict=False)
    return [
        {"token": token, "logprob": logprob, "top_logprobs": _legacy_top(top)}
        for token, logprob, top in padded
    ]


def _legacy_top(top: Json) -> Json:
    if not isinstance(top, dict):
        return top
    return [{"token": token, "logprob": logprob} for token, logprob in top.items()]


def _ids_of_choice(choice: dict[str, Json], count: int) -> list[int | None]:
    ids = choice.get("token_ids")
    if not isinstance(ids, list) or len(ids) != count:
        return [None] * count
    return [_token_id(value) for value in ids]


def _token_id(value: Json) -> int | None:
    return value if type(value) is int and 0 <= value < 2**31 else None


class _Reader:
    """Reads entries of one answer."""

    def __init__(self, notes: Notes, *, literal: bool) -> None:
        self._literal = literal
        self._notes = notes

    def token(self, entry: Json, id_of_choice: int | None) -> TokenLogprob | None:
        """Read one entry, None where it is no token."""
        if not isinstance(entry, dict) or not isinstance(entry.get("token"), str):
            return None
        token = entry["token"]
        raw, token_id = self._identity(token, entry)
        top = entry.get("top_logprobs")
        return TokenLogprob(
            token,
            self._value(entry.get("logprob")),
            raw,
            id_of_choice if token_id is None else token_id,
            self._alternatives(top) if top and isinstance(top, list) else (),
        )

    def _alternatives(self, top: list[Json]) -> tuple[TopLogprob, ...]:
        found = []
        for entry in top:
            if not isinstance(entry, dict) or not isinstance(entry.get("token"), str):
                self._notes.append(oddities.LOGPROB_ENTRY)
                continue
            token = entry["token"]
            raw, token_id = self._identity(token, entry)
            found.append(TopLogprob(token, self._value(entry.get("logprob")), raw, token_id))
        return tuple(found)

    def _value(self, value: Json) -> float | None:
        if value is None:
            return None
        if isinstance(value, float):
            number = value
        elif isinstance(value, int | Decimal) and not isinstance(value, bool):
            # too long for a float, it is a sentinel anyhow
            number = float(value) if -_FLOAT_HOLDS < value < _FLOAT_HOLDS else float("-inf")
        else:
            self._notes.append(oddities.LOGPROB_NOT_NUMBER)
            return None
        if number <= SENTINEL or not isfinite(number):
            self._notes.append(oddities.LOGPROB_SENTINEL)
            return None
        if number > _POSITIVE:
            self._notes.append(oddities.LOGPROB_POSITIVE)
        return number

    def _identity(self, token: str, entry: dict[str, Json]) -> tuple[bytes | None, int | None]:
        """Give a token's bytes and id, None for what the server does not say."""
        if token.startswith(_TOKEN_ID):
            digits = token[len(_TOKEN_ID) :]
            if digits.isdecimal() and len(digits) < 11:
                return None, int(digits)
        token_id = _token_id(entry["id"] if "id" in entry else entry.get("token_id"))
        listed = entry.get("bytes")
        if listed is None or (not listed and token):
            return _bytes_of_text(token), token_id
        try:
            raw = bytes(listed) if isinstance(listed, list) else None
        except (TypeError, ValueError):
            raw = None
        if raw is None:
            self._notes.append(oddities.LOGPROB_BYTES)
            return _bytes_of_text(token), token_id
        if _REPLACEMENT_BYTES in raw and not self._literal:
            return None, token_id
        return raw, token_id


def _bytes_of_text(token: str) -> bytes | None:
    r"""Read bytes from a token's text where none are listed.

    Half characters are written ``bytes:\xf0\x9f`` (OpenAI), ``\xf0\x9f`` (DeepSeek) and
    ``<0xF0>`` (byte tokens of SentencePiece).
    """
    if not token or _REPLACEMENT in token:
        return None
    if token.startswith("bytes:") and "\\x" in token:
        return _unescape(token.removeprefix("bytes:"))
    if token[0] == "\\" and _ONLY_ESCAPES.fullmatch(token):
        return _unescape(token)
    byte = _BYTE_TOKEN.fullmatch(token)
    return bytes.fromhex(byte[1]) if byte else token.encode()


def _unescape(text: str) -> bytes:
    return _ESCAPED.sub(lambda match: bytes.fromhex(match[1].decode()), text.encode())
