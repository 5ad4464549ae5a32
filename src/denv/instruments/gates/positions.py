"""Positions of two answers that are the same event, and how far their logprobs are apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import exp

from denv.instruments.gates.parting import shared
from denv.records import Observation, TokenLogprob, TopLogprob

Entry = TokenLogprob | TopLogprob
Pair = tuple[TokenLogprob, TokenLogprob]

UNLIKELY_NATS = -7.0
"""Alternatives below this (p < 0.001) are left out: their values are the first to move."""


def key_of(entry: Entry) -> object:
    """Tell a token from others of the same side and path: its id, else its bytes, else its text."""
    return next((one for one in (entry.id, entry.bytes) if one is not None), entry.token)


def name_of(entry: Entry) -> object:
    """Tell a token on any side and path: its bytes, else its text."""
    return entry.bytes or entry.token


def shared_tokens(
    one: Observation, other: Observation, by: Callable[[Entry], object] = key_of
) -> int:
    """Count the tokens that both answers begin with."""
    ours, theirs = (tuple(map(by, each.logprobs or ())) for each in (one, other))
    return shared(ours, theirs)


def paired(
    one: Observation, other: Observation, by: Callable[[Entry], object] = key_of
) -> list[Pair]:
    """Pair the positions with equal tokens before them; the first that parts is one of them."""
    same = shared_tokens(one, other, by)
    ours, theirs = one.logprobs or (), other.logprobs or ()
    return list(zip(ours[: same + 1], theirs[: same + 1], strict=False))


def gaps(pairs: Sequence[Pair], by: Callable[[Entry], object] = key_of) -> list[float]:
    """Give the differences in nats of all likely tokens that both sides of a pair list."""
    return [gap for pair in pairs for gap in _gaps(*pair, by=by)]


def _gaps(one: TokenLogprob, other: TokenLogprob, *, by: Callable[[Entry], object]) -> list[float]:
    ours, theirs = _values(one, by), _values(other, by)
    both = ((ours[key], theirs[key]) for key in ours.keys() & theirs.keys())
    return [abs(a - b) for a, b in both if max(a, b) > UNLIKELY_NATS]


def _values(entry: TokenLogprob, by: Callable[[Entry], object]) -> dict[object, float]:
    """Give the values by name, without names that several tokens bear (parts of characters)."""
    times = Counter(map(by, entry.top))
    listed: tuple[Entry, ...] = (*entry.top, entry)
    alone = (one for one in listed if times[by(one)] < 2)
    return {by(one): one.logprob for one in alone if one.logprob is not None}


def probabilities(entry: TokenLogprob) -> list[tuple[object, float]]:
    """Give each listed token's key and probability, the most probable first."""
    found = [
        (key_of(top), exp(min(top.logprob, 1.0))) for top in entry.top if top.logprob is not None
    ]
    return sorted(found, key=lambda pair: -pair[1])


def nameless(entry: TokenLogprob) -> float:
    """Add up the probabilities of listed tokens by which an answer of one token cannot be told.

    They bear the same name as others, or are parts of characters, for which no text comes.
    """
    times = Counter(map(key_of, entry.top))
    unclear = (top for top in entry.top if times[key_of(top)] > 1 or not is_text(top.bytes))
    return sum(exp(min(top.logprob, 1.0)) for top in unclear if top.logprob is not None)


def is_text(raw: bytes | None) -> bool:
    """Tell bytes that are whole characters."""
    if raw is None:
        return False
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True
