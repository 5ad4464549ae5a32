"""The engine of a data folder, a worker, and the pages, in one process."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager

from denv.errors import HarnessError, ResumeError
from denv.rollout.engine.address import Serving, announced, serving_lock
from denv.rollout.engine.connection import Client, answers, connect
from denv.rollout.engine.orders import take_up
from denv.rollout.engine.server import EmbeddedServer, ServerSettings, embedded
from denv.rollout.engine.worker import WorkerSettings, work
from denv.serve.context import Engine, ServeContext
from denv.serve.serving import OnReady, Ready, ServeSettings, pages
from denv.serve.storewatch import StoreWatch
from denv.store import SqlStore, open_store

ENGINE = "engine"
"""What is claimed of the data by who has them carried out by a Temporal server of his own."""

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
    async with AsyncExitStack() as stack:
        stack.enter_context(serving_lock(settings.folder))
        store = open_store(settings.folder)
        stack.callback(store.close)
        if settings.temporal is None:
            stack.enter_context(_only_engine(store))
        server = await stack.enter_async_context(_server(settings))
        connection = settings.temporal if server is None else server.connection
        if connection is None:
            raise HarnessError("there is no Temporal server to work for")
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
        await _until_stopped(settings, client, store, server=server, working=working, stop=stop)


@contextmanager
def _only_engine(store: SqlStore) -> Iterator[None]:
    """Hold the data, which may be a database of several folders, for one Temporal server."""
    with ExitStack() as stack:
        try:
            stack.enter_context(store.claim(ENGINE))
        except ResumeError:
            raise HarnessError(
                "another denv serve carries out what is in this database, with a Temporal server "
                "of its own: end that one, or work for its server by denv worker --temporal"
            ) from None
        yield


async def _is_running(working: asyncio.Task[None]) -> bool:
    return not working.done()


@asynccontextmanager
async def _server(settings: ServeSettings) -> AsyncIterator[EmbeddedServer | None]:
    if settings.temporal is not None:
        yield None
        return
    async with embedded(ServerSettings(settings.folder, port=settings.temporal_port)) as server:
        yield server


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def _ended(working: asyncio.Task[None], stop: asyncio.Event) -> None:
    """Let the worker drain before its server goes."""
    stop.set()
    await asyncio.gather(working, return_exceptions=True)


async def _until_stopped(
    settings: ServeSettings,
    client: Client,
    store: SqlStore,
    *,
    server: EmbeddedServer | None,
    working: asyncio.Task[None],
    stop: asyncio.Event,
) -> None:
    """Return when told to stop; what breaks down meanwhile is raised."""
    tending = asyncio.create_task(_tend(client, store, settings.queue))
    stopping = asyncio.create_task(stop.wait())
    parts: set[asyncio.Task[object]] = {working, tending, stopping}
    if server is not None:
        parts.add(server.failed)
    try:
        done, _ = await asyncio.wait(parts, return_when=asyncio.FIRST_COMPLETED)
        for part in done:
            part.result()
    finally:
        for task in (tending, stopping):
            task.cancel()
        await asyncio.gather(tending, stopping, return_exceptions=True)


async def _tend(client: Client, store: SqlStore, queue: str) -> None:
    """Take up what has not ended, at the start and now and then."""
    while True:
        try:
            await take_up(client, store, queue=queue)
        except HarnessError:
            await asyncio.sleep(1.0)  # the server is being started again
            continue
        await asyncio.sleep(TAKE_UP_EVERY_S)
