"""Orders about schedules, to the engine and to the data: pause one, let it go on, fire it now."""

from __future__ import annotations

import asyncio
from datetime import datetime

from temporalio.client import Client

from denv.errors import UsageError
from denv.rollout.engine import schedules
from denv.rollout.schedules.book import find
from denv.rollout.schedules.pausing import go_on
from denv.store import SqlStore

MOST_NOTE = 400


def check_note(note: str) -> str:
    """Give the reason for a pause without what surrounds it.

    Raises
    ------
    UsageError
        It is no text of one line, or too long.
    """
    text = note.strip()
    if not text or len(text) > MOST_NOTE or not text.isprintable():
        raise UsageError(f"a text of one line, up to {MOST_NOTE} characters, must say why")
    return text


async def pause(client: Client, store: SqlStore, name: str, *, note: str) -> None:
    """Let a schedule rest.

    Raises
    ------
    UsageError
        The data or the engine have no such schedule.
    HarnessError
        The Temporal server does not answer.
    """
    await asyncio.to_thread(find, store, name)
    await schedules.pause(client, name, note=note)
    await asyncio.to_thread(lambda: store.schedules.pause_schedule(name, note=note))


async def resume(client: Client, store: SqlStore, name: str, *, now: float) -> None:
    """Let a schedule go on with its next slot.

    Raises
    ------
    UsageError
        It is not paused, or the data or the engine have no such schedule.
    HarnessError
        The Temporal server does not answer.
    """
    if (await asyncio.to_thread(find, store, name)).paused is None:
        raise UsageError(f"schedule {name} is not paused")
    await go_on(store, name, now=now)
    await schedules.resume(client, name)


async def trigger(
    client: Client, store: SqlStore, name: str, *, queue: str, rebase: bool, now: datetime
) -> str:
    """Ask for a full run now; give its workflow's id.

    Raises
    ------
    UsageError
        The data have no such schedule, or one was asked for this very second.
    HarnessError
        The Temporal server does not answer.
    """
    await asyncio.to_thread(find, store, name)
    return await schedules.trigger(client, name, queue=queue, rebase=rebase, now=now)
