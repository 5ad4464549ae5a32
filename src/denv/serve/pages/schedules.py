"""All schedules: when each fires next, and what became of its last slot."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from denv.serve.context import ServeContext
from denv.serve.pages.firings import Fired, Rhythm, fired_of, rhythm_of
from denv.serve.pages.rendering import render
from denv.serve.pages.rhythms import Engine, describe
from denv.store import Firing, ScheduleRecord


@dataclass(frozen=True, slots=True)
class Row:
    """A schedule in the list; ``last`` is the slot that was done last."""

    name: str
    release: str
    stage: str
    paused: str | None
    rhythm: Rhythm
    last: Fired | None


def routes(context: ServeContext) -> list[Route]:
    """Give the list."""
    return [Route("/schedules", partial(_listed, context))]


async def _listed(context: ServeContext, request: Request) -> Response:
    found = await asyncio.to_thread(_read, context)
    told = await asyncio.gather(*(describe(context, record.name) for record, _ in found))
    rows = [row_of(*each, engine) for each, engine in zip(found, told, strict=True)]
    return render(request, "schedules.html.j2", rows=rows, engine=context.engine is not None)


def _read(context: ServeContext) -> list[tuple[ScheduleRecord, Sequence[Firing]]]:
    kept = context.store.schedules
    return [(each, kept.history(each.name, most=1)) for each in kept.list_schedules()]


def row_of(record: ScheduleRecord, history: Sequence[Firing], engine: Engine) -> Row:
    """Show a schedule in a list."""
    return Row(
        name=record.name,
        release=record.plan["release"],
        stage=record.plan["stage"]["url"],
        paused=record.paused,
        rhythm=rhythm_of(record, engine.described, engine.missing),
        last=fired_of(history[-1]) if history else None,
    )
