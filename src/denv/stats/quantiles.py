"""Quantiles of a stream in constant memory."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import ceil, floor, inf, log10

BUCKETS_PER_DECADE = 100
LOWEST, HIGHEST = 1e-6, 1e6


class LogHistogram:
    r"""A histogram of positive values with 100 buckets for each power of ten.

    A quantile is the geometric middle of the bucket that holds the nearest rank, kept within the
    smallest and largest value seen; its relative error is at most
    :math:`10^{1/200} - 1 \approx 1.2\,\%`. Values are clamped to [1e-6, 1e6], so that no more
    than 1,201 buckets can arise.

    Examples
    --------
    >>> histogram = LogHistogram()
    >>> for value in (0.2, 0.2, 0.9):
    ...     histogram.add(value)
    >>> round(histogram.quantile(0.5), 2)
    0.2
    """

    def __init__(self) -> None:
        self._buckets: Counter[int] = Counter()
        self._low, self._high = inf, -inf

    def add(self, value: float) -> None:
        """Count one value; those that are not positive count as the smallest."""
        clamped = min(max(value, LOWEST), HIGHEST)
        self._buckets[floor(log10(clamped) * BUCKETS_PER_DECADE)] += 1
        self._low, self._high = min(self._low, clamped), max(self._high, clamped)

    def quantile(self, share: float) -> float:
        """Give the nearest-rank quantile at ``share``, which is above 0 and at most 1.

        Raises
        ------
        ValueError
            When nothing was added or ``share`` is out of range.
        """
        if not self._buckets:
            raise ValueError("no value was added")
        if not 0 < share <= 1:
            raise ValueError(f"share {share} is not in (0, 1]")
        # The decimal the caller wrote: 0.95 of 20 is rank 19, whatever 0.95 is in binary.
        rank = ceil(Fraction(repr(share)) * self._buckets.total())
        seen = 0
        bucket = min(self._buckets)
        for bucket in sorted(self._buckets):
            seen += self._buckets[bucket]
            if seen >= rank:
                break
        middle: float = 10 ** ((bucket + 0.5) / BUCKETS_PER_DECADE)
        return min(max(middle, self._low), self._high)

    def __len__(self) -> int:
        return self._buckets.total()
