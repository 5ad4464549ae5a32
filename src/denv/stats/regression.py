"""Whether a per-token figure grows with the position, with texts as clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from denv.stats.clustered import ROUNDING, clustered_values


@dataclass(frozen=True, slots=True)
class Slope:
    """A least-squares slope per position with a cluster-robust standard error and t limits.

    They are None where there is one cluster. ``degenerate`` says that the residuals show no spread
    between clusters, so that the limits say nothing.
    """

    slope: float
    intercept: float
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


def slope_by_position(
    values: npt.ArrayLike,
    positions: npt.ArrayLike,
    clusters: npt.ArrayLike,
    *,
    confidence: float = 0.95,
) -> Slope | None:
    r"""Fit :math:`y = a + b\,x` with observations that are dependent within clusters.

    Parameters
    ----------
    values, positions, clusters
        For each token its figure, its position in the text (or in the context) and its text; one
        shape ``(n,)``.
    confidence
        Two-sided coverage, strictly between 0 and 1.

    Returns
    -------
    Slope or None
        None where all positions are the same. The covariance is Liang and Zeger's with the factor
        :math:`\frac{G}{G-1}\,\frac{n-1}{n-2}`, the limits take the t distribution with
        :math:`G - 1` degrees of freedom. The line is a summary: nothing is said of its fit.

    Raises
    ------
    ValueError
        For no observation, shapes that differ, a value that is not finite, or a confidence that is
        no share.

    References
    ----------
    Cameron, A. C. and Miller, D. L. (2015), as in :func:`~denv.stats.clustered.clustered_mean`.

    Examples
    --------
    >>> result = slope_by_position(
    ...     [1.0, 2.0, 3.5, 0.0, 1.5, 2.0, 1.0, 1.0, 4.0],
    ...     [0, 1, 2, 0, 1, 2, 0, 1, 2],
    ...     ["a", "a", "a", "b", "b", "b", "c", "c", "c"],
    ... )
    >>> round(result.slope, 4), result.clusters, result.low < result.slope < result.high
    (1.25, 3, True)
    """
    y, groups = clustered_values(values, clusters, confidence=confidence)
    x = np.asarray(positions, dtype=np.float64)
    if x.shape != y.shape or not np.isfinite(x).all():
        raise ValueError(f"positions of the shape {x.shape} for {y.size} values, or not finite")
    if np.ptp(x) == 0:
        return None
    import statsmodels.api as sm

    # Centred, so that positions in the thousands do not cost digits.
    centre, count = float(x.mean()), int(groups.max()) + 1
    model = sm.OLS(y, np.column_stack([np.ones_like(x), x - centre]))
    level, slope = (float(each) for each in model.fit().params)
    line = (slope, level - slope * centre)
    if count == 1:
        return Slope(*line, None, None, None, confidence, y.size, 1)
    fit = model.fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
    error = float(fit.bse[1])
    if error * np.ptp(x) <= ROUNDING * np.abs(y).max():
        return Slope(*line, 0.0, slope, slope, confidence, y.size, count)
    low, high = (float(limit) for limit in fit.conf_int(1 - confidence)[1])
    return Slope(*line, error, low, high, confidence, y.size, count)
