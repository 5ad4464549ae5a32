"""HTTP towards an engine: JSON in, documents out as they come, each fault an ``EngineFault``."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import aiohttp
import orjson

from denv.adapter.engines import shapes
from denv.adapter.engines.protocol import EngineFault
from denv.client.faults import fault_of
from denv.observe.problems import quote
from denv.observe.sse import SseDecoder, SseEvent
from denv.records import FaultKind, Json, Secret

CONNECT_TIMEOUT_S = 10.0
ASK_TIMEOUT_S = 30.0
"""For short questions, as what it is; a completion's time is for its caller to bound."""

MAX_BODY_BYTES = 1 << 24
MAX_EVENT_BYTES = 1 << 24

_CONNECT = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_S)
_ASK = aiohttp.ClientTimeout(total=ASK_TIMEOUT_S, sock_connect=CONNECT_TIMEOUT_S)
_HANDLED = (aiohttp.ClientError, OSError)

_WORDS = {  # whoever asked the adapter may read them: they name no host
    FaultKind.DNS: "its address is not found",
    FaultKind.TLS: "its certificate is not accepted",
    FaultKind.CONNECT: "it cannot be connected to",
    FaultKind.PROTOCOL: "its answer is not HTTP",
}


class EngineHttp:
    """One engine's server, under ``url``, by a Unix ``socket`` where one is named.

    Each request has a connection of its own. A kept one may have been closed by the engine a moment
    before it is used again, and a completion may not be asked for twice; and closing one is what
    cancels a request, at once and for that request alone.
    """

    def __init__(self, url: str, *, key: Secret | None = None, socket: Path | None = None) -> None:
        self._url = url.rstrip("/")
        self._socket = socket
        self._headers = {} if key is None else {"Authorization": f"Bearer {key.reveal()}"}
        self._session: aiohttp.ClientSession | None = None

    async def get(self, path: str) -> Json:
        """Ask for a document.

        Raises
        ------
        EngineFault
            It cannot be reached, refuses, or answers no JSON.
        """
        async with self._answer("GET", path, None, timeout=_ASK) as response:
            return _loads(await _body(response))

    async def post(self, path: str, body: Json) -> Json:
        """Send a document and give the answer; the faults are those of ``get``."""
        async with self._answer("POST", path, body, timeout=_ASK) as response:
            return _loads(await _body(response))

    async def stream(self, path: str, body: Json) -> AsyncGenerator[Json, None]:
        """Send a document and give those of the answer as they come, to ``[DONE]`` or the end.

        An answer that is no stream is given as the one document that it is.

        Raises
        ------
        EngineFault
            As ``get``; also where the stream breaks, or holds an error.
        """
        async with self._answer("POST", path, body, timeout=_CONNECT) as response:
            if response.content_type == "application/json":
                yield _checked(_loads(await _body(response)))
                return
            async with aclosing(_events(response)) as events:
                async for event in events:
                    if event.data.strip() == "[DONE]":
                        return
                    yield _document(event)

    async def close(self) -> None:
        """Close what is open; requests that still run are cancelled by it."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    @asynccontextmanager
    async def _answer(
        self,
        method: str,
        path: str,
        body: Json,
        *,
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=self._connector(),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={**self._headers, "Content-Type": "application/json"},
            )
        try:
            response = await self._session.request(
                method,
                self._url + path,
                data=None if body is None else orjson.dumps(body),
                timeout=timeout,
                allow_redirects=False,
            )
            try:
                if response.status != 200:
                    raise _refused(response.status, await _body(response))
                yield response
            finally:
                response.close()
        except TimeoutError:
            raise EngineFault("it does not answer in time", retry=True) from None
        except _HANDLED as error:
            what = _WORDS.get(fault_of(error, self._url).kind, "its connection broke")
            raise EngineFault(what, retry=True) from None

    def _connector(self) -> aiohttp.BaseConnector:
        if self._socket is None:
            return aiohttp.TCPConnector(limit=0, force_close=True)
        return aiohttp.UnixConnector(str(self._socket), limit=0, force_close=True)


async def _body(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise EngineFault(f"its answer is larger than {MAX_BODY_BYTES} bytes")
    return bytes(body)


async def _events(response: aiohttp.ClientResponse) -> AsyncGenerator[SseEvent, None]:
    decoder, open_bytes = SseDecoder(), 0
    async for chunk in response.content.iter_any():
        events = decoder.feed(chunk)
        open_bytes = len(chunk) if events else open_bytes + len(chunk)
        if open_bytes > MAX_EVENT_BYTES:
            raise EngineFault(f"an event of its stream is larger than {MAX_EVENT_BYTES} bytes")
        for event in events:
            yield event
    for event in decoder.close():
        yield event


def _loads(body: bytes | str) -> Json:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(body)  # some engines write NaN and Infinity
    except (ValueError, RecursionError):
        shown = body if isinstance(body, str) else body[:400].decode("utf-8", "replace")
        raise EngineFault(f"its answer is not JSON: {quote(shown)}") from None


def _document(event: SseEvent) -> Json:
    document = _loads(event.data)
    if event.type == "error":
        raise shapes.of_error(document)
    return _checked(document)


def _checked(document: Json) -> Json:
    if isinstance(document, dict) and document.get("error"):
        raise shapes.of_error(document)
    return document


def _refused(status: int, body: bytes) -> EngineFault:
    try:
        return shapes.of_error(_loads(body), status=status)
    except EngineFault:
        shown = quote(body[:400].decode("utf-8", "replace"))
        return shapes.of_error(shown, status=status)
