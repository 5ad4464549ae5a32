"""How often the verdict is wrong: the exact chance, at a drop of exactly the margin.

Each way in which n pairs can fall out has its trinomial probability; those on which the product's
own rule says what is not so are added up. Nothing is simulated.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import takewhile
from math import ceil, exp, floor, lgamma, log, sqrt
from pathlib import Path

import pytest

from denv.instruments.answers.summary import summarise
from denv.instruments.paired.judging import Settings, Verdict, judge, measure_drop
from denv.instruments.paired.pairing import Table
from tests.instruments.answers.samples import reading

ORDINARY = summarise([reading("r")] * 8 + [reading("w")] * 2)
REACH = 6.0
"""Standard deviations that are looked at; what is beyond is less than 1e-7."""


@cache
def verdict(n: int, reference_only: int, stage_only: int, *, alpha: float) -> Verdict:
    table = Table(n - reference_only - stage_only, reference_only, stage_only, 0)
    settings = Settings(alpha=alpha)
    drop = measure_drop(table, settings)
    return judge(ORDINARY.bounds, table, drop, test=None, settings=settings).verdict


def probability(n: int, counts: tuple[int, int], rates: tuple[float, float]) -> float:
    rest = n - sum(counts)
    found = lgamma(n + 1) - lgamma(rest + 1) + rest * log(1 - sum(rates))
    for count, rate in zip(counts, rates, strict=True):
        if count and not rate:
            return 0.0
        found += (count * log(rate) if count else 0.0) - lgamma(count + 1)
    return exp(found)


def likely(n: int, rate: float) -> range:
    spread = REACH * sqrt(n * rate * (1 - rate)) + 2
    return range(max(0, floor(n * rate - spread)), min(n, ceil(n * rate + spread)) + 1)


def chance(wrong: Verdict, n: int, *, drop: float, stage_only: float, alpha: float = 0.05) -> float:
    """Give the chance of a verdict where the stage alone is right in a share ``stage_only``."""
    rates = (stage_only + drop, stage_only)
    both = [(b, c) for b in likely(n, rates[0]) for c in likely(n, rates[1]) if b + c <= n]
    known = sum(probability(n, counts, rates) for counts in both)
    assert known == pytest.approx(1.0, abs=1e-6)
    return sum(
        probability(n, counts, rates)
        for counts in both
        if verdict(n, *counts, alpha=alpha) == wrong
    )


NUISANCE = (0.0, 0.005, 0.02, 0.06)


@pytest.mark.parametrize("n", [40, 59, 94, 135])
@pytest.mark.parametrize(("wrong", "most"), [("faithful", 0.049), ("different", 0.020)])
def test_level_of_few_items(n, wrong, most):
    """At a drop of exactly 5 points each verdict is wrong no oftener than stated.

    Among these are the sizes at which either is wrong most often.
    """
    assert max(chance(wrong, n, drop=0.05, stage_only=one) for one in NUISANCE) <= most


@pytest.mark.parametrize("n", [60, 94, 164])
@pytest.mark.parametrize(("wrong", "most"), [("faithful", 0.63), ("different", 0.31)])
def test_level_of_several_looks(n, wrong, most):
    """At a third of the level, for three looks, each verdict errs less than that third.

    The chances are in units of the level that is asked for.
    """
    alpha = 0.05 / 3
    found = (chance(wrong, n, drop=0.05, stage_only=one, alpha=alpha) for one in NUISANCE)
    assert max(found) <= most * alpha


@pytest.mark.slow
@pytest.mark.parametrize(("wrong", "most"), [("faithful", 0.0425), ("different", 0.013)])
def test_level_of_derivations(wrong, most):
    """With the 246 items of the other bank, asked in one condition, the levels hold too."""
    wide = (*NUISANCE, 0.12, 0.2)
    assert max(chance(wrong, 246, drop=0.05, stage_only=one) for one in wide) <= most


@pytest.mark.slow
@pytest.mark.parametrize(("wrong", "most"), [("faithful", 0.0425), ("different", 0.011)])
def test_level_of_the_bank(wrong, most):
    """With the bank's 240 items the levels are the stated ones, whichever side is worse."""
    wide = (*NUISANCE, 0.12, 0.2)
    assert max(chance(wrong, 240, drop=0.05, stage_only=one) for one in wide) <= most
    assert max(chance(wrong, 240, drop=-0.05, stage_only=0.05 + one) for one in wide) <= most


@pytest.mark.slow
def test_power():
    """With the bank's 240 items the rule speaks as often as stated."""
    assert chance("faithful", 240, drop=0.0, stage_only=0.02) == pytest.approx(0.91, abs=0.005)
    assert chance("faithful", 240, drop=0.0, stage_only=0.04) == pytest.approx(0.60, abs=0.005)
    assert chance("different", 240, drop=0.10, stage_only=0.02) == pytest.approx(0.44, abs=0.005)
    assert chance("different", 240, drop=0.15, stage_only=0.02) == pytest.approx(0.94, abs=0.005)
    assert chance("different", 240, drop=0.0, stage_only=0.02) < 1e-6


def table_of(page: str) -> dict[int, list[list[float]]]:
    """Give the numbers of each row of the page's table of levels and power."""
    head = "| items | wrong `faithful` | wrong `different` |"
    lines = page[page.index(head) :].splitlines()[2:]
    rows = [line.strip("|").split("|") for line in takewhile(str.strip, lines)]
    return {
        int(first): [[float(one) for one in re.findall(r"[0-9.]+", cell)] for cell in cells]
        for first, *cells in rows
    }


@pytest.mark.slow
def test_the_table_of_the_page():
    """Levels and power stand on the page of answers as they come out here, rounded."""
    page = (Path(__file__).parents[3] / "docs" / "measure-answers.md").read_text("utf-8")
    shares = (*NUISANCE, 0.12, 0.2)
    table = table_of(page)
    assert set(table) >= {82, 240, 246}
    for n, (false_faithful, false_different, faithful, different) in table.items():
        wrong: tuple[tuple[Verdict, list[float]], ...] = (
            ("faithful", false_faithful),
            ("different", false_different),
        )
        for word, shown in wrong:
            worst = max(chance(word, n, drop=0.05, stage_only=one) for one in shares)
            assert shown == pytest.approx([100 * worst], abs=0.051)
        found = [chance("faithful", n, drop=0.0, stage_only=one) for one in (0.01, 0.02, 0.04)]
        assert faithful == pytest.approx([100 * one for one in found], abs=0.51)
        found = [chance("different", n, drop=one, stage_only=0.02) for one in (0.1, 0.15, 0.2)]
        assert different == pytest.approx([100 * one for one in found], abs=0.51)
