"""Which cases a run asks, in which order, and how many of each check and kind they are."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from denv.records import Case, Kind
from denv.runner.private import PrivatePart
from denv.runner.settings import Settings
from denv.suite import Suite


@dataclass(frozen=True, slots=True)
class PrivateCases:
    """The private cases ``first`` to ``last`` of a run whose suite has ``offset`` cases."""

    part: PrivatePart
    first: int
    last: int
    offset: int
    max_tokens: int

    @property
    def cases(self) -> int:
        """How many they are."""
        return self.last - self.first + 1

    def iter_cases(self) -> Iterator[Case]:
        """Stream them in their file's order, by their index in the run."""
        return self.part.iter_cases(
            self.first, self.last, offset=self.offset, max_tokens=self.max_tokens
        )


@dataclass(frozen=True, slots=True)
class Portion:
    """Some or all cases of a run; ``checks`` and ``kinds`` count those of the suite."""

    suite: Suite
    checks: Mapping[str, int]
    kinds: Mapping[Kind, int]
    wanted: Callable[[int], bool] | None = None
    private: PrivateCases | None = None

    @property
    def private_cases(self) -> int:
        """How many private cases there are."""
        return 0 if self.private is None else self.private.cases

    def is_private(self, index: int) -> bool:
        """Tell whether a case of the run is private."""
        return index >= self.suite.cases

    def streams(self, case: Case) -> bool | None:
        """Tell whether a case is streamed by a draw; None where the settings say it."""
        if self.private is None or not self.is_private(case.index):
            return None
        drawn = self.private.part.drawn(case)
        return None if drawn is None else drawn.stream

    def iter_cases(self, seed: str) -> Iterator[Case]:
        """Stream the cases in the suite's order, private ones among them at places of chance."""
        public = self.suite.iter_cases(self.wanted)
        if self.private is None:
            return public
        counts = (sum(self.checks.values()), self.private.cases)
        rng = random.Random(seed)  # noqa: S311 - an order, not a secret
        return interleaved(public, self.private.iter_cases(), counts=counts, rng=rng)


def interleaved(
    one: Iterator[Case], other: Iterator[Case], *, counts: tuple[int, int], rng: random.Random
) -> Iterator[Case]:
    """Merge two streams of so many cases; every way to merge them is as likely as any other."""
    left = list(counts)
    streams = (one, other)
    while sum(left):
        which = int(rng.randrange(sum(left)) >= left[0])
        left[which] -= 1
        yield next(streams[which])
    for stream in streams:  # its end says whether the file has changed
        yield from stream


def whole(suite: Suite, settings: Settings) -> Portion:
    """Give all that a run asks: the suite or the cases drawn of it, and the private part."""
    part, only = settings.private, settings.only
    private = None if part is None else _private(suite, settings, 0, part.suite.cases - 1)
    if only is None:
        return Portion(suite, suite.checks, suite.kinds, private=private)
    return _counted(suite, frozenset(only).__contains__, private)


async def counted_whole(suite: Suite, settings: Settings) -> Portion:
    """Give all that a run asks; the suite is read in a thread, and holds up no loop."""
    return await asyncio.to_thread(whole, suite, settings)


@dataclass(frozen=True, slots=True)
class Span:
    """The cases of one shard: from ``first`` to ``last`` of the suite, and of the private part."""

    first: int
    last: int
    private: tuple[int, int] | None = None

    def holds(self, index: int, *, suite: Suite) -> bool:
        """Tell whether a case of the run, by its index in it, is one of the shard's."""
        if index < suite.cases:
            return self.first <= index <= self.last
        if self.private is None:
            return False
        return self.private[0] <= index - suite.cases <= self.private[1]

    def ranges(self, suite: Suite) -> Iterator[tuple[int, int]]:
        """Give the ranges of indices in the run."""
        yield self.first, self.last
        if self.private is not None:
            yield suite.cases + self.private[0], suite.cases + self.private[1]


def span_of(shard: int, shards: Sequence[tuple[int, int]], settings: Settings) -> Span:
    """Give a shard's cases; each has its even share of the private ones."""
    first, last = shards[shard]
    part = settings.private
    if part is None:
        return Span(first, last)
    begin, end = (part.suite.cases * place // len(shards) for place in (shard, shard + 1))
    return Span(first, last, (begin, end - 1) if begin < end else None)


def between(suite: Suite, settings: Settings, span: Span) -> Portion:
    """Give what a run asks of one shard."""
    drawn = None if settings.only is None else frozenset(settings.only)

    def wanted(index: int) -> bool:
        return span.first <= index <= span.last and (drawn is None or index in drawn)

    private = None if span.private is None else _private(suite, settings, *span.private)
    return _counted(suite, wanted, private)


def split(suite: Suite, only: Sequence[int] | None, *, shards: int) -> tuple[tuple[int, int], ...]:
    """Cut the cases of a suite into ranges of nearly equal numbers, each with one at least."""
    indices = range(suite.cases) if only is None else sorted(only)
    parts = min(shards, len(indices))
    ends = [part * len(indices) // max(parts, 1) for part in range(parts + 1)]
    return tuple((indices[begin], indices[end - 1]) for begin, end in pairwise(ends))


def _private(suite: Suite, settings: Settings, first: int, last: int) -> PrivateCases | None:
    if settings.private is None:
        return None
    return PrivateCases(
        settings.private, first, last, offset=suite.cases, max_tokens=settings.max_tokens
    )


def _counted(suite: Suite, wanted: Callable[[int], bool], private: PrivateCases | None) -> Portion:
    checks: Counter[str] = Counter()
    kinds: Counter[Kind] = Counter()
    for case in suite.iter_cases(wanted):
        checks[case.check.name] += 1
        kinds[case.check.kind] += 1
    return Portion(suite, dict(checks), dict(kinds), wanted, private)
