"""Answers as checks see them, written shortly."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from denv.checks.regex import search_within
from denv.records import Call, Observation, Score, TokenLogprob, TopLogprob
from denv.strictjson import StrictJsonError, loads

Alternatives = Mapping[str, float | None]


def said(text: str | None, **fields: Any) -> Observation:
    """Give an answer with this text."""
    return Observation(text=text, **fields)


def call(name: str | None, raw: str, **fields: Any) -> Call:
    """Give a call whose arguments are read as exactly as the program reads them."""
    try:
        arguments = loads(raw or "{}", exact=True)
    except StrictJsonError as error:
        return Call(name, None, raw, error=str(error), **fields)
    if isinstance(arguments, dict):
        return Call(name, arguments, raw, **fields)
    return Call(name, None, raw, error="not an object", **fields)


def called(*calls: Call, **fields: Any) -> Observation:
    """Give an answer with these calls."""
    return Observation(calls=calls, **fields)


def token(
    text: str,
    logprob: float | None,
    top: Alternatives | None = None,
    *,
    raw: bytes | None = None,
    token_id: int | None = None,
    known: bool = True,
) -> TokenLogprob:
    """Give one token with its own bytes, unless others are given or they are not known."""
    piece = raw if raw is not None else text.encode()
    alternatives = tuple(TopLogprob(t, p, t.encode()) for t, p in (top or {}).items())
    return TokenLogprob(text, logprob, piece if known else None, token_id, alternatives)


def written(*tokens: TokenLogprob, text: str | None = None, **fields: Any) -> Observation:
    """Give an answer made of these tokens."""
    joined = "".join(t.token for t in tokens) if text is None else text
    return Observation(text=joined, logprobs=tokens, **fields)


def words(*logprobs: float | None) -> tuple[TokenLogprob, ...]:
    """Give as many tokens as values: `` w0``, `` w1`` and so on."""
    return tuple(token(f" w{i}", value) for i, value in enumerate(logprobs))


def search(pattern: str, text: str) -> bool:
    """Search as the program itself does."""
    return search_within(pattern, text)


def says(score: Score) -> tuple[bool | None, str | None]:
    """Give the part of a score that decides."""
    return score.passed, None if score.cause is None else score.cause.value


def number(digits: str) -> Decimal:
    """Give an exact number."""
    return Decimal(digits)
