"""One case of one side, then and now: what its check says of it, its text, its logprobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from denv.checks import Search, score
from denv.checks.logprobs_close import score_logprobs
from denv.outcome import Answer
from denv.records import Case, Kind, LogprobsClose, Observation

ANYTHING = LogprobsClose(float("inf"))
"""Asks for the difference of logprobs alone."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A case of one side that both runs have a usable answer to.

    ``then`` and ``now`` say whether each answer passes the check, None where that could not be
    measured; ``repeats`` whether each repeat of the baseline says what its first answer says.
    ``logprob_delta`` is the largest difference of a token's logprob, in nats.
    """

    case: str
    kind: Kind
    then: bool | None
    now: bool | None
    repeats: tuple[bool, ...] = ()
    same_text: bool = True
    logprob_delta: float | None = None

    @property
    def measured(self) -> bool:
        """Whether the check speaks of both answers."""
        return self.then is not None and self.now is not None

    @property
    def flipped(self) -> bool:
        """Whether the check says another thing now."""
        return self.measured and self.then != self.now


def compare(
    case: Case, *, baseline: Sequence[Answer], now: Answer | None, search: Search
) -> Compared | None:
    """Hold a side's answer against its own earlier one; None where either is none.

    ``baseline`` are the earlier run's answers, the deciding one first. ``logprobs-close`` asks
    whether a later answer is close to that first one, so that ``then`` is always a pass.
    """
    if now is None or not now.usable or not baseline or not baseline[0].usable:
        return None
    first, seen = baseline[0].observation, now.observation
    words = [_word(case, one, first=first, search=search) for one in (first, seen)]
    later = [
        _word(case, answer.observation, first=first, search=search)
        for answer in baseline[1:]
        if answer.usable
    ]
    return Compared(
        case=case.id,
        kind=case.check.kind,
        then=words[0],
        now=words[1],
        repeats=tuple(word == words[0] for word in later if word is not None),
        same_text=_said(first) == _said(seen),
        logprob_delta=_largest_delta(first, seen),
    )


def _word(case: Case, seen: Observation, *, first: Observation, search: Search) -> bool | None:
    if isinstance(case.check, LogprobsClose):
        return score(case.check, seen, reference=first, search=search).passed
    tools = case.fields.get("tools") or ()
    return score(case.check, seen, tools=tools, search=search).passed


def _said(seen: Observation) -> tuple[object, ...]:
    return seen.text, seen.reasoning, tuple((call.name, call.raw) for call in seen.calls)


def _largest_delta(first: Observation, seen: Observation) -> float | None:
    if first.logprobs is None or seen.logprobs is None:
        return None
    found = score_logprobs(ANYTHING, seen, first).detail.get("max")
    return None if found is None else float(found)
