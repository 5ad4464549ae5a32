"""A router from its settings: what listens, what watches, and how it ends."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from denv.errors import HarnessError, UsageError
from denv.incoming import Bounds, Listener, Runner, room_for
from denv.router.admin import Admin, unreadable
from denv.router.asking import Asking
from denv.router.blanks import Blanks
from denv.router.clients import ANONYMOUS, Client, Clients
from denv.router.clock import Clocks
from denv.router.fleet import Fleet, Replica
from denv.router.forward import Forwarder
from denv.router.front import Front, Parts
from denv.router.health import Health
from denv.router.keys import Secrets
from denv.router.log import SILENT, say
from denv.router.metrics import Metrics
from denv.router.queue import Places
from denv.router.rebuild import Target
from denv.router.settings import RouterSettings, split_address
from denv.router.shapes import Shapes
from denv.router.tables import Tables
from denv.router.tracing import Tracer

ADMIN_CONNECTIONS = 64


@dataclass(frozen=True, slots=True)
class Routing:
    """A router that is ready, by its addresses."""

    url: str
    admin: str


def check(settings: RouterSettings, folder: Path) -> None:
    """Read all that a router reads at its start, and listen nowhere.

    Raises
    ------
    UsageError
        Something of it is wrong.
    """
    Secrets.of(settings, folder)
    _tls(settings, folder)
    fleet = Fleet(most=1, target=lambda url: Target(url, user_agent="", credential=None))
    _tables(settings, folder, fleet=fleet, metrics=Metrics(), changed=lambda: None)
    if settings.tracing is not None:
        Tracer(settings.tracing).close()


async def route(
    settings: RouterSettings,
    *,
    folder: Path,
    stop: asyncio.Event,
    on_ready: Callable[[Routing], None],
    tracer: Tracer | None = None,
) -> None:
    """Answer requests until ``stop`` is set, then finish what is in flight, and cut the rest.

    Raises
    ------
    UsageError
        A secret or the table cannot be read.
    HarnessError
        An address cannot be listened on.
    """
    async with AsyncExitStack() as stack:
        router = await _Router.build(settings, folder, stop=stop, stack=stack, tracer=tracer)
        # Before the listeners, so that time-outs hold while what is in flight is finished.
        sweep = asyncio.create_task(router.clocks.watch())
        stack.callback(sweep.cancel)
        admin = await stack.enter_async_context(_listening(router.admin, settings.admin))
        runner = web.ServerRunner(router.server, shutdown_timeout=settings.drain)
        url = await stack.enter_async_context(_listening(runner, settings.listen))
        on_ready(Routing(f"{url}/v1", admin))
        await _until_stopped(router, stop)
        say("draining", in_flight=router.front.in_flight)


@dataclass(frozen=True, slots=True)
class _Router:
    front: Front
    server: web.Server
    admin: web.AppRunner
    health: Health
    tables: Tables
    clocks: Clocks

    @classmethod
    async def build(
        cls,
        settings: RouterSettings,
        folder: Path,
        *,
        stop: asyncio.Event,
        stack: AsyncExitStack,
        tracer: Tracer | None,
    ) -> _Router:
        secrets = Secrets.of(settings, folder)
        agent = settings.upstream.user_agent
        fleet = Fleet(
            most=settings.limits.in_flight,
            target=lambda url: Target(
                url, user_agent=agent, credential=secrets.credential_for(url)
            ),
        )
        places = Places(fleet, most_waiting=settings.limits.queue)
        metrics = Metrics()
        tables = _tables(settings, folder, fleet=fleet, metrics=metrics, changed=places.changed)
        tls = _tls(settings, folder)
        blanks = Blanks(secrets.upstream)
        await asyncio.to_thread(blanks.prepare)
        forwarder = Forwarder(connect_s=settings.timeouts.connect, tls=tls, look_into=bool(blanks))
        stack.push_async_callback(forwarder.close)
        if tracer is None and settings.tracing is not None:
            tracer = Tracer(settings.tracing)
        if tracer is not None:
            stack.callback(tracer.close)
        health = Health(settings.health, fleet, forwarder, metrics, places.changed)
        asking = Asking(settings, fleet, places, forwarder, health, metrics)
        clocks, shapes = Clocks(), Shapes()
        front = Front(
            Parts(
                clients=_clients(settings, secrets),
                asking=asking,
                fleet=fleet,
                places=places,
                metrics=metrics,
                waits=settings.timeouts,
                clocks=clocks,
                most_body=settings.limits.body,
                drop=settings.drop_fields,
                shapes=shapes,
                blanks=blanks,
                permit_secret=secrets.permits,
                tracer=tracer,
            )
        )
        _gauges(metrics, fleet=fleet, front=front, places=places, tables=tables)
        app = Admin(
            tables,
            fleet,
            metrics,
            shapes=shapes,
            secret=secrets.weights,
            draining=stop.is_set,
            unix_time=time.time,
        ).app()
        bounds = Bounds(room_for(settings.limits.connections), settings.timeouts.head)
        server = Listener(front.handle, unreadable=front.unreadable, logger=SILENT, bounds=bounds)
        # Its own bound: who fills the one of clients must not keep Prometheus out.
        runner = Runner(
            app,
            unreadable=unreadable,
            logger=SILENT,
            bounds=Bounds(ADMIN_CONNECTIONS, settings.timeouts.head),
            shutdown_s=1.0,
        )
        return cls(front, server, runner, health, tables, clocks)


def _tables(
    settings: RouterSettings,
    folder: Path,
    *,
    fleet: Fleet,
    metrics: Metrics,
    changed: Callable[[], None],
) -> Tables:
    if settings.table is None and settings.weights_secret is None:
        raise UsageError("no table: name one by --table, or weights-secret to have it posted")
    file = None if settings.table is None else folder / Path(settings.table).expanduser()
    if file is not None and settings.weights_secret is None and not file.exists():
        raise UsageError(f"{file}: there is no such table")
    tables = Tables(fleet, metrics, changed, file=file)
    tables.read_first()
    return tables


def _gauges(
    metrics: Metrics, *, fleet: Fleet, front: Front, places: Places, tables: Tables
) -> None:
    def version() -> dict[str, float]:
        return {"": 0 if tables.table is None else tables.table.version}

    def of_replicas(what: Callable[[Replica], float]) -> Callable[[], dict[str, float]]:
        return lambda: {one.name: what(one) for one in fleet.replicas}

    metrics.read("in_flight", "Requests in flight.", lambda: {"": front.in_flight})
    metrics.read("waiting", "Requests waiting for a place.", lambda: {"": places.waiting})
    metrics.read("table_version", "The table's version.", version)
    metrics.read("healthy", "1: may be asked.", of_replicas(lambda one: one.healthy))
    metrics.read("replica_in_flight", "Requests at a replica.", of_replicas(lambda o: o.in_flight))
    metrics.read("weight", "The weight in the table.", of_replicas(lambda one: one.weight))


def _clients(settings: RouterSettings, secrets: Secrets) -> Clients:
    now = asyncio.get_running_loop().time()
    named = [Client(entry.name, entry, now=now) for entry in settings.clients]
    anonymous = None
    if settings.anonymous is not None:
        anonymous = Client(ANONYMOUS, settings.anonymous, now=now)
    return Clients(zip(secrets.clients, named, strict=True), anonymous)


def _tls(settings: RouterSettings, folder: Path) -> ssl.SSLContext | bool:
    if settings.upstream.ca_file is None:
        return True
    path = folder / Path(settings.upstream.ca_file).expanduser()
    try:
        return ssl.create_default_context(cafile=str(path))
    except OSError:
        raise UsageError(f"{path} holds no certificates that can be read") from None


@asynccontextmanager
async def _listening(runner: web.ServerRunner | web.AppRunner, address: str) -> AsyncIterator[str]:
    """Listen for the length of the block, at whose end what is in flight is finished."""
    host, port = split_address(address)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port, backlog=1024).start()
        except OSError as error:
            raise HarnessError(f"{address} cannot be listened on: {error.strerror}") from error
        shown = f"[{host}]" if ":" in host else host
        yield f"http://{shown}:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def _until_stopped(router: _Router, stop: asyncio.Event) -> None:
    """Return when told to stop; what breaks down meanwhile is raised."""
    parts: set[asyncio.Task[object]] = {
        asyncio.create_task(router.health.watch()),
        asyncio.create_task(stop.wait()),
    }
    if router.tables.file is not None:
        parts.add(asyncio.create_task(router.tables.watch()))
    try:
        done, _ = await asyncio.wait(parts, return_when=asyncio.FIRST_COMPLETED)
        for part in done:
            part.result()
    finally:
        for task in parts:
            task.cancel()
        await asyncio.gather(*parts, return_exceptions=True)
