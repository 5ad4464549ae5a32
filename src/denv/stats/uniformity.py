"""Whether rank fractions are uniform, as they are where both sides draw from one distribution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Uniformity:
    """Cramér and von Mises' statistic of ``size`` fractions against Uniform(0, 1), with its p."""

    statistic: float
    p_value: float
    size: int


def cramer_von_mises(fractions: npt.ArrayLike) -> Uniformity:
    r"""Test rank fractions for uniformity.

    Parameters
    ----------
    fractions
        One-dimensional, in [0, 1]: the rank of the stage's value among draws of the reference,
        over the number of draws. The test takes them as continuous: equal ranks are to be broken
        at random before.

    Returns
    -------
    Uniformity
        :math:`\frac{1}{12n} + \sum_i \left(\frac{2i-1}{2n} - u_{(i)}\right)^2`. Large values are
        extreme, on whichever side the ranks crowd.

    Raises
    ------
    ValueError
        For fewer than two fractions, or one outside [0, 1].

    References
    ----------
    Csörgő, S. and Faraway, J. J. (1996). The exact and asymptotic distributions of Cramér-von
    Mises statistics. *JRSS B* 58, 221-234.

    Examples
    --------
    >>> result = cramer_von_mises([0.1, 0.3, 0.5, 0.7, 0.9])
    >>> round(result.statistic, 4), round(result.p_value, 3)
    (0.0167, 1.0)
    """
    values = np.asarray(fractions, dtype=np.float64)
    if values.ndim != 1 or values.size < 2:
        raise ValueError("a test of uniformity needs at least two fractions")
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError("a rank fraction is not between 0 and 1")
    from scipy.stats import cramervonmises

    test = cramervonmises(values, "uniform")
    p_value = min(1.0, max(0.0, float(test.pvalue)))
    return Uniformity(float(test.statistic), p_value, values.size)
