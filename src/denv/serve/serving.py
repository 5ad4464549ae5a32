"""``denv serve``: what runs, and the pages before it, in one process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from denv.serve.access.signin import Invitation
from denv.serve.app import PageSettings, build_app
from denv.serve.context import ServeContext
from denv.serve.health import Health
from denv.serve.listening import listening
from denv.serve.storewatch import StoreWatch
from denv.store import open_store

if TYPE_CHECKING:  # pages alone are served without Temporal's client
    from denv.rollout.engine.connection import Connection


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """What is served; without ``temporal`` Temporal's own server is started beside the data.

    ``engine`` False serves the pages alone; ``invites`` makes an address to sign in at once.
    """

    folder: Path
    pages: PageSettings
    temporal: Connection | None = None
    temporal_port: int = 0
    queue: str = "denv"
    engine: bool = True
    invites: bool = False


@dataclass(frozen=True, slots=True)
class Ready:
    """What is served: the pages' address, Temporal's, and where whoever asks first signs in."""

    url: str
    temporal: str | None
    sign_in: str | None


OnReady = Callable[[Ready], None]


async def serve(settings: ServeSettings, *, stop: asyncio.Event, on_ready: OnReady) -> None:
    """Serve until ``stop`` is set, then end what runs so that it can be gone on with.

    Raises
    ------
    HarnessError
        Another process serves this data folder, or a part broke down.
    """
    if settings.engine:
        from denv.serve.engine import serve_with_engine  # noqa: PLC0415 - it needs Temporal

        await serve_with_engine(settings, stop=stop, on_ready=on_ready)
        return
    async with AsyncExitStack() as stack:
        store = open_store(settings.folder)
        stack.callback(store.close)
        watch = StoreWatch(store, settings.folder)
        context = ServeContext(store, settings.folder)
        checks = {"store": watch.writes}
        url, invited = await stack.enter_async_context(pages(context, settings, checks))
        on_ready(Ready(url, None, invited))
        await stop.wait()


@asynccontextmanager
async def pages(
    context: ServeContext,
    settings: ServeSettings,
    checks: Mapping[str, Callable[[], Awaitable[bool]]],
) -> AsyncIterator[tuple[str, str | None]]:
    """Serve the pages for the length of the block; give their address, and that to sign in at.

    Raises
    ------
    HarnessError
        The address is taken or cannot be listened on.
    """
    invitation = None
    if settings.invites:
        invitation = Invitation(lambda: context.now().timestamp())
    app = build_app(context, settings.pages, Health(checks), invitation=invitation)
    where = settings.pages
    async with listening(app, host=where.host, port=where.port) as url:
        invited = None if invitation is None else f"{url}/sign-in?once={invitation.secret}"
        yield url, invited
