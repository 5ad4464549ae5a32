"""The engine for tests: one Temporal server of the wheel a file, workers in this process."""

from __future__ import annotations

import asyncio
import threading
from contextlib import AsyncExitStack

import pytest
from sqlalchemy import event
from sqlalchemy.pool import Pool

from denv.rollout.engine.server import ServerSettings, embedded
from denv.store import open_store
from tests.rollout.engine.staging import Engine, Model, Releases


@pytest.fixture(scope="module")
def temporal(tmp_path_factory):
    """Keep a server running in a thread with a loop of its own; give how to reach it."""
    folder = tmp_path_factory.mktemp("temporal")
    ready, over = threading.Event(), threading.Event()
    found = []

    async def serve():
        async with embedded(ServerSettings(folder)) as server:
            found.append(server.connection)
            ready.set()
            await asyncio.to_thread(over.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        assert ready.wait(60)
        yield found[0]
    finally:
        over.set()
        thread.join()


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Open a store in a fresh data folder; what is silent for three seconds is dead."""
    monkeypatch.setenv("DENV_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DENV_HEARTBEAT_S", "3")
    opened = open_store(tmp_path / "home")
    yield opened
    opened.close()


@pytest.fixture
def read_only():
    """Give what lets no database of SQLite be written from now on, or lets it again."""
    now = [False]

    def checked_out(connection, record, proxy):
        connection.execute(f"PRAGMA query_only = {int(now[0])}")

    event.listen(Pool, "checkout", checked_out)
    yield lambda only: now.__setitem__(0, only)
    event.remove(Pool, "checkout", checked_out)


@pytest.fixture
async def models():
    """Start models that can be told to answer wrong, be sick, or be slow."""
    async with AsyncExitStack() as stack:

        async def start():
            return await stack.enter_async_context(Model())

        yield start


@pytest.fixture
async def engine(temporal, store, tmp_path):
    """Give the engine with one worker, on a queue of the test's own."""
    async with Engine(temporal, store, tmp_path / "home") as started:
        yield started


@pytest.fixture
async def releases(tmp_path, models):
    """Give what writes releases of a stage and a reference that both answer right."""
    return Releases(tmp_path, stage=await models(), reference=await models())
