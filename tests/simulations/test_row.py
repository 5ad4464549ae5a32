"""What a measured share is held against, and how it is written."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from simulations.__main__ import main
from simulations.edge import last_true
from simulations.row import Row, allowed, generator
from simulations.table import line, percent, tables

ROW = Row("level", "r", "s", 0.05, 0.06, runs=1000, size="12", power=0.8, against="a")


@pytest.mark.parametrize(("nominal", "runs"), [(0.05, 1000), (0.01, 400), (0.05 / 3, 3000)])
def test_the_bound_is_the_binomials(nominal, runs):
    """A rule at its level exceeds it with a chance of at most 0.1 %, and one error less does."""
    most = round(allowed(nominal, runs) * runs)
    assert binom.sf(most, runs, nominal) <= 0.001 < binom.sf(most - 1, runs, nominal)


def test_held():
    """Drawn shares have the bound's slack, exact ones have none."""
    assert ROW.held
    assert not replace(ROW, measured=0.08).held
    assert not replace(ROW, runs=None).held
    assert replace(ROW, runs=None, measured=0.05).held
    with pytest.raises(ValueError, match="no level is promised"):
        assert replace(ROW, nominal=None).held


def test_streams_are_the_settings_own():
    """The same setting has the same stream, and another setting another."""
    first, again, other = (generator("r", name).random(4) for name in ("s", "s", "t"))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_rows_that_differ_in_size_share_a_line():
    """Sizes, shares and powers stand beside each other."""
    cells = line([ROW, replace(ROW, size="40", measured=0.01, power=1.0)])
    assert cells["setting"] == "s: 12 · 40"
    assert cells["measured"] == "6 % · 1 %"
    assert cells["power"] == "80 % · 100 %"
    text = tables([ROW, replace(ROW, size="40"), replace(ROW, kind="coverage", size="")])
    assert text.count("\n| r | ") == 2
    assert text.count("### ") == 2


@pytest.mark.parametrize(
    ("chance", "written"),
    [
        (None, ""),
        (0.0, "0 %"),
        (1e-9, "< 0.0001 %"),
        (0.012345, "1.23 %"),
        (0.99996, "99.996 %"),
        (0.9999999, "> 99.999 %"),
        (1.0, "100 %"),
    ],
)
def test_percent(chance, written):
    """What is not nothing is not written as 0, nor what is not certain as 100."""
    assert percent(chance) == written


@pytest.mark.parametrize("near", [-1, 0, 3, 7, 10])
@pytest.mark.parametrize("last", [-1, 0, 4, 10])
def test_the_edge_is_found_from_anywhere(near, last):
    """The last count at which something holds, wherever the search begins."""
    assert last_true(lambda count: count <= last, near=near, high=10) == last


def test_the_command(capsys):
    """It prints the tables of the rules that are named, and refuses others."""
    assert main(["--quick", "pairs"]) == 0
    assert "| answers, derivations |" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["pears"])
    assert "no rule pears" in capsys.readouterr().err
