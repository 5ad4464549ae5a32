"""Whether one side's logprobs are the other's after a temperature.

A temperature T turns the gap between two alternatives of a position into gap / T, whatever else
it does to the values. So the gaps of one side are a fixed multiple of the other's, at every
position, where values are reported after sampling settings, while noise and quantization scatter
them. Equal factors are only looked for among gaps well above rounding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import exp, log
from statistics import median

from denv.checks.spans import Entry, entries
from denv.records import TokenLogprob

MIN_GAP_NATS = 0.5
MIN_GAPS = 4
SPREAD = log(1.02)
"""How far a factor may be off the common one, in log units."""

MIN_FACTOR = log(1.1)
CONSISTENT = 0.9
"""Share of the gaps that must show the common factor."""

EXACT_SPREAD = log(1.005)
FEW_GAPS_FACTOR = log(2.0)
"""Fewer gaps than four show only a temperature of one half, the usual one."""


def common_factor(
    positions: Iterable[tuple[TokenLogprob, TokenLogprob]], *, by_ids: bool
) -> float | None:
    """Give the factor by which the first side's gaps exceed the second's, None where none does.

    ``positions`` are the two sides' entries for the same event.
    """
    logs = [
        log(ours / theirs)
        for position in positions
        for ours, theirs in _gaps(*position, by_ids=by_ids)
    ]
    if not logs:
        return None
    middle = median(logs)
    if len(logs) < MIN_GAPS:
        known = all(abs(abs(one) - FEW_GAPS_FACTOR) <= EXACT_SPREAD for one in logs)
        return exp(middle) if known and len({one > 0 for one in logs}) == 1 else None
    near = sum(abs(one - middle) <= SPREAD for one in logs)
    scaled = abs(middle) >= MIN_FACTOR and near >= CONSISTENT * len(logs)
    return exp(middle) if scaled else None


def _gaps(
    ours: TokenLogprob, theirs: TokenLogprob, *, by_ids: bool
) -> Iterator[tuple[float, float]]:
    left, right = _values(ours, by_ids=by_ids), _values(theirs, by_ids=by_ids)
    both = [(left[key], right[key]) for key in left.keys() & right.keys()]
    if not both:
        return
    top = max(both, key=sum)
    for value in both:
        gap = top[0] - value[0], top[1] - value[1]
        if min(gap) >= MIN_GAP_NATS:
            yield gap


def _values(token: TokenLogprob, *, by_ids: bool) -> dict[object, float]:
    return {
        _key(entry, by_ids=by_ids): entry.logprob
        for entry in entries(token)
        if entry.logprob is not None
    }


def _key(entry: Entry, *, by_ids: bool) -> object:
    if by_ids and entry.id is not None:
        return entry.id
    return entry.bytes or entry.token
