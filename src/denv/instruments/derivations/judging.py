"""From answers to a verdict: the oracle's work step by step, then the paired judgement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from denv.instruments.derivations.forms import Item
from denv.instruments.derivations.outcomes import Declared, Reading, State, judged
from denv.instruments.derivations.scoring import Oracle, Scored, score
from denv.instruments.paired.comparison import PairedResult, compare
from denv.instruments.paired.judging import Settings
from denv.instruments.paired.pairing import Table, tabulate
from denv.instruments.paired.summary import SideCounts, count_side
from denv.instruments.paired.traces import Traces, compare_traces
from denv.instruments.probes import Strand, Work
from denv.records import Side

Read = Reading | Declared


@dataclass(frozen=True, slots=True)
class Row:
    """One item and both sides' readings."""

    item: Item
    reference: Reading
    stage: Reading


@dataclass(frozen=True, slots=True)
class Assessment:
    """What both sides' readings show, the table of each field of mathematics included."""

    traces: Traces
    paired: PairedResult
    reference: SideCounts
    stage: SideCounts
    by_field: Mapping[str, Table]
    rows: tuple[Row, ...]


def judge_finals(
    items: Sequence[Item], found: Mapping[Side, Sequence[Read]], *, oracle: Oracle
) -> Strand[dict[Side, list[Reading]]]:
    """Let the oracle judge all declared answers, one after another.

    The same answer to the same item is judged once, whichever side gave it: what a limit of time
    leaves undecided is undecided for both.
    """
    known: dict[tuple[str, str], Scored] = {}
    results: dict[Side, list[Reading]] = {side: [] for side in found}
    for side, readings in found.items():
        for item, one in zip(items, readings, strict=True):
            if isinstance(one, Reading):
                results[side].append(one)
                continue
            key = (item.id, one.final)
            if key not in known:
                known[key] = yield _work(item, one.final, oracle)
            results[side].append(judged(one, known[key]))
    return results


def _work(item: Item, final: str, oracle: Oracle) -> Work:
    return Work(lambda: score([item], {item.id: final}, oracle=oracle)[0])


def assess(
    items: Sequence[Item], readings: Mapping[Side, Sequence[Reading]], *, settings: Settings
) -> Assessment:
    """Judge both sides' readings, one for each item and in the same order.

    Raises
    ------
    ValueError
        Without an item, and where a side has not as many readings.
    """
    rows = tuple(
        Row(*each)
        for each in zip(items, readings[Side.REFERENCE], readings[Side.STAGE], strict=True)
    )
    pairs = [(row.reference, row.stage) for row in rows]
    confidence = settings.confidence
    theirs = count_side([one for one, _ in pairs], states=State, confidence=confidence)
    return Assessment(
        traces=compare_traces(
            [(one.trace, other.trace) for one, other in pairs], confidence=confidence
        ),
        paired=compare(pairs, reference=theirs.bounds, settings=settings),
        reference=theirs,
        stage=count_side([other for _, other in pairs], states=State, confidence=confidence),
        by_field=_by_field(rows),
        rows=rows,
    )


def _by_field(rows: Sequence[Row]) -> dict[str, Table]:
    fields = dict.fromkeys(row.item.field for row in rows)
    return {
        field: tabulate((row.reference, row.stage) for row in rows if row.item.field == field)
        for field in fields
    }
