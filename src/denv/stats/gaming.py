r"""Whether a stage does better on public cases than on private ones, by more than the reference.

Notes
-----
A case gives the difference :math:`d = s - r` of what the stage and the reference pass, -1, 0 or 1.
Gaming is the mean of d over the public cases less its mean over the private ones. Under the
hypothesis that which of a stratum's cases are private has nothing to do with d, all ways to choose
as many private ones are equally likely, and the number of private cases with each value of d is
multivariate hypergeometric, given how many cases have it in all. The sum T of the private d, over
all strata, is small where there is gaming; its exact distribution is the convolution of the
strata's, and the p-value is :math:`P(T \le t)`.

*Validity.* The test is exact at any number of cases, and conservative by the discreteness of T.
It assumes that private cases were made as the public ones of their stratum, by the same generator
under another seed: then a weak stage fails both alike, however weak it is. It assumes nothing of
how hard the strata are, nor that cases of different strata are alike. Private cases of another
kind than the public ones of their stratum can give a false alarm: a stage may be worse at them in
all honesty. A stratum without cases of both parts says nothing and is left out.

References
----------
Fisher, R. A. (1935). *The Design of Experiments*, section 21. Mantel, N. and Haenszel, W. (1959).
Statistical aspects of the analysis of data from retrospective studies of disease. *Journal of the
National Cancer Institute* 22, 719-748 (strata). Lehmann, E. L. and Romano, J. P. (2005). *Testing
Statistical Hypotheses*, section 15.2 (randomisation tests).

scipy is imported inside the functions: it costs most of a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import fsum

import numpy as np
import numpy.typing as npt

LEVEL = 0.01
"""The chance, at most, that a stage that does not tell the parts apart is found to be gaming."""

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a stratum: its cases by what the stage passes less what the reference does.

    ``worse`` have d = -1 (the reference alone passes), ``same`` 0, ``better`` 1.
    """

    worse: int
    same: int
    better: int

    @property
    def cases(self) -> int:
        """How many cases the part has."""
        return self.worse + self.same + self.better

    @property
    def total(self) -> int:
        """The sum of d."""
        return self.better - self.worse


@dataclass(frozen=True, slots=True)
class GamingTest:
    """The one-sided p-value, the difference of the means, and the strata that say something."""

    p_value: float
    gaming: float | None
    strata: int
    public: int
    private: int


def gaming_test(strata: Sequence[tuple[Part, Part]]) -> GamingTest:
    """Test whether private cases go worse for the stage, against the reference, than public ones.

    Parameters
    ----------
    strata
        For each family of cases its public and its private part.

    Returns
    -------
    GamingTest
        ``gaming`` is the difference of the means over the cases of all strata with both parts,
        each stratum weighted by its private cases; None, with p = 1, where there is none.

    Raises
    ------
    ValueError
        For a negative count.

    Examples
    --------
    >>> public, private = Part(0, 80, 0), Part(4, 16, 0)
    >>> test = gaming_test([(public, private)])
    >>> round(test.p_value, 5), round(test.gaming, 3)
    (0.00124, 0.2)
    """
    if any(min(p.worse, p.same, p.better) < 0 for pair in strata for p in pair):
        raise ValueError("a count is negative")
    told = [(pub, priv) for pub, priv in strata if pub.cases and priv.cases]
    if not told:
        return GamingTest(1.0, None, 0, 0, 0)
    chances, least = np.ones(1), 0
    for pub, priv in told:
        of, lowest = _private_sums(pub, priv)
        chances, least = np.convolve(chances, of), least + lowest
    seen = sum(priv.total for _, priv in told)
    p_value = min(1.0, fsum(chances[: seen - least + 1]) / fsum(chances))
    private = sum(priv.cases for _, priv in told)
    gaming = fsum(
        (pub.total / pub.cases - priv.total / priv.cases) * priv.cases / private
        for pub, priv in told
    )
    return GamingTest(p_value, gaming, len(told), sum(pub.cases for pub, _ in told), private)


def _private_sums(pub: Part, priv: Part) -> tuple[_Floats, int]:
    """Give the chances of each sum of the private d, and the least of these sums.

    Of w worse, s same and b better cases, l and h of the first and last are among n private ones
    with the chance C(w, l) C(s, n - l - h) C(b, h) / C(w + s + b, n).
    """
    drawn = priv.cases
    worse, better = pub.worse + priv.worse, pub.better + priv.better
    same = pub.same + priv.same
    least, most = -min(worse, drawn), min(better, drawn)
    of_worse, of_better = _log_binomials(worse, drawn), _log_binomials(better, drawn)
    of_same = _log_binomials(same, drawn)
    whole = _log_binomials(worse + same + better, drawn)[drawn]
    chances = np.zeros(most - least + 1)
    for low, log_low in enumerate(of_worse):
        first, last = max(0, drawn - low - same), min(better, drawn - low)
        if first <= last:
            high = np.arange(first, last + 1)
            log_chance = log_low + of_better[high] + of_same[drawn - low - high] - whole
            chances[high - low - least] += np.exp(log_chance)
    return chances, least


def _log_binomials(size: int, most: int) -> _Floats:
    """Logarithms of C(size, x) for x from 0 to min(size, most)."""
    from scipy.special import gammaln

    x = np.arange(min(size, most) + 1, dtype=np.float64)
    logs = gammaln(size + 1) - gammaln(x + 1) - gammaln(size - x + 1)
    return np.asarray(logs, dtype=np.float64)


def failures_needed(strata: Sequence[tuple[int, int]], *, level: float = LEVEL) -> int | None:
    """Give how many private cases must fail for an alarm where no public one does.

    Parameters
    ----------
    strata
        How many public and private cases each family has; the reference passes all.

    Returns
    -------
    int or None
        So many are enough whichever they are. None where even the failure of all is no proof.

    Examples
    --------
    >>> failures_needed([(300, 60)]), failures_needed([(8, 8)] * 10), failures_needed([(4, 2)])
    (3, 7, None)
    """
    # P(T <= t) is that of all worse cases being private: m/N for a stratum's first, (m-1)/(N-1)
    # for its second. These fall within a stratum, so the least suspicious choice is the greedy one.
    factors = [(-private / (public + private), public, private) for public, private in strata]
    open_ = [one for one in factors if one[1] and one[2]]
    heapify(open_)
    p_value, failed = 1.0, 0
    while open_:
        factor, public, private = heappop(open_)
        p_value, failed = p_value * -factor, failed + 1
        if p_value <= level:
            return failed
        if private > 1:
            heappush(open_, (-(private - 1) / (public + private - 1), public, private - 1))
    return None


def chance_to_catch(
    strata: Sequence[tuple[int, int]], *, damaged: float, level: float = LEVEL
) -> float:
    """Give the chance, at least, that a stage is caught which passes all public cases.

    ``strata`` are as in :func:`failures_needed`; ``damaged`` is the share of the private cases that
    the stage fails, each by itself.

    Examples
    --------
    >>> round(chance_to_catch([(300, 60)], damaged=0.1), 3)
    0.947
    """
    from scipy.stats import binom

    needed = failures_needed(strata, level=level)
    private = sum(private for public, private in strata if public)
    return 0.0 if needed is None else float(binom.sf(needed - 1, private, damaged))
