"""The rule: what is different, faithful, undecided, and with which margins."""

from __future__ import annotations

from typing import Any

import pytest

from denv.instruments.tokens.decision import Coverage, Margins, decide

ENOUGH = Coverage(answered=40, usable=40, tokens=2560, compared=2560)


def figure(value: float, low: float | None = None, high: float | None = None) -> dict[str, Any]:
    """Write a figure."""
    interval = None if low is None else [low, high]
    return {"value": value, "interval": interval, "method": "bca"}


def figures(kl: Any, tv: Any, agreement: Any = None) -> dict[str, Any]:
    """Write the figures that decide."""
    distance = None if tv is None else {**tv, "unreported": figure(0.01), "seen": figure(0.0)}
    return {
        "kl_lower_bound": kl,
        "total_variation": distance,
        "top1_agreement": agreement or figure(0.98, 0.96, 0.99),
    }


FLOOR = figures(figure(0.0, 0.0, 0.0), figure(0.02, 0.01, 0.03), figure(1.0, 0.97, 1.0))
SMALL = figure(0.002, 0.001, 0.004)
CLOSE = figure(0.03, 0.02, 0.04)

RULES = [
    ("all below", SMALL, CLOSE, "faithful"),
    ("KL above", figure(0.05, 0.02, 0.08), CLOSE, "different"),
    ("KL above, TV unknown", figure(0.05, 0.02, 0.08), figure(0.9, 0.8, 1.0), "different"),
    ("KL's upper limit above", figure(0.008, 0.004, 0.02), CLOSE, "undecided"),
    ("KL around", figure(0.015, 0.009, 0.02), CLOSE, "undecided"),
    ("KL's lower limit is the margin", figure(0.02, 0.01, 0.03), CLOSE, "undecided"),
    ("KL's upper limit is the margin", figure(0.005, 0.001, 0.01), CLOSE, "undecided"),
    ("TV's upper limit above", SMALL, figure(0.06, 0.05, 0.08), "undecided"),
    ("no interval", figure(0.002), CLOSE, "undecided"),
]


@pytest.mark.parametrize(("name", "kl", "tv", "right"), RULES, ids=[one[0] for one in RULES])
def test_the_rule(name, kl, tv, right):
    """Different needs the whole interval above, faithful both whole intervals below."""
    margin = Margins().resolved(FLOOR)
    verdict, reasons = decide(figures(kl, tv), FLOOR, margin=margin, coverage=ENOUGH)
    assert verdict == right
    assert reasons


def test_default_margins():
    """0.01 nats, or three times the floor where that is more; TV by Pinsker's inequality."""
    plain = Margins().resolved(FLOOR)
    assert (plain["kl"], plain["kl_from"]) == (0.01, "default")
    assert plain["total_variation"] == pytest.approx(0.0707107)  # sqrt(0.01 / 2)
    noisy = {**FLOOR, "kl_lower_bound": figure(0.02, 0.01, 0.03)}
    wide = Margins().resolved(noisy)
    assert (wide["kl"], wide["kl_from"]) == (pytest.approx(0.06), "floor")
    assert wide["total_variation"] == pytest.approx(0.1732051)  # sqrt(0.06 / 2)
    given = Margins(kl=0.5, total_variation=0.2).resolved(noisy)
    assert (given["kl"], given["total_variation"]) == (0.5, 0.2)
    assert (given["kl_from"], given["total_variation_from"]) == ("given", "given")


def test_without_a_floor_only_a_given_margin_decides():
    """A margin that would be widened by an unknown floor is no margin."""
    found = figures(figure(0.5, 0.4, 0.6), CLOSE)
    unknown = decide(found, None, margin=Margins().resolved(None), coverage=ENOUGH)
    assert unknown[0] == "undecided"
    given = decide(found, None, margin=Margins(kl=0.01).resolved(None), coverage=ENOUGH)
    assert given[0] == "different"


@pytest.mark.parametrize(
    ("coverage", "kl", "right"),
    [
        (Coverage(10, 0, 0, 0), SMALL, "undecided"),
        (Coverage(5, 5, 320, 320), SMALL, "undecided"),
        (Coverage(5, 5, 320, 320), figure(0.5, 0.4, 0.6), "undecided"),
        (Coverage(9, 9, 640, 640), SMALL, "undecided"),
        (Coverage(6, 6, 320, 320), figure(0.5, 0.4, 0.6), "different"),
        (Coverage(20, 18, 640, 576), SMALL, "faithful"),
        (Coverage(20, 17, 640, 600), SMALL, "undecided"),
        (Coverage(10, 10, 640, 500), SMALL, "undecided"),
        (Coverage(10, 8, 640, 500), figure(0.5, 0.4, 0.6), "different"),
    ],
)
def test_what_is_missing_forbids_faithful_and_not_different(coverage, kl, right):
    """Fewer than 6 texts decide nothing; under 10, or 90 % of what was said, none is faithful."""
    margin = Margins().resolved(FLOOR)
    assert decide(figures(kl, CLOSE), FLOOR, margin=margin, coverage=coverage)[0] == right


@pytest.mark.parametrize(
    ("agreement", "right"),
    [
        (figure(0.9, 0.85, 0.955), "different"),  # below 0.97 - 0.01
        (figure(0.95, 0.93, 0.965), "undecided"),
        (figure(1.0, 0.97, 1.0), "undecided"),
        (figure(0.5), "undecided"),
    ],
)
def test_by_agreement_alone_nothing_is_faithful(agreement, right):
    """Without a distribution the whole interval must lie a margin below the floor's."""
    margin = Margins().resolved(FLOOR)
    found = figures(None, None, agreement)
    assert decide(found, FLOOR, margin=margin, coverage=ENOUGH)[0] == right


def test_mass_that_is_not_listed_is_named_as_the_reason():
    """Where lists hide more than half of the margin, the reason says so and what would help."""
    found = figures(SMALL, figure(0.09, 0.08, 0.1))
    found["total_variation"]["unreported"] = figure(0.085)
    _, reasons = decide(found, FLOOR, margin=Margins().resolved(FLOOR), coverage=ENOUGH)
    assert "8.5 % of the reference's mass is not listed" in reasons[0]
