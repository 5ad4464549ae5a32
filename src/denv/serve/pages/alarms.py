"""The alarms that are open and those of the past, what sinks were told, and their end by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from denv.alarms import make_sink, severity_of
from denv.client.masking import mask
from denv.errors import DeliveryError
from denv.serve.context import ServeContext
from denv.serve.pages.addresses import name_of, number_of
from denv.serve.pages.confirming import Field, Given, Question, action, by, may_act
from denv.serve.pages.rendering import render
from denv.serve.resolving import resolve_alarm
from denv.store import AlarmRecord, DeliveryRecord

PAGE, MOST = 50, 1000
TONES = {"critical": "fail", "error": "fail", "warning": "inconclusive", "info": "ungated"}
"""The colour of each severity, by the verdicts' names."""

DELIVERED = {"delivered": "pass", "waiting": "inconclusive", "dropped": "fail"}
ACTIONS = {"fire": "that it is open", "resolve": "that it is over"}
REASON = Field("reason", "Why", hint="It is kept with the alarm.", required=True)
MISSING = "There is no such alarm."


@dataclass(frozen=True, slots=True)
class Told:
    """What one sink was told, or is still to be told."""

    sink: str
    what: str
    state: str
    tone: str
    attempts: int
    error: str | None
    next_at: float | None
    delivered: float | None


@dataclass(frozen=True, slots=True)
class Shown:
    """An alarm with its gravity and what each sink was told of it."""

    alarm: AlarmRecord
    severity: str
    tone: str
    told: Sequence[Told]

    @property
    def owed(self) -> int:
        """How many sinks are still to be told something."""
        return sum(one.state == "waiting" for one in self.told)


def routes(context: ServeContext) -> list[Route]:
    """Give the list, one alarm, and its end by hand."""
    return [
        Route("/alarms", partial(_listed, context)),
        Route("/alarms/{alarm}", partial(_page, context)),
        action("/alarms/{alarm}/resolve", partial(_ask, context), partial(_do, context)),
    ]


async def _listed(context: ServeContext, request: Request) -> Response:
    most = number_of(request, "most", default=PAGE, top=MOST)

    def read() -> tuple[list[Shown], list[Shown]]:
        kept = context.store.alarms
        every = kept.list_alarms(most=most)
        still = kept.list_alarms(only_open=True, most=MOST)
        past = [alarm for alarm in every if alarm.resolved is not None]
        return [_shown(context, one) for one in still], [_shown(context, one) for one in past]

    still, past = await asyncio.to_thread(read)
    more = most + PAGE if len(still) + len(past) >= most < MOST else None
    return render(request, "alarms.html.j2", still=still, past=past, more=more)


async def _page(context: ServeContext, request: Request) -> Response:
    alarm = await _record(context, request)
    return render(
        request,
        "alarm.html.j2",
        shown=await asyncio.to_thread(_shown, context, alarm),
        may=may_act(request) and alarm.resolved is None,
    )


def _shown(context: ServeContext, alarm: AlarmRecord) -> Shown:
    severity = severity_of(alarm.kind)
    told = [told_of(each) for each in context.store.alarms.deliveries(alarm.alarm)]
    return Shown(alarm, severity, TONES[severity], told)


def told_of(delivery: DeliveryRecord) -> Told:
    """Show a delivery; of the sink's settings only what people may be told of it."""
    try:
        sink = mask(make_sink(delivery.settings).shown)
    except DeliveryError:  # another version of the program wrote its settings
        sink = delivery.sink
    return Told(
        sink=sink,
        what=ACTIONS[delivery.action],
        state=delivery.state.value,
        tone=DELIVERED[delivery.state],
        attempts=delivery.attempts,
        error=None if delivery.last_error is None else mask(delivery.last_error),
        next_at=delivery.next_at,
        delivered=delivery.delivered,
    )


async def _ask(context: ServeContext, request: Request) -> Question:
    alarm = await _record(context, request)
    return Question(
        title="Resolve this alarm",
        says="Its sinks are told that it is over. Raised again, it opens anew.",
        button="Resolve",
        back=f"/alarms/{alarm.alarm}",
        about={
            "Alarm": alarm.kind,
            "Stage": alarm.stage,
            "Release": alarm.release,
            "Summary": alarm.summary,
        },
        fields=(REASON,),
        entry="alarms",
    )


async def _do(context: ServeContext, request: Request, given: Given) -> str:
    alarm = request.path_params["alarm"]
    await resolve_alarm(context, alarm, by=by(request), reason=given.get("reason", ""))
    return f"/alarms/{alarm}"


async def _record(context: ServeContext, request: Request) -> AlarmRecord:
    alarm = name_of(request, "alarm", missing=MISSING)
    found = await asyncio.to_thread(context.store.alarms.get_alarm, alarm)
    if found is None:
        raise HTTPException(404, MISSING)
    return found
