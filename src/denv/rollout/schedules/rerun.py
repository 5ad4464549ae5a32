"""A full run's answers beside the baseline's: drift, the noise floor, and the divergence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from statistics import fmean

from denv.checks import Search
from denv.instruments.tokens.pairing import compare as compare_tokens
from denv.observe import observe
from denv.outcome import Answer
from denv.records import Case, Kind, Observation, Side, TokenLogprob
from denv.rollout.schedules.comparing import Compared, compare
from denv.store import AnswerKey, Store, StoredAnswer
from denv.suite import Suite

PAGE = 100
"""Cases that are looked up at once."""


@dataclass(frozen=True, slots=True)
class Beside:
    """What both sides' answers of two runs come to.

    ``kl`` is the mean lower bound of the divergence of the stage from the reference over all
    positions of ``logprobs`` cases where both have said the same so far, in nats.
    """

    sides: Mapping[Side, list[Compared | None]] = field(
        default_factory=lambda: {side: [] for side in Side}
    )
    kl: float | None = None
    kl_tokens: int = 0


def lay_beside(suite: Suite, *, baseline: str, run: str, store: Store, search: Search) -> Beside:
    """Hold a run's first answers against the baseline's; a run against itself shows its noise."""
    found = Beside()
    divergences: list[float] = []
    for cases in _pages(suite):
        first, last = cases[0].index, cases[-1].index
        then = store.answers(baseline, first, last)
        now = then if run == baseline else store.answers(run, first, last)
        for case in cases:
            for side in Side:
                found.sides[side].append(
                    compare(
                        case,
                        baseline=_answers(then, case, side),
                        now=next(iter(_answers(now, case, side)), None),
                        search=search,
                    )
                )
            divergences += _divergences(case, now)
    kl = fmean(divergences) if divergences else None
    return Beside(found.sides, kl, len(divergences))


def _pages(suite: Suite) -> Iterator[list[Case]]:
    page: list[Case] = []
    for case in suite:
        page.append(case)
        if len(page) == PAGE:
            yield page
            page = []
    if page:
        yield page


def _answers(stored: Mapping[AnswerKey, StoredAnswer], case: Case, side: Side) -> list[Answer]:
    """Give a side's answers that are not streamed, unless all are; the deciding one first."""
    keys = sorted(key for key in stored if key.case == case.index and key.side is side)
    first = next((key for key in keys if key.repeat == 0), None)
    if first is None:
        return []
    return [
        Answer(observe(stored[key].exchange), stored[key].max_tokens)
        for key in keys
        if key.streamed == first.streamed
    ]


def _divergences(case: Case, stored: Mapping[AnswerKey, StoredAnswer]) -> list[float]:
    if case.check.kind is not Kind.LOGPROBS:
        return []
    answers = {side: _answers(stored, case, side) for side in Side}
    if not all(given and given[0].usable for given in answers.values()):
        return []
    stage, reference = (
        _entries(answers[side][0].observation) for side in (Side.STAGE, Side.REFERENCE)
    )
    shared = _shared(stage, reference)
    if not shared:
        return []
    positions = compare_tokens(reference[:shared], stage[:shared], same_ids=False, same_places=True)
    return [float(kl) for kl in positions.kl if kl == kl]  # noqa: PLR0124 - leaves NaN out


def _entries(seen: Observation) -> tuple[TokenLogprob, ...]:
    return seen.logprobs or ()


def _shared(one: tuple[TokenLogprob, ...], other: tuple[TokenLogprob, ...]) -> int:
    """Count the tokens up to the first that differs."""
    count = 0
    for ours, theirs in zip(one, other, strict=False):
        if ours.token != theirs.token:
            break
        count += 1
    return count
