"""Counts, cases and batches in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from denv.records import Kind
from denv.rollout.states.looks import Evidence
from denv.rollout.states.state import State
from denv.rollout.states.tally import Tally

MOST_CASES = 5
"""Cases that are named; of more, only how many."""


def percent(share: Fraction | float) -> str:
    """Write a share as a percentage."""
    return f"{float(100 * share):.6g} %"


def seconds_words(seconds: float) -> str:
    """Write a time in the largest unit that keeps it short."""
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:g} {unit}"
    return f"{round(seconds, 1):g} s"


def batch_words(state: State) -> str:
    """Name the batch and its share."""
    if not state.batch:
        return "before the first batch"
    share = state.terms.batches[state.batch - 1]
    return f"batch {state.batch} of {len(state.terms.batches)} ({percent(share)})"


def cases_words(cases: Sequence[str]) -> str:
    """Name the first cases, and say how many more there are."""
    named = ", ".join(cases[:MOST_CASES])
    more = len(cases) - MOST_CASES
    return f"{named} and {more} more" if more > 0 else named or "none named"


def tallies_words(tallies: Iterable[Tally], thresholds: Mapping[Kind, Fraction]) -> str:
    """Say for each kind how many passed, and how many had to."""
    return "; ".join(_tally(one, thresholds.get(one.kind)) for one in tallies) or "nothing counted"


def _tally(tally: Tally, threshold: Fraction | None) -> str:
    least = "not gated" if threshold is None else f"at least {percent(threshold)}"
    aside = f", {tally.uncounted} not counted" if tally.uncounted else ""
    return f"{tally.kind} {tally.passed} of {tally.counted} passed ({least}){aside}"


def evidence_words(found: Iterable[Evidence]) -> str:
    """Say for each kind what the looks together found, and how near that is to deciding."""
    return "; ".join(_evidence(one) for one in found if one.counted) or "nothing counted yet"


def _evidence(one: Evidence) -> str:
    looks = "1 look" if one.looks == 1 else f"{one.looks} looks"
    counts = f"{one.kind} {one.failed} of {one.counted} failed in {looks}"
    if not one.allowed:
        return f"{counts} (none may)"
    allowed = f"at most {percent(one.allowed)}"
    return f"{counts} ({allowed}; evidence {one.log_e:.3g} of {one.needed:.3g} nats)"
