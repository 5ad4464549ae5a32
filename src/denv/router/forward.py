"""A request sent to a replica, and the answer as it comes.

On a connection of the library's pool, without the library's session, which would add headers and
some twenty objects a request. Connecting, TLS, pooling and the parsing of answers stay the
library's. Nothing here knows who asks.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from enum import StrEnum
from urllib.parse import urlsplit

import aiohttp
from aiohttp import http_exceptions
from aiohttp.connector import Connection
from aiohttp.http import RawResponseMessage
from multidict import CIMultiDictProxy
from yarl import URL

from denv.client.pool import Pool, begin_call, is_stale
from denv.errors import DenvError
from denv.records import Fault, FaultKind
from denv.router.rebuild import Rebuilt, Target

MAX_HEADER_BYTES = 32 * 1024
MOST_INTERIM = 16
"""Heads of 1xx before an answer; a replica that sends them without end would keep all waiting."""

PASSED = (
    "Content-Type", "Content-Encoding", "Retry-After", "retry-after-ms", "denv-sampled",
)  # fmt: skip
"""The headers of an answer that reach the caller; others could say which replica it was."""

PACKINGS = frozenset({"gzip", "x-gzip", "deflate"})
"""Content codings that can be looked into; nobody asks for any."""

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_CUT = Fault(FaultKind.CUT, "cut")
_BROKEN = (aiohttp.ClientError, OSError, http_exceptions.HttpProcessingError)


class Failure(StrEnum):
    """Why no whole answer came."""

    CONNECT = "connect"
    CONNECT_TIMEOUT = "connect-timeout"
    CUT = "cut"
    PROTOCOL = "protocol"
    """What came is no HTTP, or none that may be passed on."""


class UpstreamError(DenvError):
    """A replica could not be asked, or its answer broke off."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"the replica failed: {failure}")
        self.failure = failure

    @property
    def is_connection(self) -> bool:
        """Whether the connection failed, not what was said on it."""
        return self.failure is not Failure.PROTOCOL


class Answer:
    """The head of an answer; the body is read in pieces, as they come."""

    __slots__ = ("_connection", "_content", "headers", "status")

    def __init__(
        self,
        connection: Connection,
        *,
        status: int,
        headers: CIMultiDictProxy[str],
        content: aiohttp.StreamReader,
    ) -> None:
        self._connection = connection
        self._content = content
        self.status = status
        self.headers = headers

    @property
    def packing(self) -> str:
        """How the body is packed; empty where it is not. Several codings are joined by commas."""
        named = ",".join(self.headers.getall("Content-Encoding", ())).lower().split(",")
        codings = [coding for each in named if (coding := each.strip()) not in {"", "identity"}]
        return ",".join(codings)

    def passed(self, name: str) -> str | None:
        """Give a header as the caller is to have it; codings that are told apart are one list."""
        if name == "Content-Encoding":
            return self.packing or None
        return self.headers.get(name)

    @property
    def is_here(self) -> bool:
        """Whether all of the body has come, so that the next piece is its last."""
        return self._content.is_eof()

    async def piece(self) -> bytes:
        """Give what has come of the body, waiting where nothing has; empty at the end.

        Raises
        ------
        UpstreamError
            It broke off.
        """
        try:
            return await self._content.readany()
        except _BROKEN as error:
            raise UpstreamError(_failure_of(error)) from error

    def close(self) -> None:
        """Give the connection back, or close it where not all of the body was read."""
        if self._content.is_eof():
            self._connection.release()
        else:
            self._connection.close()


class Forwarder:
    """Sends requests over one pool, which is the same for all.

    ``look_into`` refuses answers that are packed in such a way that nobody can look into them.
    """

    def __init__(
        self, *, connect_s: float, tls: ssl.SSLContext | bool = True, look_into: bool = False
    ) -> None:
        self._look_into = look_into
        self._tls = tls
        self._pool = Pool(limit=0, ssl=tls)
        self._limits = aiohttp.ClientTimeout(total=None, connect=connect_s)
        self._places: dict[str, aiohttp.ClientRequest] = {}
        self._loop = asyncio.get_running_loop()

    async def forward(self, target: Target, request: Rebuilt) -> Answer:
        """Send a request and wait for the head of its answer.

        It is sent again only where a kept connection turns out to have been closed meanwhile.

        Raises
        ------
        UpstreamError
            No connection could be made, it broke off, or no HTTP came.
        """
        started = self._loop.time()
        begin_call()
        try:
            return await self._once(target, request)
        except UpstreamError as error:
            cut = _CUT if error.failure is Failure.CUT else None
            if not is_stale(cut, answered=False, after_s=self._loop.time() - started):
                raise
            return await self._once(target, request)

    async def close(self) -> None:
        """Close all connections."""
        await self._pool.close()

    async def _once(self, target: Target, request: Rebuilt) -> Answer:
        try:
            connection = await self._pool.connect(self._place(target.url), [], self._limits)
        except TimeoutError as error:
            raise UpstreamError(Failure.CONNECT_TIMEOUT) from error
        except (aiohttp.ClientError, OSError) as error:
            raise UpstreamError(Failure.CONNECT) from error
        try:
            return await self._asked(connection, target.head(request) + request.body)
        except _BROKEN as error:
            connection.close()
            raise UpstreamError(_failure_of(error)) from error
        except BaseException:
            connection.close()
            raise

    async def _asked(self, connection: Connection, request: bytes) -> Answer:
        protocol, transport = connection.protocol, connection.transport
        if protocol is None or transport is None:
            raise aiohttp.ServerDisconnectedError
        protocol.set_response_params(
            read_until_eof=True,
            auto_decompress=False,
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
        )
        self._pool.note_size(protocol, len(request))
        transport.write(request)
        for _ in range(MOST_INTERIM + 1):
            message, content = await protocol.read()
            _check_head(message)
            if message.code >= 200:
                answer = Answer(
                    connection, status=message.code, headers=message.headers, content=content
                )
                if self._look_into and answer.packing and answer.packing not in PACKINGS:
                    raise http_exceptions.BadHttpMessage("a content coding nobody asked for")
                return answer
            if message.code == 101:
                raise http_exceptions.BadHttpMessage("an upgrade that nobody asked for")
        raise http_exceptions.BadHttpMessage("too many heads before an answer")

    def _place(self, url: str) -> aiohttp.ClientRequest:
        """Give what the pool reads to find or make a connection; never sent."""
        place = self._places.get(url)
        if place is None:
            parts = urlsplit(url)
            origin = URL(f"{parts.scheme}://{parts.netloc}/")
            place = aiohttp.ClientRequest("POST", origin, loop=self._loop, ssl=self._tls)
            self._places[url] = place
        return place


def _check_head(message: RawResponseMessage) -> None:
    """Refuse what the library reads and no caller could read safely.

    Folded header lines are one line by now; the library refuses NUL and broken ends of lines.
    """
    if not 100 <= message.code <= 599:
        raise http_exceptions.BadHttpMessage("a status that HTTP does not have")
    # Of several lines the library goes by the last.
    codings = message.headers.getall("Transfer-Encoding", ("chunked",))
    if ",".join(codings).strip().lower() != "chunked":
        raise http_exceptions.BadHttpMessage("a transfer coding that nobody asked for")
    if any(map(_CONTROL.search, (v for name in PASSED for v in message.headers.getall(name, ())))):
        raise http_exceptions.BadHttpMessage("a control character in a header")


def _failure_of(error: BaseException) -> Failure:
    if isinstance(error, http_exceptions.HttpProcessingError):
        return Failure.PROTOCOL
    return Failure.CUT
