"""Intervals that are shown: the share of them that misses, in the use that is made of them.

Those of one proportion and of paired rates are enumerated, the others drawn. They decide nothing;
which ones miss more often than they say is said with them where they are described.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri
from scipy.stats import binom, norm

from denv.instruments.tokens.figures import MOST_NATS
from denv.stats.auroc import auroc
from denv.stats.bootstrap import bounded_mean_limits, cluster_bootstrap
from denv.stats.clustered import clustered_mean
from denv.stats.nonnegative import nonnegative_mean
from denv.stats.paired import PairedCounts, mcnemar, newcombe_10
from denv.stats.proportions import ProportionInterval, clopper_pearson, wilson
from denv.stats.regression import slope_by_position
from simulations import pairs
from simulations.edge import last_true
from simulations.row import Row, generator, share
from simulations.texts import POPULATIONS, FloatArray, IntArray, lengths

MISSES = 0.05
RESAMPLES = 499
TEXTS = (6, 12, 20, 40, 120)

Limits = tuple[float, float]


def rows(quick: bool) -> Sequence[Row]:
    """Give the share that misses of each interval."""
    runs = 50 if quick else 500
    texts = (12,) if quick else TEXTS
    return [
        *(_proportion(name, rate) for name in _PROPORTIONS for rate in (0.9, 0.95, 0.99)),
        *(_tango(size) for size in ((60,) if quick else (60, 240))),
        *(_newcombe(size, runs) for size in (60, 240)),
        *(_mid_p(size) for size in (60, 240)),
        *(_auroc(area, wrong, runs) for area in (0.8, 0.98) for wrong in (6, 15, 40)),
        *(_agreement(size, runs) for size in texts),
        *(_divergence(size, runs) for size in texts),
        *(_deciding(size, runs) for size in texts),
        *(_equal_texts(size) for size in texts),
        *(_mean(size, runs) for size in texts),
        *(_slope(size, runs) for size in texts),
    ]


# ---------------------------------------------------------------- enumerated


_PROPORTIONS: dict[str, Callable[[int, int], ProportionInterval]] = {
    "Wilson": wilson,
    "Clopper–Pearson": clopper_pearson,
}
SIZES = (20, 35, 50, 75, 100, 200, 300, 500)


def _proportion(name: str, rate: float) -> Row:
    """Give the share that misses at the worst of several numbers of cases."""
    missed = [_missed(_PROPORTIONS[name], cases, rate) for cases in SIZES]
    return Row(
        "coverage",
        f"{name}, 95 %",
        f"the worst of {', '.join(map(str, SIZES))} cases; true rate",
        MISSES,
        max(missed),
        size=f"{100 * rate:g} %",
    )


def _missed(interval: Callable[[int, int], ProportionInterval], cases: int, rate: float) -> float:
    likely = [k for k in range(cases + 1) if binom.pmf(k, cases, rate) > 1e-12]
    found = ((k, interval(k, cases)) for k in likely)
    outside = [k for k, one in found if not one.low <= rate <= one.high]
    return float(binom.pmf(outside, cases, rate).sum())


def _tango(size: int) -> Row:
    """Add up all tables on which either limit is on the wrong side, as the statistic tells."""
    z = float(norm.isf(MISSES / 2))
    missed = max(
        _outside(size, z, drop=drop, stage_only=one)
        for drop in (0.0, 0.02, 0.05, 0.1)
        for one in (0.005, 0.01, 0.02, 0.05, 0.1)
    )
    return Row(
        "coverage",
        "Tango, 95 %",
        "drop of 0 to 10 points, the stage alone right in 0.5 to 10 %, at the worst of them; items",
        MISSES,
        missed,
        size=str(size),
    )


def _outside(size: int, z: float, *, drop: float, stage_only: float) -> float:
    def beyond(b: IntArray, c: IntArray) -> npt.NDArray[np.bool_]:
        return np.abs(pairs.statistic(size, b, c, difference=drop)) > z

    return pairs.summed(beyond, size, drop=drop, stage_only=stage_only)


def _mid_p(size: int) -> Row:
    """Give how often equal rates are rejected, at the worst share of discordant pairs."""
    edges, near = [], 0
    for discordant in range(size + 1):
        near = last_true(partial(_rejects, discordant), near=near, high=discordant // 2)
        edges.append(near)
    counts = np.arange(size + 1)
    chances = np.minimum(1.0, 2 * binom.cdf(np.array(edges), counts, 0.5))
    worst = max(binom.pmf(counts, size, rate) @ chances for rate in (0.02, 0.05, 0.1, 0.2, 0.4))
    return Row(
        "coverage",
        "McNemar, mid-p at 5 %",
        "equal rates rejected, 2 to 40 % of the pairs discordant, at the worst of them; items",
        MISSES,
        float(worst),
        size=str(size),
    )


def _rejects(discordant: int, fewer: int) -> bool:
    return mcnemar(fewer, discordant - fewer).mid_p <= MISSES


def _equal_texts(size: int) -> Row:
    """Give the worst over rates of texts that agree everywhere or nowhere."""
    limits = [bounded_mean_limits(k / size, size) for k in range(size + 1)]
    missed = []
    for rate in np.arange(0.5, 0.9951, 0.005):
        outside = [k for k, (low, high) in enumerate(limits) if not low <= rate <= high]
        missed.append(float(binom.pmf(outside, size, rate).sum()))
    return Row(
        "coverage",
        "limits for any figures in [0, 1], 95 %",
        "texts that agree everywhere or nowhere, 50 to 99.5 % of them, at the worst; texts",
        MISSES,
        max(missed),
        size=str(size),
    )


# ---------------------------------------------------------------- drawn


def _drawn(
    name: str, setting: str, runs: int, *, size: str, misses: Callable[[np.random.Generator], bool]
) -> Row:
    rng = generator(name, f"{setting} {size}")
    missed = share(misses(rng) for _ in range(runs))
    return Row("coverage", name, setting, MISSES, missed, runs=runs, size=size)


def _newcombe(size: int, runs: int) -> Row:
    rates = (0.88, 0.06, 0.03, 0.03)

    def misses(rng: np.random.Generator) -> bool:
        found = newcombe_10(PairedCounts(*map(int, rng.multinomial(size, rates))))
        return not found.low <= 0.03 <= found.high

    setting = "94 % against 91 % right, 9 % discordant; items"
    return _drawn("Newcombe's method 10, 95 %", setting, runs, size=str(size), misses=misses)


def _auroc(area: float, wrong: int, runs: int) -> Row:
    """Draw normal confidences whose means are as far apart as the area wants."""
    shift = float(np.sqrt(2) * ndtri(area))

    def misses(rng: np.random.Generator) -> bool:
        found = auroc(rng.normal(shift, 1, 240 - wrong), rng.normal(0, 1, wrong))
        return found is None or not found.interval[0] <= area <= found.interval[1]

    setting = f"area {area:g}, 240 answers, normal confidences; wrong ones"
    return _drawn("area under the ROC curve, 95 %", setting, runs, size=str(wrong), misses=misses)


def _agreement(size: int, runs: int) -> Row:
    """Draw texts whose agreement varies as Beta about 98 %."""

    def misses(rng: np.random.Generator) -> bool:
        counts = lengths(rng, size)
        agreed = rng.binomial(counts, rng.beta(8 * 0.98, 8 * 0.02, size))
        found = cluster_bootstrap(agreed, counts, rng=rng, resamples=RESAMPLES, bounds=(0, 1))
        limits = found.conservative if found.degenerate else (found.low, found.high)
        return not _within(limits, 0.98)

    setting = "agreement of 98 %, most texts near 1; texts"
    return _drawn("BCa over texts, 95 %", setting, runs, size=str(size), misses=misses)


def _divergence(size: int, runs: int) -> Row:
    def misses(rng: np.random.Generator) -> bool:
        figures, counts = POPULATIONS["skewed"].draw(rng, size)
        found = cluster_bootstrap(figures * counts, counts, rng=rng, resamples=RESAMPLES)
        return not _within((found.low, found.high), 1.0)

    setting = "divergence, lognormal, σ 1; texts"
    return _drawn("BCa over texts, 95 %", setting, runs, size=str(size), misses=misses)


def _deciding(size: int, runs: int) -> Row:
    """Draw the same texts for the limits that decide."""

    def misses(rng: np.random.Generator) -> bool:
        figures, counts = POPULATIONS["skewed"].draw(rng, size)
        found = nonnegative_mean(
            figures * counts, counts, rng=rng, resolution=0.01, most=MOST_NATS, resamples=RESAMPLES
        )
        return not _within((found.low, found.high), 1.0)

    setting = "divergence, lognormal, σ 1; texts"
    return _drawn("limits for skewed texts, 95 %", setting, runs, size=str(size), misses=misses)


def _mean(size: int, runs: int) -> Row:
    def misses(rng: np.random.Generator) -> bool:
        values, _, clusters = _tokens(rng, size)
        found = clustered_mean(values, clusters)
        return not _within((found.low, found.high), 0.0)

    setting = "tokens that differ by text as much as within; texts"
    return _drawn("clustered mean, 95 %", setting, runs, size=str(size), misses=misses)


def _slope(size: int, runs: int) -> Row:
    def misses(rng: np.random.Generator) -> bool:
        found = slope_by_position(*_tokens(rng, size))
        return found is None or not _within((found.low, found.high), 0.0)

    setting = "no slope, tokens that differ by text as much as within; texts"
    return _drawn("clustered slope, 95 %", setting, runs, size=str(size), misses=misses)


def _tokens(rng: np.random.Generator, size: int) -> tuple[FloatArray, IntArray, IntArray]:
    """Draw values, positions and texts of tokens, skewed and of mean 0."""
    counts = lengths(rng, size)
    clusters = np.repeat(np.arange(size), counts)
    places = np.concatenate([np.arange(count) for count in counts])
    of_texts = rng.exponential(1.0, size) - 1
    values = of_texts[clusters] + rng.exponential(1.0, len(places)) - 1
    return values, places, clusters


def _within(limits: tuple[float | None, float | None] | None, value: float) -> bool:
    if limits is None or limits[0] is None or limits[1] is None:
        return False
    return limits[0] <= value <= limits[1]
