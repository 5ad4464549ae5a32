"""Which tokens of two answers are the same event: the same token after the same tokens.

The walk goes over both sides at once and stops where contexts part: at the first other token
border, at the first other word, or where one answer ends. Nothing is ever paired by its index,
but for tokens of unknown bytes between two borders that both sides share and that hold as many
tokens on both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from denv.checks.spans import Entry, Located, Placed
from denv.records import TokenLogprob

MAX_GAP = 16
"""Tokens in a gap that are still paired by position."""


class End(Enum):
    """Why the walk ended."""

    WHOLE = auto()
    RETOKENISED = auto()
    PARTED = auto()
    STAGE_ENDED = auto()
    REFERENCE_ENDED = auto()


@dataclass(frozen=True, slots=True)
class Pair:
    """One event on both sides; ``index`` counts the stage's tokens of the text from 0."""

    index: int
    stage: TokenLogprob
    reference: TokenLogprob


@dataclass(frozen=True, slots=True)
class Alignment:
    """The pairs, how many tokens were skipped in gaps, and where and why the walk ended.

    ``stage_at`` and ``reference_at`` index the first token of each side that is not paired.
    """

    pairs: tuple[Pair, ...]
    skipped: int
    end: End
    stage_at: int
    reference_at: int


def align(stage: Located, reference: Located, *, by_ids: bool) -> Alignment:
    """Pair the tokens of two located texts."""
    ours, theirs = stage.tokens, reference.tokens
    shared = _shared_length(stage.text, reference.text)
    same_text = stage.text == reference.text
    pairs: list[Pair] = []
    i = j = offset = skipped = 0
    while i < len(ours) and j < len(theirs):
        a, b = ours[i], theirs[j]
        if _same_placed(a, b, by_ids=by_ids):
            pairs.append(Pair(i, a.token, b.token))
            offset = a.end or 0
            i, j = i + 1, j + 1
            continue
        reach = None if a.end is None or b.end is None else max(a.end, b.end)
        if reach is not None or by_ids:
            same = same_text or (reach is not None and reach <= shared)
            end = End.RETOKENISED if same else End.PARTED
            return Alignment(tuple(pairs), skipped, end, i, j)
        sync = _next_border(stage, i, reference, j, offset=offset, shared=shared)
        if sync is None:
            end = End.RETOKENISED if same_text else End.PARTED
            return Alignment(tuple(pairs), skipped, end, i, j)
        offset, next_i, next_j = sync
        gap = _gap_pairs(ours[i:next_i], theirs[j:next_j], i)
        pairs += gap
        skipped += 0 if gap else max(next_i - i, next_j - j)
        i, j = next_i, next_j
    return Alignment(tuple(pairs), skipped, _end(i < len(ours), j < len(theirs)), i, j)


def same_token(left: Entry, right: Entry, *, by_ids: bool) -> bool:
    """Whether two entries are one token: by id, else by bytes, else by what they are called."""
    if by_ids and left.id is not None and right.id is not None:
        return left.id == right.id
    if left.bytes and right.bytes:
        return left.bytes == right.bytes
    return left.token == right.token


def _same_placed(a: Placed, b: Placed, *, by_ids: bool) -> bool:
    if by_ids:
        return a.token.id == b.token.id
    return a.piece is not None and a.piece == b.piece


def _end(stage_goes_on: bool, reference_goes_on: bool) -> End:
    if stage_goes_on:
        return End.REFERENCE_ENDED
    return End.STAGE_ENDED if reference_goes_on else End.WHOLE


def _gap_pairs(ours: Sequence[Placed], theirs: Sequence[Placed], first: int) -> list[Pair]:
    if len(ours) != len(theirs) or len(ours) > MAX_GAP:
        return []
    both = zip(ours, theirs, strict=True)
    return [Pair(i, a.token, b.token) for i, (a, b) in enumerate(both, start=first)]


def _next_border(
    stage: Located, i: int, reference: Located, j: int, *, offset: int, shared: int
) -> tuple[int, int, int] | None:
    """Give the next byte offset where both sides surely have a border, and both indices there."""
    theirs = dict(reversed(list(_borders(reference, j))))
    for border, index in _borders(stage, i):
        if border > shared:
            return None
        if border > offset and border in theirs:
            return border, index, theirs[border]
    return None


def _borders(side: Located, after: int) -> Iterator[tuple[int, int]]:
    """Give each border behind a token, as its offset and the index of the token that follows."""
    for index in range(after + 1, len(side.tokens)):
        end, start = side.tokens[index - 1].end, side.tokens[index].start
        known = start if end is None else end
        if known is not None:
            yield known, index
    yield len(side.text), len(side.tokens)


def _shared_length(left: bytes, right: bytes) -> int:
    shorter = min(len(left), len(right))
    if left[:shorter] == right[:shorter]:
        return shorter
    return next(i for i in range(shorter) if left[i] != right[i])
