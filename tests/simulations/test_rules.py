"""What is enumerated is the product's own rule, and what is drawn has the stated expectation."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from denv.instruments.paired.judging import Settings, judge, measure_drop
from denv.instruments.paired.pairing import Table
from denv.records import Verdict
from denv.stats.paired import PairedCounts, tango_statistic
from denv.stats.truncation import accuracy_bounds
from simulations import floor, pairs, threshold
from simulations.row import generator
from simulations.texts import LONGEST, POPULATIONS


@pytest.mark.parametrize("size", [20, 23])
@pytest.mark.parametrize("margin", [0.05, 0.10])
@pytest.mark.parametrize("alpha", [0.05, 0.05 / 3])
def test_pairs_are_judged_as_the_product_does(size, margin, alpha):
    """Of every table of n pairs the verdict is the one by the product's limits."""
    rule, settings = pairs.Rule(margin, alpha), Settings(margin=margin, alpha=alpha)
    for b in range(size + 1):
        for c in range(0, size + 1 - b, 3):
            table = Table(size - b - c, b, c, 0)
            drop = measure_drop(table, settings)
            known = accuracy_bounds(8, 2, truncated=0)
            verdict = judge(known, table, drop, test=None, settings=settings).verdict
            for word in ("faithful", "different"):
                says = rule.says(word, size, ref_only=np.array([b]), stage_only=np.array([c]))
                assert bool(says[0]) == (verdict == word), (b, c)


def test_the_statistic_of_many_tables_is_that_of_each():
    """Tango's statistic over an array is the product's of its entries."""
    b, c = np.arange(0, 12)[:, None], np.arange(0, 9)[None, :]
    found = pairs.statistic(30, b, c, difference=0.05)
    for i in range(12):
        for j in range(9):
            one = tango_statistic(PairedCounts(30 - i - j, i, j, 0), 0.05)
            assert found[i, j] == pytest.approx(one)


@pytest.mark.parametrize("confidence", [True, False])
def test_passes_are_one_range(confidence):
    """Of 20 cases each number of passes up to the edge is no pass, and each above it is one."""
    rate = Fraction(90, 100)
    edge = threshold.most_failing(20, rate, confidence=confidence)
    for passed in range(21):
        found = threshold.verdict(passed, 20, rate, confidence=confidence)
        assert (found is Verdict.PASS) == (passed > edge)


def test_refusals_are_one_range():
    """Of 40 repeated cases each number of agreements up to the edge refuses the threshold."""
    rate = Fraction(95, 100)
    edge = floor.most_refused(40, rate)
    for agree in range(41):
        found = floor.refused(floor.judged(40, 40, rate, agree=agree, repeated=40))
        assert found == (agree <= edge)


def test_failures_that_outlive_a_refusal_are_one_range():
    """Each number of passes up to the edge fails although the threshold is refused."""
    edge = floor.most_failing(30, 25, near=0)
    for passed in range(31):
        found = floor.judged(passed, 30, floor.HELD, agree=25, repeated=30)
        fails = floor.refused(found) and found.verdict is Verdict.FAIL
        assert fails == (passed <= edge)


@pytest.mark.parametrize("name", POPULATIONS)
def test_populations_have_the_pooled_expectation_one(name):
    """Over many texts the mean over all tokens is 1, so that a margin is met exactly."""
    draw, rng = POPULATIONS[name].draw, generator("test", name)
    drawn = [draw(rng, 40) for _ in range(2000)]
    figures, counts = (np.concatenate(one) for one in zip(*drawn, strict=True))
    means = figures * counts / counts.mean()
    error = means.std() / np.sqrt(len(means))
    assert figures @ counts / counts.sum() == pytest.approx(1, abs=4 * error + 1e-9)
    assert 4 <= counts.min() < counts.max() == LONGEST
