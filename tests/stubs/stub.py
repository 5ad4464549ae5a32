"""The stub server: real sockets on loopback, one handler function a server.

async with StubServer(answers.echo()) as stub:
...  # stub.url ends in /v1; stub.seen lists the requests
"""

from __future__ import annotations

import inspect
import json
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from aiohttp import web

from tests.stubs import answers

Handler = Callable[[Any, int], Any]
"""(request JSON, number of the chat request from 0) → answer, or an awaitable of one.

An answer is a mapping (sent as JSON), bytes (a JSON body as it is), a ``web.Response``, or a
function ``(web.Request) → awaitable of web.StreamResponse`` that writes the answer itself.
"""


@dataclass(frozen=True)
class Seen:
    """One request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class StubServer:
    """Serves ``/v1/chat/completions`` from a handler and ``/v1/models`` from a list."""

    def __init__(
        self,
        handler: Handler | None = None,
        *,
        models: list[str] | None = None,
        tls: ssl.SSLContext | None = None,
        port: int = 0,
        keep: bool = True,
    ) -> None:
        self._handler = handler or answers.echo()
        self._models = ["stub"] if models is None else models
        self._tls = tls
        self._port = port
        self._keep = keep
        self.seen: list[Seen] = []
        self.listing: bytes | None = None
        self.chats = 0
        self.sent_bytes = 0

    @property
    def url(self) -> str:
        """The base URL, which ends in /v1."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self._port}/v1"

    async def __aenter__(self) -> Self:
        # Handlers of clients that went away are cancelled, so that endless answers end.
        self._server = web.Server(self._dispatch, handler_cancellation=True, access_log=None)
        self._runner = web.ServerRunner(self._server, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port, ssl_context=self._tls)
        await site.start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _dispatch(self, request: web.BaseRequest) -> web.StreamResponse:
        body = await request.read()
        if self._keep:
            self.seen.append(Seen(request.method, request.path_qs, dict(request.headers), body))
        if request.method == "GET" and request.path == "/v1/models":
            if self.listing is not None:
                return web.Response(body=self.listing, content_type="application/json")
            listed = [
                {"id": model, "object": "model", "owned_by": "stub"} for model in self._models
            ]
            return web.json_response({"object": "list", "data": listed})
        n, self.chats = self.chats, self.chats + 1
        return await self._answer(request, self._handler(_parsed(body), n))

    async def _answer(self, request: web.BaseRequest, answer: Any) -> web.StreamResponse:
        if inspect.isawaitable(answer):
            answer = await answer
        if isinstance(answer, web.StreamResponse):
            return answer
        if callable(answer):
            written: web.StreamResponse = await answer(request, self)
            return written
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        return web.Response(body=body, content_type="application/json")


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None
