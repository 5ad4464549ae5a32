"""The engine of a data folder, a worker, and the pages, in one process."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from denv.errors import HarnessError
from denv.rollout.engine.address import Serving, announced, serving_lock
from denv.rollout.engine.connection import Client, answers, connect
from denv.rollout.engine.orders import take_up
from denv.rollout.engine.server import EmbeddedServer, ServerSettings, embedded
from denv.rollout.engine.worker import WorkerSettings, work
from denv.serve.claim import OnlyEngine
from denv.serve.context import Engine, ServeContext
from denv.serve.serving import pages
from denv.serve.settings import OnReady, Ready, ServeSettings
from denv.serve.storewatch import StoreWatch
from denv.store import SqlStore, open_store

TAKE_UP_EVERY_S = 60.0
"""How often it is made sure that all that has not ended is carried out."""


async def serve_with_engine(
    settings: ServeSettings, *, stop: asyncio.Event, on_ready: OnReady
) -> None:
    """Serve until ``stop`` is set, then end what runs so that it can be gone on with.

    Raises
    ------
    HarnessError
        Another process serves this data folder, or a part broke down.
    """
    parts: set[asyncio.Task[object]] = set()
    async with AsyncExitStack() as stack:
        stack.enter_context(serving_lock(settings.folder))
        store = open_store(settings.folder)
        stack.callback(store.close)
        claim = stack.enter_context(OnlyEngine(store, server=_named(settings)))
        parts.add(keeping := asyncio.create_task(claim.keep()))
        stack.push_async_callback(_cancelled, keeping)
        server = await stack.enter_async_context(_server(settings))
        connection = settings.temporal if server is None else server.connection
        if connection is None:
            raise HarnessError("there is no Temporal server to work for")
        if server is not None:
            parts.add(server.failed)
        client = await connect(connection)
        working = asyncio.create_task(
            work(client, store, WorkerSettings(settings.folder, settings.queue), stop=stop)
        )
        stack.push_async_callback(_ended, working, stop)
        watch = StoreWatch(store, settings.folder)
        stack.push_async_callback(_cancelled, asyncio.create_task(watch.watch()))
        context = ServeContext(store, settings.folder, Engine(client, settings.queue))
        checks = {
            "temporal": lambda: answers(client),
            "worker": lambda: _is_running(working),
            "store": watch.writes,
        }
        url, invited = await stack.enter_async_context(pages(context, settings, checks))
        serving = Serving(
            temporal=connection.address,
            namespace=connection.namespace,
            queue=settings.queue,
            pages=url,
            pid=os.getpid(),
        )
        stack.enter_context(announced(settings.folder, serving))
        on_ready(Ready(url, connection.address, invited))
        tending = asyncio.create_task(_tend(client, store, settings.queue))
        stack.push_async_callback(_cancelled, tending)
        await _until_stopped({*parts, working, tending}, stop=stop)


def _named(settings: ServeSettings) -> str | None:
    """Name the Temporal server that others may work for too; in one namespace nothing is twice."""
    given = settings.temporal
    return None if given is None else f"{given.address}, namespace {given.namespace}"


async def _is_running(working: asyncio.Task[None]) -> bool:
    return not working.done()


@asynccontextmanager
async def _server(settings: ServeSettings) -> AsyncIterator[EmbeddedServer | None]:
    if settings.temporal is not None:
        yield None
        return
    async with embedded(ServerSettings(settings.folder, port=settings.temporal_port)) as server:
        yield server


async def _cancelled(task: asyncio.Task[Any]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def _ended(working: asyncio.Task[None], stop: asyncio.Event) -> None:
    """Let the worker drain before its server goes."""
    stop.set()
    await asyncio.gather(working, return_exceptions=True)


async def _until_stopped(parts: set[asyncio.Task[object]], *, stop: asyncio.Event) -> None:
    """Return when told to stop; what breaks down meanwhile is raised."""
    stopping = asyncio.create_task(stop.wait())
    try:
        done, _ = await asyncio.wait({*parts, stopping}, return_when=asyncio.FIRST_COMPLETED)
        for part in done:
            part.result()
    finally:
        await _cancelled(stopping)


async def _tend(client: Client, store: SqlStore, queue: str) -> None:
    """Take up what has not ended, at the start and now and then."""
    while True:
        try:
            await take_up(client, store, queue=queue)
        except HarnessError:
            await asyncio.sleep(1.0)  # the server is being started again
            continue
        await asyncio.sleep(TAKE_UP_EVERY_S)
