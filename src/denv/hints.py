"""What only many cases show together: sentences that lead a report's advice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from denv.records import CaseResult, Estimate, Json, Kind, Outcome, Side, Verdict
from denv.verdict import Judgement

MANY_RETRIES = 3
RETRIED_SHARE = 0.02
"""More retried requests than both of these are worth a look, whatever the verdict."""

HELP: Mapping[str, str] = {
    "regex timed out": "let their patterns backtrack less, as by possessive quantifiers",
    "samples in spite of temperature 0": "switch the thinking mode off, or compare texts instead",
    "repeats disagree": "check less of the answer, or take a reference that is steadier",
    "both sides truncated": "raise --max-tokens, or max_tokens in the suite",
    "no logprobs": "let both servers report logprobs",
    "not the whole answer": "ask for longer answers",
}
"""What helps where a reason of unmeasured cases holds these words; asking again does not."""


@dataclass(slots=True)
class _Offsets:
    """How many tokens more the stage counts in each prompt of a group: enough to sum it up."""

    known: int = 0
    differing: int = 0
    low: int = 0
    high: int = 0

    def merge(self, other: _Offsets) -> None:
        if other.known == 0:
            return
        self.low = min(self.low, other.low) if self.known else other.low
        self.high = max(self.high, other.high) if self.known else other.high
        self.known += other.known
        self.differing += other.differing

    @property
    def constant(self) -> bool:
        return self.known > 0 and self.low == self.high

    @property
    def differs(self) -> bool:
        return self.differing > 0

    def __str__(self) -> str:
        if self.low == self.high:
            return _signed(self.low)
        return f"{_signed(self.low)} to {_signed(self.high)}"


@dataclass(slots=True)
class Prompts:
    """The prompts' lengths on both sides, by whether they hold a system message and tools."""

    _cells: dict[tuple[bool, bool], _Offsets] = field(default_factory=dict)

    def add(self, prompt: Mapping[str, Json] | None) -> None:
        """Count a case whose prompt's length both sides report."""
        if prompt is None:
            return
        offset = prompt["stage"] - prompt["reference"]
        cell = self._cells.setdefault((prompt["system"], prompt["tools"]), _Offsets())
        cell.merge(_Offsets(1, int(offset != 0), offset, offset))

    def hint(self) -> str | None:
        """Say in how many cases the lengths differ, and which cause the pattern points at."""
        every = self._group(lambda *_: True)
        if not every.differs:
            return None
        pattern, points_at = self._pattern(every)
        pointed = f"; this points at {points_at}" if points_at else ""
        return (
            f"The prompts had other token counts in {every.differing} of {_cases(every.known)} "
            f"(stage - reference: {pattern}): compare the chat templates first{pointed}."
        )

    def _pattern(self, every: _Offsets) -> tuple[str, str]:
        if every.known == 1:
            return str(every), ""
        if every.constant:
            one = abs(every.low) == 1
            cause = (
                "a BOS token that is doubled or missing"
                if one
                else "a system prompt or a BOS token"
            )
            return f"{every} in all", cause
        halves = (self._by_system(), self._by_tools())
        for with_it, without, name, causes in halves:
            if with_it.constant and without.constant:
                return _both(with_it, without, name), _cause(with_it, without, causes)
        for with_it, without, name, causes in halves:
            if with_it.known and without.known and with_it.differs != without.differs:
                return _both(with_it, without, name), _cause(with_it, without, causes)
        return str(every), ""

    def _by_system(self) -> _Halves:
        causes = (
            "how system messages are rendered",
            "a system prompt that one side adds where there is none",
        )
        system = self._group(lambda system, _: system)
        return system, self._group(lambda system, _: not system), "a system message", causes

    def _by_tools(self) -> _Halves:
        causes = ("how tools are rendered", "")
        tools = self._group(lambda _, tools: tools)
        return tools, self._group(lambda _, tools: not tools), "tools", causes

    def _group(self, belongs: Callable[[bool, bool], bool]) -> _Offsets:
        found = _Offsets()
        for key, cell in self._cells.items():
            if belongs(*key):
                found.merge(cell)
        return found


_Halves = tuple[_Offsets, _Offsets, str, tuple[str, str]]
"""The cases with something and those without it, its name, and what points at either alone."""


def _both(with_it: _Offsets, without: _Offsets, name: str) -> str:
    return f"{without} in {without.known} without {name}, {with_it} in {with_it.known} with"


def _cause(with_it: _Offsets, without: _Offsets, causes: tuple[str, str]) -> str:
    if with_it.differs and without.differs:
        return ""
    return causes[0] if with_it.differs else causes[1]


@dataclass(slots=True)
class Unmeasured:
    """Unmeasured cases by what would help them."""

    _counts: Counter[str] = field(default_factory=Counter)

    def add(self, reason: str) -> None:
        """Count a case; a reason that nothing is known to help is in the report alone."""
        words = next((words for words in HELP if words in reason), None)
        if words is not None:
            self._counts[words] += 1

    def hints(self) -> Iterator[str]:
        """Say what would help, the most frequent first."""
        for words, count in self._counts.most_common():
            yield f"{_cases(count)} unmeasured ({words}): {HELP[words]}."


@dataclass(slots=True)
class Hints:
    """What a run's cases show together."""

    _prompts: Prompts = field(default_factory=Prompts)
    _unmeasured: Unmeasured = field(default_factory=Unmeasured)

    def add(self, result: CaseResult) -> None:
        """Count a case."""
        self._prompts.add(result.detail.get("prompt"))
        if result.outcome is Outcome.UNMEASURED:
            self._unmeasured.add(result.reason)

    def sentences(
        self, judgement: Judgement, *, requests: Mapping[Side, tuple[int, int]]
    ) -> list[str]:
        """Say it; ``requests`` are each side's, and how many of them were retried."""
        prompts = self._prompts.hint()
        return [
            *_reference_hints(judgement.kinds),
            *([] if prompts is None else [prompts]),
            *_retry_hints(requests),
            *(self._unmeasured.hints() if judgement.verdict is Verdict.INCONCLUSIVE else ()),
        ]


def _reference_hints(kinds: Mapping[Kind, Estimate]) -> Iterator[str]:
    """Name the kinds of which the reference itself fails more than half."""
    for kind, estimate in kinds.items():
        failed = estimate.counts.get(Outcome.REFERENCE_FAIL, 0)
        done = sum(estimate.counts.values())
        if 2 * failed > done:
            yield (
                f"{failed} of {done} {kind} cases fail on the reference: "
                "look at the suite or the reference."
            )


def _retry_hints(sides: Mapping[Side, tuple[int, int]]) -> Iterator[str]:
    """Name the sides of which many requests (so many, so many retried) had to be retried."""
    for side, (requests, retried) in sides.items():
        if retried >= MANY_RETRIES and retried > RETRIED_SHARE * requests:
            yield (
                f"{retried} of {requests} requests to the {side} were retried: look at its load "
                f"and log, or ask it less at once with --{side}-concurrency."
            )


def _signed(number: int) -> str:
    return f"{number:+d}" if number else "0"


def _cases(number: int) -> str:
    return "1 case" if number == 1 else f"{number} cases"
