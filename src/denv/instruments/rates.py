"""Trials of what is made of counted cases: intervals of pass rates, and verdicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from denv.records import Estimate, Json, Kind, Outcome, Thresholds
from denv.stats.proportions import (
    ProportionInterval,
    clopper_pearson,
    clopper_pearson_lower,
    wilson,
)
from denv.verdict import judge

DECIMALS = 4
"""Published tables of intervals have as many."""

_METHODS: Mapping[str, Callable[..., ProportionInterval]] = {
    "wilson": wilson,
    "clopper-pearson": clopper_pearson,
    "clopper-pearson-lower": clopper_pearson_lower,
}


def find_interval(given: Mapping[str, Json]) -> Mapping[str, Json]:
    """Give an interval's limits as tables print them."""
    method = _METHODS[given["method"]]
    found = method(given["successes"], given["trials"], confidence=float(given["confidence"]))
    return {"low": round(found.low, DECIMALS), "high": round(found.high, DECIMALS)}


def find_verdict(given: Mapping[str, Json]) -> Mapping[str, Json]:
    """Judge a run from the counts of its kinds."""
    found = judge(
        {Kind(name): _estimate(counts) for name, counts in given["kinds"].items()},
        thresholds=_thresholds(given),
        stage_requests=given.get("stage_requests", 0),
        stage_retried=given.get("stage_retried", 0),
        replicas={name: (row[0], row[1]) for name, row in given.get("replicas", {}).items()},
        cancelled=given.get("cancelled", False),
        errors=given.get("errors", ()),
        failures=given.get("failures", ()),
    )
    return {
        "verdict": found.verdict.value,
        "reason": found.reasons[0],
        "kinds": {
            kind.value: None if one.verdict is None else one.verdict.value
            for kind, one in found.kinds.items()
        },
    }


def _estimate(counts: Mapping[str, int]) -> Estimate:
    named = {Outcome(name): count for name, count in counts.items() if name != "planned"}
    return Estimate(counts["planned"], named, None, None)


def _thresholds(given: Mapping[str, Json]) -> Thresholds:
    confidence = given.get("confidence")
    return Thresholds(
        rates={Kind(name): Fraction(rate) for name, rate in given.get("thresholds", {}).items()},
        confidence=None if confidence is None else Fraction(confidence),
    )
