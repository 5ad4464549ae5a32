"""A stub of an engine's server, for faults and shapes that no real engine here shows on demand."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from denv.adapter.engines.http import EngineHttp

Reply = Any
"""A mapping or list is JSON, bytes are a stream's, a tuple (status, bytes) is a refusal."""


@dataclass
class Stub:
    """Answers each path with what was written down for it.

    ``asked`` is what came. With ``cut`` a stream breaks off after its bytes, with ``open`` it stays
    open until the caller is gone, which sets ``left``.
    """

    replies: Mapping[str, Reply]
    cut: bool = False
    open: bool = False
    asked: list[tuple[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    left: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        self.asked.append((request.path, json.loads(body) if body else None))
        self.headers.append(dict(request.headers))
        reply = self.replies.get(request.path, (404, b'{"error":{"message":"no such path"}}'))
        if isinstance(reply, tuple):
            status, content = reply
            return web.Response(status=status, body=content)
        if not isinstance(reply, bytes):
            return web.json_response(reply)
        return await self._stream(request, reply)

    async def _stream(self, request: web.Request, reply: bytes) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(reply)
        if self.cut:
            assert request.transport is not None
            request.transport.abort()
        if self.open:
            try:
                await asyncio.sleep(60)
            finally:
                self.left.set()
        return response


@asynccontextmanager
async def stubbed(stub: Stub) -> AsyncIterator[EngineHttp]:
    """Run a stub for the length of the block, and give the way to it."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", stub.answer)
    runner = web.AppRunner(app, handler_cancellation=True)
    await runner.setup()
    http: EngineHttp | None = None
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        http = EngineHttp(f"http://127.0.0.1:{runner.addresses[0][1]}")
        yield http
    finally:
        if http is not None:
            await http.close()
        await runner.cleanup()


def sse(*documents: Any, done: bool = True) -> bytes:
    """Write documents as a stream."""
    lines = [f"data: {json.dumps(document)}\n\n" for document in documents]
    return "".join([*lines, "data: [DONE]\n\n" if done else ""]).encode()


async def taken(given: AsyncIterator[Any]) -> list[Any]:
    """Take all that comes."""
    return [item async for item in given]


def written(items: Sequence[Any]) -> bytes:
    """Join the bytes of all but the end."""
    return b"".join(item.bytes for item in items[:-1])
