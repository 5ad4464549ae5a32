"""Rules for many looks: the chance of a false alarm at any of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, log, log1p

import numpy as np

from denv.stats.detection import BernoulliCusum, PooledShiryaevRoberts, ShiryaevRoberts
from denv.stats.floor import conformal_p
from denv.stats.multiplicity import benjamini_hochberg, holm
from denv.stats.permutation import sign_flip
from denv.stats.sequential import (
    BettingTest,
    Sprt,
    beta_binomial,
    betting_confidence_sequence,
)
from denv.stats.spending import (
    critical_values,
    crossing_chance,
    obrien_fleming_spent,
    pocock_spent,
    pocock_z,
)
from simulations.row import Row, generator, share

RULE = "many looks"
ALPHA = 0.05
P0, P1 = 0.02, 0.10
LONG, SHORT = 500, 60

Edges = tuple[int, int]


def rows(quick: bool) -> Sequence[Row]:
    """Give each rule's false alarms."""
    runs = 100 if quick else 2000
    return [
        *_betting(runs, SHORT if quick else LONG),
        _sequence(20 if quick else 300),
        _mixture(SHORT if quick else LONG),
        *_sprt(),
        *_detectors(20 if quick else 400),
        *_pooled(10 if quick else 200, 50.0 if quick else 365.0),
        *_delays(20 if quick else 400),
        *_spending(20_000 if quick else 400_000),
        *_peeking(),
        *_many_tests(runs),
        _against_a_floor(),
        _flipped(runs // 4),
    ]


# ---------------------------------------------------------------- after every value


def _betting(runs: int, values: int) -> list[Row]:
    found = []
    for bound, worse in ((P0, P1), (0.5, 0.6)):
        setting = f"betting, a rate of at most {100 * bound:g} %, a look at each of {values} values"
        rng = generator(RULE, setting)
        null, other = (
            share(
                BettingTest(bound, "at-most", ALPHA).feed(drawn.astype(float)).rejected
                for drawn in rng.random((count, values)) < rate
            )
            for rate, count in ((bound, runs), (worse, max(20, runs // 10)))
        )
        against = f"a rate of {100 * worse:g} %"
        found.append(Row("level", RULE, setting, ALPHA, null, runs, power=other, against=against))
    return found


def _sequence(runs: int) -> Row:
    setting = "betting confidence sequence, any of 100 limits misses, rate 95 %"
    rng = generator(RULE, setting)
    missed, narrow = [], []
    for values in (rng.random((runs, 100)) < 0.95).astype(float):
        found = betting_confidence_sequence(values.tolist(), confidence=1 - ALPHA)
        missed.append(max(found.low) > 0.95 or min(found.high) < 0.95)
        narrow.append(max(found.low) > 0.8)
    against = "80 % is excluded"
    return Row(
        "level", RULE, setting, ALPHA, share(missed), runs, power=share(narrow), against=against
    )


def _mixture(values: int) -> Row:
    """Walk through all counts, leaving out at each look those at which the test rejects."""
    edges: list[Edges] = []
    places = (-1, 1)
    for trials in range(1, values + 1):
        places = _accepted(trials, places)
        edges.append(places)
    return Row(
        "level",
        RULE,
        f"beta-binomial mixture, rate {100 * P0:g} %, a look at each of {values} values",
        ALPHA,
        _leaves(edges, P0),
        power=_leaves(edges, P1),
        against=f"a rate of {100 * P1:g} %",
    )


def _accepted(trials: int, before: Edges) -> Edges:
    """Give the counts beyond which the mixture rejects at a look: below the first, above."""
    low, high = before

    def rejected(count: int) -> bool:
        return beta_binomial(count, trials, p0=P0).rejected(ALPHA)

    while low + 1 <= trials * P0 and rejected(low + 1):
        low += 1
    while high < trials and not rejected(high + 1):
        high += 1
    return low, min(high, trials)


def _leaves(edges: Sequence[Edges], rate: float) -> float:
    """Give the chance that a binomial walk ever leaves: k at most the lower, or above the upper."""
    inside = np.zeros(len(edges) + 2)
    inside[0], gone = 1.0, 0.0
    places = np.arange(len(inside))
    for low, high in edges:
        inside[1:] = inside[1:] * (1 - rate) + inside[:-1] * rate
        inside[0] *= 1 - rate
        out = (places <= low) | (places > high)
        gone += float(inside[out].sum())
        inside[out] = 0.0
    return gone


def _sprt() -> list[Row]:
    """Walk through all counts until next to nothing is undecided."""
    alpha, beta = 0.01, 0.05
    test = Sprt(p0=P0, p1=P1, alpha=alpha, beta=beta)
    (wrong_1, right_1), (right_0, wrong_0) = (_decided(test, rate) for rate in (P0, P1))
    return [
        Row(
            "level",
            RULE,
            f"Wald's SPRT, {100 * P0:g} against {100 * P1:g} %, decides for the larger",
            alpha / (1 - beta),
            wrong_1,
            power=right_0,
            against="it is the larger",
        ),
        Row(
            "level",
            RULE,
            f"Wald's SPRT, {100 * P0:g} against {100 * P1:g} %, decides for the smaller",
            beta / (1 - alpha),
            wrong_0,
            power=right_1,
            against="it is the smaller",
        ),
    ]


def _decided(test: Sprt, rate: float, *, most: int = 4000) -> tuple[float, float]:
    """Give the chances of deciding for the larger rate, and for the smaller."""
    worse, better = log(test.p1 / test.p0), log1p(-test.p1) - log1p(-test.p0)
    inside = np.zeros(most + 2)
    inside[0], larger, smaller = 1.0, 0.0, 0.0
    places = np.arange(len(inside))
    for trials in range(1, most + 1):
        inside[1:] = inside[1:] * (1 - rate) + inside[:-1] * rate
        inside[0] *= 1 - rate
        ratio = places * worse + (trials - places) * better
        above, below = ratio >= test.upper, ratio <= test.lower
        larger += float(inside[above].sum())
        smaller += float(inside[below].sum())
        inside[above | below] = 0.0
    return larger, smaller


# ---------------------------------------------------------------- detectors


def _detectors(runs: int) -> list[Row]:
    """Count false alarms a value: a detector's mean time to one is promised."""
    found = []
    wanted: tuple[tuple[str, Callable[[], BernoulliCusum | ShiryaevRoberts], float], ...] = (
        ("e-detector, threshold 100", lambda: ShiryaevRoberts(P0, 5.0, 100.0), 100.0),
        ("CUSUM, h = 4", lambda: BernoulliCusum(P0, P1, 4.0), exp(4.0)),
    )
    for name, make, promised in wanted:
        setting = f"{name}, false alarms a value at a rate of {100 * P0:g} %"
        rng = generator(RULE, setting)
        times = [_alarm_at(make(), P0, rng) for _ in range(runs)]
        late = [_alarm_at(make(), P1, rng) for _ in range(max(20, runs // 10))]
        found.append(
            Row(
                "level",
                RULE,
                setting,
                1 / promised,
                runs / sum(times),
                runs=sum(times),
                power=share(one <= 100 for one in late),
                against=f"an alarm within 100 values at {100 * P1:g} %",
            )
        )
    return found


def _alarm_at(
    detector: BernoulliCusum | ShiryaevRoberts, rate: float, rng: np.random.Generator
) -> int:
    while detector.alarm_at is None:
        detector = detector.feed((rng.random(100) < rate).tolist())
    return detector.alarm_at


# ---------------------------------------------------------------- detectors over whole looks

CASES = 50
"""At each look; failures at the bound are one of them."""

Draw = Callable[[np.random.Generator], int]


def _pooled(runs: int, threshold: float) -> list[Row]:
    """Count false alarms a look: of cases alike, of some that fail often, of cases drawn anew."""
    suite = np.zeros(10 * CASES, dtype=bool)
    suite[: round(P0 * len(suite))] = True
    wanted: tuple[tuple[str, Draw], ...] = (
        ("cases alike", lambda rng: int(rng.binomial(CASES, P0))),
        ("a fifth of the cases fail at 10 %, the others never", _few_fail),
        ("cases drawn from 500 without replacement", lambda rng: _drawn(suite, rng)),
    )
    found = []
    for name, draw in wanted:
        setting = (
            f"e-detector over looks of {CASES}, threshold {threshold:g}, false alarms a look at a "
            f"share of {100 * P0:g} %, {name}"
        )
        rng = generator(RULE, setting)
        times = [_look_at(threshold, draw, rng) for _ in range(runs)]
        late = [_look_at(threshold, _worse(0.10), rng) for _ in range(max(20, runs // 2))]
        found.append(
            Row(
                "level",
                RULE,
                setting,
                1 / threshold,
                runs / sum(times),
                runs=sum(times),
                power=share(one <= 4 for one in late),
                against="an alarm within 4 looks, 10 points worse",
            )
        )
    return found


def _few_fail(rng: np.random.Generator) -> int:
    return int(rng.binomial(CASES // 5, 5 * P0))


def _drawn(suite: np.ndarray, rng: np.random.Generator) -> int:
    return int(rng.choice(suite, CASES, replace=False).sum())


def _worse(points: float) -> Draw:
    return lambda rng: int(rng.binomial(CASES, P0 + points))


def _look_at(threshold: float, draw: Draw, rng: np.random.Generator) -> int:
    detector = PooledShiryaevRoberts(P0, threshold)
    while detector.alarm_at is None:
        detector = detector.look(draw(rng), counted=CASES)
    return detector.alarm_at


def _delays(runs: int) -> list[Row]:
    """Count how soon the alarm comes where there are four looks a day and one false one a year."""
    threshold, found = 1460.0, []
    for points in (0.05, 0.10, 0.30):
        setting = (
            f"e-detector over looks of {CASES}, threshold {threshold:g}, {100 * points:g} points "
            f"worse than {100 * P0:g} %, an alarm within so many looks"
        )
        rng = generator(RULE, setting)
        times = [_look_at(threshold, _worse(points), rng) for _ in range(runs)]
        found += [
            Row(
                "characteristic",
                RULE,
                setting,
                None,
                share(time <= looks for time in times),
                runs,
                size=str(looks),
            )
            for looks in (1, 2, 4, 12, 28)
        ]
    return found


# ---------------------------------------------------------------- planned looks


def _spending(runs: int) -> list[Row]:
    times = (0.2, 0.4, 0.6, 0.8, 1.0)
    bounds = {
        "O'Brien–Fleming spending": critical_values(
            times, [obrien_fleming_spent(t, alpha=ALPHA) for t in times]
        ),
        "Pocock spending": critical_values(times, [pocock_spent(t, alpha=ALPHA) for t in times]),
        "Pocock's constant bound": (pocock_z(len(times), alpha=ALPHA),) * len(times),
    }
    found = []
    for name, z in bounds.items():
        setting = f"{name}, {len(times)} looks, normal data"
        rng = generator(RULE, setting)
        null, other = (_crossed(z, times, shift, count, rng) for shift, count in
                       ((0.0, runs), (3.0, runs // 10)))  # fmt: skip
        against = "a mean of 3 standard errors at the end"
        found.append(Row("level", RULE, setting, ALPHA, null, runs, power=other, against=against))
    return found


def _crossed(
    bounds: Sequence[float],
    times: Sequence[float],
    shift: float,
    runs: int,
    rng: np.random.Generator,
) -> float:
    steps = np.diff(times, prepend=0.0)
    walk = np.cumsum(rng.normal(shift * steps, np.sqrt(steps), (runs, len(times))), axis=1)
    beyond = np.abs(walk) > np.array(bounds) * np.sqrt(times)
    return float(np.mean(beyond.any(axis=1)))


def _peeking() -> list[Row]:
    return [
        Row(
            "characteristic",
            RULE,
            "z beyond ±1.96 at any look, nothing accounted for; looks",
            None,
            crossing_chance(1.959963984540054, looks=looks),
            size=str(looks),
        )
        for looks in (2, 5, 10)
    ]


# ---------------------------------------------------------------- many tests, floors, signs


def _many_tests(runs: int) -> list[Row]:
    """Draw for Benjamini and Hochberg; Holm rejects some where the least p-value is a twelfth."""
    tests, setting = 12, "Benjamini–Hochberg, false share of the rejections, 6 of 12 are true"
    rng = generator(RULE, setting)
    true = np.arange(tests) < tests // 2
    drawn = rng.random((runs, tests)) * np.where(true, 1.0, 1e-3)
    rejected = np.array([benjamini_hochberg(p.tolist()).rejected(ALPHA) for p in drawn])
    false = (rejected & true).sum(axis=1) / np.maximum(rejected.sum(axis=1), 1)
    edges = [least for least in _LEAST if any(holm([least] + [1.0] * (tests - 1)).rejected(ALPHA))]
    against = "p-values a thousandth of uniform ones"
    return [
        Row(
            "level",
            RULE,
            setting,
            ALPHA,
            float(false.mean()),
            runs,
            power=float(rejected[:, ~true].mean()),
            against=against,
        ),
        Row(
            "level",
            RULE,
            "Holm, any of 12 true hypotheses rejected, independent",
            ALPHA,
            1 - (1 - max(edges)) ** tests,
            power=min(1.0, 1000 * max(edges)),
            against=against,
        ),
    ]


_LEAST = tuple(ALPHA * share / 120 for share in range(1, 31))
"""Least p-values that are tried, to the tenth of a twelfth of the level."""


def _against_a_floor() -> Row:
    """Among 20 exchangeable figures the observed one has each rank as often."""
    floor = [float(n) for n in range(1, 20)]
    ranks = [conformal_p(n + 0.5, floor).p_value <= ALPHA for n in range(20)]
    return Row(
        "level",
        RULE,
        "conformal p-value against 19 runs of the noise floor",
        ALPHA,
        share(ranks),
        power=float(conformal_p(30.0, floor).p_value <= ALPHA),
        against="beyond all of them",
    )


def _flipped(runs: int) -> Row:
    setting = "sign flips of 8 texts, differences as Student's t with 2 degrees of freedom"
    rng = generator(RULE, setting)
    null, other = (
        share(sign_flip(one.tolist(), [0.0] * 8, rng=rng).p_value <= ALPHA for one in drawn)
        for drawn in (rng.standard_t(2, (runs, 8)), 3 + rng.standard_t(2, (runs // 4, 8)))
    )
    return Row("level", RULE, setting, ALPHA, null, runs, power=other, against="a shift of 3")
