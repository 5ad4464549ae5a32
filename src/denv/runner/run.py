"""A parity run from its suite to its report."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from denv.errors import UsageError
from denv.instruments.selfcheck import require_selfcheck
from denv.records import CaseResult, Endpoint, Side
from denv.report import Report
from denv.runner.asking import Asker
from denv.runner.document import head
from denv.runner.drive import Driver, Library, Pages
from denv.runner.enough import Enough
from denv.runner.journal import Journal
from denv.runner.ledger import Ledger
from denv.runner.progress import BEAT_S, Progress, Watch, held_line
from denv.runner.searching import KillableSearch
from denv.runner.settings import Settings, check_endpoint, identity
from denv.runner.sides import Sides
from denv.store import Store, data_folder, open_store
from denv.suite import Suite
from denv.tally import Tally
from denv.verdict import Judgement, check_thresholds, judge

MAX_NAMED = 20


async def run_parity(
    suite: Suite,
    *,
    stage: Endpoint,
    reference: Endpoint,
    settings: Settings | None = None,
    store: Store | None = None,
    resume: str | None = None,
    watch: Watch | None = None,
    stop: asyncio.Event | None = None,
    on_start: Callable[[str], None] | None = None,
) -> Report:
    """Ask both sides every case of a suite, and judge the stage by it.

    Parameters
    ----------
    suite
        What :func:`denv.load_suite` gave.
    stage, reference
        The deployment under test, and the one that is trusted.
    settings
        Thresholds and all else; see :class:`Settings`.
    store
        Where answers are journaled; the data folder where it is left out.
    resume
        The id of an earlier run to continue: nothing that was answered is asked again.
    watch
        Called with a :class:`Progress` after each case, and every second besides.
    stop
        Set it to end the run early, as cancelled, with what is known.
    on_start
        Called with the run's id once the run can be resumed by it.

    Raises
    ------
    UsageError
        What was asked for cannot be done as asked; no case was sent.
    HarnessError
        The harness itself could not run.
    """
    settings = settings or Settings()
    settings.check()
    endpoints = {Side.STAGE: stage, Side.REFERENCE: reference}
    for side, endpoint in endpoints.items():
        check_endpoint(endpoint, side)
    check_thresholds(settings.thresholds, suite.kinds)
    require_selfcheck(data_folder())
    opened = open_store(data_folder()) if store is None else store
    try:
        ledger = Ledger(
            opened,
            identity=identity(settings, suite=suite, stage=stage, reference=reference),
            resume=resume,
        )
        with opened.claim(ledger.run):
            run = _Run(suite, endpoints=endpoints, settings=settings, store=opened, ledger=ledger)
            return await run.execute(
                watch=watch, stop=stop or asyncio.Event(), on_start=on_start or (lambda _: None)
            )
    finally:
        if store is None:
            opened.close()


class _Run:
    def __init__(
        self,
        suite: Suite,
        *,
        endpoints: Mapping[Side, Endpoint],
        settings: Settings,
        store: Store,
        ledger: Ledger,
    ) -> None:
        self._suite = suite
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
        self._tally = Tally(suite.checks, prices=prices)
        self._enough = Enough(suite.kinds, settings.thresholds)
        self._search = KillableSearch()
        self._watch: Watch | None = None
        self._earlier = 0
        self._began = time.monotonic()

    async def execute(
        self, *, watch: Watch | None, stop: asyncio.Event, on_start: Callable[[str], None]
    ) -> Report:
        self._watch = watch
        try:
            if self._ledger.resumed:
                await self._journal.call(self._reopen)
            async with _beating(self._tell):
                await _until(stop, self._prepare())
                await self._journal.call(lambda: self._ledger.begin(self._settings.options))
                on_start(self._ledger.run)
                await self._ask_cases(stop)
            await self._journal.flush()
            return await self._journal.call(lambda: self._finish(cancelled=stop.is_set()))
        finally:
            try:
                await self._journal.close()
            finally:
                self._search.close()
                await self._sides.close()

    def _reopen(self) -> None:
        for result in self._ledger.reopen():
            self._count(result)
        self._earlier = self._tally.done

    # -------------------------------------------------------------- before the cases

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
        reused: dict[Side, float] = {}
        if self._settings.offline:
            reused = dict.fromkeys(askers, 0.0)
        elif self._settings.max_age_s is not None and Side.REFERENCE in askers:
            reused = {Side.REFERENCE: self._ledger.started - self._settings.max_age_s}
        library = Library(
            store=self._store,
            journal=self._journal,
            run=self._ledger.run,
            resumed=self._ledger.resumed,
            reused=reused,
            given_up=self._ledger.given_up,
        )
        return Pages(
            self._suite.iter_cases(), askers=askers, settings=self._settings, library=library
        )

    # -------------------------------------------------------------- the cases

    async def _ask_cases(self, stop: asyncio.Event) -> None:
        if self._sides.down or stop.is_set():
            await self._journal.call(self._count_set_aside)
            return
        if self._ledger.given_up:
            await self._journal.call(self._ledger.forget)
        if not self._has_enough():
            await self._drive(stop)

    def _count_set_aside(self) -> None:
        for result in self._ledger.set_aside() if self._ledger.given_up else ():
            self._count(result)

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

    def _on_result(self, result: CaseResult) -> bool:
        self._count(result)
        self._tell()
        return self._has_enough()

    def _has_enough(self) -> bool:
        return self._settings.fail_fast and self._enough.decided

    def _count(self, result: CaseResult) -> None:
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
        return judge(
            self._tally.kinds(self._settings.thresholds),
            thresholds=self._settings.thresholds,
            stage_requests=requests,
            stage_retried=retried,
            replicas=self._tally.replicas(),
            floor=self._tally.noise.agreement(),
            cancelled=cancelled,
            errors=[down[Side.REFERENCE]] if Side.REFERENCE in down else [],
            failures=[down[Side.STAGE]] if Side.STAGE in down else [],
        )

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
