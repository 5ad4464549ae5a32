r"""The verdict on both sides' answers to one bank: faithful, different or undecided.

What is judged is the *drop*: the reference's share of right answers less the stage's, on the same
items. Its interval is Tango's score interval for paired rates, taken over everything that open
pairs (truncated, unusable) could have been: from the lower limit with all of them resolved for
the stage to the upper limit with all of them resolved against it.

**The rule**, with a margin of 5 percentage points and a level alpha of 5 %:

* ``undecided``, floor or ceiling, where the reference is right in under 20 % or over 98 % of its
  resolved items: a bank that it fails, or solves, tells little of what was lost;
* ``different`` where the interval lies wholly beyond the margin, on either side: a stage that is
  better by that much does not serve the same weights either;
* ``faithful`` where it lies wholly within the margin;
* else ``undecided``.

McNemar's test does not decide. It asks whether the drop is exactly 0, and any real deployment
fails that with enough items; a drop that is significant and within the margin would be called
different and faithful at once. Its mid-p-value is reported, and a reason points to it.

**The level.** Tango's interval is asymptotic, and where one side alone ever loses it is short. So
the exact chance of each error was enumerated at a drop of exactly the margin, with the share of
pairs that the stage alone gets right from 0 to 45 %, and the tails of the interval were set by it
(``tests/instruments/paired/test_levels.py`` repeats it at the worst sizes). Items are taken as
independent. ``faithful`` looks at an interval that leaves 0.8 alpha on each side (confidence
92 %), ``different`` at one that leaves 0.15 alpha (98.5 %), since there are two conditions and
either can show a difference. With any number of items from 20 to 300 ``faithful`` is then wrong at
most 4.9 % of the time (4.2 % at the bank's 240), and ``different`` at most 2.0 % in each condition
(1.1 %), so that each verdict on both is wrong at most 5 %. At a third of alpha, for three looks,
both err less than that third. The tails hold for margins up to 10 points; below 30 pairs they do
not (5.2 % with 28 pairs at 10 points), so that fewer are never faithful.

**Its power**, with 240 items in one condition: a stage of equal rates is found faithful in 91 %
of runs where 4 % of the pairs are discordant, in 60 % where 8 % are; where the stage alone is right
in 2 % of them, a loss of 10 points is found different in 44 %, one of 15 points in 94 %.

Both conditions together are ``different`` where either is, ``faithful`` where both are. A bank
that is asked in one condition alone is judged with the same tails, and errs less.

**Independence.** Items of one template are alike, and each is drawn for itself. The templates are
fixed and each gives equally many items, so that the true drop is the mean over them; draws within
fixed strata vary less than draws from the whole, which is what the intervals allow for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from denv.instruments.paired.pairing import Table
from denv.stats.paired import McNemarTest, tango
from denv.stats.truncation import AccuracyBounds

Verdict = Literal["faithful", "different", "undecided"]

MARGIN = 0.05
MAX_MARGIN = 0.10
MIN_PAIRS = 30
"""With fewer pairs, or a wider margin, ``faithful`` could be wrong more often than alpha says."""

MAX_ALPHA = 0.05
FAITHFUL_TAIL = 0.8
"""What the interval that must lie within the margin leaves on each side, in units of alpha."""

DIFFERENT_TAIL = 0.15
"""The same for the interval that must lie beyond it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The margin of the drop, the level of the verdict, and what else may be set.

    All are shares: ``margin`` 0.05 is 5 percentage points. ``alpha`` is at most 0.05: for larger
    ones the level is not held. ``confidence`` is that of the intervals that are shown and do not
    decide. A value out of range is a ``ValueError``.
    """

    margin: float = MARGIN
    alpha: float = MAX_ALPHA
    confidence: float = 0.95
    floor: float = 0.20
    ceiling: float = 0.98

    def __post_init__(self) -> None:
        for name in ("margin", "confidence"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"{name} {getattr(self, name)} is not between 0 and 1")
        if self.margin > MAX_MARGIN:
            raise ValueError(f"margin {self.margin} is above {MAX_MARGIN}")
        if not 0 < self.alpha <= MAX_ALPHA:
            raise ValueError(f"alpha {self.alpha} is not above 0 and at most {MAX_ALPHA}")
        if not 0 <= self.floor < self.ceiling <= 1:
            raise ValueError(
                f"floor {self.floor} and ceiling {self.ceiling} are no range of shares"
            )


@dataclass(frozen=True, slots=True)
class Drop:
    """The reference's share of right answers less the stage's.

    ``value`` and ``interval`` are over the resolved pairs, None where there is none. The limits
    that decide are over all that open pairs could be.
    """

    value: float | None
    interval: tuple[float, float] | None
    faithful_limits: tuple[float, float]
    different_limits: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and its reasons, what decided first."""

    verdict: Verdict
    reasons: tuple[str, ...]


def measure_drop(table: Table, settings: Settings) -> Drop:
    """Give the drop, its interval, and its limits over all resolutions of the open pairs.

    Each of Tango's limits moves with every open pair one way, so that the outermost ones are
    reached with all of them resolved for the stage, and all against it.
    """
    counts, worst, best = table.counts(), table.worst(), table.best()

    def limits(tail: float) -> tuple[float, float]:
        confidence = 1 - 2 * tail * settings.alpha
        return tango(best, confidence=confidence).low, tango(worst, confidence=confidence).high

    shown = None if counts is None else tango(counts, confidence=settings.confidence)
    return Drop(
        None if shown is None else shown.difference,
        None if shown is None else (shown.low, shown.high),
        faithful_limits=limits(FAITHFUL_TAIL),
        different_limits=limits(DIFFERENT_TAIL),
    )


def judge(
    reference: AccuracyBounds,
    table: Table,
    drop: Drop,
    *,
    test: McNemarTest | None,
    settings: Settings,
) -> Judgement:
    """Judge by the rule of this module; ``reference`` holds the reference's own share."""
    extreme = _extreme(reference, settings)
    if extreme:
        return Judgement("undecided", (extreme,))
    margin = settings.margin
    low, high = drop.different_limits
    if low > margin or high < -margin:
        side = "less" if low > margin else "more"
        shown = f"the stage is right {side} often: {_between(drop.different_limits)}"
        return Judgement("different", (f"{shown}, beyond the margin of {_points(margin)}",))
    low, high = drop.faithful_limits
    within = -margin < low and high < margin
    shown = f"the drop lies {_between(drop.faithful_limits)}"
    pairs = table.resolved + table.open
    if within and pairs < MIN_PAIRS:
        few = f"{pairs} pairs are too few to show it, {MIN_PAIRS} are needed"
        return Judgement("undecided", (f"{shown}, within the margin, but {few}",))
    if within:
        reasons = [f"{shown}, within the margin of {_points(margin)}"]
    else:
        reasons = [f"{shown}, the margin is {_points(margin)}"]
    reasons += _remarks(table, test, settings)
    return Judgement("faithful" if within else "undecided", tuple(reasons))


def judge_all(conditions: Sequence[tuple[str, Judgement]]) -> Judgement:
    """Join the verdicts of conditions: different where any is, faithful where all are."""
    verdicts = {one.verdict for _, one in conditions}
    reasons = tuple(f"{name}: {reason}" for name, one in conditions for reason in one.reasons)
    if "different" in verdicts:
        return Judgement("different", reasons)
    return Judgement("faithful" if verdicts == {"faithful"} else "undecided", reasons)


def _extreme(reference: AccuracyBounds, settings: Settings) -> str:
    """Say why the reference's own share of right answers leaves nothing to judge by."""
    rate = reference.complete_case
    if rate is None:
        return "no answer of the reference is known"
    shown = f"the reference is right in {100 * rate:.1f} % of the items it answered in full"
    if rate < settings.floor:
        return f"floor: {shown}, under {100 * settings.floor:g} %"
    return f"ceiling: {shown}, over {100 * settings.ceiling:g} %" if rate > settings.ceiling else ""


def _remarks(table: Table, test: McNemarTest | None, settings: Settings) -> list[str]:
    found = []
    if table.open:
        found.append(
            f"{table.open} of {table.open + table.resolved} pairs are open (truncated or"
            " unusable), and each may have gone either way"
        )
    if test is not None and test.mid_p < settings.alpha:
        found.append(
            f"equal rates are rejected (mid-p {test.mid_p:.2g}), a difference beyond the margin"
            " is not shown"
        )
    return found


def _between(limits: tuple[float, float]) -> str:
    return f"between {100 * limits[0]:.1f} and {100 * limits[1]:.1f} points"


def _points(share: float) -> str:
    return f"{100 * share:g} points"
