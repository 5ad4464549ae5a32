"""What a suite's number of cases can show of a threshold, before and after a run."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from denv.records import Json
from denv.stats.power import cases_for_confidence, cases_needed, least_passes, pass_chance

TRUE_RATES = (Fraction(99, 100), Fraction(97, 100), Fraction(95, 100), Fraction(90, 100))
"""Stages that are truly this good are asked after."""


def pass_chances(
    cases: int, threshold: Fraction, *, confidence: Fraction | None = None
) -> dict[str, float]:
    """Give the chance that stages of the true rates 99, 97, 95 and 90 % pass.

    Keys are the rates as shares (``"0.99"``); ``cases`` is how many are counted, at least 1.
    """
    sure = None if confidence is None else float(confidence)
    return {
        f"{float(rate):g}": pass_chance(cases, float(rate), threshold=threshold, confidence=sure)
        for rate in TRUE_RATES
    }


def power_of(
    cases: int, threshold: Fraction, *, confidence: Fraction | None = None
) -> Mapping[str, Json]:
    """Say what ``cases`` can show of a threshold, as strict JSON values.

    ``cases_needed`` is the number from which on a stage that fails twice as often as the
    threshold allows passes in at most 5 % of runs, and a good one in at least 80 %.
    """
    sure = None if confidence is None else float(confidence)
    needed = cases_needed(threshold, confidence=sure)
    return {
        "cases": cases,
        "threshold": float(threshold),
        "confidence": sure,
        "least_passes": least_passes(cases, threshold, confidence=sure),
        "pass_chance": pass_chances(cases, threshold, confidence=confidence),
        "cases_needed": needed.always,
        "bad": float(needed.bad),
        "good": float(needed.good),
        "bad_pass_chance": pass_chance(
            cases, float(needed.bad), threshold=threshold, confidence=sure
        ),
        "cases_for_confidence": None
        if sure is None
        else cases_for_confidence(threshold, confidence=sure),
    }
