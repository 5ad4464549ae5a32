"""The HTTP side of ``denv serve``: is it well, and what other deployers ask."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from denv.errors import HarnessError
from denv.records import Secret
from denv.rollout.engine.connection import Client, answers
from denv.serve.gatehook import gate_app
from denv.serve.hosts import allowed_hosts
from denv.serve.publications import publication_app
from denv.store import PublicationStore


@dataclass(frozen=True, slots=True)
class PageSettings:
    """Where the pages listen, and what they may start: gates of ``releases``, with ``token``.

    ``allow_hosts`` are names beside the address that callers of gates may use; ``publications``
    are the reports that anybody may read who has their address.
    """

    host: str
    port: int
    data: Path
    releases: Path | None = None
    token: Secret | None = None
    allow_hosts: tuple[str, ...] = ()
    publications: PublicationStore | None = None


@dataclass(frozen=True, slots=True)
class Health:
    """What tells whether all parts are well."""

    client: Client
    temporal: str
    worker_runs: Callable[[], bool]
    store_writes: Callable[[], Awaitable[bool]]

    async def parts(self) -> dict[str, bool]:
        """Give each part and whether it is well."""
        temporal, store = await asyncio.gather(answers(self.client), self.store_writes())
        return {"temporal": temporal, "worker": self.worker_runs(), "store": store}


@asynccontextmanager
async def serve_pages(settings: PageSettings, health: Health) -> AsyncIterator[str]:
    """Serve the pages for the length of the block; give their address.

    Raises
    ------
    HarnessError
        The address is taken or cannot be listened on.
    """
    runner = web.AppRunner(_app(settings, health), access_log=None, shutdown_timeout=2.0)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, settings.host, settings.port).start()
        except OSError as error:
            where = f"{settings.host}:{settings.port}"
            raise HarnessError(f"{where} cannot be listened on: {error.strerror}") from error
        port = runner.addresses[0][1]
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        yield f"http://{host}:{port}"
    finally:
        await runner.cleanup()


def _app(settings: PageSettings, health: Health) -> web.Application:
    async def healthy(_: web.Request) -> web.Response:
        parts = await health.parts()
        well = all(parts.values())
        body = {"status": "ok" if well else "failing", "parts": parts}
        return web.json_response(body, status=200 if well else 503)

    app = web.Application()
    app.router.add_get("/health", healthy)
    if settings.publications is not None:
        app.add_subapp("/r", publication_app(settings.publications))
    if settings.releases is not None:
        app.add_subapp("/gate", _gates(settings, settings.releases))
    return app


def _gates(settings: PageSettings, releases: Path) -> web.Application:
    token = settings.token
    hosts = allowed_hosts(settings.host, settings.allow_hosts, open_to_all=token is not None)
    return gate_app(releases=releases, data=settings.data, token=token, hosts=hosts)
