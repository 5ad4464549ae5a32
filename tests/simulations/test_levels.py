"""No rule of decision is wrong more often than it says."""

from __future__ import annotations

import pkgutil
from pathlib import Path

import pytest

import denv.stats
from denv.instruments.tokens.figures import divergence
from simulations import RULES, tokens
from simulations.row import allowed
from simulations.table import COLUMNS, table
from simulations.texts import POPULATIONS
from tests.simulations.measured import EXCEEDED, assert_levels, measured

PAGE = Path(__file__).parents[2] / "docs" / "statistics.md"


@pytest.mark.parametrize("rule", RULES)
def test_levels_at_a_glance(rule):
    """A few settings and runs of each rule: its level is kept, and it can reject."""
    assert_levels(measured(rule, quick=True))


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("rule", RULES)
def test_levels(rule):
    """All settings of each rule: its level is kept, it can reject, and the page shows it.

    What was drawn may differ in a few runs on another machine, so that its figures are not
    compared.
    """
    rows = measured(rule, quick=False)
    assert_levels(rows, known=EXCEEDED.get(rule, ()))
    page = PAGE.read_text(encoding="utf-8")
    for kind in COLUMNS:
        found = [row for row in rows if row.kind == kind]
        for one in table(found, kind).splitlines()[2:]:
            exact = "| exact |" in one
            assert (one if exact else " | ".join(one.split(" | ")[:2])) in page


def test_the_page_names_all_methods_and_rules():
    """Each file of statistics has its place on the page, and each rule in its tables."""
    page = PAGE.read_text(encoding="utf-8")
    for module in pkgutil.iter_modules(denv.stats.__path__):
        assert f"`{module.name}`" in page
    for name in RULES:
        for row in measured(name, quick=True):
            assert f"| {row.rule} |" in page


def test_a_rule_that_errs_is_caught(monkeypatch):
    """With the value itself in its upper limit's place `faithful` comes far too often."""

    def limits(texts, measure):
        figure = divergence(texts, measure) or {}
        return {**figure, "interval": [0.0, figure["value"]]}

    monkeypatch.setattr(tokens, "divergence", limits)
    setting = tokens.Setting(POPULATIONS["even"], 12, 60)
    said = tokens.verdicts(setting, times=1.0, runs=setting.runs)
    assert said.count("faithful") / setting.runs > allowed(setting.alpha, setting.runs)
