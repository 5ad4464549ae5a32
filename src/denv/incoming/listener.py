"""The library's server as callers of an API meet it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web
from aiohttp.http import RawRequestMessage
from aiohttp.streams import EMPTY_PAYLOAD
from aiohttp.web_protocol import _ErrInfo

from denv.incoming.bounds import Bounds

KEPT_S = 75.0
"""How long a caller's connection is kept without a request."""

UNREAD_S = 60.0
"""How long a caller may read nothing of what waits for it."""

CUT_S = 0.5
"""How long what is cut at the end of a drain may take to come to its own end."""

Unreadable = Callable[[web.BaseRequest, int], web.StreamResponse]
"""Gives the refusal of what came in the place of a request, with the library's status."""


class Listener(web.Server):
    """Answers by a handler, and by ``unreadable`` where no HTTP came, or no head in time.

    A body in chunks may have fields behind it, of which the library's parser takes the last for a
    header of the connection's next request. So after such a body there is no next request; nor is
    there one where an upgrade was offered, which nobody takes: the library reads no more then. A
    body in a coding beside chunks, which the library would not undo, is refused.
    """

    def __init__(
        self,
        handler: Callable[[Any], Awaitable[web.StreamResponse]],
        *,
        unreadable: Unreadable,
        logger: logging.Logger,
        bounds: Bounds,
        request_factory: Any = None,
    ) -> None:
        async def handle(request: Any) -> web.StreamResponse:
            coding = request.headers.get("Transfer-Encoding", "chunked")
            if coding.strip().lower() != "chunked":
                return unreadable(request, 400)
            return await handler(request)

        super().__init__(handle, request_factory=request_factory, handler_cancellation=True)
        make = self.request_factory

        def may_be_last(message: RawRequestMessage, *rest: Any) -> web.BaseRequest:
            if message.chunked or message.upgrade:
                message = message._replace(should_close=True)
            return make(message, *rest)

        self.request_factory = may_be_last
        self.unreadable = unreadable
        self.logger = logger
        self.bounds = bounds
        self._open: dict[_Connection, None] = {}

    def __call__(self) -> web.RequestHandler:
        """Make what reads and answers one connection."""
        return _Connection(self)

    def opened(self, connection: _Connection) -> None:
        """Count a connection; beyond the bound the oldest that does nothing is closed, or it is.

        So connections that only stand open keep nobody out.
        """
        if len(self._open) >= self.bounds.connections:
            idle = next((one for one in self._open if one.is_waiting), connection)
            idle.abort()
        if not connection.is_gone:
            self._open[connection] = None

    def closed(self, connection: _Connection) -> None:
        """Count a connection as closed."""
        self._open.pop(connection, None)


class _Connection(web.RequestHandler):
    """One connection of a caller.

    Bodies are not unpacked here: of one that nobody reads, as where the key is missing, the
    library would unpack all before it is thrown away.
    """

    __slots__ = ("_late", "_listener", "_unreadable")

    def __init__(self, listener: Listener) -> None:
        super().__init__(
            listener,
            loop=asyncio.get_running_loop(),
            access_log=None,  # type: ignore[arg-type]  # as the library's own runner gives it
            logger=listener.logger,
            keepalive_timeout=KEPT_S,
            auto_decompress=False,
        )
        self._unreadable = listener.unreadable
        self._listener = listener
        self._late: asyncio.TimerHandle | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether the next request has not come, or not the whole of its head."""
        return self._waiter is not None and not self._waiter.done()

    @property
    def is_gone(self) -> bool:
        """Whether it is closed, or about to be."""
        return self.transport is None or self.transport.is_closing()

    def abort(self) -> None:
        """End it at once; what has not been sent is dropped."""
        if self.transport is not None:
            self._listener.closed(self)
            self.transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection if there is room."""
        super().connection_made(transport)
        self._listener.opened(self)

    async def shutdown(self, timeout: float | None = 15.0) -> None:  # noqa: ASYNC109 - the library's
        """Let what is under way end in time, and cut it then.

        The library would wait as long again for what it cuts.
        """
        handler, late = self._task_handler, None
        if timeout is not None and handler is not None:
            late = self._loop.call_later(timeout + CUT_S, handler.cancel)
        try:
            await super().shutdown(timeout)
        finally:
            if late is not None:
                late.cancel()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Give the room back."""
        self._in_time()
        self._listener.closed(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read, and bound the time that a head takes from its first byte on."""
        super().data_received(data)
        if not self.is_waiting:
            self._in_time()
        elif self._late is None and data.strip(b"\r\n"):  # empty lines may follow a body
            self._late = self._loop.call_later(self._listener.bounds.head_s, self._head_is_late)

    def pause_writing(self) -> None:
        """Bound how long a caller reads nothing."""
        super().pause_writing()
        self._watch(self.transport)

    async def start(self) -> None:
        """Answer requests until it is closed; what is left then must be read too."""
        transport = self.transport
        try:
            await super().start()
        finally:
            self._watch(transport)

    def _watch(self, transport: asyncio.Transport | None, left: int | None = None) -> None:
        """End a connection of which nothing has been read since ``left`` bytes waited."""
        waiting = 0 if transport is None else transport.get_write_buffer_size()
        if transport is None or not waiting:
            return
        if left is not None and waiting >= left:
            transport.abort()
            return
        self._loop.call_later(UNREAD_S, self._watch, transport, waiting)

    def _in_time(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _head_is_late(self) -> None:
        self._late = None
        if self._waiter is not None and not self._waiter.done():
            # As the library hands on what it cannot read.
            self._messages.append((_ErrInfo(408, TimeoutError(), ""), EMPTY_PAYLOAD))
            self._waiter.set_result(None)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Refuse what cannot be read; the library's own words quote it."""
        del message
        if request.writer.output_size > 0:
            raise ConnectionError("a part of an answer has been sent")
        self.log_exception("", exc_info=exc)
        return self._unreadable(request, status)


class Runner(web.AppRunner):
    """Runs an application by a ``Listener``."""

    def __init__(
        self,
        app: web.Application,
        *,
        unreadable: Unreadable,
        logger: logging.Logger,
        bounds: Bounds,
        shutdown_s: float,
    ) -> None:
        super().__init__(app, shutdown_timeout=shutdown_s)
        self._listened = (unreadable, logger, bounds)

    async def _make_server(self) -> web.Server:
        plain = await super()._make_server()
        unreadable, logger, bounds = self._listened
        return Listener(
            plain.request_handler,
            unreadable=unreadable,
            logger=logger,
            bounds=bounds,
            request_factory=plain.request_factory,
        )
