"""Schedules over the API."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query

from denv.errors import DenvError
from denv.rollout.schedules.documents import document_of
from denv.serve import actions
from denv.serve.actions import NotThereError
from denv.serve.api.answers import CONFLICT, plain
from denv.serve.api.models import (
    Because,
    Nothing,
    ScheduleDetail,
    Schedules,
    Told,
    Trigger,
)
from denv.serve.api.parameters import BySlot, Context, Name
from denv.serve.context import ServeContext
from denv.store import can_be_kept

if TYPE_CHECKING:
    from denv.rollout.engine.schedules import Described

ENGINE_WAIT_S = 3.0
"""The rest of a schedule is shown without its next times rather than later than this."""

router = APIRouter(tags=["schedules"])
_ORDER: dict[str, Any] = {"response_model": Told, "status_code": 202, "responses": CONFLICT}


@router.get("/schedules", response_model=Schedules)
def list_schedules(context: Context) -> Any:
    """Give all schedules with their last firing; what the engine knows is told of each alone."""
    schedules = context.store.schedules
    missing = "it is asked for one schedule at a time"
    return {
        "schedules": [
            plain(document_of(each, schedules.history(each.name, most=1), None, missing=missing))
            for each in schedules.list_schedules()
        ]
    }


@router.get("/schedules/{name}", response_model=ScheduleDetail)
async def show_schedule(context: Context, name: Name, given: Annotated[BySlot, Query()]) -> Any:
    """Give a schedule with a page of its firings, the latest at first, and its next times."""
    schedules = context.store.schedules
    record = await asyncio.to_thread(schedules.get_schedule, name) if can_be_kept(name) else None
    if record is None:
        raise NotThereError(f"there is no schedule {name!r}")
    found = await asyncio.to_thread(
        lambda: schedules.history(name, before=given.before, most=given.limit + 1)
    )
    page = found[-given.limit :]
    more = f"{page[0].slot!r}~{page[0].at!r}~{page[0].kind}" if len(found) > len(page) else None
    described, missing = await _described(context, name)
    return {**plain(document_of(record, page, described, missing=missing)), "next": more}


async def _described(context: ServeContext, name: str) -> tuple[Described | None, str | None]:
    """Ask the engine for its next times, or say why they are not known."""
    if context.engine is None:
        return None, "no engine runs here"
    from denv.rollout.engine.schedules import describe  # noqa: PLC0415 - it needs Temporal's client

    try:
        asked = describe(context.engine.client, name)
        return await asyncio.wait_for(asked, ENGINE_WAIT_S), None
    except TimeoutError:
        return None, "the Temporal server does not answer"
    except DenvError as error:
        return None, str(error)


@router.post("/schedules/{name}/trigger", **_ORDER)
async def trigger(context: Context, name: Name, given: Trigger) -> Any:
    """Make a full run now, out of turn."""
    found = await actions.trigger_schedule(context, name, new_baseline=given.new_baseline)
    return Told(told=f"{name}: a full run was asked for ({found})")


@router.post("/schedules/{name}/pause", **_ORDER)
async def pause(context: Context, name: Name, given: Because) -> Any:
    """Let a schedule rest; slots of a pause are not missed."""
    await actions.pause_schedule(context, name, note=given.reason)
    return Told(told=f"{name}: paused")


@router.post("/schedules/{name}/resume", **_ORDER)
async def resume(context: Context, name: Name, given: Nothing) -> Any:
    """Let a paused schedule go on with its next slot."""
    await actions.resume_schedule(context, name)
    return Told(told=f"{name}: goes on with its next slot")
