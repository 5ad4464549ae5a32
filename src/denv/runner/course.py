"""The course of a run: what is known of it, what is asked, counted, judged and written."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from denv.errors import UsageError
from denv.gaming import FOUND, UNDECIDED
from denv.records import CaseResult, Endpoint, Side
from denv.report import Report
from denv.runner.asking import Asker
from denv.runner.document import head
from denv.runner.drive import CLOCKS_DIFFER_S, Driver, Library, Pages
from denv.runner.enough import Enough
from denv.runner.journal import Journal
from denv.runner.ledger import Ledger
from denv.runner.portion import Portion, Span
from denv.runner.progress import BEAT_S, Progress, Watch, held_line
from denv.runner.searching import KillableSearch
from denv.runner.settings import Settings
from denv.runner.sides import Sides
from denv.store import Store
from denv.suite import Suite
from denv.tally import Tally
from denv.verdict import Judgement, judge

MAX_NAMED = 20


class Course:
    """One process's part of a run: of ``every`` case that it asks, or of a portion of them."""

    def __init__(
        self,
        suite: Suite,
        *,
        endpoints: Mapping[Side, Endpoint],
        settings: Settings,
        store: Store,
        ledger: Ledger,
        every: Portion,
        portion: Portion | None = None,
    ) -> None:
        self._suite = suite
        self._portion = portion or every
        self._settings = settings
        self._store = store
        self._ledger = ledger
        self._journal = Journal(store, ledger.run)
        self._sides = Sides(
            endpoints,
            notes=ledger.notes,
            offline=settings.offline,
            on_note=lambda: self._journal.do_soon(ledger.save_notes),
        )
        prices = {side: e.price for side, e in endpoints.items() if e.price is not None}
        self._tally = Tally(
            self._portion.checks, prices=prices, private=self._portion.private_cases
        )
        self._enough = Enough(every.kinds, settings.thresholds)
        self._search = KillableSearch()
        self._watch: Watch | None = None
        self._earlier = 0
        self._began = time.monotonic()

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Let go of everything when the block ends."""
        try:
            yield
        finally:
            try:
                await self._journal.close()
            finally:
                self._search.close()
                await self._sides.close()

    @asynccontextmanager
    async def watched(self, watch: Watch | None) -> AsyncIterator[None]:
        """Tell ``watch`` how far the run is, after each case and every second."""
        self._watch = watch
        async with _beating(self._tell):
            yield

    async def count(self, results: Callable[[], Iterable[CaseResult]]) -> None:
        """Count results that are there already; they are streamed in the store's thread."""
        await self._journal.call(lambda: self._count_all(results()))
        self._earlier = self._tally.done

    async def count_elsewhere(
        self, results: Callable[[], Iterable[CaseResult]], span: Span
    ) -> None:
        """Count results of other portions for what decides early, and for nothing else."""

        def count() -> None:
            for result in results():
                elsewhere = not span.holds(result.index, suite=self._suite)
                if elsewhere and not self._portion.is_private(result.index):
                    self._enough.add(result)

        await self._journal.call(count)

    def _count_all(self, results: Iterable[CaseResult]) -> None:
        for result in results:
            self._count(result)

    # -------------------------------------------------------------- before the cases

    async def prepare(self, stop: asyncio.Event) -> None:
        """Ask each side of which something is to be asked one small question, until ``stop``.

        Raises
        ------
        EndpointError
            A side is not what its URL, key or model say.
        UsageError
            Offline, and an answer is not kept.
        """
        await _until(stop, self._prepare())

    @property
    def down(self) -> Mapping[Side, str]:
        """The sides that gave no answer at all, and why."""
        return self._sides.down

    @property
    def rate_limited(self) -> frozenset[Side]:
        """Those of them that gave rate limits alone."""
        return frozenset(self._sides.rate_limited)

    def set_down(self, down: Mapping[Side, str], rate_limited: Iterable[Side]) -> None:
        """Take over what another process found when it asked the sides."""
        self._sides.down.update(down)
        self._sides.rate_limited.update(rate_limited)

    async def begin(self) -> None:
        """Write the run's row, from when on it can be resumed."""
        await self._journal.call(lambda: self._ledger.begin(self._settings.options))

    async def forget(self) -> None:
        """Take out of the store what is to be asked again."""
        await self._journal.call(self._ledger.forget)

    async def _prepare(self) -> None:
        if self._settings.offline:
            await self._require_all_known()
        else:
            await self._sides.preflight(await self._to_ask())

    async def _to_ask(self) -> list[Side]:
        """Give the sides of which some answer is not known already."""
        if not self._ledger.resumed and self._settings.max_age_s is None:
            return list(Side)
        open_sides = [side for side in Side if not self._sides.knows_model(side)]
        if len(open_sides) == len(Side):
            return open_sides
        askers = {side: self._asker(side) for side in Side if side not in open_sides}
        async for _, side in self._pages(askers).unknown():
            if side not in open_sides:
                open_sides.append(side)
            if len(open_sides) == len(Side):
                break
        return open_sides

    async def _require_all_known(self) -> None:
        """Refuse to go on offline where an answer is not kept."""
        askers = {side: self._asker(side) for side in Side}
        missing: list[str] = []
        more = 0
        async for case, side in self._pages(askers).unknown():
            if len(missing) < MAX_NAMED:
                missing.append(f"offline, and no answer of the {side} to case {case.id!r} is kept")
            else:
                more += 1
        if missing:
            raise UsageError("\n".join([*missing, f"and {more} more"] if more else missing))

    def _asker(self, side: Side) -> Asker:
        return Asker(
            side,
            self._sides.endpoints[side],
            model=self._sides.model(side),
            max_tokens=self._settings.max_tokens,
            client=self._sides.client(side),
            journal=self._journal,
            clock=time.time,
        )

    def _pages(self, askers: Mapping[Side, Asker]) -> Pages:
        reused: dict[Side, tuple[float, float | None]] = {}
        if self._settings.offline:
            reused = dict.fromkeys(askers, (0.0, None))
        elif self._settings.max_age_s is not None and Side.REFERENCE in askers:
            oldest = self._ledger.started - self._settings.max_age_s
            reused = {Side.REFERENCE: (oldest, time.time() + CLOCKS_DIFFER_S)}
        library = Library(
            store=self._store,
            journal=self._journal,
            run=self._ledger.run,
            resumed=self._ledger.resumed,
            reused=reused,
            given_up=self._ledger.given_up,
        )
        return Pages(
            self._portion.iter_cases(self._ledger.run),
            askers=askers,
            settings=self._settings,
            library=library,
            streams=self._portion.streams,
        )

    # -------------------------------------------------------------- the cases

    async def ask(self, stop: asyncio.Event) -> None:
        """Take each case without a result to one; all is written when this returns."""
        if not self._has_enough():
            await self._drive(stop)
        await self._journal.flush()

    async def _drive(self, stop: asyncio.Event) -> None:
        askers = {side: self._asker(side) for side in Side}
        driver = Driver(
            self._pages(askers),
            askers=askers,
            settings=self._settings,
            journal=self._journal,
            search=self._search,
            sampled=self._sides.sampled,
            on_result=self._on_result,
        )
        await driver.go(stop)

    @property
    def done(self) -> int:
        """Cases that have a result."""
        return self._tally.done

    @property
    def planned(self) -> int:
        """Cases that are to be asked."""
        return self._tally.planned

    def _on_result(self, result: CaseResult) -> bool:
        self._count(result)
        self._tell()
        return self._has_enough()

    def _has_enough(self) -> bool:
        return self._settings.fail_fast and self._enough.decided

    def _count(self, result: CaseResult) -> None:
        if self._portion.is_private(result.index):
            self._tally.add_private(result)
            return
        self._tally.add(result)
        self._enough.add(result)

    def _tell(self) -> None:
        if self._watch is not None:
            self._watch(self._progress())

    def _progress(self) -> Progress:
        clients = {side: client for side in Side if (client := self._sides.client(side))}
        return Progress(
            planned=self._tally.planned,
            done=self._tally.done,
            resumed=self._earlier,
            failures=self._enough.failures,
            not_counted=self._enough.not_counted,
            tokens=self._tally.tokens,
            cost=self._tally.cost,
            elapsed_s=time.monotonic() - self._began,
            held={
                side: held_line(side, seconds=client.held_s, why=client.held_why)
                for side, client in clients.items()
                if client.held_s > 0
            },
            waits=sum(client.waits for client in clients.values()),
        )

    # -------------------------------------------------------------- the end

    def _judge(self, *, cancelled: bool) -> Judgement:
        requests, retried = self._tally.requests(Side.STAGE)
        down = {side: f"the {side} is unreachable: {why}" for side, why in self._sides.down.items()}
        if Side.STAGE in self._sides.rate_limited:
            # Rate limits alone are not held against the stage: nothing of it is counted.
            limited = down.pop(Side.STAGE)
            judgement = self._judged(down, requests, retried, cancelled=cancelled)
            return replace(judgement, reasons=(*judgement.reasons, limited))
        return self._judged(down, requests, retried, cancelled=cancelled)

    def _judged(
        self, down: Mapping[Side, str], requests: int, retried: int, *, cancelled: bool
    ) -> Judgement:
        found, undecided = self._gaming()
        return judge(
            self._tally.kinds(self._settings.thresholds),
            thresholds=self._settings.thresholds,
            stage_requests=requests,
            stage_retried=retried,
            replicas=self._tally.replicas(),
            floor=self._tally.noise.agreement(),
            cancelled=cancelled,
            errors=[down[Side.REFERENCE]] if Side.REFERENCE in down else [],
            failures=[*([down[Side.STAGE]] if Side.STAGE in down else []), *found],
            undecided=undecided,
        )

    def _gaming(self) -> tuple[list[str], list[str]]:
        """Say that the stage knows the public cases, or that this could not be told."""
        gaming = self._tally.gaming
        if gaming is None:
            return [], []
        found = gaming.finding(self._settings.thresholds.coverage)
        said = {
            word: [found.reason] if found.verdict == word else [] for word in (FOUND, UNDECIDED)
        }
        return said[FOUND], said[UNDECIDED]

    async def finish(self, *, cancelled: bool) -> Report:
        """Judge what was counted, and write the report."""
        return await self._journal.call(lambda: self._finish(cancelled=cancelled))

    def _finish(self, *, cancelled: bool) -> Report:
        finished = time.time()
        document = head(
            run=self._ledger.run,
            started=self._ledger.started,
            finished=finished,
            suite=self._suite,
            sides=self._sides,
            settings=self._settings,
            tally=self._tally,
            judgement=self._judge(cancelled=cancelled),
        )
        whole = self._tally.done == self._tally.planned
        return self._ledger.end(document, whole=whole, finished=finished)


@asynccontextmanager
async def _beating(beat: Callable[[], None]) -> AsyncIterator[None]:
    """Call ``beat`` now and then until the block ends; what it raises, the block raises."""

    async def go() -> None:
        while True:
            await asyncio.sleep(BEAT_S)
            beat()

    beats = asyncio.create_task(go())
    try:
        yield
    finally:
        beats.cancel()
        await asyncio.wait({beats})
    if not beats.cancelled():
        beats.result()


async def _until(stop: asyncio.Event, work: Coroutine[Any, Any, None]) -> None:
    """Do the work, or give it up when ``stop`` is set."""
    working = asyncio.ensure_future(work)
    stopping = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            working.result()
    finally:
        for task in (working, stopping):
            task.cancel()
        await asyncio.gather(working, stopping, return_exceptions=True)
