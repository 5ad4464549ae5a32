"""From figures to faithful, different or undecided.

Different: the whole interval of the difference lies above its margin. Faithful: the whole
interval lies below it. The divergence that lists of the likeliest tokens show is a lower bound,
which alone can show a difference and never its absence; so faithful also needs the total
variation below its margin, with all mass that the lists do not show counted as differing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from denv.records import Json
from denv.stats.divergence import pinsker

FAITHFUL, DIFFERENT, UNDECIDED = "faithful", "different", "undecided"

LEAST_KL = 0.01
"""Nats; what engines differ by on the same weights, bf16 included, is a tenth of it."""

FLOOR_FACTOR = 3.0

AGREEMENT_MARGIN = 0.01
"""How far below the floor's agreement the stage's must lie, where there is nothing else."""

LEAST_TEXTS = 6
"""Of fewer texts no sign is improbable enough: all of five lie on one side by chance in 6 %."""

LEAST_FAITHFUL = 10
"""Over fewer texts the upper limits hold less often than they say."""

COVERAGE = 0.9
"""Least share of the reference's texts, and of their tokens, that the stage must answer."""

Figures = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Margins:
    """The margins that the user sets; None for the default."""

    kl: float | None = None
    total_variation: float | None = None

    def resolutions(self) -> tuple[float, float]:
        """Give what counts as nothing: a hundredth of the least margin of KL, and of TV."""
        kl = LEAST_KL if self.kl is None else self.kl
        given = self.total_variation
        return kl / 100, (pinsker(kl) if given is None else given) / 100

    def resolved(self, floor: Figures | None) -> dict[str, Json]:
        """Give the margins that hold, and where they come from.

        The default of the divergence is max(0.01 nats, 3 × floor). That of the total variation
        is the largest that so small a divergence allows, by Pinsker's inequality.
        """
        kl, source = self.kl, "given"
        if kl is None:
            noise = _value(floor, "kl_lower_bound")
            widened = noise is not None and FLOOR_FACTOR * noise > LEAST_KL
            kl = FLOOR_FACTOR * noise if noise is not None and widened else LEAST_KL
            source = "floor" if widened else "default"
        given = self.total_variation
        return {
            "kl": kl,
            "kl_from": source,
            "total_variation": pinsker(kl) if given is None else given,
            "total_variation_from": "kl" if given is None else "given",
            "agreement": AGREEMENT_MARGIN,
        }


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of what the reference said the stage was measured on."""

    answered: int
    usable: int
    tokens: int
    compared: int

    @property
    def enough(self) -> bool:
        """Whether what is missing could not hide a difference."""
        texts = self.usable >= COVERAGE * self.answered
        return texts and self.compared >= COVERAGE * self.tokens


def decide(
    figures: Figures, floor: Figures | None, *, margin: Mapping[str, Json], coverage: Coverage
) -> tuple[str, list[str]]:
    """Give the verdict and the reasons for it."""
    if coverage.usable == 0:
        return UNDECIDED, ["no text could be measured"]
    if coverage.usable < LEAST_TEXTS:
        return UNDECIDED, [
            f"{coverage.usable} texts were measured: fewer than {LEAST_TEXTS} decide nothing"
        ]
    if figures["kl_lower_bound"] is None:
        return _by_agreement(figures, floor, margin=margin)
    if floor is None and margin["kl_from"] != "given":
        return UNDECIDED, ["the noise floor could not be measured: a margin must be given"]
    return _by_divergence(figures, margin=margin, coverage=coverage)


def _by_divergence(
    figures: Figures, *, margin: Mapping[str, Json], coverage: Coverage
) -> tuple[str, list[str]]:
    kl, distance = figures["kl_lower_bound"], figures["total_variation"]
    if kl["interval"] is None or distance["interval"] is None:
        return UNDECIDED, ["the figures have no interval"]
    low, high = kl["interval"]
    if low > margin["kl"]:
        return DIFFERENT, [
            f"KL is at least {low:.3g} nats a token, above the margin of {margin['kl']:.3g}"
        ]
    reasons = []
    if high >= margin["kl"]:
        reasons.append(
            f"KL's interval reaches {high:.3g} nats, not below the margin of {margin['kl']:.3g}"
        )
    if distance["interval"][1] >= margin["total_variation"]:
        reasons.append(_says_distance(distance, margin["total_variation"]))
    if coverage.usable < LEAST_FAITHFUL:
        reasons.append(
            f"{coverage.usable} texts were measured: fewer than {LEAST_FAITHFUL} show nothing equal"
        )
    if not coverage.enough:
        reasons.append(
            f"{coverage.usable} of {coverage.answered} texts and {coverage.compared} of "
            f"{coverage.tokens} tokens were measured, below {COVERAGE:.0%}".replace("%", " %")
        )
    if reasons:
        return UNDECIDED, reasons
    says = (
        f"KL is at most {high:.3g} nats a token as far as it is seen, and total variation at most "
        f"{distance['interval'][1]:.3g} with all that is not seen"
    )
    return FAITHFUL, [says]


def _says_distance(distance: Figures, margin: float) -> str:
    text = (
        f"total variation may be {distance['interval'][1]:.3g}, not below the margin of "
        f"{margin:.3g}"
    )
    unreported = distance["unreported"]["value"]
    if unreported >= margin / 2:
        text += (
            f": {100 * unreported:.3g} % of the reference's mass is not listed and counts as "
            "differing; longer lists or a wider margin would decide"
        )
    return text


def _by_agreement(
    figures: Figures, floor: Figures | None, *, margin: Mapping[str, Json]
) -> tuple[str, list[str]]:
    """Judge by the likeliest token alone, which can only show a difference."""
    found = figures["top1_agreement"]
    noise = None if floor is None else floor["top1_agreement"]
    if found is None or noise is None or None in (found["interval"], noise["interval"]):
        return UNDECIDED, ["the reference gives no distribution, and there is no floor"]
    high, least = found["interval"][1], noise["interval"][0] - margin["agreement"]
    if high < least:
        says = (
            f"the likeliest token agrees in at most {high:.3g} of the places, against {least:.3g} "
            "that the noise floor leaves"
        )
        return DIFFERENT, [says]
    return UNDECIDED, ["the reference gives no distribution: agreement alone proves nothing equal"]


def _value(figures: Figures | None, name: str) -> float | None:
    found = None if figures is None else figures[name]
    return None if found is None else float(found["value"])
