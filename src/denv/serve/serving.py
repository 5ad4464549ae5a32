"""The pages of a data folder: beside an engine, or alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from denv.serve.access.signin import Invitation
from denv.serve.app import build_app
from denv.serve.context import ServeContext
from denv.serve.health import Health
from denv.serve.listening import listening
from denv.serve.settings import OnReady, Ready, ServeSettings
from denv.serve.storewatch import StoreWatch
from denv.store import open_store


async def serve_pages(settings: ServeSettings, *, stop: asyncio.Event, on_ready: OnReady) -> None:
    """Serve the pages alone until ``stop`` is set.

    Raises
    ------
    HarnessError
        The address is taken or cannot be listened on.
    """
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
