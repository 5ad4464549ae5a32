"""Which cases of a suite are asked, and how many of each check and kind they are."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from denv.records import Case, Kind
from denv.suite import Suite


@dataclass(frozen=True, slots=True)
class Portion:
    """Some or all cases of a suite; ``checks`` and ``kinds`` count them."""

    suite: Suite
    checks: Mapping[str, int]
    kinds: Mapping[Kind, int]
    wanted: Callable[[int], bool] | None = None

    def iter_cases(self) -> Iterator[Case]:
        """Stream the cases in the suite's order."""
        return self.suite.iter_cases(self.wanted)


def whole(suite: Suite, only: Sequence[int] | None) -> Portion:
    """Give all that a run asks: the suite, or the cases that were drawn of it."""
    if only is None:
        return Portion(suite, suite.checks, suite.kinds)
    return _counted(suite, frozenset(only).__contains__)


async def counted_whole(suite: Suite, only: Sequence[int] | None) -> Portion:
    """Give all that a run asks; the suite is read in a thread, and holds up no loop."""
    return await asyncio.to_thread(whole, suite, only)


def between(suite: Suite, only: Sequence[int] | None, *, first: int, last: int) -> Portion:
    """Give what a run asks of the cases ``first`` to ``last``, both included."""
    drawn = None if only is None else frozenset(only)

    def wanted(index: int) -> bool:
        return first <= index <= last and (drawn is None or index in drawn)

    return _counted(suite, wanted)


def split(suite: Suite, only: Sequence[int] | None, *, shards: int) -> tuple[tuple[int, int], ...]:
    """Cut what a run asks into ranges of nearly equal numbers of cases, each with one at least."""
    indices = range(suite.cases) if only is None else sorted(only)
    parts = min(shards, len(indices))
    ends = [part * len(indices) // max(parts, 1) for part in range(parts + 1)]
    return tuple((indices[begin], indices[end - 1]) for begin, end in pairwise(ends))


def _counted(suite: Suite, wanted: Callable[[int], bool]) -> Portion:
    checks: Counter[str] = Counter()
    kinds: Counter[Kind] = Counter()
    for case in suite.iter_cases(wanted):
        checks[case.check.name] += 1
        kinds[case.check.kind] += 1
    return Portion(suite, dict(checks), dict(kinds), wanted)
