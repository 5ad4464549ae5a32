"""Places: so many at once, so many waiting, and nobody new at the end."""

from __future__ import annotations

import asyncio

import pytest

from denv.adapter.places import Places
from denv.adapter.refusals import RefusedError


async def hold(places: Places, leave: asyncio.Event) -> None:
    async with places.take():
        await leave.wait()


async def test_those_who_wait_come_in_turn() -> None:
    """A place that comes free is given on; nobody is refused while the queue has room."""
    places = Places(concurrency=2, queue=3, wait_s=60)
    leave = asyncio.Event()
    tasks = [asyncio.create_task(hold(places, leave)) for _ in range(5)]
    await asyncio.sleep(0)
    assert (places.taken, places.waiting) == (2, 3)
    leave.set()
    await asyncio.gather(*tasks)
    assert (places.taken, places.waiting) == (0, 0)


async def test_leaving_the_queue_frees_it() -> None:
    """Who gives up waiting makes room in the queue, and takes no place."""
    places = Places(concurrency=1, queue=1, wait_s=60)
    leave = asyncio.Event()
    first = asyncio.create_task(hold(places, leave))
    await asyncio.sleep(0)
    waiting = asyncio.create_task(hold(places, leave))
    await asyncio.sleep(0)
    with pytest.raises(RefusedError) as caught:
        await hold(places, leave)
    assert caught.value.refusal.status == 429
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert places.waiting == 0
    again = asyncio.create_task(hold(places, leave))
    leave.set()
    await asyncio.gather(first, again)
    assert places.taken == 0


async def test_the_end_sends_those_who_wait_away() -> None:
    """At the end those within finish, and those in the queue and newcomers are refused."""
    places = Places(concurrency=1, queue=1, wait_s=60)
    leave = asyncio.Event()
    first = asyncio.create_task(hold(places, leave))
    await asyncio.sleep(0)
    waiting = asyncio.create_task(hold(places, leave))
    await asyncio.sleep(0)
    drained = asyncio.create_task(places.drain(60))
    await asyncio.sleep(0)
    with pytest.raises(RefusedError) as caught:
        await hold(places, leave)
    assert caught.value.refusal.status == 503
    leave.set()
    assert await drained
    await first
    with pytest.raises(RefusedError):
        await waiting


async def test_draining_gives_up() -> None:
    """Draining says when somebody has not left in time."""
    places = Places(concurrency=1, queue=0, wait_s=60)
    leave = asyncio.Event()
    task = asyncio.create_task(hold(places, leave))
    await asyncio.sleep(0)
    assert await places.drain(0) is False
    leave.set()
    await task
