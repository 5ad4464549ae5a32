"""Samples → the figures of the document: medians with their range, nothing below three."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from denv.instruments.speed.sample import Sample
from denv.records import Json

LEAST_SAMPLES = 3


def spread(values: Iterable[float | None]) -> Mapping[str, Json] | None:
    """Give median, minimum and maximum of what is known, None below three values.

    Examples
    --------
    >>> spread([3.0, None, 1.0, 10.0])
    {'median': 3.0, 'min': 1.0, 'max': 10.0, 'samples': 3}
    >>> spread([3.0, 1.0]) is None
    True
    """
    known = [value for value in values if value is not None]
    if len(known) < LEAST_SAMPLES:
        return None
    return {
        "median": float(median(known)),
        "min": float(min(known)),
        "max": float(max(known)),
        "samples": len(known),
    }


def decode_figures(samples: Sequence[Sample]) -> dict[str, Json]:
    """Give the figures of answers that were asked for one after another."""
    usable = [sample for sample in samples if sample.why_no_rate is None]
    return {
        "tokens_per_s": spread(sample.tokens_per_s for sample in usable),
        "ms_per_evaluation": spread(sample.ms_per_evaluation for sample in usable),
        "ttft_s": spread(sample.first_s for sample in usable),
        "prompt_tokens": spread(sample.prompt_tokens for sample in usable),
        "cached_tokens": spread(sample.cached_tokens for sample in usable),
        "completion_tokens": sum(sample.tokens or 0 for sample in usable),
        "drafts": drafts(usable),
        "server_side": server_figures(usable),
        **_counts(samples, usable),
    }


def _counts(samples: Sequence[Sample], usable: Sequence[Sample]) -> dict[str, Json]:
    reasons = [sample.why_no_rate for sample in samples if sample.why_no_rate is not None]
    return {
        "asked": len(samples),
        "usable": len(usable),
        "retried": sum(sample.retried for sample in samples),
        "reason": reasons[0] if reasons else None,
    }


def drafts(samples: Sequence[Sample]) -> Mapping[str, Json] | None:
    """Give what the server told of its drafts, None where it told nothing or drafted nothing."""
    if not samples or any(s.drafted is None or s.accepted is None for s in samples):
        return None
    drafted = sum(s.drafted or 0 for s in samples)
    if not drafted:
        return None
    accepted = sum(s.accepted or 0 for s in samples)
    evaluations = sum(s.evaluations or 0 for s in samples)
    after_first = sum((s.tokens or 1) - 1 for s in samples)
    return {
        "drafted": drafted,
        "accepted": accepted,
        "acceptance": accepted / drafted,
        "evaluations": evaluations,
        "tokens_per_evaluation": after_first / evaluations,
    }


def server_figures(samples: Sequence[Sample]) -> Mapping[str, Json] | None:
    """Give the decode rate as the server itself tells it, None where it does not."""
    told = spread(sample.server.tokens_per_s if sample.server else None for sample in samples)
    return None if told is None else {"tokens_per_s": told}


def prefill_figures(steps: Sequence[Sample]) -> Mapping[str, Json] | None:
    """Give the prefill rate of the steps of one depth, None where what is cached is not told."""
    rate = spread(step.prefill_tokens_per_s for step in steps)
    if rate is None:
        return None
    measured = [step for step in steps if step.prefill_tokens_per_s is not None]
    told = spread(s.server.prefill_tokens_per_s if s.server else None for s in measured)
    return {
        "tokens_per_s": rate,
        "new_tokens": sum(step.prefilled or 0 for step in measured),
        "server_side": None if told is None else {"tokens_per_s": told},
    }


def load_figures(rounds: Sequence[Sequence[Sample]]) -> dict[str, Json]:
    """Give the figures of rounds of answers that were asked for at once.

    The rate of a round is all its tokens over the time from its first request to its last token.
    A round in which one answer failed has none.
    """
    samples = [sample for answers in rounds for sample in answers]
    usable = [sample for sample in samples if sample.why_no_rate is None]
    return {
        "tokens_per_s": spread(_round_rate(answers) for answers in rounds),
        "tokens_per_s_each": spread(sample.tokens_per_s for sample in usable),
        "ttft_s": spread(sample.first_s for sample in usable),
        **_counts(samples, usable),
    }


def _round_rate(answers: Sequence[Sample]) -> float | None:
    if any(sample.why_no_rate is not None for sample in answers):
        return None
    begun = min(sample.sent_s for sample in answers)
    ended = max(sample.sent_s + (sample.last_s or 0.0) for sample in answers)
    return sum(sample.tokens or 0 for sample in answers) / (ended - begun)


def best_of(cells: Sequence[Mapping[str, Json]]) -> Mapping[str, Json] | None:
    """Name the cell of one depth with the highest median rate, None where nothing competes.

    ``clear`` says that its slowest round was quicker than every other cell's quickest.
    """
    rated = [cell for cell in cells if cell["tokens_per_s"] is not None]
    if len(rated) < 2:
        return None
    best = max(rated, key=lambda cell: float(cell["tokens_per_s"]["median"]))
    others = [cell for cell in rated if cell is not best]
    clear = all(cell["tokens_per_s"]["max"] < best["tokens_per_s"]["min"] for cell in others)
    return {"server": best["server"], "draft": best["draft"], "clear": clear}
