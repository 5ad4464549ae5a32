"""The sign-flip test of paired differences, without any assumption of normality.

scipy is imported inside the functions: it costs most of a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

FLIPS = 2**14
"""Flips that are tried at the most: up to 14 texts exactly, in a twentieth of a second."""

TIE_GRID = 2.0**40
"""Means are compared on this grid, so that rounding does not tell equal ones apart."""

BATCH_VALUES = 2_000_000
"""Values that are flipped at once: some 16 MB."""


@dataclass(frozen=True, slots=True)
class SignFlipTest:
    """A two-sided p-value, and the smallest that this test could have given.

    ``difference`` is the mean of candidate less reference.
    """

    p_value: float
    difference: float
    texts: int
    smallest_p: float
    method: Literal["exact", "monte-carlo"]


def sign_flip(
    cand: Sequence[float],
    ref: Sequence[float],
    *,
    rng: np.random.Generator,
    flips: int = FLIPS,
) -> SignFlipTest:
    r"""Test whether paired differences are symmetric about zero.

    The p-value is the share of the :math:`2^n` ways to give the differences signs whose mean is
    as far from zero as the observed one, or farther.

    Parameters
    ----------
    cand, ref
        One value for each text, in the same order. At least one; the texts are assumed
        independent.
    rng
        Used only where not all flips are tried.
    flips
        If :math:`2^m` is at most this, with m the differences that are not zero, all are tried;
        else this many random ones, and the p-value is :math:`2 (1 + k)/(1 + \text{flips})`, with
        k as far on the observed side.

    Returns
    -------
    SignFlipTest
        Where no difference or only one is not zero, every flip is as extreme: p is 1.

    Raises
    ------
    ValueError
        For sequences that are empty, of unequal lengths or not finite, or less than one flip.

    References
    ----------
    Fisher, R. A. (1935). *The Design of Experiments*, section 21. Phipson, B. and Smyth, G. K.
    (2010). Permutation p-values should never be zero. *Statistical Applications in Genetics and
    Molecular Biology* 9, article 39.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> result = sign_flip([1.1, 2.2, 3.1, 4.3, 5.1], [1, 2, 3, 4, 5], rng=rng)
    >>> result.p_value, result.smallest_p, result.method
    (0.0625, 0.0625, 'exact')
    """
    if flips < 1:
        raise ValueError("flips is below 1")
    first, second = np.asarray(cand, dtype=np.float64), np.asarray(ref, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1 or not first.size:
        raise ValueError("cand and ref need the same number of values, at least one")
    differences = first - second
    if not np.isfinite(differences).all():
        raise ValueError("a difference is not finite")
    mean, texts = float(differences.mean()), differences.size
    moved = differences[differences != 0]
    if moved.size < 2:
        return SignFlipTest(1.0, mean, texts, 1.0, "exact")
    if 2**moved.size <= flips:
        p = _flipped(moved, flips=flips, rng=rng)
        return SignFlipTest(p, mean, texts, smallest_p(moved.size), "exact")
    smallest = max(smallest_p(moved.size), min(1.0, 2 / (flips + 1)))
    return SignFlipTest(_flipped(moved, flips=flips, rng=rng), mean, texts, smallest, "monte-carlo")


def smallest_p(texts: int) -> float:
    """Give the smallest two-sided p-value that n texts can reach: 2/2ⁿ.

    Fewer than 6 texts never reach 0.05, whatever they show; 8 are needed for 0.01.

    Examples
    --------
    >>> smallest_p(5), smallest_p(8)
    (0.0625, 0.0078125)
    """
    if texts < 1:
        raise ValueError("a test needs at least one text")
    return float(2.0 ** (1 - texts))


def _flipped(
    differences: npt.NDArray[np.float64], *, flips: int, rng: np.random.Generator
) -> float:
    from scipy.stats import permutation_test

    scale = np.abs(differences).sum()

    def mean(values: npt.NDArray[np.float64], axis: int) -> npt.NDArray[np.float64]:
        shares = values.sum(axis=axis) / scale
        return np.asarray(np.round(shares * TIE_GRID), dtype=np.float64)

    result = permutation_test(
        (differences,),
        mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=flips,
        batch=max(1, BATCH_VALUES // differences.size),
        rng=rng,
    )
    return float(result.pvalue)
