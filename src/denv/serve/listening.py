"""Listens for the length of a block: uvicorn, without its signals and its log."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass

import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from denv.errors import HarnessError

DRAIN_S = 2
HEAD_S = 10.0
"""So long may a connection say nothing, or not all of a request's head."""

KEEP_ALIVE_S = 15
MOST_HEAD_BYTES = 32 * 1024
MOST_CONNECTIONS = 512


@asynccontextmanager
async def listening(app: ASGIApp, *, host: str, port: int) -> AsyncIterator[str]:
    """Serve an application for the length of the block; give its address.

    Raises
    ------
    HarnessError
        The address is taken or cannot be listened on.
    """
    sockets = _bound(host, port)
    server = _Server(_config(app))
    serving = asyncio.create_task(server.serve(sockets))
    ready = asyncio.create_task(server.ready.wait())
    try:
        await asyncio.wait({serving, ready}, return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            serving.result()
            raise HarnessError("the pages ended as soon as they were started")
        name = f"[{host}]" if ":" in host else host
        yield f"http://{name}:{sockets[0].getsockname()[1]}"
    finally:
        ready.cancel()
        server.should_exit = True
        await asyncio.gather(serving, ready, return_exceptions=True)
        for each in sockets:
            each.close()


def _config(app: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        BoundedHeads(app),
        http=BoundedProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=DRAIN_S,
        h11_max_incomplete_event_size=MOST_HEAD_BYTES,
    )


@dataclass(frozen=True, slots=True)
class BoundedHeads:
    """Refuses heads that are too large although they came at once: h11 bounds unfinished ones."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        app = self.app
        if scope["type"] == "http" and _head_bytes(scope) > MOST_HEAD_BYTES:
            said = f"the head is larger than {MOST_HEAD_BYTES} bytes"
            app = PlainTextResponse(said, 400, {"Connection": "close"})
        await app(scope, receive, send)


def _head_bytes(scope: Scope) -> int:
    fields = sum(len(name) + len(value) + len(": \r\n") for name, value in scope["headers"])
    return fields + len(scope["raw_path"]) + len(scope["query_string"])


class _Server(uvicorn.Server):
    """A server whose signals are taken elsewhere."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say when it answers."""
        try:
            await super().startup(sockets)
        except SystemExit:  # as a program's whole, which it is not here
            raise HarnessError("the pages could not be started") from None
        self.ready.set()


class BoundedProtocol(H11Protocol):
    """Closes connections whose request does not begin, or whose head does not come to its end.

    uvicorn bounds the wait between requests alone, and that only until the next byte.
    """

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first head."""
        super().connection_made(transport)
        self._timer = self.loop.call_later(HEAD_S, self._close_if_waiting, None)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Wait for the next head, which is given as much longer as a connection may rest."""
        super().on_response_complete()
        if self._timer is not None:
            self._timer.cancel()
        longest = KEEP_ALIVE_S + HEAD_S
        self._timer = self.loop.call_later(longest, self._close_if_waiting, self.cycle)

    def _close_if_waiting(self, cycle: object) -> None:
        """Close where no other request has come since."""
        if self.cycle is cycle and not self.transport.is_closing():
            self.transport.close()


def _bound(host: str, port: int) -> list[socket.socket]:
    """Take the address, before anything says that it is served."""
    where = f"{host}:{port}"
    found: list[socket.socket] = []
    try:
        for family, _, _, _, address in dict.fromkeys(
            socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        ):
            # A free port that was found for one address is taken for the others too.
            chosen = found[0].getsockname()[1] if found else address[1]
            with suppress(_AbsentError):
                found.append(_listener(family, (address[0], chosen, *address[2:])))
    except OSError as error:
        for each in found:
            each.close()
        raise HarnessError(f"{where} cannot be listened on: {error.strerror}") from error
    if not found:
        raise HarnessError(f"{where} cannot be listened on: this machine has no such address")
    return found


class _AbsentError(Exception):
    """The machine has no address of the kind, as where IPv6 is switched off."""


def _listener(family: int, address: tuple[object, ...]) -> socket.socket:
    try:
        made = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        raise _AbsentError from error
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind(address)
        made.setblocking(False)
    except OSError as error:
        made.close()
        if error.errno == errno.EADDRNOTAVAIL:
            raise _AbsentError from error
        raise
    return made
