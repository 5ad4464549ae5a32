"""The word-level difference of two answers, in bounded time and space."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import regex

_WORDS = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]|[\p{L}\p{N}\p{M}_]{1,64}|[^\S\n]+|.",
    regex.DOTALL,
)
_LEAD = 160
"""Equal characters that are kept in front of the first difference."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of one text, and whether the other text has it otherwise."""

    text: str
    differs: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both texts in pieces, with the number of characters left out before and after."""

    stage: tuple[Piece, ...]
    reference: tuple[Piece, ...]
    equal: bool
    before: int
    stage_after: int
    reference_after: int


def compare(stage: str, reference: str, *, limit: int = 3000) -> Comparison:
    """Compare two texts by words.

    No more than ``limit`` characters of each are looked at and shown. They start at the
    beginning, or near the first difference where that would be out of sight.
    """
    start = _start(stage, reference, limit)
    mine, theirs = stage[start : start + limit], reference[start : start + limit]
    left, right = _WORDS.findall(mine), _WORDS.findall(theirs)
    spans = _spans(left, right)
    return Comparison(
        stage=tuple(_pieces(left, [(differs, a, b) for differs, a, b, _, _ in spans])),
        reference=tuple(_pieces(right, [(differs, a, b) for differs, _, _, a, b in spans])),
        equal=stage == reference,
        before=start,
        stage_after=len(stage) - start - len(mine),
        reference_after=len(reference) - start - len(theirs),
    )


def _start(stage: str, reference: str, limit: int) -> int:
    if stage == reference or max(len(stage), len(reference)) <= limit:
        return 0
    same = _common(stage, reference)
    return max(0, same - _LEAD) if same > limit // 2 else 0


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    """Count the equal items at the start."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(left), len(right)))


_Span = tuple[bool, int, int, int, int]


def _spans(left: Sequence[str], right: Sequence[str]) -> list[_Span]:
    """Give equal and differing stretches of words, the common start and end set apart first."""
    head = _common(left, right)
    tail = _common(left[head:][::-1], right[head:][::-1])
    # the matcher's heuristic for frequent words stays on: it keeps hostile texts linear
    matcher = SequenceMatcher(
        None, left[head : len(left) - tail], right[head : len(right) - tail], autojunk=True
    )
    inner = [
        (tag != "equal", head + a, head + b, head + c, head + d)
        for tag, a, b, c, d in matcher.get_opcodes()
    ]
    end = (False, len(left) - tail, len(left), len(right) - tail, len(right))
    return [(False, 0, head, 0, head), *inner, end]


def _pieces(words: Sequence[str], spans: Sequence[tuple[bool, int, int]]) -> Iterator[Piece]:
    for differs, first, last in spans:
        if first < last:
            yield Piece("".join(words[first:last]), differs)
