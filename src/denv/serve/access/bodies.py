"""Bodies of requests, read whole up to a bound, and given again to whoever reads them next."""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive

MOST_BYTES = 64 * 1024
WAIT_S = 20.0
"""A body that has not come whole by then does not come."""


async def read_body(headers: Headers, receive: Receive, *, most: int = MOST_BYTES) -> bytes:
    """Read a body.

    Raises
    ------
    HTTPException
        It is larger than ``most`` bytes, or takes too long.
    """
    too_large = HTTPException(413, f"the body is larger than {most} bytes")
    length = headers.get("content-length", "0")
    if not length.isdecimal() or len(length) > 12 or int(length) > most:
        raise too_large
    try:
        async with asyncio.timeout(WAIT_S):
            parts = bytearray()
            more = True
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                parts += message.get("body", b"")
                if len(parts) > most:
                    raise too_large
                more = message.get("more_body", False)
            return bytes(parts)
    except TimeoutError:
        raise HTTPException(408, f"the body has not come within {WAIT_S:g} s") from None


def replay(body: bytes, receive: Receive) -> Receive:
    """Give a body that was read once more, and then what comes after it."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
