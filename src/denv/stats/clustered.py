"""The mean of a per-token figure with a standard error that is robust to clusters (texts)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

ROUNDING = 1e-12
"""A standard error below this share of the largest value is rounding, and counts as 0."""


@dataclass(frozen=True, slots=True)
class ClusteredMean:
    """A mean, its cluster-robust standard error and t limits; None where there is one cluster.

    ``degenerate`` says that no spread between clusters was seen, so that the limits, where there
    are any, are the value itself and say nothing of clusters unseen.
    """

    value: float
    standard_error: float | None
    low: float | None
    high: float | None
    confidence: float
    observations: int
    clusters: int

    @property
    def degenerate(self) -> bool:
        """Whether the standard error is absent or 0."""
        return not self.standard_error


def clustered_mean(
    values: npt.ArrayLike, clusters: npt.ArrayLike, *, confidence: float = 0.95
) -> ClusteredMean:
    r"""Estimate a mean over observations that are dependent within clusters.

    Parameters
    ----------
    values
        One figure an observation, shape ``(n,)``.
    clusters
        Which cluster each observation is of: integers or strings, shape ``(n,)``.
    confidence
        Two-sided coverage, strictly between 0 and 1.

    Returns
    -------
    ClusteredMean
        The variance is :math:`\frac{G}{G-1}\,\frac{1}{n^2}\sum_g\left(\sum_{i \in g}
        (y_i-\bar y)\right)^2`, the limits take the t distribution with :math:`G - 1` degrees of
        freedom. With few clusters of very unequal size they cover less than they say.

    Raises
    ------
    ValueError
        For no observation, shapes that differ, a value that is not finite, or a confidence that is
        no share.

    References
    ----------
    Liang, K.-Y. and Zeger, S. L. (1986). *Biometrika* 73, 13-22; Cameron, A. C. and Miller, D. L.
    (2015). A practitioner's guide to cluster-robust inference. *J. Human Resources* 50, 317-372,
    sections II and VI.

    Examples
    --------
    >>> result = clustered_mean([1, 2, 4, 5, 9, 9], ["a", "a", "b", "b", "c", "c"])
    >>> round(result.value, 4), round(result.standard_error, 4), result.clusters
    (5.0, 2.1794, 3)
    """
    y, groups = clustered_values(values, clusters, confidence=confidence)
    count, mean = int(groups.max()) + 1, float(y.mean())
    if count == 1:
        return ClusteredMean(mean, None, None, None, confidence, y.size, 1)
    import statsmodels.api as sm

    fit = sm.OLS(y, np.ones_like(y)).fit(
        cov_type="cluster", cov_kwds={"groups": groups}, use_t=True
    )
    error = float(fit.bse[0])
    if error <= ROUNDING * np.abs(y).max():
        return ClusteredMean(mean, 0.0, mean, mean, confidence, y.size, count)
    low, high = (float(limit) for limit in fit.conf_int(1 - confidence)[0])
    return ClusteredMean(mean, error, low, high, confidence, y.size, count)


def clustered_values(
    values: npt.ArrayLike, clusters: npt.ArrayLike, *, confidence: float
) -> tuple[FloatArray, IntArray]:
    """Check observations and number their clusters from 0."""
    y, labels = np.asarray(values, dtype=np.float64), np.asarray(clusters)
    if y.ndim != 1 or y.shape != labels.shape or y.size == 0:
        raise ValueError(f"values and clusters of the shapes {y.shape} and {labels.shape}")
    if not np.isfinite(y).all():
        raise ValueError("a value is not finite")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence {confidence} is not between 0 and 1")
    return y, np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.int64)
