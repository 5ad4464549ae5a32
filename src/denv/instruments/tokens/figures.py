"""From compared positions to figures with intervals; texts are resampled, never tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import exp, log, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from denv.instruments.bank import Prompt
from denv.instruments.tokens.decision import Margins
from denv.instruments.tokens.pairing import RANK_CAP, FloatArray, Positions
from denv.records import Json
from denv.stats.bootstrap import cluster_bootstrap
from denv.stats.divergence import REST_RESOLUTION
from denv.stats.nonnegative import nonnegative_mean
from denv.stats.regression import slope_by_position

RESAMPLES = 9999
FOR_PARTS = 5
"""Buckets and categories, which decide nothing, get a fifth of the resamples."""

BUCKETS = (0, 1, 4, 16, 64, 256, 1024)
"""Where buckets of positions begin; the first token stands alone, since chat begins with it."""

DELTA_P_EDGES = (
    -1.0, -0.5, -0.2, -0.1, -0.05, -0.02, -0.01, -0.001,
    0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0,
)  # fmt: skip

RATE = (0.0, 1.0)

MOST_NATS = -log(REST_RESOLUTION)
"""No upper limit of a divergence is above it: lists do not resolve more."""

TIMES_KL, TIMES_TV = 2.0, 1.2
"""So many times the largest text's figure the limit may be that supposes it lognormal.

With ten texts or more the levels hold: for a divergence whose logarithm varies by up to 1.5, and
for a total variation, which cannot exceed 1, by up to 1.
"""

Value = Callable[[Positions], FloatArray]


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """A text's positions, and what is told apart by: its prompt, and the prompt's tokens."""

    prompt: Prompt
    prompt_tokens: int | None
    positions: Positions


@dataclass(frozen=True, slots=True)
class Measure:
    """How intervals are made: their confidence, what draws the resamples, and how many.

    ``margins`` say what figures that must be small are small beside.
    """

    confidence: float
    rng: np.random.Generator
    resamples: int = RESAMPLES
    margins: Margins = field(default_factory=Margins)

    def figure(
        self,
        texts: Sequence[Compared],
        value: Value,
        *,
        bounds: tuple[float, float] | None = None,
        part: bool = False,
    ) -> dict[str, Json] | None:
        """Give a mean over all tokens with its interval over texts, None where there is no token.

        Where all texts are equal the resamples say nothing: limits that hold for any texts stand
        in their place if the figure is bounded, else there is the value itself, marked as such.
        """
        sums, counts = _summed(texts, value)
        if not sum(counts) or not np.isfinite(sums).all():
            return None
        found = cluster_bootstrap(
            sums,
            counts,
            rng=self.rng,
            confidence=self.confidence,
            bounds=bounds,
            resamples=self.resamples // FOR_PARTS if part else self.resamples,
        )
        limits = (found.low, found.high)
        method: str = found.method
        if found.degenerate and found.conservative is not None:
            limits, method = found.conservative, "conservative"
        interval = None if limits[0] is None or limits[1] is None else list(limits)
        return {"value": found.value, "interval": interval, "method": method}

    def small_figure(
        self,
        texts: Sequence[Compared],
        value: Value,
        *,
        resolution: float,
        most: float,
        times: float,
    ) -> dict[str, Json] | None:
        """Give a mean that decides by how small it is, with limits for few and skewed texts.

        Over such texts the bootstrap's upper limit lies too low, and a stage at the margin would
        be called faithful several times as often as the confidence allows.
        """
        sums, counts = _summed(texts, value)
        if not sum(counts) or not np.isfinite(sums).all():
            return None
        found = nonnegative_mean(
            sums,
            counts,
            rng=self.rng,
            resolution=resolution,
            most=most,
            times=times,
            confidence=self.confidence,
            resamples=self.resamples,
        )
        if found.high is None:
            return {"value": found.value, "interval": None, "method": "one-text"}
        return {"value": found.value, "interval": [found.low, found.high], "method": "cautious"}


def _summed(texts: Sequence[Compared], value: Value) -> tuple[list[float], list[int]]:
    values = [value(text.positions) for text in texts]
    return [float(each.sum()) for each in values], [len(each) for each in values]


def main_figures(
    texts: Sequence[Compared], measure: Measure, *, distribution: bool
) -> dict[str, Any]:
    """Give the figures that decide, and those beside them; null without a distribution."""
    real = texts if distribution else ()
    ranks = np.concatenate([text.positions.rank for text in texts] or [np.array([])])
    return {
        "texts": sum(text.positions.count > 0 for text in texts),
        "tokens": sum(text.positions.count for text in texts),
        "top1_agreement": measure.figure(texts, lambda one: one.agrees, bounds=RATE),
        "rank": {
            "first": measure.figure(texts, lambda one: one.rank == 1, bounds=RATE),
            "mean": measure.figure(texts, lambda one: one.rank),
            "cap": RANK_CAP,
            "counts": [int((ranks == rank).sum()) for rank in range(1, RANK_CAP + 1)],
        },
        "nll": {
            "stage": measure.figure(texts, lambda one: -one.q_own),
            "reference": measure.figure(real, lambda one: -one.p_own),
        },
        "delta_nll": _delta_nll(real, measure),
        "unlisted": sum(int(text.positions.unlisted.sum()) for text in texts),
        "kl_lower_bound": divergence(real, measure),
        "total_variation": _total_variation(real, measure),
        "delta_p": _delta_p(real, measure),
    }


def divergence(texts: Sequence[Compared], measure: Measure) -> dict[str, Json] | None:
    """Give the divergence as far as it is seen."""
    resolution, _ = measure.margins.resolutions()
    return measure.small_figure(
        texts, lambda one: one.kl, resolution=resolution, most=MOST_NATS, times=TIMES_KL
    )


def variation(texts: Sequence[Compared], measure: Measure) -> dict[str, Json] | None:
    """Give total variation with all that is not seen."""
    _, resolution = measure.margins.resolutions()
    return measure.small_figure(
        texts, lambda one: one.tv_high, resolution=resolution, most=1.0, times=TIMES_TV
    )


def _delta_nll(texts: Sequence[Compared], measure: Measure) -> dict[str, Json] | None:
    found = measure.figure(texts, lambda one: one.p_own - one.q_own)
    # Past 700 nats a ratio is no float any more.
    return None if found is None else {**found, "perplexity_ratio": exp(min(found["value"], 700.0))}


def _total_variation(texts: Sequence[Compared], measure: Measure) -> dict[str, Json] | None:
    """Give the upper bound, whose rest counts as differing, with the lower one beside it."""
    found = variation(texts, measure)
    if found is None:
        return None
    seen = measure.figure(texts, lambda one: one.tv_low, bounds=RATE)
    unreported = measure.figure(texts, lambda one: one.unreported, bounds=RATE)
    return {**found, "seen": seen, "unreported": unreported}


def delta_p_of(positions: Positions) -> FloatArray:
    """Give the change of the text's token's probability, stage less reference."""
    change: FloatArray = np.exp(positions.q_own) - np.exp(positions.p_own)
    return change


def _delta_p(texts: Sequence[Compared], measure: Measure) -> dict[str, Json] | None:
    mean = measure.figure(texts, delta_p_of)
    square = measure.figure(texts, lambda one: delta_p_of(one) ** 2)
    if mean is None or square is None:
        return None
    limits = square["interval"]
    rms = {
        "value": sqrt(square["value"]),
        "interval": None if limits is None else [sqrt(max(0.0, limit)) for limit in limits],
        "method": square["method"],
    }
    changes = np.concatenate([delta_p_of(text.positions) for text in texts])
    counts, _ = np.histogram(np.clip(changes, -1.0, 1.0), bins=np.array(DELTA_P_EDGES))
    histogram = {"edges": list(DELTA_P_EDGES), "counts": counts.tolist()}
    return {"mean": mean, "rms": rms, "histogram": histogram}


# ---------------------------------------------------------------- by position, depth, category


def by_position(
    texts: Sequence[Compared], measure: Measure, *, distribution: bool
) -> dict[str, Any]:
    """Give agreement and divergence in buckets of positions, and their slopes."""
    last = max(
        (int(text.positions.index.max()) for text in texts if text.positions.count), default=-1
    )
    starts = [start for start in BUCKETS if start <= last]
    buckets = []
    for start, end in pairwise([*starts, last + 1]):
        part = [_restricted(text, start, end) for text in texts]
        row = _part(part, measure, distribution=distribution)
        buckets.append({"from": start, "to": end - 1, **row})
    return {
        "buckets": buckets,
        "kl_slope": _slope(texts, measure, lambda one: one.kl) if distribution else None,
        "agreement_slope": _slope(texts, measure, lambda one: one.agrees),
    }


def by_depth(texts: Sequence[Compared], measure: Measure, *, distribution: bool) -> dict[str, Any]:
    """Give the same by the length of the prompt that long-context texts stand behind."""
    depths = sorted({text.prompt.depth_tokens or 0 for text in texts})
    groups = [
        {
            "depth_tokens": depth or None,
            **_part(
                [text for text in texts if (text.prompt.depth_tokens or 0) == depth],
                measure,
                distribution=distribution,
            ),
        }
        for depth in depths
    ]
    known = [text for text in texts if text.prompt_tokens is not None]
    slope = None
    if distribution and len(known) == len(texts):
        slope = _slope(known, measure, lambda one: one.kl, context=True)
    return {"groups": groups, "kl_slope_per_1000": slope}


def by_category(texts: Sequence[Compared], measure: Measure, *, distribution: bool) -> list[Json]:
    """Give the same by the prompt's category."""
    names = list(dict.fromkeys(text.prompt.category for text in texts))
    return [
        {
            "category": name,
            **_part(
                [text for text in texts if text.prompt.category == name],
                measure,
                distribution=distribution,
            ),
        }
        for name in names
    ]


def _part(texts: Sequence[Compared], measure: Measure, *, distribution: bool) -> dict[str, Any]:
    real = texts if distribution else ()
    return {
        "texts": sum(text.positions.count > 0 for text in texts),
        "tokens": sum(text.positions.count for text in texts),
        "top1_agreement": measure.figure(texts, lambda one: one.agrees, bounds=RATE, part=True),
        "kl_lower_bound": measure.figure(real, lambda one: one.kl, part=True),
    }


def _restricted(text: Compared, start: int, end: int) -> Compared:
    found = text.positions
    inside = (found.index >= start) & (found.index < end)
    return Compared(text.prompt, text.prompt_tokens, found.where(inside))


def _slope(
    texts: Sequence[Compared], measure: Measure, value: Value, *, context: bool = False
) -> dict[str, Json] | None:
    """Fit a line over positions, or over the tokens of context in thousands."""
    values, places, clusters = [], [], []
    for number, text in enumerate(texts):
        at: npt.NDArray[Any] = text.positions.index
        values.append(value(text.positions))
        places.append((at + (text.prompt_tokens or 0)) / 1000 if context else at)
        clusters.append(np.full(len(at), number))
    joined = np.concatenate(values) if values else np.array([])
    if not len(joined) or not np.isfinite(joined).all():
        return None
    if np.ptp(joined) == 0:  # a line through equal values shows rounding alone
        return {"value": 0.0, "interval": None, "at_start": float(joined[0])}
    line = slope_by_position(
        joined, np.concatenate(places), np.concatenate(clusters), confidence=measure.confidence
    )
    if line is None:
        return None
    interval = None if line.low is None or line.high is None else [line.low, line.high]
    return {"value": line.slope, "interval": interval, "at_start": line.intercept}


def shares(texts: Sequence[Compared]) -> Mapping[str, int]:
    """Count by what texts were matched, and the tokens that found no counterpart."""
    counted = [text.positions for text in texts if text.positions.count]
    return {
        "ids": sum(one.by_ids for one in counted),
        "bytes": sum(not one.by_ids for one in counted),
        "skipped_tokens": sum(text.positions.skipped for text in texts),
    }
