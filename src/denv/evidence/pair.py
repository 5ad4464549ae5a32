"""Both sides' answers to one case, and what the check says of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from denv.checks import Search, score
from denv.checks.degenerate import Loop, find_loop
from denv.evidence.answer import Answer
from denv.records import SIDES, Case, Json, Kind, Observation, Score, Side

MIN_MISSING_PROMPT_TOKENS = 20
"""A prompt shorter than half the reference's, by at least this much, lacks its tools."""

MAX_UNIT_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Degenerate:
    """Where an answer runs into a loop (its text or its reasoning), and what it repeats there."""

    where: str
    loop: Loop

    def __str__(self) -> str:
        unit = self.loop.unit.strip()[:MAX_UNIT_SHOWN]
        return f"degenerate loop in the {self.where}: {unit!r} {self.loop.repeats} times"


class Pair:
    """Both sides' answers and, once they are asked for, what the check says of them."""

    def __init__(
        self,
        case: Case,
        answers: Mapping[Side, tuple[Answer, ...]],
        *,
        search: Search,
        sampled: frozenset[Side],
        streamed: Mapping[Side, Answer],
    ) -> None:
        self.case, self.kind = case, case.check.kind
        self.answers, self.sampled, self.streamed = answers, sampled, streamed
        self.tools: Sequence[Mapping[str, Json]] = case.fields.get("tools") or ()
        self._search = search

    def first(self, side: Side) -> Answer | None:
        """Give the answer that decides for a side, usable or not."""
        return self.answers[side][0] if self.answers[side] else None

    def usable(self, side: Side) -> Answer | None:
        """Give the answer that decides for a side, if checks can read it."""
        first = self.first(side)
        return first if first is not None and first.usable else None

    def score(self, seen: Observation, against: Observation | None = None) -> Score:
        """Ask the check about one observation."""
        check = self.case.check
        return score(check, seen, reference=against, tools=self.tools, search=self._search)

    @cached_property
    def scores(self) -> Mapping[Side, tuple[Score, ...]]:
        """The check of every usable answer, each side's deciding one first.

        logprobs-close needs a pair: the stage's answers meet the reference's first, and the
        reference's meet the stage's first.
        """
        return {side: self._side_scores(side) for side in SIDES}

    def _side_scores(self, side: Side) -> tuple[Score, ...]:
        if self.usable(side) is None:
            return ()
        given = [a.observation for a in self.answers[side] if a.usable]
        if self.kind is not Kind.LOGPROBS:
            return tuple(map(self.score, given))
        other = self.usable(Side.REFERENCE if side is Side.STAGE else Side.STAGE)
        if other is None:
            return ()
        if side is Side.STAGE:
            return tuple(self.score(seen, other.observation) for seen in given)
        return tuple(self.score(other.observation, seen) for seen in given)

    def disagrees(self, side: Side) -> bool:
        """Whether a side's repeats both pass and fail the check."""
        passed = {s.passed for s in self.scores[side]}
        return {True, False} <= passed

    @cached_property
    def stage_loop(self) -> Degenerate | None:
        """Where the stage's answer runs into a degenerate loop, if it does."""
        return _find_loop(self.usable(Side.STAGE))

    @cached_property
    def reference_loop(self) -> Degenerate | None:
        """Where the reference's answer does the same; looked for only where the stage loops."""
        return self.stage_loop and _find_loop(self.usable(Side.REFERENCE))

    @cached_property
    def tools_missing(self) -> bool:
        """Whether the stage's prompt is so much shorter that the tools cannot be in it."""
        lengths = self.prompt_lengths
        if lengths is None or not self.tools:
            return False
        stage, reference = lengths
        return 2 * stage < reference and reference - stage >= MIN_MISSING_PROMPT_TOKENS

    @cached_property
    def prompt_lengths(self) -> tuple[int, int] | None:
        """Both sides' prompt tokens (stage, reference) where both are known."""
        stage, reference = self.usable(Side.STAGE), self.usable(Side.REFERENCE)
        if stage is None or reference is None:
            return None
        if stage.prompt_tokens is None or reference.prompt_tokens is None:
            return None
        return stage.prompt_tokens, reference.prompt_tokens


def _find_loop(answer: Answer | None) -> Degenerate | None:
    if answer is None:
        return None
    seen = answer.observation
    for where, text in (("text", seen.text), ("reasoning", seen.reasoning)):
        if text and (loop := find_loop(text)) is not None:
            return Degenerate(where, loop)
    return None


def word(score_: Score) -> str:
    """Say in a word what a check found."""
    return {True: "pass", False: "fail", None: "unmeasured"}[score_.passed]
