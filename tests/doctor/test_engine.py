"""Who carries out rollouts: nobody, a server that is well, one that is not."""

from __future__ import annotations

import asyncio
from contextlib import closing

import pytest
from aiohttp import web

from denv.doctor.engine import examine_engine
from denv.doctor.finding import Level
from denv.rollout.engine.address import Serving, announced, serving_lock
from denv.rollout.engine.connection import Connection
from denv.store import ScheduleRecord, open_store


async def look(folder, given=None):
    return {finding.name: finding async for finding in examine_engine(folder, given)}


async def test_nobody_is_a_note_until_something_waits(folder):
    """Without schedules and rollouts no server is needed; with one, it stands still."""
    assert (await look(folder))["serve"].level is Level.NOTE
    with closing(open_store(folder)) as store:
        store.schedules.add_schedule(ScheduleRecord("nightly", 1.0, {}, {}))
        found = (await look(folder))["serve"]
        assert (found.level, found.advice) == (Level.WARNING, "denv serve")
        assert found.text.endswith("needed for 1 schedule")
        store.schedules.pause_schedule("nightly", note="holidays")
    assert (await look(folder))["serve"].level is Level.NOTE


@pytest.fixture
async def served(folder):
    """Announce a server whose /health answers as told; nothing is at its Temporal address."""
    answer: dict = {}

    async def health(_):
        return web.json_response(**answer)

    app = web.Application()
    app.router.add_get("/health", health)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    pages = f"http://127.0.0.1:{runner.addresses[0][1]}"
    with (
        serving_lock(folder),
        announced(folder, Serving("127.0.0.1:9", "default", "q", pages, 1)),
    ):
        yield answer
    await runner.cleanup()


@pytest.mark.parametrize(
    ("answer", "level", "said"),
    [
        ({"data": {"status": "ok", "parts": {"store": True}}}, Level.OK, "is well"),
        (
            {"data": {"parts": {"store": False, "worker": True}}, "status": 503},
            Level.FAULT,
            "ill: store",
        ),
        ({"data": [], "status": 500}, Level.FAULT, "/health is answered 500"),
    ],
)
async def test_a_server_is_asked_how_it_is(folder, served, answer, level, said):
    """What it says of its parts is told, and a Temporal server that is gone by itself."""
    served.update(answer)
    found = await look(folder)
    assert found["serve"].level is level
    assert said in found["serve"].text
    assert found["temporal"].level is Level.FAULT
    assert "no Temporal server answers at 127.0.0.1:9" in found["temporal"].text


async def test_a_server_that_hangs_up(folder):
    """One that is announced and does not answer is a fault."""

    async def hang_up(_, writer):
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    pages = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    serving = Serving("127.0.0.1:9", "default", "q", pages, 1)
    async with server:
        with serving_lock(folder), announced(folder, serving):
            found = await look(folder)
    assert found["serve"].level is Level.FAULT
    assert "does not answer" in found["serve"].text


async def test_a_temporal_server_of_ones_own(folder):
    """The one that is named is asked, whether or not somebody serves the folder."""
    found = await look(folder, Connection("127.0.0.1:9"))
    assert found["temporal"].level is Level.FAULT
