"""One firing of a schedule: a sentinel's look or a full run, and all that follows from it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from denv.errors import ResumeError, RunCancelledError, UsageError
from denv.records import Json
from denv.rollout.plan import Plan
from denv.rollout.schedules.book import Book, find, said
from denv.rollout.schedules.full import FullRun
from denv.rollout.schedules.learned import Learned
from denv.rollout.schedules.looking import AlarmKind
from denv.rollout.schedules.sentinel import Sentinel, run_sentinel
from denv.rollout.schedules.shots import FORM, Commit, Fired, Kind, Shot
from denv.rollout.schedules.timing import Timing
from denv.runner.progress import Watch
from denv.store import Raise, SqlStore


async def fire(
    store: SqlStore,
    schedule: str,
    slot: float,
    *,
    kind: Kind = "full",
    missed: Sequence[float] = (),
    due: bool = True,
    why: Sequence[str] = (),
    rebase: bool = False,
    stop: asyncio.Event | None = None,
    on_beat: Watch | None = None,
    clock: Callable[[], float] = time.time,
) -> Fired:
    """Do what a schedule's slot asks for, once.

    Parameters
    ----------
    store
        Where schedules, runs and alarms are kept.
    schedule, slot
        The schedule's name, and the slot in Unix seconds.
    kind
        ``sentinel`` for the cheap look, ``full`` for a run of the whole suite.
    missed
        Earlier slots that nothing was done for: they are told of, and this firing serves for all.
    due, why, rebase
        See :class:`Shot`.
    stop
        Set it to end early; the same slot fired again goes on where it was.
    on_beat
        Called every second of a full run.
    clock
        Gives Unix seconds.

    Raises
    ------
    UsageError
        There is no such schedule.
    RunCancelledError
        ``stop`` was set.
    HarnessError
        The harness itself could not run; the slot is not done.
    """
    shot = Shot(schedule, slot, kind, tuple(missed), due, tuple(why), rebase)
    stop = stop or asyncio.Event()
    found = await begin(store, shot, clock=clock)
    if found is not None:
        return found
    if shot.kind == "sentinel":
        return await _look(store, shot, stop=stop, clock=clock)
    return await _full(store, shot, stop=stop, on_beat=on_beat, clock=clock)


async def begin(store: SqlStore, shot: Shot, *, clock: Callable[[], float]) -> Fired | None:
    """Give what became of a firing that is done; else tell of the slots that were missed.

    Raises
    ------
    UsageError
        There is no such schedule.
    """
    book = _book(store, shot, clock=clock)
    before = await asyncio.to_thread(book.written)
    if before is not None:
        escalates = before.document.get("escalates")
        why = tuple(before.document["why"]) if escalates else ()
        return Fired(shot.kind, before.verdict, before.run, escalate=why, again=True)
    if shot.missed and shot.kind == "full":
        await book.commit(lambda learned: _missed(book, shot, learned))
    return None


def _book(store: SqlStore, shot: Shot, *, clock: Callable[[], float]) -> Book:
    plan = Plan.from_json(json.dumps(find(store, shot.schedule).plan))
    return Book(store, shot, plan=plan, clock=clock)


# ---------------------------------------------------------------- full run


async def _full(
    store: SqlStore,
    shot: Shot,
    *,
    stop: asyncio.Event,
    on_beat: Watch | None,
    clock: Callable[[], float],
) -> Fired:
    run = FullRun(store, shot, clock=clock)
    try:
        opened = await run.open()
        for shard in opened.shards.to_ask:
            await run.ask(opened, shard, stop=stop, on_beat=on_beat)
    except ResumeError:  # another process has this run: the slot is tried again
        raise
    except UsageError as error:
        return await run.not_asked(str(error))
    if stop.is_set():
        raise RunCancelledError(f"cancelled; run {opened.shards.run} goes on where it was")
    return await run.close(opened)


# ---------------------------------------------------------------- missed slots


def _missed(book: Book, shot: Shot, learned: Learned) -> Commit:
    missed = shot.missed
    document = {"form": FORM, "count": len(missed), "first": missed[0], "last": missed[-1]}
    return Commit(
        book.row("missed", document=document), learned, raised=[_missed_alarm(book, shot)]
    )


def _missed_alarm(book: Book, shot: Shot) -> Raise:
    missed = shot.missed
    first, last = (said(one) for one in (missed[0], missed[-1]))
    span = f"the slot of {first}" if len(missed) == 1 else f"{len(missed)} slots, {first} to {last}"
    summary = f"schedule {shot.schedule}: nothing ran for {span}; one run makes up for all"
    return book.alarm(AlarmKind.MISSED, summary, run=None)


# ---------------------------------------------------------------- sentinel


async def _look(
    store: SqlStore, shot: Shot, *, stop: asyncio.Event, clock: Callable[[], float]
) -> Fired:
    record = find(store, shot.schedule)
    plan = Plan.from_json(json.dumps(record.plan))
    book = Book(store, shot, plan=plan, clock=clock)
    found = await run_sentinel(
        plan,
        memory=Learned.of(record).sentinel,
        store=store,
        tokens=Timing.from_json(record.spec).sentinel_tokens,
        stop=stop,
    )
    escalating: list[bool] = []

    def write(learned: Learned) -> Commit:
        escalates = not found.calm and not learned.escalated
        escalating.append(escalates)
        row = book.row(
            "sentinel",
            verdict=found.verdict,
            run=found.measure,
            document=_sentinel_document(found, escalates=escalates),
        )
        after = replace(learned, sentinel=found.memory, escalated=learned.escalated or escalates)
        return Commit(row, after)

    written = await book.commit(write)
    escalate = found.why if escalating[-1] and written else ()
    return Fired("sentinel", found.verdict, found.measure, escalate=escalate)


def _sentinel_document(found: Sentinel, *, escalates: bool) -> dict[str, Json]:
    return {"form": FORM, "why": list(found.why), "escalates": escalates, **found.document}
