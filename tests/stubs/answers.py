"""Ready behaviours of the stub server: each function gives a handler ``(request, n) → answer``."""

from __future__ import annotations

import asyncio
import json
import zlib
from typing import Any

from aiohttp import web

CHUNK = b"a" * 65536


def completion(
    text: str | None = "Hello", *, finish: str = "stop", **message: Any
) -> dict[str, Any]:
    """Write a chat completion as the API's reference shows it."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "stub",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, **message},
                "finish_reason": finish,
            }
        ],
        "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11},
    }


def error(status: int, message: str, *, headers: dict[str, str] | None = None) -> web.Response:
    """Give an error in the API's form."""
    body = {"error": {"message": message, "type": "error", "param": None, "code": status}}
    return web.json_response(body, status=status, headers=headers)


def echo():
    """Answer with the last message's content."""
    return lambda request, n: completion(request["messages"][-1]["content"])


def always(answer: Any):
    """Give the same answer each time; a function is called for a fresh one."""
    return lambda request, n: answer() if callable(answer) else answer


def first(times: int, answer, *, then=None):
    """Give ``answer()`` the first ``times`` times, then what ``then`` gives (an echo)."""
    rest = then or echo()
    return lambda request, n: answer() if n < times else rest(request, n)


def rate_limited(times: int, retry_after: str | None = "2"):
    """Refuse with 429 and a Retry-After some times, then echo."""
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return first(times, lambda: error(429, "slow down", headers=headers))


def failing(times: int, status: int = 503, message: str = "overloaded"):
    """Fail with a server error some times, then echo."""
    return first(times, lambda: error(status, message))


def needs_key(key: str):
    """Answer only to the right key, and quote a wrong one as careless servers do."""

    def handler(request: Any, n: int):
        async def answer(http: web.BaseRequest, stub: Any) -> web.StreamResponse:
            given = http.headers.get("Authorization", "")
            if given == f"Bearer {key}":
                return web.json_response(completion("Hello"))
            return error(401, f"Incorrect API key provided: {given}")

        return answer

    return handler


def knows_model(name: str):
    """Answer only to one model's name."""

    def handler(request: Any, n: int):
        if request["model"] == name:
            return completion("Hello")
        return error(404, f"The model `{request['model']}` does not exist.")

    return handler


def refuses_fields(*names: str):
    """Refuse fields by name, one at a time, as servers do."""

    def handler(request: Any, n: int):
        for name in names:
            if name in request:
                return error(400, f"Unsupported parameter: '{name}' is not supported.")
        return completion("Hello")

    return handler


def redirect(status: int, location: str):
    """Redirect each request."""
    return lambda request, n: web.Response(
        status=status, headers={"Location": location}, text="<html>Moved</html>"
    )


def html(status: int = 200):
    """Answer with a web page."""
    return lambda request, n: web.Response(
        status=status, text="<!doctype html><title>Sign in</title>", content_type="text/html"
    )


def body(raw: bytes, *, status: int = 200, content_type: str = "application/json"):
    """Answer with these bytes."""
    return lambda request, n: web.Response(body=raw, status=status, content_type=content_type)


def invalid_utf8():
    """Answer with a completion whose text holds a byte that is not UTF-8."""
    return body(json.dumps(completion("a@b")).encode().replace(b"@", b"\xff"))


def nan():
    """Answer with a completion with NaN and Infinity beside the answer."""
    return body(json.dumps({**completion("ok"), "metrics": [float("nan"), float("inf")]}).encode())


def deep(levels: int = 100_000):
    """Answer with JSON nested deeper than a parser can hold."""
    return body(b'{"choices":' + b"[" * levels + b"]" * levels + b"}")


def slow(seconds: float, answer: Any = None):
    """Answer after a while."""

    async def wait(request: Any, n: int) -> Any:
        await asyncio.sleep(seconds)
        return completion("Hello") if answer is None else answer

    return wait


# ------------------------------------------------------------ answers that write themselves


def raw(data: bytes):
    """Write these bytes to the socket in HTTP's place and close."""

    async def write(http: web.BaseRequest, stub: Any) -> web.StreamResponse:
        assert http.transport is not None
        http.transport.write(data)
        await asyncio.sleep(0.01)
        http.transport.close()
        return web.Response()

    return lambda request, n: write


def cut(sent: bytes = b'{"choices":[', *, length: int = 500):
    """Promise more than is sent, then close."""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    return raw(head.encode() + sent)


def dropped():
    """Close the connection without an answer."""
    return raw(b"")


def sse(frames: list[bytes], *, pause_s: float = 0.0):
    """Send these bytes piece by piece as an event stream."""

    async def write(http: web.BaseRequest, stub: Any) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(http)
        for frame in frames:
            await response.write(frame)
            await asyncio.sleep(pause_s)
        return response

    return lambda request, n: write


def endless(chunk: bytes = b'data: {"choices":[]}\n\n', *, pause_s: float = 0.0, total: int = 0):
    """Send one chunk again and again: for ever, or until ``total`` bytes were sent.

    With a pause this is the server of one byte a second; with ``total`` the huge body.
    """

    async def write(http: web.BaseRequest, stub: Any) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        if total:
            response.content_length = total
        await response.prepare(http)
        left = total or float("inf")
        while left > 0:
            await response.write(chunk)
            stub.sent_bytes += len(chunk)
            left -= len(chunk)
            await asyncio.sleep(pause_s)
        return response

    return lambda request, n: write


def gzip_bomb(megabytes: int = 1024):
    """Answer with a small gzip body that unpacks to many megabytes of zeros."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    zeros = bytes(1024 * 1024)
    packed = b"".join(packer.compress(zeros) for _ in range(megabytes)) + packer.flush()
    return lambda request, n: web.Response(
        body=packed, headers={"Content-Encoding": "gzip", "Content-Type": "application/json"}
    )
