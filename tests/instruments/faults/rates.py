"""Faults in what is made of counted cases."""

from __future__ import annotations

from denv import verdict
from denv.instruments import rates
from denv.records import Verdict
from denv.stats.proportions import clopper_pearson, wilson
from tests.instruments.faults.seams import setting


def method(name, function):
    """Compute an interval otherwise."""
    return lambda m: m.setitem(rates._METHODS, name, function)


def milder_failures(m):
    """Let an error stand over a failure."""
    order = list(verdict._SEVERITY)
    first, second = order.index(Verdict.ERROR), order.index(Verdict.FAIL)
    order[first], order[second] = order[second], order[first]
    m.setattr(verdict, "_SEVERITY", tuple(order))


INTERVAL, VERDICT = ("interval",), ("verdict",)

FAULTS = {
    "Wilson's interval is the exact one": (
        method("wilson", clopper_pearson), INTERVAL, "interval-wilson-0-of-20",
    ),
    "the one-sided bound is two-sided": (
        method("clopper-pearson-lower", clopper_pearson), INTERVAL,
        "interval-lower-all-59 interval-lower-one-of-one",
    ),
    "the bound is Wilson's": (
        setting(verdict, "clopper_pearson_lower", wilson), VERDICT, "verdict-confidence-met",
    ),
    "replicas may differ": (setting(verdict, "REPLICA_LEVEL", 0), VERDICT, "verdict-replicas"),
    "any retry may fail a run": (
        setting(verdict, "MIN_RETRIED", 1), VERDICT, "verdict-retried-few",
    ),
    "nothing has to pass by default": (
        setting(verdict, "DEFAULT_RATES", {}), VERDICT, "verdict-default verdict-worst-kind",
    ),
    "an error hides a failure": (milder_failures, VERDICT, "verdict-error-and-failure"),
}  # fmt: skip
