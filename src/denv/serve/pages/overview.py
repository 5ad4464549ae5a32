"""The overview: how each stage is now, and what asks for a person."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from denv.records import Json
from denv.serve.context import ServeContext
from denv.serve.pages import trend
from denv.serve.pages.naming import address_words
from denv.serve.pages.rendering import render
from denv.serve.pages.rhythms import Engine, describe
from denv.serve.pages.rollouts import Row, row_of
from denv.store import AlarmRecord, Firing, RolloutRecord, RunRow, ScheduleRecord, StageRow

CARDS = 24
"""Stages that are shown in full; the others, asked longer ago, are only named."""

LOOKED_AT = 20
"""So many of a schedule's latest firings are looked at for what it said of drift."""

MOST_ALARMS, MOST_SCHEDULES, MOST_ROLLOUTS, MOST_RUNNING = 5, 50, 20, 5


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A schedule of a stage: when it fires next, and what its last full run said of drift."""

    name: str
    paused: bool
    next_at: float | None
    missing: str | None
    drift: str | None
    seen: float | None


@dataclass(frozen=True, slots=True)
class Card:
    """One stage: its last full parity run, what that found, and what goes on with it."""

    stage: StageRow
    where: str
    last: RunRow | None
    kinds: Mapping[str, Mapping[str, Json]]
    drawn: Sequence[RunRow]
    schedules: Sequence[Scheduled]
    rollouts: Sequence[Row]
    alarms: int

    @property
    def says(self) -> str:
        """What the picture of the trend shows, for those who cannot see it."""
        return trend.says(self.drawn)


@dataclass(frozen=True, slots=True)
class Shown:
    """All that is read for the page."""

    cards: Sequence[Card]
    others: Sequence[StageRow]
    unproven: Sequence[StageRow]
    alarms: Sequence[AlarmRecord]
    rollouts: Sequence[Row]
    running: Sequence[RunRow]
    schedules: int


Fires = tuple[ScheduleRecord, Sequence[Firing]]


def routes(context: ServeContext) -> list[Route]:
    """Give the page, and the picture of each stage's trend."""
    return [
        Route("/", partial(_page, context)),
        Route("/stages/{stage}/trend.svg", partial(trend.picture_of, context)),
    ]


async def _page(context: ServeContext, request: Request) -> Response:
    schedules = await asyncio.to_thread(_schedules, context)
    engines = await asyncio.gather(*(describe(context, record.name) for record, _ in schedules))
    shown = await asyncio.to_thread(_read, context, list(zip(schedules, engines, strict=True)))
    return render(
        request,
        "overview.html.j2",
        shown=shown,
        now=context.now().timestamp(),
        size=trend.SIZE_PX,
        most_alarms=MOST_ALARMS,
    )


def _schedules(context: ServeContext) -> list[Fires]:
    kept = context.store.schedules
    first = islice(kept.list_schedules(), MOST_SCHEDULES)
    return [(record, kept.history(record.name, most=LOOKED_AT)) for record in first]


def _read(context: ServeContext, schedules: Sequence[tuple[Fires, Engine]]) -> Shown:
    store = context.store
    every = store.browsing.stages()
    stages = [stage for stage in every if stage.parity_runs]
    rollouts = store.rollouts.list_rollouts(active=True, most=MOST_ROLLOUTS)
    alarms = store.alarms.list_alarms(only_open=True)
    return Shown(
        cards=[
            _card(context, stage, schedules=schedules, rollouts=rollouts, alarms=alarms)
            for stage in stages[:CARDS]
        ],
        others=stages[CARDS:],
        unproven=[stage for stage in every if not stage.parity_runs],
        alarms=alarms,
        rollouts=[row_of(each) for each in rollouts],
        running=store.browsing.runs(state="running", limit=MOST_RUNNING),
        schedules=len(schedules),
    )


def _card(
    context: ServeContext,
    stage: StageRow,
    *,
    schedules: Sequence[tuple[Fires, Engine]],
    rollouts: Sequence[RolloutRecord],
    alarms: Sequence[AlarmRecord],
) -> Card:
    last = stage.standing
    record = None if last is None else context.store.get_run(last.run)
    head = None if record is None else record.head
    return Card(
        stage=stage,
        where=address_words(stage.url),
        last=last,
        kinds={} if head is None else head["kinds"],
        drawn=[] if last is None else trend.drawn_runs(context, last),
        schedules=[
            scheduled_of(*fires, engine)
            for fires, engine in schedules
            if _asks(fires[0].plan["stage"], stage)
        ],
        rollouts=[row_of(each) for each in rollouts if each.stage == stage.url],
        alarms=sum(each.stage == stage.url for each in alarms),
    )


def _asks(planned: Mapping[str, Json], stage: StageRow) -> bool:
    """Tell whether a schedule asks a stage; a plan that names no model asks whichever is there."""
    return planned["url"] == stage.url and planned["model"] in {None, stage.model}


def scheduled_of(record: ScheduleRecord, history: Sequence[Firing], engine: Engine) -> Scheduled:
    """Say when a schedule fires next, and what its last look at drift said."""
    looks = ((each.slot, each.document["drift"]) for each in reversed(history)
             if each.document.get("drift"))  # fmt: skip
    seen, drift = next(looks, (None, None))
    described = engine.described
    upcoming = described.next_times if described is not None and not described.paused else ()
    return Scheduled(
        name=record.name,
        paused=record.paused is not None,
        next_at=upcoming[0] if upcoming else None,
        missing=engine.missing,
        drift=None if drift is None else drift["verdict"],
        seen=seen,
    )
