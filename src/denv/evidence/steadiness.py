"""How far a side's answers to the very same request agree with each other: the noise floor.

What counts is the check's outcome, not the text; identity of texts and logprobs is shown beside
it, since engines that promise determinism are held to that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from denv.checks.logprobs_close import score_logprobs
from denv.evidence.answer import Answer
from denv.evidence.pair import Pair
from denv.records import Json, Kind, LogprobsClose, Observation, Side

FIRST, WARM, ALONE = "first", "warm", "alone"


def condition(repeat: int) -> str:
    """Name how the answer of this number is asked for.

    The first comes from a cold prompt cache, among others. Then come in turn ``warm``, at once
    after the same request and among others, and ``alone``, with nothing else in flight.
    """
    if repeat == 0:
        return FIRST
    return WARM if repeat % 2 else ALONE


@dataclass(frozen=True, slots=True)
class _Later:
    """A usable answer after a usable first, and the condition that it was asked under."""

    condition: str
    first: Observation
    seen: Observation

    @property
    def identical(self) -> bool:
        """Whether all that checks can read is the same to the last bit."""
        return _read(self.first) == _read(self.seen)


def steadiness(pair: Pair) -> dict[str, Json] | None:
    """Show, for a case that was asked more than once, how each side agrees with itself."""
    if all(len(answers) < 2 for answers in pair.answers.values()):
        return None
    shown: dict[str, Json] = {side.value: _side(pair, side) for side in Side}
    if isinstance(pair.case.check, LogprobsClose):
        shown["tolerance"] = pair.case.check.tolerance
    return shown


def _side(pair: Pair, side: Side) -> dict[str, Json] | None:
    later = _later(pair.answers[side])
    if not later:
        return None
    identical = {
        name: all(one.identical for one in later if one.condition == name)
        for name in (WARM, ALONE)
        if any(one.condition == name for one in later)
    }
    return {
        "answers": 1 + len(later),
        "agree": _agrees(pair, side, later),
        "identical": identical,
        "logprob_delta": _largest_delta(later) if pair.kind is Kind.LOGPROBS else None,
    }


def _later(answers: Sequence[Answer]) -> list[_Later]:
    if not answers or not answers[0].usable:
        return []
    first = answers[0].observation
    return [
        _Later(condition(number), first, answer.observation)
        for number, answer in enumerate(answers)
        if number > 0 and answer.usable
    ]


def _agrees(pair: Pair, side: Side, later: Sequence[_Later]) -> bool | None:
    """Whether all repeats say the same of the check; None where it could not be measured.

    logprobs-close is asked whether a side's later answers are close to its own first.
    """
    check = pair.case.check
    if isinstance(check, LogprobsClose):
        scores = [score_logprobs(check, one.seen, one.first) for one in later]
        passed = [score.passed for score in scores if score.passed is not None]
        return all(passed) if passed else None
    words = [score.passed for score in pair.scores[side] if score.passed is not None]
    return len(set(words)) == 1 if len(words) > 1 else None


def _largest_delta(later: Sequence[_Later]) -> float | None:
    """Give the largest difference of a token's logprob between repeats, in nats."""
    anything = LogprobsClose(float("inf"))
    found = [score_logprobs(anything, one.seen, one.first).detail.get("max") for one in later]
    deltas = [delta for delta in found if delta is not None]
    return max(deltas) if deltas else None


def _read(seen: Observation) -> tuple[object, ...]:
    calls = tuple((call.name, call.raw) for call in seen.calls)
    tokens = [(token.token, token.bytes, token.logprob) for token in seen.logprobs or ()]
    return seen.text, seen.reasoning, calls, seen.finish_reason, tokens
