"""How sure a model is of the integer that it gives: the probability of the tokens that write it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from math import exp, fsum

from denv.checks.spans import Placed, entries, locate
from denv.checks.text import readable_text
from denv.instruments.answers.extract import Given
from denv.records import Observation, TokenLogprob

_POSITIVE = 1e-6
"""Rounding leaves a logprob this far above 0; more is no logprob."""


@dataclass(frozen=True, slots=True)
class Confidence:
    """The summed logprob (nats) of the tokens that carry an answer's digits and sign."""

    logprob: float
    tokens: int

    @property
    def probability(self) -> float:
        """The probability of that spelling, in (0, 1], given all that the model wrote before."""
        return exp(self.logprob)


def measure_confidence(answer: Observation, given: Given) -> Confidence | None:
    """Sum the logprobs of the tokens that write the given number.

    Parameters
    ----------
    answer
        The observation whose readable text (no reasoning) ``given`` was extracted from.
    given
        Where the number stands, in code points of that text.

    Returns
    -------
    Confidence or None
        Tokens are aligned to the text by their bytes, never by index; each token that covers a
        byte of the number counts with its whole logprob, also where it holds a blank or a full
        stop beside it. None where logprobs are absent, unreal (all zero, above zero, or a
        placeholder at one of these tokens), or do not make up the text there.

    Notes
    -----
    It is the probability of the digits once everything before them is written. A model that
    reasons first has decided by then: its confidence is near 1, right or wrong, which lowers
    what AUROC can tell, not what it means.
    """
    text = readable_text(answer)
    if text is None or answer.logprobs is None or not _real(answer.logprobs):
        return None
    located = locate(answer.logprobs, text)
    start, end = (
        len(text[:at].encode("utf-8", "surrogatepass")) for at in (given.start, given.end)
    )
    carriers = _carriers(located.tokens, start, end) if located.complete else None
    if not carriers:
        return None
    values = [one.logprob for one in carriers if one.logprob is not None]
    if len(values) < len(carriers) or max(values) > _POSITIVE:
        return None
    return Confidence(min(0.0, fsum(values)), len(values))


def _real(tokens: Sequence[TokenLogprob]) -> bool:
    """Whether some value differs from 0: where none does, they were filled in."""
    every = chain.from_iterable(map(entries, tokens))
    return any(one.logprob for one in every if one.logprob is not None)


def _carriers(tokens: Sequence[Placed], start: int, end: int) -> list[TokenLogprob] | None:
    """Give the tokens that cover the bytes from ``start`` to ``end``, None where some do not."""
    found: list[TokenLogprob] = []
    covered = start
    for one in tokens:
        if one.start is None or one.end is None:
            continue  # of unknown place: what it covers is missed below
        if one.start < end and one.end > start:
            if one.start > covered:
                return None
            found.append(one.token)
            covered = one.end
    return found if covered >= end else None
