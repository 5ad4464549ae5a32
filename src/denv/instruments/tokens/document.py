"""The document ``denv.parity.tokens/1``: all figures, so that a page has nothing to compute."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from denv.checks.spans import above_zero
from denv.instruments.probes import Finding
from denv.instruments.tokens.decision import UNDECIDED, Coverage, Margins, decide
from denv.instruments.tokens.figures import (
    Compared,
    Measure,
    by_category,
    by_depth,
    by_position,
    main_figures,
    shares,
)
from denv.instruments.tokens.measured import Pair, Readings
from denv.instruments.tokens.pairing import compare
from denv.instruments.tokens.targets import Unusable
from denv.records import Json, TokenLogprob

REAL_SHARE = 0.9
"""Of the reference's tokens so many must have a logprob, else it gives no distribution."""

LEAST_ALTERNATIVES = 2


@dataclass(frozen=True, slots=True)
class Plan:
    """What was asked for, and the path that was found."""

    asked: int
    path: str | None
    shared: bool
    top: int | None
    margins: Margins
    alpha: float
    seed: int
    resamples: int


_FIGURES = (
    "top1_agreement", "rank", "nll", "delta_nll", "kl_lower_bound", "total_variation", "delta_p",
)  # fmt: skip


def refused(plan: Plan, reasons: Sequence[str], warnings: Sequence[str]) -> Finding:
    """Give the document of a measurement that was not made."""
    body: dict[str, Json] = {
        **_head(UNDECIDED, reasons, warnings, plan=plan),
        "texts": 0,
        "tokens": 0,
        **dict.fromkeys(_FIGURES),
        "floor": None,
        "margin": plan.margins.resolved(None),
        "by_position": None,
        "by_depth": None,
        "by_category": None,
    }
    return Finding(UNDECIDED, body)


def summed_up(
    plan: Plan, readings: Readings, *, lost: Sequence[Unusable], warnings: Sequence[str]
) -> Finding:
    """Compute all figures and decide; it takes seconds, so it is done in a thread."""
    rng = np.random.default_rng(plan.seed)
    measure = Measure(1 - plan.alpha, rng, plan.resamples, plan.margins)
    real = has_distribution(readings.pairs)
    texts = [_compared(pair, distribution=real) for pair in readings.pairs]
    figures = main_figures(texts, measure, distribution=real)
    floor = _floor(readings, measure)
    margin = plan.margins.resolved(floor)
    coverage = Coverage(readings.answered, figures["texts"], readings.tokens, figures["tokens"])
    verdict, reasons = decide(figures, floor, margin=margin, coverage=coverage)
    said = [*warnings, *_warnings(readings, floor, margin)]
    body = {
        **_head(verdict, reasons, said, plan=plan),
        "unusable": _unusable([*lost, *readings.lost]),
        "matched": shares(texts),
        "lanes": {side.value: count for side, count in readings.lanes.items()},
        **figures,
        "floor": floor,
        "margin": margin,
        "by_position": by_position(texts, measure, distribution=real),
        "by_depth": by_depth(texts, measure, distribution=real),
        "by_category": by_category(texts, measure, distribution=real),
    }
    return Finding(verdict, body)


def has_distribution(pairs: Sequence[Pair]) -> bool:
    """Whether the reference's logprobs are real: not absent, not all 0, not placeholders.

    Nor may a value of either side be above 0, for it is weighed against the reference's.
    """
    entries = [entry for pair in pairs for entry in pair.expected if entry is not None]
    told = [entry for entry in entries if _is_told(entry)]
    if not entries or len(told) < REAL_SHARE * len(entries):
        return False
    seen = (one for pair in pairs for one in (*pair.expected, *pair.found) if one is not None)
    return any(entry.logprob != 0 for entry in told) and above_zero(seen) is None


def _is_told(entry: TokenLogprob) -> bool:
    listed = [one for one in entry.top if one.logprob is not None]
    return len(listed) >= LEAST_ALTERNATIVES


def _compared(pair: Pair, *, distribution: bool) -> Compared:
    positions = compare(
        pair.expected,
        pair.found,
        same_ids=pair.same_ids,
        same_places=pair.same_places,
        distribution=distribution,
    )
    return Compared(pair.text.prompt, pair.prompt_tokens, positions)


def _floor(readings: Readings, measure: Measure) -> dict[str, Any] | None:
    if not readings.floor:
        return None
    real = has_distribution(readings.floor)
    texts = [_compared(pair, distribution=real) for pair in readings.floor]
    if not sum(text.positions.count for text in texts):
        return None
    return {"of": readings.floor_of, **main_figures(texts, measure, distribution=real)}


def _head(
    verdict: str, reasons: Sequence[str], warnings: Sequence[str], *, plan: Plan
) -> dict[str, Json]:
    return {
        "verdict": verdict,
        "reasons": list(reasons),
        "warnings": list(warnings),
        "path": plan.path,
        "reference_path": (plan.path if plan.shared else "chat") if plan.path else None,
        "top": plan.top,
        "confidence": 1 - plan.alpha,
        "asked": plan.asked,
        "unusable": _unusable([]),
        "matched": None,
        "lanes": None,
    }


def _unusable(lost: Sequence[Unusable]) -> dict[str, Json]:
    counted = Counter((one.side, one.reason) for one in lost)
    return {
        "texts": len(lost),
        "reasons": [
            {"side": side.value, "reason": reason, "texts": count}
            for (side, reason), count in counted.most_common()
        ],
    }


def _warnings(
    readings: Readings, floor: Mapping[str, Any] | None, margin: Mapping[str, Json]
) -> list[str]:
    found = []
    if readings.other_prompts:
        found.append(
            f"the sides render {readings.other_prompts} of {len(readings.pairs)} prompts into "
            "other tokens: what is measured is their templates too"
        )
    noise = floor and floor["kl_lower_bound"]
    if noise and noise["value"] > margin["kl"]:
        found.append(
            f"the margin of {margin['kl']:.3g} nats lies below the noise floor of "
            f"{noise['value']:.3g}"
        )
    return found
