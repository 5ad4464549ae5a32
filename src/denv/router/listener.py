"""The library's server as a router's clients meet it."""

from __future__ import annotations

import asyncio

from aiohttp import web

from denv.router.front import Front
from denv.router.log import SILENT

KEPT_S = 75.0
"""How long a client's connection is kept without a request."""


class Listener(web.Server):
    """Answers by a front, also where no HTTP came."""

    def __init__(self, front: Front) -> None:
        super().__init__(front.handle, handler_cancellation=True)
        self.front = front

    def __call__(self) -> web.RequestHandler:
        """Make what reads and answers one connection."""
        return _Connection(self)


class _Connection(web.RequestHandler):
    """One connection of a client.

    Bodies are not unpacked here: of one that nobody reads, as where the key is missing, the
    library would unpack all before it is thrown away.
    """

    __slots__ = ("_front",)

    def __init__(self, listener: Listener) -> None:
        super().__init__(
            listener,
            loop=asyncio.get_running_loop(),
            access_log=None,  # type: ignore[arg-type]  # as the library's own runner gives it
            logger=SILENT,
            keepalive_timeout=KEPT_S,
            auto_decompress=False,
        )
        self._front = listener.front

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Refuse what cannot be read; the library's own words quote it."""
        del exc, message
        if request.writer.output_size > 0:
            raise ConnectionError("a part of an answer has been sent")
        return self._front.unreadable(request, status=status)
