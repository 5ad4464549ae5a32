"""How far two next-token distributions are apart, from what their servers report of them.

A server reports its k likeliest tokens, so each distribution has a rest that nobody sees. Every
figure here says what the rest may do to it: a lower bound stays one whatever the rest holds, and
so does an upper bound. Sums over the k tokens alone, renormalised or not, bound nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, log, sqrt
from sys import float_info

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

REST_RESOLUTION = 1e-6
"""A rest below this is rounding: float32 logprobs do not resolve it."""

MASS_TOLERANCE = 0.01
"""Reported probabilities may exceed 1 by this much in all, through logprobs of two decimals."""


@dataclass(frozen=True, slots=True, eq=False)
class TotalVariation:
    """Bounds of the total variation distance at each position; both arrays lie in [0, 1]."""

    lower: FloatArray
    upper: FloatArray


@dataclass(frozen=True, slots=True)
class DeltaP:
    """Mean and root mean square of the stage's probability less the reference's, over tokens."""

    mean: float
    rms: float
    tokens: int


@dataclass(frozen=True, slots=True)
class PerplexityRatio:
    """Mean difference of the negative log-likelihoods in nats, and its exponential."""

    delta_nll: float
    ratio: float
    tokens: int


def reported_mass(logprobs: npt.ArrayLike) -> FloatArray:
    """Give the probability that each position's list covers; the last axis is the list.

    NaN entries are tokens that were not reported. A mass well above 1 is no distribution: the
    bounds below refuse it, and a caller who must not fail looks here first.

    Examples
    --------
    >>> mass = reported_mass([[-0.6931472, -1.3862944], [-0.6931472, float("nan")]])
    >>> mass.round(4).tolist()
    [0.75, 0.5]
    """
    return np.asarray(np.nansum(np.exp(np.asarray(logprobs, dtype=np.float64)), axis=-1))


def kl_lower_bound(
    p_logprobs: npt.ArrayLike,
    q_logprobs: npt.ArrayLike,
    *,
    rest_resolution: float = REST_RESOLUTION,
) -> FloatArray:
    r"""Bound KL(p‖q) from below by the divergence of the coarse-grained distributions.

    Tokens that both sides report are cells of their own, all others are one rest bucket:
    :math:`\sum_{i \in M} p_i \ln(p_i/q_i) + p_R \ln(p_R/q_R)` with
    :math:`p_R = 1 - \sum_M p_i`. Merging cells never raises a divergence (data-processing
    inequality), so the bound holds whatever the rest is made of.

    Parameters
    ----------
    p_logprobs, q_logprobs
        Natural logarithms of one shape ``(..., k)``: entry i of both is the same token, NaN where
        that side did not report it. A token that one side lacks is part of the rest on both.
    rest_resolution
        q's rest counts as at least this much, so that rounding cannot make the bound infinite.
        Raising q only lowers the bound.

    Returns
    -------
    numpy.ndarray
        Shape ``(...)``, in nats, at least 0. It is 0 where no token is common, and infinite where
        q gives probability 0 to a token that p may emit.

    Raises
    ------
    ValueError
        For shapes that differ, or a list whose probabilities sum to more than 1.01.

    References
    ----------
    Cover, T. M. and Thomas, J. A. (2006). *Elements of Information Theory*, 2nd ed., Theorem
    2.7.1 (log-sum inequality).

    Examples
    --------
    >>> import numpy as np
    >>> bound = kl_lower_bound(np.log([0.6, 0.25]), np.log([0.5, 0.3]))
    >>> round(float(bound), 8)
    0.02066023
    """
    from scipy.special import rel_entr

    p, q = _common(p_logprobs, q_logprobs)
    p_rest, q_rest = _rest(p), np.maximum(_rest(q), rest_resolution)
    bound = rel_entr(p, q).sum(axis=-1) + rel_entr(p_rest, q_rest)
    return np.maximum(np.asarray(bound, dtype=np.float64), 0.0)


def total_variation(p_logprobs: npt.ArrayLike, q_logprobs: npt.ArrayLike) -> TotalVariation:
    r"""Bound the total variation :math:`\tfrac12\sum_x |p_x - q_x|` from both sides.

    Parameters
    ----------
    p_logprobs, q_logprobs
        As in :func:`kl_lower_bound`.

    Returns
    -------
    TotalVariation
        ``lower`` takes the rests as one cell: :math:`\tfrac12(\sum_M|p_i-q_i| + |p_R-q_R|)`.
        ``upper`` counts all mass that is not reported by both as differing:
        :math:`\tfrac12(\sum_M|p_i-q_i| + p_R + q_R) = 1 - \sum_M \min(p_i, q_i)`. Where no token
        is common they are 0 and 1.

    Raises
    ------
    ValueError
        As in :func:`kl_lower_bound`.

    References
    ----------
    Levin, D. A., Peres, Y. and Wilmer, E. L. (2009). *Markov Chains and Mixing Times*,
    Proposition 4.2.

    Examples
    --------
    >>> import numpy as np
    >>> bounds = total_variation(np.log([0.6, 0.25]), np.log([0.5, 0.3]))
    >>> round(float(bounds.lower), 4), round(float(bounds.upper), 4)
    (0.1, 0.25)
    """
    p, q = _common(p_logprobs, q_logprobs)
    p_rest, q_rest = _rest(p), _rest(q)
    seen = np.abs(p - q).sum(axis=-1)
    lower = np.clip((seen + np.abs(p_rest - q_rest)) / 2, 0.0, 1.0)
    return TotalVariation(lower, np.clip((seen + p_rest + q_rest) / 2, lower, 1.0))


def pinsker(kl: float) -> float:
    r"""Give Pinsker's upper bound of the total variation, :math:`\sqrt{KL/2}`, at most 1.

    It needs the divergence itself or an upper bound of it: from a *lower* bound of the divergence
    it bounds nothing.

    Raises
    ------
    ValueError
        For a negative divergence.

    References
    ----------
    Cover and Thomas (2006), Lemma 11.6.1, in nats.

    Examples
    --------
    >>> round(pinsker(0.031273), 8)
    0.12504599
    """
    _check_divergence(kl)
    return min(1.0, sqrt(kl / 2))


def stein_tokens(kl: float, *, alpha: float = 0.01) -> float:
    r"""Give the tokens that a test of level ``alpha`` needs, :math:`\ln(1/\alpha)/KL`.

    This is the first-order limit for tokens *sampled* from the stage (Chernoff and Stein, Wald);
    a comparison of whole distributions needs far fewer. With a lower bound of the divergence it is
    an upper bound of the number. It is infinite at a divergence of 0.

    Raises
    ------
    ValueError
        For a negative divergence, or an ``alpha`` that is not between 0 and 1.

    References
    ----------
    Cover and Thomas (2006), Theorem 11.8.3; Wald, A. (1947). *Sequential Analysis*.

    Examples
    --------
    >>> round(stein_tokens(0.031273), 2)
    147.26
    """
    _check_divergence(kl)
    if not 0 < alpha < 1:
        raise ValueError(f"alpha {alpha} is not between 0 and 1")
    return log(1 / alpha) / kl if kl > 0 else inf


def delta_p(reference: npt.ArrayLike, stage: npt.ArrayLike) -> DeltaP:
    """Summarise the change of the probability that the text's own token has, as llama.cpp does.

    Parameters
    ----------
    reference, stage
        Probabilities (not logarithms) of the same tokens, one-dimensional, without NaN.

    Raises
    ------
    ValueError
        For no token, lengths that differ, or values outside [0, 1].

    Examples
    --------
    >>> result = delta_p([0.9, 0.5, 0.2], [0.85, 0.55, 0.1])
    >>> round(result.mean, 8), round(result.rms, 8)
    (-0.03333333, 0.07071068)
    """
    p, q = _paired(reference, stage)
    for side in (p, q):
        if side.min() < 0 or side.max() > 1:
            raise ValueError("a probability is not between 0 and 1")
    change = q - p
    return DeltaP(float(change.mean()), sqrt(float((change**2).mean())), len(change))


def perplexity_ratio(reference_nll: npt.ArrayLike, stage_nll: npt.ArrayLike) -> PerplexityRatio:
    """Give the stage's perplexity over the reference's on the same tokens: exp(mean difference).

    Parameters
    ----------
    reference_nll, stage_nll
        Negative log-likelihoods in nats, token for token, one-dimensional and finite. A mean
        difference above 709 has an infinite ratio.

    Raises
    ------
    ValueError
        For no token, lengths that differ, or values that are not finite.

    Examples
    --------
    >>> result = perplexity_ratio([1.0, 2.0, 3.0], [1.1, 2.0, 3.2])
    >>> round(result.delta_nll, 4), round(result.ratio, 4)
    (0.1, 1.1052)
    """
    reference, stage = _paired(reference_nll, stage_nll)
    difference = float((stage - reference).mean())
    ratio = exp(difference) if difference < log(float_info.max) else inf
    return PerplexityRatio(difference, ratio, len(stage))


def _common(p_logprobs: npt.ArrayLike, q_logprobs: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Give both sides' probabilities of the tokens that both report, and 0 for the others."""
    p_logs, q_logs = (np.asarray(side, dtype=np.float64) for side in (p_logprobs, q_logprobs))
    if p_logs.shape != q_logs.shape or p_logs.ndim == 0:
        raise ValueError(f"logprobs of the shapes {p_logs.shape} and {q_logs.shape}")
    for side in (p_logs, q_logs):
        most = reported_mass(side).max(initial=0.0)
        if most > 1 + MASS_TOLERANCE:
            raise ValueError(f"the reported probabilities of a position sum to {most:.4g}")
    both = ~(np.isnan(p_logs) | np.isnan(q_logs))
    return np.where(both, np.exp(p_logs), 0.0), np.where(both, np.exp(q_logs), 0.0)


def _rest(probabilities: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(1 - probabilities.sum(axis=-1), 0.0))


def _paired(one: npt.ArrayLike, other: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    first, second = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape or first.size == 0:
        raise ValueError(f"pairs of the shapes {first.shape} and {second.shape}")
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError("a value is not finite")
    return first, second


def _check_divergence(kl: float) -> None:
    if not kl >= 0:
        raise ValueError(f"a divergence of {kl} is not 0 or more")
