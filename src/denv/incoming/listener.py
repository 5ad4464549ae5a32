"""The library's server as callers of an API meet it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web
from aiohttp.http import RawRequestMessage

KEPT_S = 75.0
"""How long a caller's connection is kept without a request."""

Unreadable = Callable[[web.BaseRequest, int], web.StreamResponse]
"""Gives the refusal of what came in the place of a request, with the library's status."""


class Listener(web.Server):
    """Answers by a handler, and by ``unreadable`` where no HTTP came.

    A body in chunks may have fields behind it, of which the library's parser takes the last for a
    header of the connection's next request. So after such a body there is no next request.
    """

    def __init__(
        self,
        handler: Callable[[Any], Awaitable[web.StreamResponse]],
        *,
        unreadable: Unreadable,
        logger: logging.Logger,
        request_factory: Any = None,
    ) -> None:
        super().__init__(handler, request_factory=request_factory, handler_cancellation=True)
        make = self.request_factory

        def last_if_in_chunks(message: RawRequestMessage, *rest: Any) -> web.BaseRequest:
            if message.chunked:
                message = message._replace(should_close=True)
            return make(message, *rest)

        self.request_factory = last_if_in_chunks
        self.unreadable = unreadable
        self.logger = logger

    def __call__(self) -> web.RequestHandler:
        """Make what reads and answers one connection."""
        return _Connection(self)


class _Connection(web.RequestHandler):
    """One connection of a caller.

    Bodies are not unpacked here: of one that nobody reads, as where the key is missing, the
    library would unpack all before it is thrown away.
    """

    __slots__ = ("_unreadable",)

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
