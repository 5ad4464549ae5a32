"""Pairs of readings to a verdict: the table, the drop, both tests and the change in loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from denv.instruments.paired.judging import (
    FAITHFUL_TAIL,
    Drop,
    Settings,
    Verdict,
    judge,
    measure_drop,
)
from denv.instruments.paired.pairing import Change, Pair, R, Table, find_rise, tabulate
from denv.records import Json
from denv.stats.equivalence import BinaryEquivalence, paired_rates
from denv.stats.paired import McNemarTest, mcnemar
from denv.stats.truncation import AccuracyBounds, McNemarRange, mcnemar_range


@dataclass(frozen=True, slots=True)
class PairedResult:
    """What both sides' readings of the same items show.

    ``mcnemar`` and ``equivalence`` are over the resolved pairs; ``p_range`` holds McNemar's exact
    p-value over all that open pairs could be. ``degenerate_rise`` is the stage's share of looping
    answers less the reference's, over the pairs of usable answers.
    """

    verdict: Verdict
    reasons: tuple[str, ...]
    table: Table
    drop: Drop
    mcnemar: McNemarTest | None
    p_range: McNemarRange
    equivalence: BinaryEquivalence | None
    degenerate_rise: Change

    def document(self) -> dict[str, Json]:
        """Give the figures as strict JSON; the verdict and its reasons stand elsewhere."""
        test, same, drop = self.mcnemar, self.equivalence, self.drop
        return {
            "pairs": self.table.document(),
            "drop": {
                "value": drop.value,
                "interval": None if drop.interval is None else list(drop.interval),
                "faithful_limits": list(drop.faithful_limits),
                "different_limits": list(drop.different_limits),
            },
            "mcnemar": {
                "mid_p": None if test is None else test.mid_p,
                "exact_p": None if test is None else test.exact_p,
                "exact_p_range": [self.p_range.low, self.p_range.high],
            },
            "equivalence": None
            if same is None
            else {"p": same.p_value, "level": same.alpha, "equivalent": same.equivalent},
            "degenerate_rise": self.degenerate_rise.document(),
        }


def compare(
    pairs: Sequence[Pair[R]], *, reference: AccuracyBounds, settings: Settings
) -> PairedResult:
    """Judge pairs, the reference's reading first; ``reference`` holds its share of right ones.

    Raises
    ------
    ValueError
        Where there is no pair.
    """
    table = tabulate(pairs)
    counts, level = table.counts(), FAITHFUL_TAIL * settings.alpha
    test = None if counts is None else mcnemar(table.reference_only, table.stage_only)
    drop = measure_drop(table, settings)
    found = judge(reference, table, drop, test=test, settings=settings)
    return PairedResult(
        found.verdict,
        found.reasons,
        table=table,
        drop=drop,
        mcnemar=test,
        p_range=mcnemar_range(
            table.reference_only,
            table.stage_only,
            unresolved=table.either_way,
            maybe_ref_only=table.maybe_reference_only,
            maybe_cand_only=table.maybe_stage_only,
        ),
        equivalence=None
        if counts is None
        else paired_rates(counts, margin=settings.margin, alpha=level),
        degenerate_rise=find_rise(
            pairs,
            lambda one: one.degenerate,
            counted=lambda one: one.usable,
            confidence=settings.confidence,
        ),
    )
