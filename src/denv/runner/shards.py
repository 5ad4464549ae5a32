"""One run by several processes: opened once, its shards asked by whoever is free, closed once.

Processes share the store and nothing else. Each shard is a range of cases that one process at a
time holds; when that process is killed, another asks what is not journaled yet. The report is
that of the same run in one process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from denv.errors import ResumeError, UsageError
from denv.instruments.selfcheck import require_selfcheck
from denv.records import Endpoint, Side
from denv.report import Report
from denv.runner.course import Course
from denv.runner.ledger import Ledger, stored_report
from denv.runner.portion import between, counted_whole, span_of, split
from denv.runner.progress import Watch
from denv.runner.settings import Settings, check_endpoint, check_spread, identity
from denv.store import Store, data_folder
from denv.suite import Suite
from denv.verdict import check_thresholds

MAX_SHARDS = 10_000


@dataclass(frozen=True, slots=True)
class ShardPlan:
    """What the processes of a run must know of each other, in plain JSON values.

    ``shards`` are the first and last case of each; ``at_once`` is how many are asked at a time,
    and so share the endpoints' concurrency and rate: never more than either has slots. ``down``
    says for each side that cannot be reached why, and ``rate_limited`` names those of them that
    gave rate limits alone: then no shard is asked, and the run is closed at once.
    """

    run: str
    shards: tuple[tuple[int, int], ...]
    at_once: int
    down: Mapping[str, str] = field(default_factory=dict)
    rate_limited: tuple[str, ...] = ()

    @property
    def to_ask(self) -> tuple[int, ...]:
        """The numbers of the shards that are to be asked, none where a side is down."""
        return () if self.down else tuple(range(len(self.shards)))


@dataclass(frozen=True, slots=True)
class ShardEnd:
    """How a shard ended: ``done`` of its ``planned`` cases have a result, in the whole run."""

    done: int
    planned: int


async def open_shards(
    suite: Suite,
    *,
    stage: Endpoint,
    reference: Endpoint,
    settings: Settings,
    store: Store,
    shards: int,
    at_once: int | None = None,
    run_id: str | None = None,
) -> ShardPlan:
    """Check all, ask each side one small question, and write the run's row.

    With the ``run_id`` of an earlier run that one is continued: what was not answered is asked
    again, nothing else. A call that is repeated with its ``run_id`` changes nothing.

    Raises
    ------
    UsageError
        As :func:`run_parity`; no case was sent.
    """
    if not 1 <= shards <= MAX_SHARDS:
        raise UsageError(f"shards is {shards}, it must be 1 to {MAX_SHARDS}")
    _check(suite, stage=stage, reference=reference, settings=settings)
    ledger = Ledger(
        store,
        identity=identity(settings, suite=suite, stage=stage, reference=reference),
        resume=None,
        run_id=run_id,
    )
    endpoints = {Side.STAGE: stage, Side.REFERENCE: reference}
    with store.claim(ledger.run):
        course = Course(
            suite,
            endpoints=endpoints,
            settings=settings,
            store=store,
            ledger=ledger,
            every=await counted_whole(suite, settings),
        )
        async with course.opened():
            if ledger.resumed:
                ledger.find_given_up()
            await course.prepare(asyncio.Event())
            if ledger.given_up and not course.down:
                await course.forget()
            await course.begin()
    ranges = split(suite, settings.only, shards=shards)
    return ShardPlan(
        run=ledger.run,
        shards=ranges,
        at_once=_at_once(at_once or len(ranges), len(ranges), endpoints.values()),
        down={side.value: why for side, why in course.down.items()},
        rate_limited=tuple(sorted(side.value for side in course.rate_limited)),
    )


async def run_shard(
    suite: Suite,
    *,
    plan: ShardPlan,
    shard: int,
    stage: Endpoint,
    reference: Endpoint,
    settings: Settings,
    store: Store,
    stop: asyncio.Event | None = None,
    on_beat: Watch | None = None,
) -> ShardEnd:
    """Ask what is not answered yet of one shard, by its number from 0.

    ``on_beat`` is called after each case, and every second besides, with how far the shard is.

    Raises
    ------
    ResumeError
        Another process asks this shard, or the run is not the one that was opened.
    """
    first, last = _range(plan, shard)
    span = span_of(shard, plan.shards, settings)
    ledger = Ledger(
        store,
        identity=identity(settings, suite=suite, stage=stage, reference=reference),
        resume=plan.run,
    )
    with store.claim_shard(plan.run, first, last):
        # Read again now that it is held: another process may have learned something.
        ledger.read_notes()
        course = Course(
            suite,
            endpoints={
                Side.STAGE: _share(stage, plan.at_once),
                Side.REFERENCE: _share(reference, plan.at_once),
            },
            settings=settings,
            store=store,
            ledger=ledger,
            every=await counted_whole(suite, settings),
            # A large suite takes a while to be read: in a thread it holds up no sign of life.
            portion=await asyncio.to_thread(between, suite, settings, span),
        )
        async with course.opened():
            for begin, end in span.ranges(suite):
                await course.count(partial(store.results, plan.run, begin, end))
            if settings.fail_fast:
                await course.count_elsewhere(lambda: store.results(plan.run), span)
            async with course.watched(on_beat):
                await course.ask(stop or asyncio.Event())
            return ShardEnd(done=course.done, planned=course.planned)


async def close_shards(
    suite: Suite,
    *,
    plan: ShardPlan,
    stage: Endpoint,
    reference: Endpoint,
    settings: Settings,
    store: Store,
    cancelled: bool = False,
) -> Report:
    """Judge all that was answered, and write the report; again gives the report that is there.

    Raises
    ------
    ResumeError
        A shard is still being asked.
    """
    ledger = Ledger(
        store,
        identity=identity(settings, suite=suite, stage=stage, reference=reference),
        resume=plan.run,
    )
    with store.claim(plan.run):
        record = store.get_run(plan.run)
        if record is not None and record.state != "running" and record.head is not None:
            return stored_report(store, plan.run, record.head)
        ledger.read_notes()
        course = Course(
            suite,
            endpoints={Side.STAGE: stage, Side.REFERENCE: reference},
            settings=settings,
            store=store,
            ledger=ledger,
            every=await counted_whole(suite, settings),
        )
        async with course.opened():
            course.set_down(
                {Side(side): why for side, why in plan.down.items()},
                [Side(side) for side in plan.rate_limited],
            )
            await course.count(lambda: store.results(plan.run))
            return await course.finish(cancelled=cancelled)


def _check(suite: Suite, *, stage: Endpoint, reference: Endpoint, settings: Settings) -> None:
    settings.check()
    check_endpoint(stage, Side.STAGE)
    check_endpoint(reference, Side.REFERENCE)
    check_thresholds(settings.thresholds, suite.kinds)
    check_spread(settings, suite=suite, stage=stage)
    require_selfcheck(data_folder())


def _range(plan: ShardPlan, shard: int) -> tuple[int, int]:
    if plan.down:
        raise ResumeError(f"run {plan.run} has no shard to ask: {', '.join(plan.down)} is down")
    if not 0 <= shard < len(plan.shards):
        raise UsageError(f"there is no shard {shard}: they are 0 to {len(plan.shards) - 1}")
    return plan.shards[shard]


def _at_once(wanted: int, shards: int, endpoints: Iterable[Endpoint]) -> int:
    """Give how many shards are asked at a time: each has a slot of either endpoint at least."""
    return max(1, min(wanted, shards, *(endpoint.concurrency for endpoint in endpoints)))


def _share(endpoint: Endpoint, at_once: int) -> Endpoint:
    """Give the part of an endpoint's slots and pace that one of so many shards may take."""
    return replace(
        endpoint,
        concurrency=max(1, endpoint.concurrency // at_once),
        rate=None if endpoint.rate is None else endpoint.rate / at_once,
    )
