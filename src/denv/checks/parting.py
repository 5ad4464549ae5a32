"""Where two answers part: both tokens, seen from both sides.

At that position the contexts are still the same, so each side's value for both tokens can be
compared. An answer that ends parts with its end token, where the server lists it.
"""

from __future__ import annotations

from dataclasses import dataclass

from denv.checks.alignment import Alignment, End, same_token
from denv.checks.spans import Located, entries
from denv.checks.values import excerpt
from denv.records import Observation, TokenLogprob

SLACK = 1e-9
"""Rounding that a tolerance forgives: -0.31 and -0.26 are 0.05 apart, and floats say more."""


@dataclass(frozen=True, slots=True)
class Parting:
    """The position where the answers part: each side's entry there, and what they show."""

    index: int
    stage: TokenLogprob | None
    reference: TokenLogprob | None
    agree: bool | None
    worst: float | None = None


def find_parting(
    tolerance: float,
    sides: tuple[Located, Located],
    walk: Alignment,
    seen: tuple[Observation, Observation],
    *,
    by_ids: bool,
) -> Parting | None:
    """Find where two answers part and what each says of the other's token, None where none do."""
    if walk.end in {End.WHOLE, End.RETOKENISED}:
        return None
    ended = {End.STAGE_ENDED: 0, End.REFERENCE_ENDED: 1}.get(walk.end)
    if ended is not None and seen[ended].finish_reason == "length":
        return None  # cut, not ended: it chose no other token
    ours = _entry(sides[0], walk.stage_at)
    theirs = _entry(sides[1], walk.reference_at)
    if ours is None or theirs is None:
        return Parting(walk.stage_at, ours, theirs, None)
    values = [
        (ours.logprob, _logprob_of(ours, theirs, by_ids=by_ids)),
        (_logprob_of(theirs, ours, by_ids=by_ids), theirs.logprob),
    ]
    deltas = [abs(a - b) for a, b in values if a is not None and b is not None]
    worst = max(deltas, default=None)
    if worst is not None and worst > tolerance + SLACK:
        agree: bool | None = False
    else:
        agree = True if len(deltas) == len(values) else None
    return Parting(walk.stage_at, ours, theirs, agree, worst)


def _entry(side: Located, at: int) -> TokenLogprob | None:
    """Give a side's entry at a position, behind the text the end token where it is listed."""
    if at < len(side.tokens):
        return side.tokens[at].token
    return side.after[0] if side.after else None


def _logprob_of(token: TokenLogprob, position: TokenLogprob, *, by_ids: bool) -> float | None:
    """Look up what a position says of a token."""
    alternatives = reversed(entries(position))
    return next((a.logprob for a in alternatives if same_token(a, token, by_ids=by_ids)), None)


def where_parted(parting: Parting) -> str:
    """Say where the answers part, and with which tokens."""
    ours, theirs = (
        "the end" if entry is None else excerpt(entry.token)
        for entry in (parting.stage, parting.reference)
    )
    return f"the answers part at token {parting.index}: {ours} instead of {theirs}"
