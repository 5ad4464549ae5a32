"""Tokens: the chance that a stage exactly at its margin is called different, or faithful.

Each run draws texts, gives them the instrument's own intervals and lets it decide. Resamples are
499 instead of 9,999, which moves no limit but by noise. Where the divergence is at its margin
total variation is nothing, and the other way round.

What no rule can show is enumerated beside it: a fault that all texts miss.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from denv.instruments.bank import Prompt
from denv.instruments.tokens.decision import LEAST_FAITHFUL, Coverage, Margins, decide
from denv.instruments.tokens.figures import RATE, Compared, Measure, divergence, variation
from denv.instruments.tokens.pairing import Positions
from simulations.row import Row, generator
from simulations.texts import POPULATIONS, FloatArray, IntArray, Population, lengths

RULE = "tokens"
ALPHA = 0.05
EACH = ALPHA / 3
"""The level of one of the three looks of ``measure all``."""

RESAMPLES = 499
SIZES = (6, 8, 10, 12, 20, 40)
MARGIN = Margins(kl=0.01)
FAR, NEAR = 4.0, 0.1
"""Where power is measured, in margins."""

FAITHFUL_SIZES = tuple(size for size in SIZES if size >= LEAST_FAITHFUL)
FLOOR_SIZES = (12, 40)
NOTHING = {"value": 0.0}


@dataclass(frozen=True, slots=True)
class Setting:
    """What is drawn, and how often."""

    population: Population
    texts: int
    runs: int
    alpha: float = ALPHA
    of: Literal["divergence", "total variation"] = "divergence"

    @property
    def name(self) -> str:
        """What the stream of random numbers is named after."""
        return f"{self.of} {self.population.says} {self.texts} {self.alpha:.4f}"


def verdicts(setting: Setting, *, times: float, runs: int) -> list[str]:
    """Let the instrument decide in so many runs, at a figure of so many margins."""
    rng = generator(RULE, f"{setting.name} at {times}")
    return [_verdict(setting, times, rng) for _ in range(runs)]


def _verdict(setting: Setting, times: float, rng: np.random.Generator) -> str:
    figures, counts = setting.population.draw(rng, setting.texts)
    margin = MARGIN.resolved(None)
    if setting.of == "divergence":
        kl, tv = figures * times * margin["kl"], np.zeros(setting.texts)
    else:
        tv = np.minimum(figures * times * margin["total_variation"], 1.0)
        kl = np.zeros(setting.texts)
    measure = Measure(1 - setting.alpha, rng, RESAMPLES, MARGIN)
    found = _decisive(compared(counts, kl=kl, tv=tv), measure)
    return decide(found, None, margin=margin, coverage=_all(counts))[0]


def _decisive(texts: Sequence[Compared], measure: Measure) -> dict[str, Any]:
    distance = variation(texts, measure)
    return {
        "kl_lower_bound": divergence(texts, measure),
        "total_variation": None if distance is None else {**distance, "unreported": NOTHING},
        "top1_agreement": None,
    }


def _all(counts: IntArray) -> Coverage:
    return Coverage(len(counts), len(counts), int(counts.sum()), int(counts.sum()))


def compared(
    counts: IntArray, *, kl: FloatArray, tv: FloatArray, agrees: FloatArray | None = None
) -> list[Compared]:
    """Write texts whose tokens all show their text's means."""
    agreed = np.ones(len(counts)) if agrees is None else agrees
    rows = zip(counts, kl, tv, agreed, strict=True)
    return [_text(n, int(count), *map(float, means)) for n, (count, *means) in enumerate(rows)]


def _text(number: int, count: int, kl: float, tv: float, agrees: float) -> Compared:
    one = np.ones(count)
    positions = Positions(
        index=np.arange(count),
        agrees=one * agrees,
        rank=one,
        p_own=-one,
        q_own=-one,
        kl=one * kl,
        tv_low=0 * one,
        tv_high=one * tv,
        unreported=0 * one,
        unlisted=np.zeros(count, dtype=np.bool_),
        by_ids=True,
        skipped=0,
    )
    return Compared(Prompt(f"p{number}", "prose", ()), 40, positions)


# ---------------------------------------------------------------- rows


def rows(quick: bool) -> Sequence[Row]:
    """Give the levels of both verdicts over all populations and numbers of texts."""
    kinds: Sequence[str] = ("skewed", "bad") if quick else tuple(POPULATIONS)
    sizes: Sequence[int] = (12,) if quick else SIZES
    runs = 100 if quick else 800
    found = [_at_the_margin(POPULATIONS[kind], sizes, runs) for kind in kinds]
    found.append(_looks(POPULATIONS["even"], sizes[-1:], 3 * runs))
    found.append(_looks(POPULATIONS["skewed"], sizes[-1:], 3 * runs))
    wide = ("skewed",) if quick else ("even", "skewed", "bad", "worse")
    found += [_varying(POPULATIONS[kind], runs, sizes) for kind in wide]
    noisy = [size for size in sizes if size in FLOOR_SIZES]
    found += [_against_the_floor(noisy, 3 * runs), _agreement(sizes, runs)]
    found += [_too_skewed(sizes, runs), _unseen()]
    return [row for group in found for row in group]


def _at_the_margin(population: Population, sizes: Sequence[int], runs: int) -> list[Row]:
    settings = [Setting(population, size, runs) for size in sizes]
    return _both(settings)


def _looks(population: Population, sizes: Sequence[int], runs: int) -> list[Row]:
    return _both([Setting(population, size, runs, EACH) for size in sizes])


def _varying(population: Population, runs: int, sizes: Sequence[int]) -> list[Row]:
    enough = [size for size in sizes if size in FAITHFUL_SIZES]
    settings = [Setting(population, size, runs, of="total variation") for size in enough]
    return [_faithful(one, verdicts(one, times=1.0, runs=runs)) for one in settings]


def _too_skewed(sizes: Sequence[int], runs: int) -> list[Row]:
    """Show what becomes of texts whose total variation is more skewed than the rule supposes."""
    settings = [
        Setting(POPULATIONS["heavy"], size, runs, of="total variation")
        for size in sizes
        if size in FAITHFUL_SIZES
    ]
    found = [_faithful(one, verdicts(one, times=1.0, runs=runs)) for one in settings]
    return [replace(row, kind="characteristic", nominal=None) for row in found]


def _both(settings: Sequence[Setting]) -> list[Row]:
    said = [verdicts(one, times=1.0, runs=one.runs) for one in settings]
    found = [_different(one, words) for one, words in zip(settings, said, strict=True)]
    return found + [_faithful(one, words) for one, words in _enough(settings, said)]


def _enough(
    settings: Sequence[Setting], said: Sequence[list[str]]
) -> list[tuple[Setting, list[str]]]:
    """Leave out numbers of texts of which the rule calls none faithful."""
    pairs = zip(settings, said, strict=True)
    return [(one, words) for one, words in pairs if one.texts in FAITHFUL_SIZES]


def _different(setting: Setting, said: Sequence[str]) -> Row:
    power = verdicts(setting, times=FAR, runs=max(50, setting.runs // 10))
    return _row(setting, "different", said, power, f"different at {FAR:g} × the margin")


def _faithful(setting: Setting, said: Sequence[str]) -> Row:
    power = verdicts(setting, times=NEAR, runs=max(50, setting.runs // 10))
    return _row(setting, "faithful", said, power, f"faithful at {NEAR:g} × the margin")


def _row(
    setting: Setting, word: str, said: Sequence[str], power: Sequence[str], against: str
) -> Row:
    return Row(
        "level",
        RULE,
        f"`{word}`, {setting.of} at the margin, {setting.population.says}; texts",
        setting.alpha,
        said.count(word) / len(said),
        runs=len(said),
        size=str(setting.texts),
        power=power.count(word) / len(power),
        against=against,
    )


def _against_the_floor(sizes: Sequence[int], runs: int) -> list[Row]:
    """Measure both verdicts where the margin is three times a floor that is itself measured."""
    found = []
    said = {size: _beside_floors(size, 3.0, runs) for size in sizes}
    for word, times in (("different", 12.0), ("faithful", 1.0)):
        for size in sizes:
            power = _beside_floors(size, times, max(50, runs // 10))
            found.append(
                Row(
                    "level",
                    RULE,
                    f"`{word}`, divergence at 3 × the noise floor, lognormal, σ 1, both measured; "
                    "texts",
                    ALPHA,
                    said[size].count(word) / runs,
                    runs=runs,
                    size=str(size),
                    power=power.count(word) / len(power),
                    against=f"{word} at {times:g} × the floor",
                )
            )
    return found


def _beside_floors(size: int, times: float, runs: int) -> list[str]:
    rng = generator(RULE, f"floor {size} {times}")
    return [_beside_floor(size, times, rng) for _ in range(runs)]


def _beside_floor(size: int, times: float, rng: np.random.Generator) -> str:
    draw, level = POPULATIONS["skewed"].draw, 0.01
    noise, counts = draw(rng, size)
    figures, own = draw(rng, size)
    margins, nothing = Margins(), np.zeros(size)
    measure = Measure(1 - ALPHA, rng, RESAMPLES, margins)
    floor = _decisive(compared(counts, kl=noise * level, tv=nothing), measure)
    found = _decisive(compared(own, kl=figures * times * level, tv=nothing), measure)
    return decide(found, floor, margin=margins.resolved(floor), coverage=_all(own))[0]


def _agreement(sizes: Sequence[int], runs: int) -> list[Row]:
    """Measure `different` by agreement alone: the stage's is a point below the floor's."""
    found = []
    for size in sizes:
        said, power = (
            [_by_agreement(size, lost, rng) for _ in range(count)]
            for lost, count, rng in (
                (0.01, runs, generator(RULE, f"agreement {size}")),
                (0.2, 100, generator(RULE, f"disagreement {size}")),
            )
        )
        found.append(
            Row(
                "level",
                RULE,
                "`different` without a distribution, agreement a point below the floor's 98 %; "
                "texts",
                ALPHA,
                said.count("different") / len(said),
                runs=len(said),
                size=str(size),
                power=power.count("different") / len(power),
                against="agreement 20 points below",
            )
        )
    return found


def _by_agreement(size: int, lost: float, rng: np.random.Generator) -> str:
    noise, stage = (_agreeing(size, rate, rng) for rate in (0.98, 0.98 - lost))
    measure = Measure(1 - ALPHA, rng, RESAMPLES)
    without = {"kl_lower_bound": None, "total_variation": None}
    floor, found = (
        {**without, "top1_agreement": measure.figure(one, lambda p: p.agrees, bounds=RATE)}
        for one in (noise, stage)
    )
    coverage = _all(np.array([one.positions.count for one in stage]))
    return decide(found, floor, margin=Margins().resolved(None), coverage=coverage)[0]


def _agreeing(size: int, rate: float, rng: np.random.Generator) -> list[Compared]:
    """Draw texts whose shares of agreeing tokens vary as Beta, most of them near 1."""
    counts = lengths(rng, size)
    shares = rng.beta(8 * rate, 8 * (1 - rate), size)
    agrees = rng.binomial(counts, shares) / counts
    nothing = np.zeros(size)
    return compared(counts, kl=nothing, tv=nothing, agrees=agrees)


def _unseen() -> list[Row]:
    """Give the chance that none of the texts shows a fault; then nothing can be found."""
    return [
        Row(
            "characteristic",
            RULE,
            f"a fault of {100 * rate:g} % of such texts shows in none that is measured; texts",
            None,
            (1 - rate) ** size,
            size=str(size),
        )
        for rate in (0.05, 0.1, 0.25)
        for size in (*FAITHFUL_SIZES, 120)
    ]
