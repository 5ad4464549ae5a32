"""The logprobs of two answers compared, token by token, as far as both say the same.

What is compared is each entry's own value at events that both sides share: the same token after
the same tokens. The first thing that cannot be compared ends the comparison, it never fails it;
values that are no logprobs are neither passed nor failed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from math import ceil
from statistics import median

from denv.checks.alignment import Alignment, End, align
from denv.checks.parting import SLACK, Parting, find_parting, where_parted
from denv.checks.scaling import common_factor
from denv.checks.spans import Located, above_zero, entries, locate, shared_ids
from denv.checks.text import LEFT_IN_CONTENT, readable_text
from denv.checks.values import excerpt
from denv.records import Cause, Json, LogprobsClose, Observation, Score, TokenLogprob

MIN_ALIGNED = 8
"""Fewer tokens than this tell too little, unless they are the whole answer."""

MIN_MEASURED = 0.9
"""Share of the aligned tokens that must have a value on both sides."""

JUMP_NATS = 1.0


@dataclass(frozen=True, slots=True)
class _Comparison:
    """All that is known of two answers' tokens."""

    tolerance: float
    sides: tuple[Located, Located]
    alignment: Alignment
    by_ids: bool
    parting: Parting | None
    deltas: tuple[tuple[float, int], ...]

    @property
    def over(self) -> int:
        return sum(delta > self.tolerance + SLACK for delta, _ in self.deltas)

    @property
    def whole(self) -> bool:
        walk = self.alignment
        return walk.end is End.WHOLE and not walk.skipped and len(self.deltas) == len(walk.pairs)


def score_logprobs(
    check: LogprobsClose, answer: Observation, reference: Observation | None
) -> Score:
    """Score the stage's answer against the reference's."""
    if reference is None:
        return Score(None, "no answer of the reference to compare with")
    for side, seen in (("stage", answer), ("reference", reference)):
        fault = _unreadable(seen)
        if fault is not None:
            return Score(None, f"{side}: {fault}")
    warnings = _warnings(answer, reference)
    ours, theirs = answer.logprobs or (), reference.logprobs or ()
    ids = shared_ids(ours, theirs)
    sides = (
        locate(ours, readable_text(answer) or "", by_id=ids),
        locate(theirs, readable_text(reference) or "", by_id=ids),
    )
    for side, located in zip(("stage", "reference"), sides, strict=True):
        if not located.complete:
            reason = f"partial coverage: tokens for {located.covered} of {len(located.text)} bytes"
            return Score(None, f"{side}: {reason} of the text", warnings=warnings)
    walk = align(*sides, by_ids=ids is not None)
    compared = _Comparison(
        tolerance=check.tolerance,
        sides=sides,
        alignment=walk,
        by_ids=ids is not None,
        parting=find_parting(
            check.tolerance, sides, walk, (answer, reference), by_ids=ids is not None
        ),
        deltas=tuple(
            (abs(p.stage.logprob - p.reference.logprob), index)
            for index, p in enumerate(walk.pairs)
            if p.stage.logprob is not None and p.reference.logprob is not None
        ),
    )
    aside = {"stage": answer.logprobs_reasoning, "reference": reference.logprobs_reasoning}
    detail = _detail(compared, aside)
    passed, reason = _decide(compared)
    cause = Cause.UNKNOWN if passed is False else None
    warnings += _partial(compared) if passed else ()
    return Score(passed, reason, cause, warnings, detail)


# ---------------------------------------------------------------- what can be read


def _unreadable(seen: Observation) -> str | None:
    if readable_text(seen) is None:
        return "no text"
    if not seen.logprobs:
        return f"no logprobs: {seen.logprobs_absent or 'none came'}"
    finite = set(_finite(seen.logprobs))
    if not finite:
        return "logprobs not real: no value is a logprob"
    if finite == {0.0}:
        return "logprobs not real: every value is 0"
    above = above_zero(seen.logprobs)
    if above is not None:
        return f"logprobs not real: {above:.3g} is above 0"
    return None


def _finite(tokens: tuple[TokenLogprob, ...]) -> Iterator[float]:
    for entry in chain.from_iterable(map(entries, tokens)):
        if entry.logprob is not None:
            yield entry.logprob


def _warnings(answer: Observation, reference: Observation) -> tuple[str, ...]:
    found = []
    for side, seen in (("stage", answer), ("reference", reference)):
        if seen.text_after_reasoning is not None:
            found.append(f"{side}: {LEFT_IN_CONTENT}")
    ours, theirs = answer.reasoning, reference.reasoning
    if ours and theirs and ours.strip() != theirs.strip():
        found.append("the thoughts differ, so the answers' tokens follow different contexts")
    return tuple(found)


def _partial(compared: _Comparison) -> tuple[str, ...]:
    """Say of a pass what it does not cover."""
    walk, found = compared.alignment, []
    if walk.end is End.RETOKENISED:
        found.append(f"tokenised differently from token {walk.stage_at} on: not compared")
    if compared.parting is not None:
        found.append(f"the answers part at token {walk.stage_at}, a numeric tie")
    elif walk.end in {End.STAGE_ENDED, End.REFERENCE_ENDED}:
        found.append(f"compared up to token {walk.stage_at}, where one side was cut")
    missing = len(walk.pairs) - len(compared.deltas) + walk.skipped
    if missing:
        found.append(f"{missing} tokens could not be compared")
    return tuple(found)


# ---------------------------------------------------------------- the decision


def _decide(compared: _Comparison) -> tuple[bool | None, str]:
    """Decide in this order; what is unreal is neither, and few tokens only fail by parting."""
    parting = compared.parting
    factor = common_factor(_positions(compared), by_ids=compared.by_ids)
    if factor is not None:
        return None, f"the stage's logprobs are scaled by about {factor:.3g}: other settings"
    if parting is not None and parting.agree is False:
        return False, f"{where_parted(parting)}, where they differ by {parting.worst:.3g} nats"
    return _decide_aligned(compared)


def _decide_aligned(compared: _Comparison) -> tuple[bool | None, str]:
    walk, parting, count = compared.alignment, compared.parting, len(compared.deltas)
    if not count or (count < MIN_ALIGNED and not compared.whole):
        return None, f"only {count} tokens aligned, not the whole answer{_why(compared)}"
    if count < MIN_MEASURED * len(walk.pairs):
        return None, f"only {count} of {len(walk.pairs)} aligned tokens have logprobs"
    if compared.over:
        return False, _failure(compared)
    if parting is not None and parting.agree is None:
        return None, f"{where_parted(parting)}, and not every alternative is reported there"
    return True, ""


def _positions(compared: _Comparison) -> Iterator[tuple[TokenLogprob, TokenLogprob]]:
    yield from ((pair.stage, pair.reference) for pair in compared.alignment.pairs)
    parting = compared.parting
    if parting is not None and parting.stage is not None and parting.reference is not None:
        yield parting.stage, parting.reference


def _why(compared: _Comparison) -> str:
    if compared.alignment.end is End.RETOKENISED:
        return ": tokenised differently"
    if compared.parting is not None:
        return f": {where_parted(compared.parting)}"
    return ""


def _failure(compared: _Comparison) -> str:
    worst, index = max(compared.deltas, key=lambda one: one[0])
    pair = compared.alignment.pairs[index]
    count, limit = len(compared.deltas), compared.tolerance
    reason = (
        f"{compared.over} of {count} tokens differ by more than {limit:g} nats,"
        f" at most by {worst:.3g} at token {pair.index} {excerpt(pair.stage.token)}"
    )
    far = [delta for delta, _ in compared.deltas if delta > limit + SLACK]
    if len(far) < count and min(far) >= max(JUMP_NATS, 10 * limit):
        reason += "; these jump while the others are close, as a fault of the engine shows"
    return reason


# ---------------------------------------------------------------- figures for the report


def _detail(compared: _Comparison, aside: dict[str, int]) -> dict[str, Json]:
    walk, parting = compared.alignment, compared.parting
    names = ("stage", "reference")
    detail: dict[str, Json] = {
        "aligned": len(compared.deltas),
        "aligned_by": "id" if compared.by_ids else "bytes",
        "whole": compared.whole,
        "skipped": walk.skipped,
        "without_value": len(walk.pairs) - len(compared.deltas),
        "set_aside": {n: s.before + aside[n] for n, s in zip(names, compared.sides, strict=True)},
        "end_tokens": {n: len(s.after) for n, s in zip(names, compared.sides, strict=True)},
        "parted": None,
    }
    if parting is not None:
        detail["parted"] = {
            "index": parting.index,
            "stage": None if parting.stage is None else parting.stage.token,
            "reference": None if parting.reference is None else parting.reference.token,
            "agree": parting.agree,
            "max": parting.worst,
        }
    return detail | _distribution(compared)


def _distribution(compared: _Comparison) -> dict[str, Json]:
    if not compared.deltas:
        return {"max": None, "median": None, "p99": None, "share_over": None, "worst": None}
    ordered = sorted(delta for delta, _ in compared.deltas)
    worst, index = max(compared.deltas, key=lambda one: one[0])
    pair = compared.alignment.pairs[index]
    return {
        "max": worst,
        "median": median(ordered),
        "p99": ordered[ceil(0.99 * len(ordered)) - 1],
        "share_over": compared.over / len(ordered),
        "worst": {
            "index": pair.index,
            "token": pair.stage.token,
            "stage": pair.stage.logprob,
            "reference": pair.reference.logprob,
        },
    }
