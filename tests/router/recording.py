"""A stub of a stage that writes down all that a stage can see: raw bytes, connections and times."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

END_OF_HEAD = b"\r\n\r\n"
_LENGTH = re.compile(rb"(?im)^content-length:[ \t]*(\d+)")

ANSWER = (
    b'{"id":"a","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,'
    b'"message":{"role":"assistant","content":"391"},"finish_reason":"stop"}],'
    b'"usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10}}'
)
PIECES = tuple(
    b'data: {"id":"a","object":"chat.completion.chunk","created":1,"model":"m","choices":'
    b'[{"index":0,"delta":{"content":"%b"},"finish_reason":null}]}\n\n' % piece
    for piece in (b"3", b"9", b"1")
)


@dataclass(slots=True)
class Seen:
    """One request as the stage saw it; times in seconds on the loop's clock."""

    port: int
    peer_port: int
    connection: int
    nth: int
    head: bytes
    body: bytes
    first_byte: float
    last_byte: float
    reads: int
    since_connected: float
    since_last_on_connection: float

    @property
    def raw(self) -> bytes:
        """All bytes of the request as they came."""
        return self.head + self.body


@dataclass(slots=True)
class Recording:
    """Everything that has come so far, in the order in which it was whole."""

    bases: tuple[str, ...]
    seen: list[Seen] = field(default_factory=list, repr=False)
    connections: int = 0
    answer: Callable[[Seen], bytes] | None = None

    @property
    def base(self) -> str:
        """The URL of the first listener."""
        return self.bases[0]


def whole(body: bytes, *, status: bytes = b"200 OK") -> bytes:
    """Write an answer that keeps the connection."""
    head = b"HTTP/1.1 %b\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    return head % (status, len(body)) + body


def streamed() -> bytes:
    """Write an answer as a stream of events."""
    head = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    pieces = [*PIECES, b"data: [DONE]\n\n"]
    return head + b"".join(b"%x\r\n%b\r\n" % (len(p), p) for p in pieces) + b"0\r\n\r\n"


class _Connection(asyncio.Protocol):
    def __init__(self, recording: Recording, delay_s: float) -> None:
        self._recording = recording
        self._delay_s = delay_s
        self._loop = asyncio.get_running_loop()
        self._buffer = b""
        self._reads = 0
        self._first = 0.0
        self._nth = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._number = self._recording.connections
        self._recording.connections += 1
        self._made = self._last = self._loop.time()

    def data_received(self, data: bytes) -> None:
        now = self._loop.time()
        if not self._buffer:
            self._first, self._reads = now, 0
        self._reads += 1
        self._buffer += data
        while (end := self._end()) is not None:
            whole_request, self._buffer = self._buffer[:end], self._buffer[end:]
            self._keep(whole_request, now)

    def _end(self) -> int | None:
        head, found, _ = self._buffer.partition(END_OF_HEAD)
        if not found:
            return None
        length = _LENGTH.search(head)
        end = len(head) + len(END_OF_HEAD) + (int(length[1]) if length else 0)
        return end if len(self._buffer) >= end else None

    def _keep(self, request: bytes, now: float) -> None:
        head, found, body = request.partition(END_OF_HEAD)
        seen = Seen(
            port=self._transport.get_extra_info("sockname")[1],
            peer_port=self._transport.get_extra_info("peername")[1],
            connection=self._number,
            nth=self._nth,
            head=head + found,
            body=body,
            first_byte=self._first,
            last_byte=now,
            reads=self._reads,
            since_connected=self._first - self._made,
            since_last_on_connection=self._first - self._last,
        )
        self._nth += 1
        self._last = now
        if not head.startswith(b"GET"):  # health checks are nobody's
            self._recording.seen.append(seen)
        answer = self._answer(seen)
        if self._delay_s:
            self._loop.call_later(self._delay_s, self._write, answer)
        else:
            self._write(answer)

    def _answer(self, seen: Seen) -> bytes:
        if self._recording.answer is not None:
            return self._recording.answer(seen)
        return streamed() if b'"stream":true' in seen.body else whole(ANSWER)

    def _write(self, answer: bytes) -> None:
        if not self._transport.is_closing():
            if answer:
                self._transport.write(answer)
            else:
                self._transport.abort()  # what a stage does that breaks down


@asynccontextmanager
async def recording_stage(*, listeners: int = 1, delay_s: float = 0.0) -> AsyncIterator[Recording]:
    """Listen on loopback for the length of the block; give what comes."""
    loop = asyncio.get_running_loop()
    recording = Recording(())
    servers = [
        await loop.create_server(lambda: _Connection(recording, delay_s), "127.0.0.1", 0)
        for _ in range(listeners)
    ]
    ports = [server.sockets[0].getsockname()[1] for server in servers]
    recording.bases = tuple(f"http://127.0.0.1:{port}/v1" for port in ports)
    try:
        yield recording
    finally:
        for server in servers:
            server.close()
