"""Stub replicas, which record the bytes they get and answer as a test says, and a router to them.

They are stubs: no model answers here. What they show is what a real server cannot be made to do
on demand: refuse, break off, hang, and tell every byte that came.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import aiohttp

from denv.rollout.weights import Table, Weight
from denv.router.serving import Routing, route
from denv.router.settings import RouterSettings

CHAT = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


@dataclass(frozen=True)
class Got:
    """One request, as its bytes came."""

    head: bytes
    body: bytes

    @property
    def start(self) -> str:
        return self.head.split(b"\r\n", 1)[0].decode()

    @property
    def headers(self) -> list[tuple[str, str]]:
        lines = self.head.decode().split("\r\n")[1:]
        return [(name, value) for name, _, value in (line.partition(": ") for line in lines)]

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Answering = Callable[[Got, asyncio.StreamWriter], Awaitable[None]]


def reply(body: bytes, *, status: str = "200 OK", headers: str = "") -> bytes:
    """Write a whole answer."""
    return (
        f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n{headers}"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode() + body


def says(body: bytes, **more: str) -> Answering:
    """Answer everything the same."""

    async def answer(_: Got, writer: asyncio.StreamWriter) -> None:
        writer.write(reply(body, **more))

    return answer


async def echo(got: Got, writer: asyncio.StreamWriter) -> None:
    """Answer with the body that came."""
    writer.write(reply(got.body or b"{}"))


@dataclass
class StubReplica:
    """A stub server on raw sockets."""

    answering: Answering = echo
    port: int = 0
    seen: list[Got] = field(default_factory=list)
    checked: int = 0
    opened: list[Any] = field(default_factory=list)
    dropped: int = 0
    """Connections that the other side closed while an answer was under way."""
    _server: asyncio.Server | None = None
    _open: set[asyncio.StreamWriter] = field(default_factory=set)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Refuse from now on, and break all connections."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for writer in list(self._open):
            writer.transport.abort()
        await asyncio.sleep(0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        self.opened.append(writer.get_extra_info("peername"))
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n"))[:-4]
                size = [line for line in head.lower().split(b"\r\n") if b"content-length:" in line]
                body = await reader.readexactly(int(size[0].split(b":")[1])) if size else b""
                got = Got(head, body)
                if got.start.startswith("GET /v1/models ") or "/checked" in got.start:
                    self.checked += 1
                else:
                    self.seen.append(got)
                await self._answer(got, reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._open.discard(writer)
            writer.close()

    async def _answer(
        self, got: Got, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        answering = asyncio.ensure_future(self.answering(got, writer))
        gone = asyncio.ensure_future(_until_eof(reader))
        await asyncio.wait([answering, gone], return_when=asyncio.FIRST_COMPLETED)
        if not answering.done() or isinstance(answering.exception(), ConnectionError):
            self.dropped += 1
            answering.cancel()
        gone.cancel()
        with suppress(asyncio.CancelledError, ConnectionError):
            await answering
        with suppress(asyncio.CancelledError):
            await gone
        if not reader.at_eof():
            await writer.drain()


async def _until_eof(reader: asyncio.StreamReader) -> None:
    while not reader.at_eof():
        await asyncio.sleep(0.005)


def table_of(*rows: tuple[str, float], version: int = 1) -> Table:
    """Write a table of URLs and weights; the replicas are called a, b, c, …."""
    weights = [
        Weight("r1", chr(ord("a") + place), url, weight) for place, (url, weight) in enumerate(rows)
    ]
    return Table("http://stage.example.com/v1", version, tuple(weights))


def settings_of(**settings: Any) -> RouterSettings:
    """Read settings as a file has them; without clients, everyone may ask."""
    base: dict[str, Any] = {
        "listen": "127.0.0.1:0",
        "admin": "127.0.0.1:0",
        "table": "weights.json",
        "health": {"every": "50ms", "timeout": "1s"},
        "drain": "1s",
    }
    if "clients" not in settings:
        base["anonymous"] = {}
    return RouterSettings.model_validate({**base, **settings})


@dataclass
class Running:
    """A router that runs, and a session to ask it."""

    routing: Routing
    folder: Path
    session: aiohttp.ClientSession
    stop: asyncio.Event
    task: asyncio.Task[None]

    @property
    def url(self) -> str:
        return self.routing.url

    async def chat(
        self, body: Any = None, *, headers: dict[str, str] | None = None, path: str = ""
    ) -> tuple[int, bytes, Any]:
        """Ask, and give status, body and headers."""
        data = body if isinstance(body, bytes) else json.dumps(body or CHAT).encode()
        url = f"{self.url}/{path or 'chat/completions'}"
        async with self.session.post(url, data=data, headers=headers) as response:
            return response.status, await response.read(), response.headers

    async def admin(self, path: str) -> tuple[int, bytes]:
        async with self.session.get(f"{self.routing.admin}{path}") as response:
            return response.status, await response.read()

    async def metric(self, line: str) -> float:
        """Give the value of a metric's line, 0 where there is none."""
        _, text = await self.admin("/metrics")
        for written in text.decode().splitlines():
            if written.startswith(f"denv_router_{line} "):
                return float(written.rpartition(" ")[2])
        return 0.0

    def use(self, table: Table) -> None:
        """Put a table where the router reads it."""
        beside = self.folder / "weights.new"
        beside.write_bytes(table.to_json())
        beside.replace(self.folder / "weights.json")


@asynccontextmanager
async def running(
    folder: Path, table: Table | None, /, *, tracer: Any = None, **settings: Any
) -> AsyncIterator[Running]:
    """Run a router in this process for the length of the block."""
    if table is not None:
        (folder / "weights.json").write_bytes(table.to_json())
    stop = asyncio.Event()
    ready: asyncio.Future[Routing] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(
        route(
            settings_of(**settings),
            folder=folder,
            stop=stop,
            on_ready=ready.set_result,
            tracer=tracer,
        )
    )
    parts: list[asyncio.Future[Any]] = [task, ready]
    await asyncio.wait(parts, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        task.result()
    async with aiohttp.ClientSession() as session:
        try:
            yield Running(ready.result(), folder, session, stop, task)
        finally:
            stop.set()
            await task


async def until(condition: Callable[[], bool], *, within_s: float = 10.0) -> None:
    """Wait for what will be so."""
    async with asyncio.timeout(within_s):
        while not condition():
            await asyncio.sleep(0.01)
