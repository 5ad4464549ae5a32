"""Whether a stage knows the public cases: its results on them beside those on private cases.

Private cases are made as the public ones, by the same generator under a secret seed. A stage that
serves the weights faithfully, or badly, does so on both alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from denv.records import CaseResult, Json, Kind, Outcome
from denv.stats.gaming import LEVEL, GamingTest, Part, chance_to_catch, failures_needed, gaming_test

FAMILY = "family:"
"""The tag that names the family of a generated case; one without it belongs to its check."""

FOUND, NOT_FOUND, UNDECIDED = "found", "not-found", "undecided"

DAMAGED = (0.05, 0.1, 0.25, 0.5)
"""Shares of private cases that a cheating stage fails, for which the power is shown."""


@dataclass(slots=True)
class _Part:
    """One part of the cases: how many are planned, what both sides pass, and d by family.

    ``refused`` counts by family what the stage alone gave no usable answer to: no failures, but
    looked at beside them.
    """

    planned: int = 0
    stage: int = 0
    reference: int = 0
    families: dict[str, Counter[int]] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)

    @property
    def counted(self) -> int:
        return sum(found.total() for found in self.families.values())

    def add(self, family: str, *, stage: bool, reference: bool) -> None:
        self.stage += stage
        self.reference += reference
        self.families.setdefault(family, Counter())[stage - reference] += 1

    def of(self, family: str, *, refused: bool = False) -> Part:
        """Give a family's counts; with ``refused`` as if what was refused had been failed."""
        found = self.families.get(family, Counter())
        more = self.refused[family] if refused else 0
        return Part(worse=found[-1] + more, same=found[0], better=found[1])

    def document(self) -> dict[str, Json]:
        counted = self.counted
        shown: dict[str, Json] = {"planned": self.planned, "counted": counted}
        for side, passed in (("stage", self.stage), ("reference", self.reference)):
            shown[side] = {"pass": passed, "pass_rate": passed / counted if counted else None}
        return shown


@dataclass(frozen=True, slots=True)
class GamingFinding:
    """What the two parts show: a word for it, why, and the test behind it."""

    verdict: str
    reason: str
    test: GamingTest


class Gaming:
    """Counts results of both parts as they come; ``coverage`` is the share that must be counted."""

    def __init__(self, *, public: int, private: int) -> None:
        self._public, self._private = _Part(public), _Part(private)

    def add(self, result: CaseResult, *, private: bool) -> None:
        """Count one case, unless it does not say what both sides did."""
        passed = passes_of(result)
        part = self._private if private else self._public
        if passed is not None:
            part.add(family_of(result), stage=passed[0], reference=passed[1])
        elif is_refused(result):
            part.refused[family_of(result)] += 1

    def finding(self, coverage: Fraction) -> GamingFinding:
        """Judge what was counted."""
        test = self._test()
        if test.p_value <= LEVEL:
            return GamingFinding(FOUND, self._found(test), test)
        why = self._too_few(test, coverage) or self._picked()
        if why is not None:
            return GamingFinding(UNDECIDED, why, test)
        return GamingFinding(NOT_FOUND, self._not_found(test), test)

    def _test(self, *, refused: bool = False) -> GamingTest:
        public, private = self._public, self._private
        return gaming_test(
            [
                (public.of(one, refused=refused), private.of(one, refused=refused))
                for one in self._both(refused=refused)
            ]
        )

    def _both(self, *, refused: bool = False) -> list[str]:
        """Give the families with cases of both parts."""
        public, private = set(self._public.families), set(self._private.families)
        if refused:
            public |= set(self._public.refused)
            private |= set(self._private.refused)
        return sorted(public & private)

    def _sizes(self) -> list[tuple[int, int]]:
        return [(self._public.of(one).cases, self._private.of(one).cases) for one in self._both()]

    def document(self, coverage: Fraction) -> dict[str, Json]:
        """Show counts and the test as strict JSON values: nothing of a private case itself."""
        found = self.finding(coverage)
        test, sizes = found.test, self._sizes()
        return {
            "verdict": found.verdict,
            "reason": found.reason,
            "level": LEVEL,
            "p_value": None if test.gaming is None else test.p_value,
            "difference": test.gaming,
            "families": test.strata,
            "compared": {"public": test.public, "private": test.private},
            "public": self._public.document(),
            "private": self._private.document(),
            "catches": {f"{share:g}": chance_to_catch(sizes, damaged=share) for share in DAMAGED},
        }

    def _too_few(self, test: GamingTest, coverage: Fraction) -> str | None:
        private = self._private
        if private.counted < coverage * private.planned:
            return (
                f"parity-gaming: only {private.counted} of {private.planned} private cases could "
                "be counted"
            )
        if failures_needed(self._sizes()) is None:
            return (
                f"parity-gaming: {test.private} private cases beside {test.public} public ones of "
                "the same families are too few: even if all failed it would prove nothing"
            )
        return None

    def _picked(self) -> str | None:
        """Say that private cases are refused more often than public ones, where they are.

        A limit may be reached by chance while these are asked, so it accuses nobody; but a stage
        could refuse what it would fail.
        """
        test = self._test(refused=True)
        if test.p_value > LEVEL:
            return None
        return (
            f"parity-gaming: the stage gave no answer to {self._private.refused.total()} private "
            f"cases and to {self._public.refused.total()} public ones; if it had failed them this "
            f"would show (p = {test.p_value:.2g}): ask again what was not answered"
        )

    def _found(self, test: GamingTest) -> str:
        return (
            f"parity-gaming: the stage does better on public cases than on private ones, by "
            f"{100 * (test.gaming or 0.0):.3g} points more than the reference: it passes "
            f"{_share(self._public.stage, self._public)} public and "
            f"{_share(self._private.stage, self._private)} private cases, the reference "
            f"{_share(self._public.reference, self._public)} and "
            f"{_share(self._private.reference, self._private)} (p = {test.p_value:.2g})"
        )

    def _not_found(self, test: GamingTest) -> str:
        return (
            f"parity-gaming: no sign of it in {test.private} private cases "
            f"(p = {test.p_value:.2g}; it is found at {LEVEL:g} or less)"
        )


def _share(passed: int, part: _Part) -> str:
    return f"{passed} of {part.counted}"


def passes_of(result: CaseResult) -> tuple[bool, bool] | None:
    """Give whether stage and reference pass a case's check; None where either is not known."""
    outcome = result.outcome
    if outcome not in {Outcome.PASS, Outcome.FAIL, Outcome.REFERENCE_FAIL}:
        return None
    if outcome is Outcome.REFERENCE_FAIL:
        stage = _WORDS.get(str(result.detail.get("stage")))
        return None if stage is None else (stage, False)
    passed = outcome is Outcome.PASS
    if result.kind is not Kind.TOOL_CALLS:
        return passed, True  # the outcome counts only where the reference passes
    reference = _WORDS.get(str(result.detail.get("reference")))
    return None if reference is None else (passed, reference)


def is_refused(result: CaseResult) -> bool:
    """Whether the stage gave no usable answer, for rate limits alone, where the reference passes.

    Of checks that need the reference, a case that it does not pass has another outcome by then.
    """
    stage, word = result.stage, result.detail.get("reference")
    passes = result.kind is not Kind.TOOL_CALLS or word == "pass"
    unanswered = stage is not None and stage.get("problem") is not None
    return result.outcome is Outcome.UNMEASURED and unanswered and passes


_WORDS: Mapping[str, bool] = {"pass": True, "fail": False}


def family_of(result: CaseResult) -> str:
    """Give the family that a case's tags name, else its check."""
    tagged = (tag for tag in result.tags if tag.startswith(FAMILY))
    return next(tagged, result.check)
