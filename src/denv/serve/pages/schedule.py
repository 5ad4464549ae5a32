"""One schedule: its history as picture and list, its detectors, and its pause and resume."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from denv.report.schedule_pictures import write_history
from denv.serve import actions
from denv.serve.context import ServeContext
from denv.serve.pages.addresses import name_of, number_of
from denv.serve.pages.confirming import Field, Given, Question, action, may_act
from denv.serve.pages.drawing import DRAWING, image, on_screen
from denv.serve.pages.firings import chart_says, fired_of, learning_of, points_of, rhythm_of
from denv.serve.pages.rendering import render
from denv.serve.pages.rhythms import describe
from denv.store import Firing, ScheduleRecord

MISSING = "There is no such schedule."
PAGE, MOST, DRAWN = 50, 1000, 500
"""How many firings are listed, and how many of the latest are drawn at the most."""

NOTE = Field("note", "Why", hint="It is shown while the schedule rests.", required=True)
REBASE = Field(
    "new_baseline", "What both sides say now is what later runs compare with", "checkbox"
)
WORDS = {
    "pause": ("Pause", "Let the schedule rest. Slots of a pause are not missed.", (NOTE,)),
    "resume": ("Resume", "Let the schedule go on with its next slot.", ()),
    "trigger": ("Run now", "Ask for a full run now, out of turn.", (REBASE,)),
}
DONE = {
    "pause": "The schedule rests.",
    "resume": "The schedule goes on with its next slot.",
    "trigger": "A full run was asked for; it is listed here when it has ended.",
}


def routes(context: ServeContext) -> list[Route]:
    """Give the page, and what may be done."""
    done = [
        action(
            f"/schedules/{{name}}/{word}", partial(_ask, context, word), partial(_do, context, word)
        )
        for word in WORDS
    ]
    return [Route("/schedules/{name}", partial(_page, context)), *done]


async def _page(context: ServeContext, request: Request) -> Response:
    most = number_of(request, "most", default=PAGE, top=MOST)
    record = await _record(context, request)
    history = await asyncio.to_thread(
        context.store.schedules.history, record.name, most=max(most, DRAWN)
    )
    engine = await describe(context, record.name)
    chart = await asyncio.to_thread(_chart, record, history)
    return render(
        request,
        "schedule.html.j2",
        record=record,
        rhythm=rhythm_of(record, engine.described, engine.missing),
        learning=learning_of(record, history),
        chart=chart,
        rows=[fired_of(each) for each in history[-most:]][::-1],
        more=most + PAGE if len(history) > most else None,
        may=_may(record) if may_act(request) else (),
        titles={word: title for word, (title, _, _) in WORDS.items()},
        engine=context.engine is not None,
        done=DONE.get(request.query_params.get("done", "")),
    )


def _may(record: ScheduleRecord) -> Sequence[str]:
    return ("trigger", "pause" if record.paused is None else "resume")


def _chart(record: ScheduleRecord, history: Sequence[Firing]) -> Markup | None:
    points = points_of(history)[-DRAWN:]
    if not points:
        return None
    with DRAWING:
        drawn = write_history(points, title=record.name)  # of letters that any font has
    return image(on_screen(drawn), says=chart_says(points))


async def _ask(context: ServeContext, word: str, request: Request) -> Question:
    record = await _record(context, request)
    title, says, fields = WORDS[word]
    return Question(
        title=title,
        says=says,
        button=title,
        back=f"/schedules/{record.name}",
        about={
            "Schedule": record.name,
            "Release": record.plan["release"],
            "Stage": record.plan["stage"]["url"],
            **({"Paused": record.paused} if record.paused else {}),
        },
        fields=fields,
        entry="schedules",
    )


async def _do(context: ServeContext, word: str, request: Request, given: Given) -> str:
    name = request.path_params["name"]
    if word == "pause":
        await actions.pause_schedule(context, name, note=given.get("note", ""))
    elif word == "resume":
        await actions.resume_schedule(context, name)
    else:
        await actions.trigger_schedule(context, name, new_baseline="new_baseline" in given)
    return f"/schedules/{name}?done={word}"


async def _record(context: ServeContext, request: Request) -> ScheduleRecord:
    name = name_of(request, "name", missing=MISSING)
    record = await asyncio.to_thread(context.store.schedules.get_schedule, name)
    if record is None:
        raise HTTPException(404, MISSING)
    return record
