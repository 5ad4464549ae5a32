"""Which listed tokens make up the message's text, and which bytes of it each of them covers.

A server may list tokens of reasoning or of the prompt ahead of the text and end tokens behind
it, and may not say a token's bytes. So the text is found as a suffix of the joined tokens, walked
from the end; a run of tokens of unknown bytes is a gap, behind which the nearest place is taken
where the known tokens before it fit the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from denv.records import TokenLogprob, TopLogprob

MAX_END_TOKENS = 4
"""End tokens with bytes of their own that may follow the text."""

MAX_PARTS = 3
"""Tokens that can come before a character is complete: it has four bytes at the most."""

ROUNDING_NATS = 1e-3
"""Rounding leaves a logprob this far above 0; more is no logprob, whatever the server calls it."""

_ASCII_END = 0x80

Span = tuple[int, int] | None
Entry = TokenLogprob | TopLogprob


@dataclass(frozen=True, slots=True)
class Placed:
    """A token of the text: its bytes and the byte offsets it covers, None where not known."""

    token: TokenLogprob
    piece: bytes | None
    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True)
class Located:
    """The tokens of a text.

    ``before`` counts tokens ahead of it, ``after`` holds those behind it. ``covered`` of the
    text's bytes belong to listed tokens; where that is not all of them, ``tokens`` is empty.
    """

    text: bytes
    tokens: tuple[Placed, ...] = ()
    before: int = 0
    after: tuple[TokenLogprob, ...] = ()
    covered: int = 0

    @property
    def complete(self) -> bool:
        """Whether the listed tokens make up the whole text."""
        return self.covered == len(self.text)


def locate(
    tokens: Sequence[TokenLogprob], text: str, *, by_id: Mapping[int, bytes] | None = None
) -> Located:
    """Find the text as a suffix of the tokens; ``by_id`` gives bytes that the other side says."""
    encoded = text.encode("utf-8", "surrogatepass")
    listed = len(tokens)
    while listed and tokens[listed - 1].bytes == b"":
        listed -= 1
    pieces = [_piece(token, encoded, by_id or {}) for token in tokens[:listed]]
    covered = 0
    for end in range(listed, max(-1, listed - MAX_END_TOKENS - 1), -1):
        first, spans, left = _walk(pieces[:end], encoded)
        if not left:
            placed = map(_placed, tokens[first:end], pieces[first:end], spans[first:end])
            return Located(encoded, tuple(placed), first, tuple(tokens[end:]), len(encoded))
        covered = max(covered, len(encoded) - left)
    return Located(encoded, covered=covered)


def shared_ids(
    stage: Sequence[TokenLogprob], reference: Sequence[TokenLogprob]
) -> Mapping[int, bytes] | None:
    """Give the bytes of each id where both sides show one tokenizer's ids, else None."""
    if any(token.id is None for side in (stage, reference) for token in side):
        return None
    ours, theirs = _table(stage), _table(reference)
    if ours is None or theirs is None:
        return None
    if any(theirs.get(token_id, piece) != piece for token_id, piece in ours.items()):
        return None
    named, foreign = _ids_of(ours), _ids_of(theirs)
    if any(named[piece].isdisjoint(foreign[piece]) for piece in named.keys() & foreign.keys()):
        return None
    return {**theirs, **ours}


def entries(token: TokenLogprob) -> tuple[Entry, ...]:
    """Give a position's alternatives and its own token, the own one last."""
    return (*token.top, token)


def above_zero(tokens: Iterable[TokenLogprob]) -> float | None:
    """Give the greatest value above rounding, alternatives included, None where there is none."""
    values = (one.logprob for one in chain.from_iterable(map(entries, tokens)))
    return max((v for v in values if v is not None and v > ROUNDING_NATS), default=None)


def _table(side: Sequence[TokenLogprob]) -> dict[int, bytes] | None:
    """Give the bytes of each id, None where an id has two."""
    table: dict[int, bytes] = {}
    for entry in chain.from_iterable(map(entries, side)):
        if entry.id is None or not entry.bytes:
            continue
        if table.setdefault(entry.id, entry.bytes) != entry.bytes:
            return None
    return table


def _ids_of(table: Mapping[int, bytes]) -> dict[bytes, set[int]]:
    ids: dict[bytes, set[int]] = {}
    for token_id, piece in table.items():
        ids.setdefault(piece, set()).add(token_id)
    return ids


def _piece(token: TokenLogprob, text: bytes, by_id: Mapping[int, bytes]) -> bytes | None:
    if token.bytes is not None:
        return token.bytes or None  # no bytes, yet not at the end: part of a character
    if token.id is not None and token.id in by_id:
        return by_id[token.id]
    guess = token.token.encode("utf-8", "surrogatepass")
    certain = guess and "\N{REPLACEMENT CHARACTER}" not in token.token and guess in text
    return guess if certain else None


def _placed(token: TokenLogprob, piece: bytes | None, span: Span) -> Placed:
    start, end = span or (None, None)
    return Placed(token, piece, start, end)


def _walk(pieces: Sequence[bytes | None], text: bytes) -> tuple[int, list[Span], int]:
    """Place tokens from the end; give the first one's index, the spans, and the bytes left."""
    spans: list[Span] = [None] * len(pieces)
    at, left, gap = len(pieces), len(text), False
    while at and left:
        piece = pieces[at - 1]
        if piece is None:
            at, gap = at - 1, True
            continue
        if gap:
            begin = _run_start(pieces, at)
            run = [known for known in pieces[begin:at] if known is not None]
            synced = _resync(run, text[:left])
            if synced is None:
                break
            skipped, left = synced
            _place(spans, begin + skipped, run[skipped:], left)
            at, gap = begin + skipped, False
        elif text.endswith(piece, 0, left):
            at, left = at - 1, left - len(piece)
            spans[at] = (left, left + len(piece))
        elif _leads_in(piece, text[:left]):
            at -= 1
            spans[at], left = (0, left), 0
        else:
            return at, spans, left
    if gap:
        return at, spans, 0
    return _with_leading_parts(pieces, at, text), spans, left


def _run_start(pieces: Sequence[bytes | None], at: int) -> int:
    while at and pieces[at - 1] is not None:
        at -= 1
    return at


def _resync(run: Sequence[bytes], text: bytes) -> tuple[int, int] | None:
    """Place a run of known tokens ahead of a gap: how many are not the text's, and the offset."""
    joined = b"".join(run)
    offset = text.rfind(joined)
    if offset >= 0:
        return 0, offset
    rest = len(joined)
    for skipped, piece in enumerate(run[:-1], start=1):
        rest -= len(piece)
        if text.startswith(joined[len(joined) - rest :]):
            return skipped, 0
    return None


def _place(spans: list[Span], at: int, run: Sequence[bytes], offset: int) -> None:
    for index, piece in enumerate(run, start=at):
        spans[index] = (offset, offset + len(piece))
        offset += len(piece)


def _leads_in(piece: bytes, text: bytes) -> bool:
    """Whether a token begins with blanks that the server cut from the front of the text."""
    return piece.endswith(text) and piece[: len(piece) - len(text)].isspace()


def _with_leading_parts(pieces: Sequence[bytes | None], at: int, text: bytes) -> int:
    """Take in tokens of no bytes that began the text's first character."""
    if text and text[0] >= _ASCII_END:
        for _ in range(MAX_PARTS):
            if at and pieces[at - 1] is None:
                at -= 1
    return at
