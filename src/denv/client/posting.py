"""One POST on a connection of the library's pool, without the library's session.

For each request the session makes a task and some twenty objects, for redirects, cookies, uploads
in pieces and all else that a run's requests have no use for: half of a run's time. Connecting,
TLS, pooling, and the parsing and unpacking of answers stay the library's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import aiohttp
from aiohttp.connector import Connection
from aiohttp.http import SERVER_SOFTWARE
from aiohttp.http_parser import RawResponseMessage
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from denv.client.pool import Pool

TRIED = ("3.14.",)
"""Releases of the library with which this is tried: it uses parts that are not documented."""


def is_tried() -> bool:
    """Tell whether the installed library is one of those; with another its session is used."""
    return aiohttp.__version__.startswith(TRIED)


class Posted:
    """The head of an answer, with ``content`` to read the body from."""

    def __init__(
        self, connection: Connection, message: RawResponseMessage, content: aiohttp.StreamReader
    ) -> None:
        self.status = message.code
        self.headers: CIMultiDictProxy[str] = message.headers
        self.content = content
        self._connection = connection

    @property
    def content_length(self) -> int | None:
        """The size of the body as it is sent, where the server says it."""
        length = self.headers.get("Content-Length")
        return None if length is None else int(length)

    def close(self) -> None:
        """Give the connection back, or close it where not all of the body was read."""
        if self.content.is_eof():
            self._connection.release()
        else:
            self._connection.close()


class PostRoute:
    """The way to one URL that needs no proxy; ``headers`` are added to each request."""

    def __init__(
        self,
        url: URL,
        *,
        ssl: aiohttp.connector.SSLContext | bool,
        headers: Mapping[str, str],
        max_header_bytes: int,
    ) -> None:
        # What the pool reads to find or make a connection; never sent.
        self._request = aiohttp.ClientRequest("POST", url, loop=asyncio.get_running_loop(), ssl=ssl)
        self._start = f"POST {url.raw_path_qs} HTTP/1.1"
        self._headers = CIMultiDict(
            {
                "Host": url.host_port_subcomponent or "",
                "Accept": "*/*",
                "Content-Type": "application/octet-stream",
                "User-Agent": SERVER_SOFTWARE,
                **headers,
            }
        )
        self._max_header_bytes = max_header_bytes
        # One endpoint's requests carry the same headers, so that they are written once.
        self._written: tuple[dict[str, str], bytes] = ({}, self._lines({}))

    async def post(
        self,
        pool: Pool,
        body: bytes,
        *,
        headers: Mapping[str, str],
        limits: aiohttp.ClientTimeout,
    ) -> Posted:
        """Send a body, and wait for the head of the answer; of ``limits`` those of connecting."""
        request = self._head(headers, len(body)) + body
        try:
            connection = await pool.connect(self._request, [], limits)
        except TimeoutError as error:
            raise aiohttp.ConnectionTimeoutError("no connection in time") from error
        try:
            return await self._posted(pool, connection, request)
        except BaseException:
            connection.close()
            raise

    def _head(self, headers: Mapping[str, str], length: int) -> bytes:
        if headers != self._written[0]:
            self._written = (dict(headers), self._lines(headers))
        return b"%bContent-Length: %d\r\n\r\n" % (self._written[1], length)

    def _lines(self, headers: Mapping[str, str]) -> bytes:
        merged = self._headers.copy()
        merged.update(headers)
        lines = [self._start, *[f"{name}: {value}" for name, value in merged.items()]]
        head = "\n".join(lines)
        if "\r" in head or "\0" in head or head.count("\n") >= len(lines):
            raise ValueError("a header holds a line break")
        return f"{head}\n".replace("\n", "\r\n").encode()

    async def _posted(self, pool: Pool, connection: Connection, request: bytes) -> Posted:
        protocol, transport = connection.protocol, connection.transport
        if protocol is None or transport is None:
            raise aiohttp.ServerDisconnectedError
        protocol.set_response_params(
            read_until_eof=True,
            max_line_size=self._max_header_bytes,
            max_field_size=self._max_header_bytes,
        )
        pool.note_size(protocol, len(request))
        transport.write(request)
        while True:
            message, content = await protocol.read()
            if not 100 <= message.code < 200 or message.code == 101:
                return Posted(connection, message, content)
