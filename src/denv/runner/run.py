"""A parity run from its suite to its report."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from denv.instruments.selfcheck import require_selfcheck
from denv.records import Endpoint, Side
from denv.report import Report
from denv.runner.course import Course
from denv.runner.ledger import Ledger
from denv.runner.portion import counted_whole
from denv.runner.progress import Watch
from denv.runner.settings import Settings, check_endpoint, check_spread, identity
from denv.store import Store, data_folder, open_store
from denv.suite import Suite
from denv.verdict import check_thresholds


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
    check_spread(settings, suite=suite, stage=stage)
    require_selfcheck(data_folder())
    opened = open_store(data_folder()) if store is None else store
    try:
        ledger = Ledger(
            opened,
            identity=identity(settings, suite=suite, stage=stage, reference=reference),
            resume=resume,
        )
        with opened.claim(ledger.run):
            course = Course(
                suite,
                endpoints=endpoints,
                settings=settings,
                store=opened,
                ledger=ledger,
                every=await counted_whole(suite, settings),
            )
            return await _run(
                course,
                ledger,
                watch=watch,
                stop=stop or asyncio.Event(),
                on_start=on_start or (lambda _: None),
            )
    finally:
        if store is None:
            opened.close()


async def _run(
    course: Course,
    ledger: Ledger,
    *,
    watch: Watch | None,
    stop: asyncio.Event,
    on_start: Callable[[str], None],
) -> Report:
    async with course.opened():
        if ledger.resumed:
            await course.count(ledger.reopen)
        async with course.watched(watch):
            await course.prepare(stop)
            await course.begin()
            on_start(ledger.run)
            asked = not (course.down or stop.is_set())
            if asked:
                if ledger.given_up:
                    await course.forget()
                await course.ask(stop)
        if not asked and ledger.given_up:
            await course.count(ledger.set_aside)
        return await course.finish(cancelled=stop.is_set())
