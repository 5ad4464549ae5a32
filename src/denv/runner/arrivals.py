"""The clock at the wire: when each event of a stream is read."""

from __future__ import annotations

import asyncio
import os
import ssl
import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
from aiohttp import http_exceptions
from yarl import URL

from denv.client import AiohttpTransport, HttpCall
from denv.client.faults import fault_of, timeout_fault
from denv.client.http import MAX_HEADER_BYTES, proxy_for
from denv.client.pool import Pool, begin_call, is_stale
from denv.instruments.speed import Mark
from denv.observe.sse import SseDecoder, SseEvent
from denv.records import Endpoint, Exchange, Fault, FaultKind

Clock = Callable[[], float]


@dataclass(slots=True)
class Arrivals:
    """When a request was sent, and when each event of its answer was read."""

    sent_s: float = 0.0
    marks: list[Mark] = field(default_factory=list)


current: ContextVar[Arrivals | None] = ContextVar("arrivals", default=None)
"""Where the present task's stream is noted; an exchange has no room for it."""

_HANDLED = (
    aiohttp.ClientError,
    http_exceptions.HttpProcessingError,
    OSError,
    ValueError,
    RuntimeError,
)


class StreamTransport:
    """Sends an endpoint's calls, and notes when each event of a stream is read.

    Streams are read piece by piece as they come, uncompressed, since compression holds pieces
    back. All else goes through the ordinary transport. Keys and headers are the call's own.
    """

    def __init__(self, endpoint: Endpoint, clock: Clock = time.perf_counter) -> None:
        self._plain = AiohttpTransport(
            endpoint.url, concurrency=endpoint.concurrency, ca_file=endpoint.ca_file
        )
        self._clock = clock
        self._limit = endpoint.concurrency + 4
        self._ca_file = endpoint.ca_file
        self._session: aiohttp.ClientSession | None = None

    async def send(self, call: HttpCall) -> Exchange:
        """Send one call; a stream again only on a pooled connection that was already closed."""
        if not call.streamed:
            return await self._plain.send(call)
        exchange, stale = await self._stream(call)
        return (await self._stream(call))[0] if stale else exchange

    async def close(self) -> None:
        """Close all connections."""
        await self._plain.close()
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _stream(self, call: HttpCall) -> tuple[Exchange, bool]:
        session = self._session or self._open(call.url)
        proxy = proxy_for(URL(call.url))
        reading = _Reading(call, self._clock, current.get() or Arrivals())
        fault: Fault | None = None
        limits = call.timeouts
        loop = asyncio.get_running_loop()
        began = loop.time()
        timer = asyncio.timeout_at(began + min(limits.first_byte_s, limits.total_s))
        reading.begin()
        begin_call()
        try:
            async with (
                timer,
                session.request(
                    call.method,
                    URL(call.url),
                    data=call.body or None,
                    headers=call.headers,
                    allow_redirects=False,
                    proxy=proxy,
                    timeout=aiohttp.ClientTimeout(total=None, connect=limits.connect_s),
                ) as response,
            ):
                timer.reschedule(began + limits.total_s)
                fault = await reading.read(response)
        except _HANDLED as error:
            answered = reading.status is not None
            fault = _fault(error, call, expired=timer.expired(), answered=answered)
        after_s = loop.time() - began
        stale = is_stale(fault, answered=reading.status is not None, after_s=after_s)
        return reading.exchange(fault), stale

    def _open(self, url: str) -> aiohttp.ClientSession:
        tls = _tls_context(self._ca_file) if URL(url).scheme == "https" else True
        self._session = aiohttp.ClientSession(
            connector=Pool(limit=self._limit, ssl=tls),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"Accept-Encoding": "identity"},
            trust_env=False,  # would read netrc and send its passwords
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
        )
        return self._session


class _Reading:
    """A stream as far as it has come."""

    def __init__(self, call: HttpCall, clock: Clock, arrivals: Arrivals) -> None:
        self.status: int | None = None
        self._call = call
        self._clock = clock
        self._arrivals = arrivals
        self._headers: tuple[tuple[str, str], ...] = ()
        self._body = bytearray()
        self._decoder = SseDecoder()

    def begin(self) -> None:
        # A retry begins anew: what a cut stream had brought is no part of the answer.
        self._arrivals.marks.clear()
        self._arrivals.sent_s = self._clock()

    async def read(self, response: aiohttp.ClientResponse) -> Fault | None:
        self.status = response.status
        self._headers = tuple(
            (name.lower(), value.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
            for name, value in response.headers.items()
        )
        while chunk := await response.content.readany():
            self._take(chunk)
            if len(self._body) > self._call.max_bytes:
                limit = f"the answer is larger than {self._call.max_bytes} bytes"
                return Fault(FaultKind.TOO_LARGE, f"{limit}; reading was stopped there")
        self._note(self._decoder.close())
        return None

    def _take(self, chunk: bytes) -> None:
        self._body += chunk
        self._note(self._decoder.feed(chunk))

    def _note(self, events: Sequence[SseEvent]) -> None:
        at_s = self._clock() - self._arrivals.sent_s
        self._arrivals.marks += [Mark(at_s, event.data) for event in events]

    def exchange(self, fault: Fault | None) -> Exchange:
        marks = self._arrivals.marks
        return Exchange(
            status=self.status,
            headers=self._headers,
            body=bytes(self._body),
            streamed=True,
            fault=fault,
            first_byte_s=marks[0].at_s if marks else None,
            elapsed_s=self._clock() - self._arrivals.sent_s,
        )


def _fault(error: Exception, call: HttpCall, *, expired: bool, answered: bool) -> Fault:
    limits = call.timeouts
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return timeout_fault(FaultKind.TIMEOUT_CONNECT, limits)
    if not expired:
        return fault_of(error, call.url)
    if not answered and limits.first_byte_s < limits.total_s:
        return timeout_fault(FaultKind.TIMEOUT_FIRST_BYTE, limits)
    return timeout_fault(FaultKind.TIMEOUT_TOTAL, limits)


def _tls_context(ca_file: str | None) -> ssl.SSLContext:
    """Trust what the ordinary transport trusts, which has looked at these files before."""
    context = ssl.create_default_context()
    bundles = [ca_file, *map(os.environ.get, ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"))]
    for bundle in filter(None, bundles):
        folder = Path(bundle).is_dir()
        context.load_verify_locations(
            cafile=None if folder else bundle, capath=bundle if folder else None
        )
    return context
