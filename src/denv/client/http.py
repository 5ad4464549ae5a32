"""The transport over aiohttp: each fault becomes a value, each time-out has its own name."""

from __future__ import annotations

import asyncio
import os
import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.request import getproxies, proxy_bypass

import aiohttp
from aiohttp import http_exceptions
from yarl import URL

from denv.client.faults import fault_of, timeout_fault
from denv.client.pool import Pool, begin_call, is_stale
from denv.client.posting import Posted, PostRoute, is_tried
from denv.client.transport import HttpCall
from denv.errors import UsageError
from denv.records import Exchange, Fault, FaultKind, Timeouts

SCHEMES = frozenset({"http", "https"})
MAX_HEADER_BYTES = 32 * 1024
KEPT_OF_TOO_LARGE = 4096
"""Of a body past the cap only so much is kept, for the message."""

_ACCEPT_ENCODING = {"Accept-Encoding": "gzip, deflate"}

_HANDLED = (
    aiohttp.ClientError,
    http_exceptions.HttpProcessingError,
    OSError,
    ValueError,
    RuntimeError,
    UsageError,
)


class AiohttpTransport:
    """Sends calls of one endpoint over a pool of kept connections.

    ``concurrency`` is how many calls run at once. Proxies come from the environment
    (``HTTP_PROXY``, ``HTTPS_PROXY``, ``ALL_PROXY``, ``NO_PROXY``); netrc is never read. CAs are
    the system's, or ``SSL_CERT_FILE``'s, and those of ``REQUESTS_CA_BUNDLE`` and ``ca_file``.

    Raises
    ------
    UsageError
        For a CA file that cannot be read, and for a proxy towards ``base`` that is not spoken.
    """

    def __init__(
        self,
        base: str | None = None,
        *,
        concurrency: int = 8,
        ca_file: Path | str | None = None,
    ) -> None:
        if base is not None:
            proxy_for(URL(base))
        self._limit = concurrency + 4
        self._ca_files = _ca_files(ca_file)
        # A context takes up to 0.1 s: built here only where a bad file must be reported at once.
        plain = ca_file is None and base is not None and URL(base).scheme == "http"
        self._tls = _tls_context(self._ca_files) if self._ca_files and not plain else None
        self._session: aiohttp.ClientSession | None = None
        self._routes: dict[str, _Route] = {}
        self._limits: dict[Timeouts, aiohttp.ClientTimeout] = {}

    async def send(self, call: HttpCall) -> Exchange:
        """Send one call; ask again only on a pooled connection that was already closed."""
        exchange, stale = await self._once(call)
        if stale:
            exchange, _ = await self._once(call)
        return exchange

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _once(self, call: HttpCall) -> tuple[Exchange, bool]:
        loop = asyncio.get_running_loop()
        started = loop.time()
        limits = call.timeouts
        begin_call()
        answer = _Answer(call, started)
        fault: Fault | None
        timer = asyncio.timeout_at(started + min(limits.first_byte_s, limits.total_s))
        try:
            async with timer:
                response = await self._start(call)
                try:
                    if not response.content.is_eof():  # moving a timer has its price
                        timer.reschedule(started + limits.total_s)
                    answer.head(response, loop.time())
                    await answer.read(response, loop)
                finally:
                    # After a whole body this is a no-op; otherwise the connection is not reused.
                    response.close()
        except _HANDLED as error:
            fault = answer.fault_of(error, expired=timer.expired())
        else:
            fault = answer.fault
        now = loop.time()
        stale = is_stale(fault, answered=answer.status is not None, after_s=now - started)
        return answer.exchange(fault, now), stale

    async def _start(self, call: HttpCall) -> aiohttp.ClientResponse | Posted:
        session = self._session or self._open()
        route = self._routes.get(call.url) or self._route(call.url)
        limits = self._limits.get(call.timeouts)
        if limits is None:
            limits = aiohttp.ClientTimeout(total=None, connect=call.timeouts.connect_s)
            self._limits[call.timeouts] = limits
        if route.post is not None and call.method == "POST" and call.body:
            return await route.post.post(self._pool, call.body, headers=call.headers, limits=limits)
        return await session.request(
            call.method,
            route.url,
            data=call.body or None,
            headers=call.headers,
            allow_redirects=False,
            proxy=route.proxy,
            timeout=limits,
            ssl=self._tls or True,
        )

    def _route(self, text: str) -> _Route:
        url = URL(text)
        if url.scheme == "https" and self._tls is None:
            self._tls = _tls_context(self._ca_files)
        proxy, post = proxy_for(url), None
        direct = proxy is None and url.user is None and url.host and url.scheme in SCHEMES
        if direct and is_tried():
            post = PostRoute(
                url,
                ssl=self._tls or True,
                headers=_ACCEPT_ENCODING,
                max_header_bytes=MAX_HEADER_BYTES,
            )
        route = self._routes[text] = _Route(url, proxy, post)
        return route

    def _open(self) -> aiohttp.ClientSession:
        self._pool = Pool(limit=self._limit)
        self._session = aiohttp.ClientSession(
            connector=self._pool,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=_ACCEPT_ENCODING,
            trust_env=False,  # would read netrc and send its passwords
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
        )
        return self._session


@dataclass(frozen=True, slots=True)
class _Route:
    """How an URL is reached; ``post`` is the short way, where there is one."""

    url: URL
    proxy: URL | None
    post: PostRoute | None


class _Answer:
    """What has come so far, so that a fault in the middle loses nothing of it."""

    def __init__(self, call: HttpCall, started: float) -> None:
        self.call = call
        self.started = started
        self.status: int | None = None
        self.headers: tuple[tuple[str, str], ...] = ()
        self.body = b""
        self.fault: Fault | None = None
        self.first_byte_s: float | None = None

    def head(self, response: aiohttp.ClientResponse | Posted, now: float) -> None:
        self.status = response.status
        self.first_byte_s = now - self.started
        self.headers = tuple((name.lower(), _text(v)) for name, v in response.headers.items())

    async def read(
        self, response: aiohttp.ClientResponse | Posted, loop: asyncio.AbstractEventLoop
    ) -> None:
        """Read to the end, or to the cap; the body kept is what came, even after a fault."""
        if (response.content_length or 0) > self.call.max_bytes:
            self.fault = self._too_large()
            return
        content = response.content
        first = await content.readany()
        self.first_byte_s = loop.time() - self.started
        if content.at_eof() and len(first) <= self.call.max_bytes:
            self.body = first
            return
        buffer = bytearray(first)
        try:
            while len(buffer) <= self.call.max_bytes and (chunk := await content.readany()):
                buffer += chunk
            if len(buffer) > self.call.max_bytes:
                self.fault = self._too_large()
                del buffer[KEPT_OF_TOO_LARGE:]
        finally:
            self.body = bytes(buffer)

    def exchange(self, fault: Fault | None, now: float) -> Exchange:
        return Exchange(
            status=self.status,
            headers=self.headers,
            body=self.body,
            streamed=self.call.streamed,
            fault=fault,
            first_byte_s=self.first_byte_s,
            elapsed_s=now - self.started,
        )

    def fault_of(self, error: Exception, *, expired: bool) -> Fault:
        limits = self.call.timeouts
        if isinstance(error, UsageError):
            return Fault(FaultKind.PROTOCOL, str(error))
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            return timeout_fault(FaultKind.TIMEOUT_CONNECT, limits)
        if not expired:
            return fault_of(error, self.call.url)
        if self.status is None and limits.first_byte_s < limits.total_s:
            return timeout_fault(FaultKind.TIMEOUT_FIRST_BYTE, limits)
        return timeout_fault(FaultKind.TIMEOUT_TOTAL, limits)

    def _too_large(self) -> Fault:
        return Fault(
            FaultKind.TOO_LARGE,
            f"the answer is larger than {self.call.max_bytes} bytes; reading was stopped there",
        )


def _text(value: str) -> str:
    """Give a header's value without the lone surrogates that stand for bytes that are not UTF-8."""
    if value.isascii():
        return value
    return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def proxy_for(url: URL) -> URL | None:
    """Give the proxy that the environment names for an URL, as curl and requests read it.

    Raises
    ------
    UsageError
        For a kind of proxy that is not spoken here (SOCKS).
    """
    found = getproxies()
    named = found.get(url.scheme) or found.get("all")
    if not named or proxy_bypass(url.host_port_subcomponent or ""):
        return None
    proxy = URL(named if "://" in named else f"http://{named}")
    if proxy.scheme not in {"http", "https"} or not proxy.host:
        raise UsageError(f"a proxy of kind {proxy.scheme!r} is not supported; use an HTTP proxy")
    return proxy


def trusted() -> ssl.SSLContext:
    """Give the certificate authorities that are trusted when no CA file is named for a side.

    Raises
    ------
    UsageError
        For a file that the environment names and that cannot be read.
    """
    return _tls_context(_ca_files(None))


def _ca_files(explicit: Path | str | None) -> tuple[Path, ...]:
    named: list[tuple[str, Path | str | None]] = [("the CA file", explicit)]
    named += [(name, os.environ.get(name)) for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")]
    found = tuple(Path(value) for _, value in named if value)
    # OpenSSL reads these two itself, and silently ignores them where they name nothing.
    named += [(name, os.environ.get(name)) for name in ("SSL_CERT_FILE", "SSL_CERT_DIR")]
    for what, value in named:
        if value and not Path(value).exists():
            raise UsageError(f"{what}: {value} does not exist")
    return found


def _tls_context(ca_files: tuple[Path, ...]) -> ssl.SSLContext:
    context = ssl.create_default_context()
    for path in ca_files:
        try:
            if path.is_dir():
                context.load_verify_locations(capath=path)
            else:
                context.load_verify_locations(cafile=path)
        except (ssl.SSLError, OSError):
            raise UsageError(f"{path} holds no certificates that can be read") from None
    return context
