"""What pages, the API and metrics ask of the data: short lists, read only, a page at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from denv.records import Json, Verdict
from denv.store.purposes import Purpose

MOST_ROWS = 1000
"""The longest page that is given, whatever was asked for."""

SILENT = frozenset({Verdict.CANCELLED.value, Verdict.ERROR.value})
"""Verdicts that say nothing of a stage: they stand only where there is no other."""

AHEAD_S = 300.0
"""An end that is further ahead is no time of ours: the clock that told it was wrong."""


def can_be_kept(text: str) -> bool:
    """Tell whether a text can be the name of anything: no NUL, and nothing that is no Unicode."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run in a list.

    ``stage`` is the digest of the stage's URL and model (the one of the log of runs), ``""``
    where the run says neither. ``stage_model`` and ``reference_model`` are the models asked for,
    or else found. ``cases`` is how many the suite has, ``verdict`` None until the run has ended.
    """

    run: str
    started: float
    finished: float | None
    state: str
    verdict: str | None
    suite_name: str
    suite_sha256: str
    cases: int
    stage: str
    stage_url: str
    stage_model: str | None
    reference_model: str | None
    release: str | None
    purpose: Purpose = Purpose.PARITY


@dataclass(frozen=True, slots=True)
class StageRow:
    """A stage that runs have asked: ``latest`` is the run that was started last.

    ``parity_runs`` of its ``runs`` asked all of a suite, the others were looks and golden prompts
    of rollouts. ``standing`` is the run whose verdict stands: of the parity runs the one that
    ended last, one of :data:`SILENT` only where there is no other; None where none has ended.
    """

    stage: str
    url: str
    model: str | None
    latest: RunRow
    runs: int
    parity_runs: int
    standing: RunRow | None


@dataclass(frozen=True, slots=True)
class MeasureRow:
    """A measurement in a list; ``stage`` and ``verdict`` are as in :class:`RunRow`."""

    measure: str
    instrument: str
    started: float
    finished: float | None
    state: str
    verdict: str | None
    stage: str
    stage_url: str
    stage_model: str | None
    reference_model: str | None


@dataclass(frozen=True, slots=True)
class SuiteRow:
    """A suite that was run: how often, last by ``latest``, with ``kinds`` and what each plans.

    ``kinds`` is of the run ``measured``: the latest that has ended and asked every case, else the
    latest that has ended; None and empty where none has.
    """

    sha256: str
    name: str
    cases: int
    runs: int
    latest: str
    kinds: Mapping[str, int]
    measured: str | None = None


class Browsing(Protocol):
    """Lists, the newest first; ``before`` is the started time and the id of the last one seen.

    The private part of a run, which its report shows nothing of, is shown here neither.
    """

    def runs(
        self,
        *,
        stage: str | None = None,
        suite: str | None = None,
        verdict: str | None = None,
        state: str | None = None,
        purpose: Purpose | None = None,
        before: tuple[float, str] | None = None,
        limit: int = 50,
    ) -> list[RunRow]:
        """Give runs, the newest first, that are as every given filter says."""

    def run(self, run: str) -> RunRow | None:
        """Give one run as it stands in a list, or None."""

    def cases(
        self,
        run: str,
        *,
        outcome: str | None = None,
        cause: str | None = None,
        check: str | None = None,
        after: int = -1,
        limit: int = 50,
    ) -> list[tuple[int, dict[str, Json]]]:
        """Give a run's cases beyond index ``after`` in the suite's order, with their documents."""

    def case(self, run: str, index: int) -> dict[str, Json] | None:
        """Give one case's document, or None."""

    def beside(self, run: str, index: int, *, outcome: str) -> tuple[int | None, int | None]:
        """Give the case before and the one after index ``index`` that came out so."""

    def counts(self, run: str) -> dict[tuple[str, str | None], int]:
        """Count a run's results by outcome and cause."""

    def stages(self) -> list[StageRow]:
        """Give the stages that were asked, the one with the newest run first."""

    def standing(self, stage: str) -> RunRow | None:
        """Give the run whose verdict stands for a stage, or None."""

    def measures(
        self,
        *,
        instrument: str | None = None,
        before: tuple[float, str] | None = None,
        limit: int = 50,
    ) -> list[MeasureRow]:
        """Give measurements, the newest first."""

    def measured(self, measures: Sequence[str]) -> dict[str, dict[str, Json]]:
        """Give the documents of those of the named measurements that have ended."""

    def suites(self) -> Sequence[SuiteRow]:
        """Give the suites that were run, the one with the newest run first."""
