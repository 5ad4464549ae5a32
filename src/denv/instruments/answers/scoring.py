"""Both sides' readings of the bank, assessed: counts, tests, intervals and the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from denv.instruments.answers.bank import Condition, Item
from denv.instruments.answers.readings import NOT_ASKED, Reading, State
from denv.instruments.answers.summary import SideSummary, summarise
from denv.instruments.paired.comparison import PairedResult, compare
from denv.instruments.paired.judging import Judgement, Settings, Verdict, judge_all
from denv.instruments.paired.pairing import Change, find_rise
from denv.instruments.paired.traces import Traces, compare_traces, trace_document
from denv.records import Json

SCHEMA = "denv.parity.answers/1"

Readings = Mapping[str, Reading]
"""One side's readings by the items' ids; an item that is missing was not asked."""


@dataclass(frozen=True, slots=True)
class Row:
    """One item and both sides' readings."""

    item: Item
    reference: Reading
    stage: Reading

    def document(self) -> dict[str, Json]:
        """Give the row as strict JSON; integers that a model gave are texts, however long."""
        return {
            "id": self.item.id,
            "template": self.item.template,
            "level": self.item.level,
            "truth": str(self.item.truth),
            "reference": _reading_document(self.reference),
            "stage": _reading_document(self.stage),
        }


@dataclass(frozen=True, slots=True)
class ConditionResult:
    """What one condition shows.

    ``wrong_rise`` is the stage's share of answering and being wrong less the reference's, over
    the resolved pairs.
    """

    condition: Condition
    traces: Traces
    paired: PairedResult
    reference: SideSummary
    stage: SideSummary
    wrong_rise: Change
    rows: tuple[Row, ...]

    def document(self) -> dict[str, Json]:
        """Give the result as strict JSON; the traces stand ahead of all conditions."""
        return {
            "verdict": self.paired.verdict,
            "reasons": list(self.paired.reasons),
            "sides": {
                "reference": self.reference.document(),
                "stage": self.stage.document(),
            },
            **self.paired.document(),
            "answered_and_wrong_rise": self.wrong_rise.document(),
            "items": [row.document() for row in self.rows],
        }


@dataclass(frozen=True, slots=True)
class Assessment:
    """The verdict on all conditions that were asked, and each of them."""

    verdict: Verdict
    reasons: tuple[str, ...]
    conditions: tuple[ConditionResult, ...]

    def document(self) -> dict[str, Json]:
        """Give the result as strict JSON, the traces first."""
        return {
            "traces": {one.condition.value: one.traces.document() for one in self.conditions},
            "verdict": self.verdict,
            "reasons": list(self.reasons),
            "conditions": {one.condition.value: one.document() for one in self.conditions},
        }


def assess(
    items: Sequence[Item],
    readings: Mapping[Condition, tuple[Readings, Readings]],
    *,
    settings: Settings | None = None,
) -> Assessment:
    """Judge both sides' answers.

    Parameters
    ----------
    items
        The items that were to be asked, at least one; each counts, answered or not.
    readings
        For each condition the reference's and the stage's readings.
    settings
        Margins and levels, by default those of the rule.

    Raises
    ------
    ValueError
        Without an item or a condition, and for readings of an item that is none of ``items``.
    """
    if not items or not readings:
        raise ValueError("an assessment needs at least one item and one condition")
    known = {item.id for item in items}
    for sides in readings.values():
        strange = [name for side in sides for name in side if name not in known]
        if strange:
            raise ValueError(f"a reading of {strange[0]!r}, which is none of the items")
    settings = settings or Settings()
    results = tuple(
        _assess(items, condition, sides, settings) for condition, sides in readings.items()
    )
    found = judge_all(
        [
            (one.condition.value, Judgement(one.paired.verdict, one.paired.reasons))
            for one in results
        ]
    )
    return Assessment(found.verdict, found.reasons, results)


def _assess(
    items: Sequence[Item],
    condition: Condition,
    sides: tuple[Readings, Readings],
    settings: Settings,
) -> ConditionResult:
    reference, stage = sides
    rows = tuple(
        Row(item, reference.get(item.id, NOT_ASKED), stage.get(item.id, NOT_ASKED))
        for item in items
    )
    pairs = [(row.reference, row.stage) for row in rows]
    confidence = settings.confidence
    theirs = summarise([one for one, _ in pairs], confidence=confidence)
    return ConditionResult(
        condition,
        traces=compare_traces(
            [(one.trace, other.trace) for one, other in pairs], confidence=confidence
        ),
        paired=compare(pairs, reference=theirs.bounds, settings=settings),
        reference=theirs,
        stage=summarise([other for _, other in pairs], confidence=confidence),
        wrong_rise=find_rise(
            pairs,
            lambda one: one.state is State.WRONG,
            counted=lambda one: one.resolved,
            confidence=confidence,
        ),
        rows=rows,
    )


def _reading_document(reading: Reading) -> dict[str, Json]:
    sure = reading.confidence
    return {
        "state": reading.state.value,
        "value": None if reading.value is None else str(reading.value),
        "logprob": None if sure is None else sure.logprob,
        **trace_document(reading.trace),
        "reason": reading.reason or None,
    }
