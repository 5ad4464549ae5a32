"""Rollouts and alarms over the API."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from denv.alarms.documents import document_of as alarm_document
from denv.rollout.documents import document_of, summary_of
from denv.serve import actions
from denv.serve.actions import NotThereError
from denv.serve.api.answers import CONFLICT, plain
from denv.serve.api.models import (
    Alarm,
    Alarms,
    Because,
    Nothing,
    Promote,
    RolloutDetail,
    Rollouts,
    Told,
)
from denv.serve.api.parameters import ByTime, Caller, Context, Name, after
from denv.serve.context import ServeContext
from denv.serve.resolving import resolve_alarm
from denv.store import AlarmRecord, can_be_kept

router = APIRouter()
_ORDER: dict[str, Any] = {"response_model": Told, "status_code": 202, "responses": CONFLICT}


class RolloutFilters(ByTime):
    """Which rollouts are listed."""

    stage: str | None = Field(default=None, max_length=2048, description="A stage's URL.")
    active: bool | None = Field(default=None, description="Those that have not ended, or have.")


class AlarmFilters(ByTime):
    """Which alarms are listed."""

    open: bool = Field(default=False, description="Only those that are not resolved.")


@router.get("/rollouts", response_model=Rollouts, tags=["rollouts"])
def list_rollouts(context: Context, given: Annotated[RolloutFilters, Query()]) -> Any:
    """Give a page of rollouts, the newest first."""
    if given.stage is not None and not can_be_kept(given.stage):
        return {"rollouts": [], "next": None}
    found = context.store.rollouts.list_rollouts(
        stage=given.stage, active=given.active, before=given.before, most=given.limit + 1
    )
    page = found[: given.limit]
    more = after(page[-1].started, page[-1].rollout) if len(found) > len(page) else None
    return {"rollouts": [plain(summary_of(record)) for record in page], "next": more}


@router.get("/rollouts/{rollout}", response_model=RolloutDetail, tags=["rollouts"])
def show_rollout(context: Context, rollout: Name) -> Any:
    """Give a rollout: where it stands, what it waits for, and each decision."""
    known = can_be_kept(rollout) and context.store.rollouts.get_rollout(rollout) is not None
    if not known:
        raise NotThereError(f"there is no rollout {rollout!r}")
    return plain(document_of(context.store, rollout, now=context.now().timestamp()))


@router.post("/rollouts/{rollout}/promote", **_ORDER, tags=["rollouts"])
async def promote(context: Context, caller: Caller, rollout: Name, given: Promote) -> Any:
    """End the bake of a proven batch now; nothing is promoted without its proof."""
    await actions.say_word(context, rollout, "promote", by=caller, reason=given.reason or "")
    return Told(told=f"promote: told rollout {rollout}; its log says what follows")


@router.post("/rollouts/{rollout}/rollback", **_ORDER, tags=["rollouts"])
async def rollback(context: Context, caller: Caller, rollout: Name, given: Because) -> Any:
    """Take the release back, or try an incomplete rollback again."""
    await actions.say_word(context, rollout, "rollback", by=caller, reason=given.reason)
    return Told(told=f"rollback: told rollout {rollout}; its log says what follows")


@router.post("/rollouts/{rollout}/cancel", **_ORDER, tags=["rollouts"])
async def cancel(context: Context, caller: Caller, rollout: Name, given: Nothing) -> Any:
    """Cancel a rollout; what it has changed is taken back."""
    await actions.say_word(context, rollout, "cancel", by=caller)
    return Told(told=f"cancel: told rollout {rollout}; its log says what follows")


@router.post("/rollouts/{rollout}/override", **_ORDER, tags=["rollouts"])
async def override(context: Context, caller: Caller, rollout: Name, given: Because) -> Any:
    """Let what failed be tried once more, by the next start of the same release."""
    await actions.override(context, rollout, by=caller, reason=given.reason)
    return Told(told=f"the next rollout with these digests may begin, by {caller}'s word")


@router.get("/alarms", response_model=Alarms, tags=["alarms"])
def list_alarms(context: Context, given: Annotated[AlarmFilters, Query()]) -> Any:
    """Give a page of alarms, the newest first, with what each sink was told."""
    alarms = context.store.alarms
    found = alarms.list_alarms(only_open=given.open, before=given.before, most=given.limit + 1)
    page = found[: given.limit]
    more = after(page[-1].opened, page[-1].alarm) if len(found) > len(page) else None
    return {"alarms": [_alarm(context, each) for each in page], "next": more}


@router.get("/alarms/{alarm}", response_model=Alarm, tags=["alarms"])
def show_alarm(context: Context, alarm: Name) -> Any:
    """Give an alarm with what each sink was told."""
    found = context.store.alarms.get_alarm(alarm) if can_be_kept(alarm) else None
    if found is None:
        raise NotThereError(f"there is no alarm {alarm!r}")
    return _alarm(context, found)


@router.post("/alarms/{alarm}/resolve", response_model=Alarm, responses=CONFLICT, tags=["alarms"])
async def resolve(context: Context, caller: Caller, alarm: Name, given: Because) -> Any:
    """Resolve an open alarm; its sinks are told that it is over."""
    resolved = await resolve_alarm(context, alarm, by=caller, reason=given.reason)
    return await asyncio.to_thread(_alarm, context, resolved)


def _alarm(context: ServeContext, alarm: AlarmRecord) -> Any:
    return plain(alarm_document(alarm, context.store.alarms.deliveries(alarm.alarm)))
