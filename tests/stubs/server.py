"""The stub as a process, for benchmarks: every chat request gets the same precomputed bytes.

    python -m tests.stubs.server --port 0 --text Hello --delay-ms 0

It prints its base URL when it listens. It speaks just enough HTTP for that, so that what is
measured is the client; with ``--aiohttp`` it is an ordinary aiohttp server instead.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from typing import Any

from tests.stubs import StubServer, answers


class _Fixed(asyncio.Protocol):
    """Answers each request that names a length with the same bytes; nothing is parsed but that."""

    def __init__(self, chat: bytes, models: bytes, delay_s: float) -> None:
        self._chat, self._models, self._delay_s = chat, models, delay_s
        self._held = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._held = self._held + data if self._held else data
        while True:
            end = self._held.find(b"\r\n\r\n")
            if end < 0:
                return
            head = self._held[:end].lower()
            _, found, rest = head.partition(b"content-length:")
            size = end + 4 + (int(rest.split(b"\r\n", 1)[0]) if found else 0)
            if len(self._held) < size:
                return
            self._held = self._held[size:]
            self._reply(self._models if head.startswith(b"get") else self._chat)

    def _reply(self, answer: bytes) -> None:
        if self._delay_s:
            asyncio.get_running_loop().call_later(self._delay_s, self._transport.write, answer)
        else:
            self._transport.write(answer)


def _http(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
        len(body),
        body,
    )


async def serve_fixed(port: int, *, text: str, delay_s: float) -> None:
    """Serve the fixed answer until the process ends; print the base URL when ready."""
    chat = _http(json.dumps(answers.completion(text)).encode())
    listed = [{"id": "stub", "object": "model", "owned_by": "stub"}]
    models = _http(json.dumps({"object": "list", "data": listed}).encode())
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Fixed(chat, models, delay_s), "127.0.0.1", port)
    sys.stdout.write(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1\n")
    sys.stdout.flush()
    await server.serve_forever()


async def serve_aiohttp(port: int, *, text: str, delay_s: float) -> None:
    """Serve the same from an ordinary server until the process ends."""
    chat = json.dumps(answers.completion(text)).encode()

    async def answer(request: Any, n: int) -> bytes:
        if delay_s:
            await asyncio.sleep(delay_s)
        return chat

    async with StubServer(answer, port=port, keep=False) as stub:
        sys.stdout.write(f"{stub.url}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


def main() -> None:
    """Run the fixed server as a process."""
    options = argparse.ArgumentParser(description=main.__doc__)
    options.add_argument("--port", type=int, default=0)
    options.add_argument("--text", default="Hello")
    options.add_argument("--delay-ms", type=float, default=0.0)
    options.add_argument("--aiohttp", action="store_true")
    chosen = options.parse_args()
    serve = serve_aiohttp if chosen.aiohttp else serve_fixed
    asyncio.run(serve(chosen.port, text=chosen.text, delay_s=chosen.delay_ms / 1000))


if __name__ == "__main__":
    main()
