"""A part of what is served, under its own address on a real server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.routing import Mount

from denv.serve.listening import listening


@asynccontextmanager
async def mounted(path: str, part: Starlette) -> AsyncIterator[str]:
    """Serve a part below ``path``; give the server's address."""

    @asynccontextmanager
    async def living(_: Starlette) -> AsyncIterator[None]:
        async with part.router.lifespan_context(part):
            yield

    app = Starlette(routes=[Mount(path, part)], lifespan=living)
    async with listening(app, host="127.0.0.1", port=0) as url:
        yield url
