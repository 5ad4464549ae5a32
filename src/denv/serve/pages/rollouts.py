"""The rollouts of all stages: those under way first, then the latest that have ended."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from denv.rollout.documents import summary_of
from denv.serve.context import ServeContext
from denv.serve.pages.addresses import number_of
from denv.serve.pages.rendering import render
from denv.serve.pages.standing import PHASES, TONES
from denv.store import AlarmRecord, RolloutRecord

PAGE, MOST = 50, 1000


@dataclass(frozen=True, slots=True)
class Row:
    """A rollout in the list; ``batch`` says how far it is."""

    rollout: str
    release: str
    stage: str
    phase: str
    says: str
    tone: str
    batch: str
    started: float
    ended: float | None


def routes(context: ServeContext) -> list[Route]:
    """Give the list."""
    return [Route("/rollouts", partial(_listed, context))]


async def _listed(context: ServeContext, request: Request) -> Response:
    most = number_of(request, "most", default=PAGE, top=MOST)
    active, ended, alarms = await asyncio.to_thread(_read, context, most)
    return render(
        request,
        "rollouts.html.j2",
        active=[row_of(each) for each in active],
        ended=[row_of(each) for each in ended],
        alarms=alarms,
        more=most + PAGE if len(ended) == most < MOST else None,
    )


def _read(
    context: ServeContext, most: int
) -> tuple[Sequence[RolloutRecord], Sequence[RolloutRecord], Sequence[AlarmRecord]]:
    store = context.store
    return (
        store.rollouts.list_rollouts(active=True, most=MOST),
        store.rollouts.list_rollouts(active=False, most=most),
        store.alarms.list_alarms(only_open=True),
    )


def row_of(record: RolloutRecord) -> Row:
    """Show a rollout in a list."""
    summary = summary_of(record)
    return Row(
        rollout=record.rollout,
        release=record.release,
        stage=record.stage,
        phase=record.phase,
        says=PHASES[record.phase],
        tone=TONES.get(record.phase, "running"),
        batch=f"{summary['batch']} of {len(summary['batches'])}",
        started=record.started,
        ended=record.ended,
    )
