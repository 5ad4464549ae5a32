r"""Has the stage changed, the reference, or both: each held against itself, as it was then.

Notes
-----
Of n cases whose check speaks then and now, F *flipped*: b from pass to fail, c from fail to pass.

*The noise floor.* The baseline asked each case several times. Given its first answers, each of
its repeats differs from them with the very chance with which an answer now does if nothing
changed. With d of r repeats different, the share of flips is at most the upper Clopper–Pearson
limit u of d/r at half the level. A side has *changed* where as many flips as F have, at a share of
u, a chance of at most the other half: :math:`P(\mathrm{Bin}(n, u) \ge F) \le \alpha/2`. Cases that
differ in their chances spread less than the binomial (Hoeffding 1956), so that both halves hold.

*The direction.* McNemar's exact test of b against c at α says whether the change is for the
worse or the better, or only a change. Without repeats in the baseline it is all there is: it
cannot see changes that cancel, and an unequal but small number of flips is left *unclear*.

Texts and logprobs are counted beside it and decide nothing: they change with the composition of
batches where no answer is worse for it.

References
----------
McNemar, Q. (1947). *Psychometrika* 12, 153-157. Clopper, C. J. and Pearson, E. S. (1934).
*Biometrika* 26, 404-413. Hoeffding, W. (1956). *Annals of Mathematical Statistics* 27, 713-721.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from denv.records import Json, Side
from denv.rollout.schedules.comparing import Compared
from denv.stats.paired import mcnemar
from denv.stats.proportions import clopper_pearson_upper

LEVEL = 0.01
"""The chance that a side which has not changed is called changed, at one look."""

MAX_NAMED = 20


class Change(StrEnum):
    """What became of one side."""

    STEADY = "steady"
    WORSE = "worse"
    BETTER = "better"
    CHANGED = "changed"
    UNCLEAR = "unclear"
    """More cases went one way than chance makes likely, and no more than noise explains."""
    UNKNOWN = "unknown"
    """Too few cases can be compared."""


_CHANGED = frozenset({Change.WORSE, Change.BETTER, Change.CHANGED})
_OPEN = frozenset({Change.UNCLEAR, Change.UNKNOWN})


class DriftVerdict(StrEnum):
    """Which side has changed."""

    NONE = "none"
    STAGE = "stage"
    REFERENCE = "reference"
    BOTH = "both"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Floor:
    """How often a side's repeats differ from its first answers; ``upper`` is the limit held to."""

    differing: int
    repeats: int
    upper: float


@dataclass(frozen=True, slots=True)
class SideDrift:
    """One side against itself.

    ``missing`` counts cases that one of the runs has no usable answer to. ``flips_p`` is None
    where the baseline has no repeats.
    """

    side: Side
    change: Change
    cases: int
    missing: int
    to_fail: tuple[str, ...]
    to_pass: tuple[str, ...]
    mcnemar_p: float
    floor: Floor | None
    flips_p: float | None
    same_texts: int
    texts: int
    logprob_delta: float | None

    @property
    def flips(self) -> int:
        """How many cases the check says another thing of."""
        return len(self.to_fail) + len(self.to_pass)

    @property
    def sentence(self) -> str:
        """Say what became of the side."""
        counts = (
            f"{self.flips} of {self.cases} cases changed their outcome "
            f"({len(self.to_fail)} to fail, {len(self.to_pass)} to pass)"
        )
        return f"the {self.side} {_SAID[self.change]}: {counts}{self._against()}{self._named()}"

    def _against(self) -> str:
        if self.floor is None:
            return "; the baseline has no repeats to hold that against"
        return (
            f"; {self.floor.differing} of {self.floor.repeats} repeats of the baseline did, so "
            f"that noise explains up to {self.floor.upper:.1%}"
        )

    def _named(self) -> str:
        names = (*self.to_fail, *self.to_pass)
        return f"; first: {', '.join(names[:3])}" if names else ""


_SAID = {
    Change.STEADY: "is as it was",
    Change.WORSE: "got worse",
    Change.BETTER: "got better",
    Change.CHANGED: "changed",
    Change.UNCLEAR: "may have changed",
    Change.UNKNOWN: "cannot be compared",
}


@dataclass(frozen=True, slots=True)
class Drift:
    """Both sides, and which of them has changed."""

    verdict: DriftVerdict
    sides: Mapping[Side, SideDrift]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Say what became of each side."""
        return tuple(self.sides[side].sentence for side in Side)

    def document(self) -> dict[str, Json]:
        """Show it as strict JSON values."""
        return {
            "verdict": self.verdict.value,
            "sentences": list(self.sentences),
            **{side.value: _document(drift) for side, drift in self.sides.items()},
        }


def judge_drift(
    compared: Mapping[Side, Sequence[Compared | None]], *, level: float = LEVEL
) -> Drift:
    """Say which side has changed.

    Parameters
    ----------
    compared
        For each side one entry a case, None where one of the runs has no usable answer.
    level
        See :data:`LEVEL`.

    Returns
    -------
    Drift
        ``undecided`` where what a side shows is open: the other cannot be told apart from it.

    Raises
    ------
    ValueError
        For a level that is not between 0 and 1.
    """
    if not 0 < level < 1:
        raise ValueError(f"level {level} is not between 0 and 1")
    sides = {side: side_drift(side, compared[side], level=level) for side in Side}
    return Drift(_verdict({side: one.change for side, one in sides.items()}), sides)


def _verdict(changes: Mapping[Side, Change]) -> DriftVerdict:
    if any(change in _OPEN for change in changes.values()):
        return DriftVerdict.UNDECIDED
    return changed_sides({side for side, change in changes.items() if change in _CHANGED})


def changed_sides(changed: set[Side]) -> DriftVerdict:
    """Give the word for the sides that changed."""
    if len(changed) == len(Side):
        return DriftVerdict.BOTH
    return DriftVerdict(next(iter(changed)).value) if changed else DriftVerdict.NONE


def side_drift(side: Side, compared: Sequence[Compared | None], *, level: float) -> SideDrift:
    """Hold one side against itself."""
    usable = [one for one in compared if one is not None]
    measured = [one for one in usable if one.measured]
    to_fail = tuple(one.case for one in measured if one.then and not one.now)
    to_pass = tuple(one.case for one in measured if one.now and not one.then)
    floor = floor_of(measured, level=level)
    test = mcnemar(len(to_fail), len(to_pass))
    flips, cases = len(to_fail) + len(to_pass), len(measured)
    flips_p = None if floor is None else _as_many_p(flips, cases, floor.upper)
    one_way = None
    if test.exact_p <= level:
        one_way = Change.WORSE if len(to_fail) > len(to_pass) else Change.BETTER
    deltas = [one.logprob_delta for one in usable if one.logprob_delta is not None]
    return SideDrift(
        side=side,
        change=_change(flips, cases, floor=floor, one_way=one_way, level=level),
        cases=cases,
        missing=len(compared) - len(usable),
        to_fail=to_fail,
        to_pass=to_pass,
        mcnemar_p=test.exact_p,
        floor=floor,
        flips_p=flips_p,
        same_texts=sum(one.same_text for one in usable),
        texts=len(usable),
        logprob_delta=max(deltas, default=None),
    )


def floor_of(compared: Sequence[Compared], *, level: float = LEVEL) -> Floor | None:
    """Give the noise floor that the baseline's repeats show, None without any."""
    said = [same for one in compared for same in one.repeats]
    if not said:
        return None
    differing = said.count(False)
    upper = clopper_pearson_upper(differing, len(said), confidence=1 - level / 2).high
    return Floor(differing, len(said), upper)


def _change(
    flips: int, cases: int, *, floor: Floor | None, one_way: Change | None, level: float
) -> Change:
    """Decide; ``one_way`` is the direction where more went it than chance makes likely."""
    if _least_p(cases, floor) > (level if floor is None else level / 2):
        return Change.UNKNOWN
    if floor is None:
        return one_way or (Change.UNCLEAR if flips else Change.STEADY)
    if _as_many_p(flips, cases, floor.upper) <= level / 2:
        return one_way or Change.CHANGED
    return Change.UNCLEAR if one_way else Change.STEADY


def _least_p(cases: int, floor: Floor | None) -> float:
    """Give the smallest p-value that so many cases could show."""
    if floor is None:
        return float(min(1.0, 2 * 0.5**cases))
    return _as_many_p(cases, cases, floor.upper) if cases else 1.0


def _as_many_p(flips: int, cases: int, share: float) -> float:
    from scipy.stats import binom  # noqa: PLC0415 - it costs a second

    return float(binom.sf(flips - 1, cases, share))


def _document(one: SideDrift) -> dict[str, Json]:
    floor = one.floor
    return {
        "change": one.change.value,
        "sentence": one.sentence,
        "cases": one.cases,
        "missing": one.missing,
        "flips": one.flips,
        "to_fail": list(one.to_fail[:MAX_NAMED]),
        "to_pass": list(one.to_pass[:MAX_NAMED]),
        "mcnemar_p": one.mcnemar_p,
        "flips_p": one.flips_p,
        "floor": None
        if floor is None
        else {"differing": floor.differing, "repeats": floor.repeats, "upper": floor.upper},
        "same_texts": {"cases": one.texts, "same": one.same_texts},
        "largest_logprob_delta": one.logprob_delta,
    }
