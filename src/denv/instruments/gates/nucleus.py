"""Which tokens a nucleus holds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

AMBIGUOUS = 0.01
"""A sum so near to top_p may be on either side of it after rounding."""


def nuclei(probabilities: Sequence[float], top_p: float) -> tuple[int, ...]:
    """Give the sizes that the nucleus of descending probabilities may have, none if it is longer.

    It is the smallest head of the list whose probabilities sum to ``top_p`` or more.

    >>> nuclei([0.4, 0.2, 0.1], 0.5)
    (2,)
    >>> nuclei([0.5, 0.2], 0.5)
    (1, 2)
    >>> nuclei([0.2, 0.1], 0.5)
    ()
    """
    sums = list(accumulate(probabilities))
    wanted = (top_p - AMBIGUOUS, top_p + AMBIGUOUS)
    sizes = [next((at + 1 for at, one in enumerate(sums) if one >= p), None) for p in wanted]
    if None in sizes:
        return ()
    return tuple(range(sizes[0] or 0, (sizes[1] or 0) + 1))
