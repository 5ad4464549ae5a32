"""Work that is stopped or cancelled: it ends well, and only what has had its time is cut off."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest
from temporalio.testing import ActivityEnvironment

from denv.rollout.engine.beating import stoppable


class Landing:
    """Work that takes a while after it is told to stop."""

    def __init__(self, takes_s):
        self._takes_s = takes_s
        self.begun, self.landed = asyncio.Event(), False

    async def __call__(self, stop):
        self.begun.set()
        await stop.wait()
        await asyncio.sleep(self._takes_s)
        self.landed = True


async def begin(work):
    """Begin work in an activity; give its environment and task."""
    environment = ActivityEnvironment()
    running = asyncio.create_task(environment.run(stoppable, work))
    await work.begun.wait()
    return environment, running


async def test_at_a_shutdown_it_ends_well_and_says_that_it_was_stopped():
    """What is under way is finished before the worker goes."""
    work = Landing(0.05)
    environment, running = await begin(work)
    environment.worker_shutdown()
    assert await running == (None, True)
    assert work.landed


async def test_cancelled_it_ends_well_too():
    """Also a try that the server has given up finishes what is under way."""
    work = Landing(0.05)
    environment, running = await begin(work)
    environment.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert work.landed


@pytest.mark.parametrize("first", ["shutdown", "cancel"])
async def test_told_twice_it_is_cut_off(first):
    """When the time to come to an end is over nothing is waited for."""
    work = Landing(60)
    environment, running = await begin(work)
    environment.worker_shutdown() if first == "shutdown" else environment.cancel()
    await asyncio.sleep(0.05)
    assert not running.done()
    running.cancel()
    with suppress(asyncio.CancelledError):
        await asyncio.wait_for(running, 5)
    assert not work.landed
