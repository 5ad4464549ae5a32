"""Signs of life of an activity, and what a try leaves for the next one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from temporalio import activity

T = TypeVar("T")

BEATS = 4
"""So many signs of life fit into the time after which a process counts as dead."""


class HeartbeatMemory:
    """Keeps one JSON value with the activity's signs of life."""

    def __init__(self) -> None:
        details = activity.info().heartbeat_details
        self.earlier: Any = details[0] if details else None
        self._latest = self.earlier

    def keep(self, value: Any) -> None:
        """Leave a value, with a sign of life at once."""
        self._latest = value
        self.beat()

    def beat(self) -> None:
        """Give a sign of life that carries what was kept last."""
        activity.heartbeat(self._latest)


@asynccontextmanager
async def beating() -> AsyncIterator[HeartbeatMemory]:
    """Give signs of life for as long as the event loop runs and the block lasts."""
    memory = HeartbeatMemory()
    limit = activity.info().heartbeat_timeout
    every_s = (limit.total_seconds() if limit else 10.0) / BEATS

    async def go() -> None:
        while True:
            memory.beat()
            await asyncio.sleep(every_s)

    beats = asyncio.create_task(go())
    try:
        yield memory
    finally:
        beats.cancel()
        with suppress(asyncio.CancelledError):
            await beats


async def stoppable(work: Callable[[asyncio.Event], Awaitable[T]]) -> tuple[T, bool]:
    """Do work that ends early and well when its event is set: at a shutdown, or when cancelled.

    Gives what came of it, and whether it was stopped.
    """
    stop = asyncio.Event()
    working = asyncio.ensure_future(work(stop))
    ending = asyncio.ensure_future(activity.wait_for_worker_shutdown())
    try:
        await asyncio.wait({working, ending}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            stop.set()
            await asyncio.wait({working})
        return working.result(), stop.is_set()
    except asyncio.CancelledError:
        # Also where it was only heard of too late: what is in flight is paid for and is kept,
        # and the next try, which is refused while this one holds its cases, goes on from there.
        late = stop.is_set()
        stop.set()
        await _ended(working, late=late)
        raise
    finally:
        ending.cancel()
        with suppress(asyncio.CancelledError):
            await ending


async def _ended(working: asyncio.Future[Any], *, late: bool) -> None:
    """Wait for work that was told to stop; one that was told before has had its time."""
    if late:
        working.cancel()
    while not working.done():
        try:
            await asyncio.wait({working})
        except asyncio.CancelledError:
            working.cancel()
    if not working.cancelled():
        working.exception()  # looked at: that the try was cancelled is what is told
