"""Two answers' logprobs, scored: what the tests of each part of the check share."""

from __future__ import annotations

from denv.checks import score
from denv.records import LogprobsClose, Observation, Score, TokenLogprob
from tests.checks.answers import search, words, written

EIGHT = (-0.1, -0.2, -0.3, -0.4, -0.5, -0.6, -0.7, -0.8)


def close(stage: Observation, reference: Observation | None, tolerance: float = 0.15) -> Score:
    """Score two answers' logprobs."""
    return score(LogprobsClose(tolerance), stage, reference=reference, search=search)


def moved(*by: float) -> tuple[TokenLogprob, ...]:
    """Give the eight tokens with some of their values moved."""
    shifts = by + (0.0,) * (len(EIGHT) - len(by))
    return words(*(value + shift for value, shift in zip(EIGHT, shifts, strict=True)))


REFERENCE = written(*words(*EIGHT))
