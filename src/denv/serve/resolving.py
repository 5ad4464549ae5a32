"""An alarm's end by hand, from its page or by the API."""

from __future__ import annotations

import asyncio
import logging

from denv.errors import HarnessError
from denv.serve.actions import NotNowError, NotThereError, check_reason
from denv.serve.context import ServeContext
from denv.store import AlarmRecord, Resolve, can_be_kept

TELL_WAIT_S = 5.0
_log = logging.getLogger(__name__)


async def resolve_alarm(context: ServeContext, alarm: str, *, by: str, reason: str) -> AlarmRecord:
    """Resolve an open alarm, and have its sinks told: now, or by whoever next sees what is owed.

    Raises
    ------
    ActionError
        There is no such alarm, it is resolved already, or the reason is none.
    """
    kept = context.store.alarms
    found = await asyncio.to_thread(kept.get_alarm, alarm) if can_be_kept(alarm) else None
    if found is None:
        raise NotThereError(f"there is no alarm {alarm!r}")
    said = f"{by}: {check_reason(reason)}"
    given = Resolve(found.identity, at=context.now().timestamp(), by=said)
    resolved = None
    if found.resolved is None:
        resolved = await asyncio.to_thread(kept.resolve_alarm, given)
    if resolved is None:
        raise NotNowError(f"the alarm {found.alarm} is resolved already")
    await _tell(context)
    return resolved


async def _tell(context: ServeContext) -> None:
    """Have the engine see to what is owed; what it does not hear of now it looks for by itself."""
    if context.engine is None:
        return
    from denv.rollout.engine.orders import take_up  # noqa: PLC0415 - it needs Temporal's client

    engine = context.engine
    try:
        await asyncio.wait_for(
            take_up(engine.client, context.store, queue=engine.queue), TELL_WAIT_S
        )
    except (HarnessError, TimeoutError):
        _log.warning("the engine does not answer: sinks of a resolved alarm are told later")
