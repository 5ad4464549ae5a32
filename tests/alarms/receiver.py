"""A stub that takes what sinks send: real sockets on loopback, every request kept as it came."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web


@dataclass(frozen=True)
class Taken:
    """One request."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Receiver:
    """Answers every POST alike; ``refuse`` makes it answer so many with that status first."""

    status: int = 200
    text: str = "{}"
    refuse: list[int] = field(default_factory=list)
    taken: list[Taken] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_post("/{path:.*}", self._take)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _take(self, request: web.Request) -> web.Response:
        body = await request.read()
        self.taken.append(Taken(request.path, dict(request.headers), body))
        status = self.refuse.pop(0) if self.refuse else self.status
        return web.Response(status=status, text=self.text, content_type="application/json")
