"""Cases stream through: a bounded number of workers, each taking one case to its result."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise

from denv.checks import Search
from denv.outcome import Answer, decide
from denv.records import Case, CaseResult, Kind, Regex, Side
from denv.runner.asking import Asker, Known
from denv.runner.journal import Journal
from denv.runner.settings import Settings
from denv.store import AnswerKey, Store, StoredAnswer

PAGE = 100
"""Cases that are looked up in the store at once."""

FAR = 100
"""Cases of one page that lie farther apart are looked up apart."""

SPARE_WORKERS = 2

GRACE_S = 5.0
"""What is in flight when a run is stopped has so long to be answered: it is paid for already."""

NOTHING = Known({}, {})

CLOCKS_DIFFER_S = 300.0
"""Answers of other machines may be stamped so far ahead; what is further ahead has no known age."""


@dataclass(frozen=True, slots=True)
class Library:
    """What of a run, and of earlier ones, is in the store.

    ``reused`` gives, for each side whose earlier answers may serve, the times between which they
    were given; the later one is None where their age does not matter. ``resumed`` says that this
    run has journaled some already; those that are ``given_up`` are asked again.
    """

    store: Store
    journal: Journal
    run: str
    resumed: bool
    reused: Mapping[Side, tuple[float, float | None]]
    given_up: frozenset[AnswerKey] = frozenset()


class Pages:
    """A run's cases with what is known of each, looked up a page at a time.

    ``streams`` says of a case whether it is streamed, None where the settings do.
    """

    def __init__(
        self,
        cases: Iterator[Case],
        *,
        askers: Mapping[Side, Asker],
        settings: Settings,
        library: Library,
        streams: Callable[[Case], bool | None] = lambda _: None,
    ) -> None:
        self._streams = streams
        self._cases = cases
        self._askers = askers
        self._settings = settings
        self._library = library
        self._page: deque[tuple[Case, Known]] = deque()
        self._loading = asyncio.Lock()
        self._ended = False

    async def next(self) -> tuple[Case, Known] | None:
        """Give the next case without a result, None at the end of the suite."""
        async with self._loading:
            while not self._page and not self._ended:
                await self._load()
        return self._page.popleft() if self._page else None

    async def unknown(self) -> AsyncIterator[tuple[Case, Side]]:
        """Give each answer that would have to be asked, in the suite's order."""
        while (item := await self.next()) is not None:
            case, known = item
            for side, asker in self._askers.items():
                if any(
                    AnswerKey(case.index, side, repeat, streamed) not in known.journaled
                    and (side, asker.plain_key(case, repeat=repeat, streamed=streamed))
                    not in known.cached
                    for repeat, streamed in self.ways(case)
                ):
                    yield case, side

    def ways(self, case: Case) -> list[tuple[int, bool]]:
        """Give how a case is asked: each repeat, and tool cases once more as a stream."""
        settings = self._settings
        drawn = self._streams(case)
        streamed = settings.stream == "yes" if drawn is None else drawn
        ways = [(repeat, streamed) for repeat in range(settings.repeats)]
        if self.has_twin(case):
            ways.append((0, True))
        return ways

    def has_twin(self, case: Case) -> bool:
        """Tell whether a case is asked both ways."""
        both = self._settings.stream == "both" and case.check.kind is Kind.TOOL_CALLS
        return both and self._streams(case) is None

    async def _load(self) -> None:
        # A shard late in a large suite reads a long way to its first case.
        cases = await asyncio.to_thread(lambda: list(islice(self._cases, PAGE)))
        if not cases:
            self._ended = True
            return
        finished, known = await self._look_up(cases)
        self._page.extend((case, known) for case in cases if case.index not in finished)

    async def _look_up(self, cases: list[Case]) -> tuple[set[int], Known]:
        library = self._library
        finished: set[int] = set()
        journaled: Mapping[AnswerKey, StoredAnswer] = {}
        if library.resumed:
            found: dict[AnswerKey, StoredAnswer] = {}
            for first, last in _spans([case.index for case in cases]):
                span = (library.run, first, last)
                finished |= await library.journal.call(partial(library.store.finished, *span))
                found |= await library.journal.call(partial(library.store.answers, *span))
            finished -= {key.case for key in library.given_up}
            journaled = {k: a for k, a in found.items() if k not in library.given_up}
        cached: dict[tuple[Side, bytes], StoredAnswer] = {}
        for side, (not_before, not_after) in library.reused.items():
            asker = self._askers[side]
            keys = [
                asker.plain_key(case, repeat=repeat, streamed=streamed)
                for case in cases
                if case.index not in finished
                for repeat, streamed in self.ways(case)
            ]
            earlier = await library.journal.call(
                partial(library.store.cached, keys, not_before=not_before, not_after=not_after)
            )
            cached |= {(side, key): answer for key, answer in earlier.items()}
        return finished, Known(journaled, cached) if journaled or cached else NOTHING


def _spans(indices: Sequence[int]) -> list[tuple[int, int]]:
    """Give the ranges that hold these indices; private cases lie far behind the suite's."""
    ordered = sorted(indices)
    ends = [place for place, (a, b) in enumerate(pairwise(ordered)) if b - a > FAR]
    starts = [0, *(end + 1 for end in ends)]
    return [
        (ordered[start], ordered[end])
        for start, end in zip(starts, [*ends, len(ordered) - 1], strict=True)
    ]


class Driver:
    """Takes each case that has no result to one.

    ``sampled`` is asked at each decision which sides sample; ``on_result`` is given every new
    result and says whether that is enough.
    """

    def __init__(
        self,
        pages: Pages,
        *,
        askers: Mapping[Side, Asker],
        settings: Settings,
        journal: Journal,
        search: Search,
        sampled: Callable[[], frozenset[Side]],
        on_result: Callable[[CaseResult], bool],
    ) -> None:
        self._pages = pages
        self._askers = askers
        self._settings = settings
        self._journal = journal
        self._search = search
        self._sampled = sampled
        self._on_result = on_result
        self._enough = False

    async def go(self, stop: asyncio.Event) -> None:
        """Work until the suite ends, ``on_result`` has enough, or ``stop`` is set.

        What is in flight when ``stop`` is set is waited for and journaled, for ``GRACE_S`` at
        most. With enough it is given up; what is answered stays journaled.
        """
        # A few more than there are slots, so that none is idle while a case is decided.
        most = SPARE_WORKERS + max(asker.endpoint.concurrency for asker in self._askers.values())
        working = {asyncio.create_task(self._work()) for _ in range(most)}
        stopping = asyncio.create_task(stop.wait())
        waiting = {*working, stopping}
        try:
            while waiting - {stopping} and not stop.is_set() and not self._enough:
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
            if stop.is_set():
                await self._land(working)
        finally:
            for task in (*working, stopping):
                task.cancel()
            await asyncio.gather(*working, stopping, return_exceptions=True)

    async def _land(self, working: Collection[asyncio.Task[None]]) -> None:
        """Send nothing more, and journal what is in flight; raise what a worker raised."""
        for asker in self._askers.values():
            asker.hold_back()
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE_S):
                await asyncio.gather(*(asker.landed() for asker in self._askers.values()))
        for task in working:
            if task.done():
                task.result()

    async def _work(self) -> None:
        while not self._enough and (item := await self._pages.next()) is not None:
            result = await self._result(*item)
            self._journal.add_result(result)
            self._enough = self._on_result(result) or self._enough

    async def _result(self, case: Case, known: Known) -> CaseResult:
        stage, reference = await self._both(case, known)
        twin = self._pages.has_twin(case)
        twins = {Side.STAGE: stage.pop(), Side.REFERENCE: reference.pop()} if twin else None
        decision = partial(
            decide,
            case,
            stage=stage,
            reference=reference,
            search=self._search,
            sampled=self._sampled(),
            streamed=twins,
        )
        if isinstance(case.check, Regex):
            # A pattern may take its whole second; the searches let other threads run meanwhile.
            return await asyncio.to_thread(decision)
        return decision()

    async def _both(self, case: Case, known: Known) -> tuple[list[Answer], list[Answer]]:
        reference = asyncio.ensure_future(self._answers(Side.REFERENCE, case, known))
        try:
            return await self._answers(Side.STAGE, case, known), await reference
        except BaseException:
            reference.cancel()
            await asyncio.gather(reference, return_exceptions=True)
            raise

    async def _answers(self, side: Side, case: Case, known: Known) -> list[Answer]:
        asker = self._askers[side]
        return [
            await asker.answer(case, repeat=repeat, streamed=streamed, known=known)
            for repeat, streamed in self._pages.ways(case)
        ]
