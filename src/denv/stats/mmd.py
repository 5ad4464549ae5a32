"""Whether two sets of texts come from one distribution: maximum mean discrepancy."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

PAD = -1
"""Stands behind the end of a text; two texts that have both ended agree there."""

GATHERED = 4_000_000
"""Kernel entries that one batch of permutations looks up at the most: some 30 MB."""


@dataclass(frozen=True, slots=True)
class MeanDiscrepancy:
    """The unbiased squared discrepancy, the mean kernels it is made of, and a permutation p."""

    mmd2: float
    within_x: float
    within_y: float
    between: float
    p_value: float
    sizes: tuple[int, int]


def hamming_mmd(
    x: Sequence[Sequence[Hashable]],
    y: Sequence[Sequence[Hashable]],
    *,
    rng: np.random.Generator,
    permutations: int = 999,
) -> MeanDiscrepancy:
    r"""Test two samples of texts with the Hamming kernel, the share of positions that are equal.

    Parameters
    ----------
    x, y
        At least two texts each: strings, or sequences of token ids. Shorter texts are padded to
        the longest of both samples.
    rng
        Draws the permutations.
    permutations
        How many relabellings are drawn; where no more exist, all of them are taken instead.

    Returns
    -------
    MeanDiscrepancy
        :math:`\overline{k_{xx}} + \overline{k_{yy}} - 2\,\overline{k_{xy}}` with the means of
        :math:`k_{xx}`, :math:`k_{yy}` over pairs of different texts (a U-statistic, so it may be
        negative). The p-value is one-sided and never 0; it is 1 where all texts are equal.
        The test supposes that texts are exchangeable under its null hypothesis: one prompt, or
        the same prompts on both sides in random order.

    Raises
    ------
    ValueError
        For fewer than two texts on a side.

    References
    ----------
    Gretton, A. et al. (2012). A kernel two-sample test. *JMLR* 13, 723-773, Lemma 6; Gao, I.,
    Liang, P. and Guestrin, C. (2024). Model equality testing: which model is this API serving?

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> result = hamming_mmd(["aab", "abb", "aaa"], ["bbb", "bba", "abb"], rng=rng)
    >>> round(result.mmd2, 4), round(result.p_value, 2)
    (0.2963, 0.4)
    """
    if min(len(x), len(y)) < 2:
        raise ValueError("a discrepancy needs at least two texts on each side")
    from scipy.stats import permutation_test

    kernel = _hamming_kernel([*x, *y])
    labels = np.arange(len(x) + len(y))

    def discrepancy(
        first: npt.NDArray[np.int64], second: npt.NDArray[np.int64], axis: int = -1
    ) -> npt.NDArray[np.float64]:
        del axis  # always the last
        return _mmd2(kernel, first, second)

    test = permutation_test(
        (labels[: len(x)], labels[len(x) :]),
        discrepancy,
        vectorized=True,
        n_resamples=permutations,
        batch=max(1, GATHERED // labels.size**2),
        alternative="greater",
        rng=rng,
    )
    means = _mean_kernels(kernel, labels[: len(x)], labels[len(x) :])
    within_x, within_y, between = (float(each) for each in means)
    sizes = (len(x), len(y))
    return MeanDiscrepancy(
        float(test.statistic), within_x, within_y, between, float(test.pvalue), sizes
    )


def _hamming_kernel(texts: Sequence[Sequence[Hashable]]) -> npt.NDArray[np.float64]:
    codes: dict[Hashable, int] = {}
    longest = max(1, *(len(text) for text in texts))
    coded = np.full((len(texts), longest), PAD, dtype=np.int64)
    for row, text in zip(coded, texts, strict=True):
        row[: len(text)] = [codes.setdefault(symbol, len(codes)) for symbol in text]
    return np.array([(coded == row).mean(axis=1) for row in coded])


def _mmd2(
    kernel: npt.NDArray[np.float64], first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    within_first, within_second, between = _mean_kernels(kernel, first, second)
    # Relabellings that tie must not differ by rounding: it would make p too small.
    return np.round(within_first + within_second - 2 * between, 12)


def _mean_kernels(
    kernel: npt.NDArray[np.float64], first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Mean kernels within the first, within the second and between; the last axis are texts."""

    def within(texts: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        size = texts.shape[-1]
        total = kernel[texts[..., :, None], texts[..., None, :]].sum(axis=(-1, -2))
        # A text equals itself: the diagonal is size ones.
        return np.asarray((total - size) / (size * (size - 1)))

    between = kernel[first[..., :, None], second[..., None, :]].mean(axis=(-1, -2))
    return within(first), within(second), np.asarray(between)
