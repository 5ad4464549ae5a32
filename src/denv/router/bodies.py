"""Reading what a caller sends."""

from __future__ import annotations

import asyncio
import zlib

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from denv.router.refusals import RefusedError

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_PACKINGS = frozenset({"identity", "gzip", "x-gzip", "deflate"})
_EITHER = zlib.MAX_WBITS | 32
"""Makes zlib tell gzip from deflate by itself."""


async def read_body(request: web.BaseRequest, *, most: int) -> bytes:
    """Read a body of at most so many bytes, packed or not.

    Raises
    ------
    RefusedError
        413 where it is longer, 400 where it broke off or cannot be unpacked, 415 where it is
        packed in another way than gzip or deflate.
    """
    packing = request.headers.get("Content-Encoding", "identity").strip().lower()
    if packing not in _PACKINGS:
        raise RefusedError(415, "unsupported_encoding", "a body can be packed by gzip or deflate")
    body = await _as_it_came(request, most=most)
    if packing == "identity":
        return body
    return await asyncio.to_thread(_unpacked, body, most=most)


async def _as_it_came(request: web.BaseRequest, *, most: int) -> bytes:
    content = request.content
    if content.is_eof():  # all of a small body is here by now, mostly
        body = content.read_nowait()
        if len(body) <= most:
            return body
        raise _too_large(most)
    size = request.headers.get("Content-Length", "")
    if size.isdecimal() and int(size) > most:
        raise _too_large(most)
    if request.headers.get("Expect", "").lower() == "100-continue":
        await request.writer.write(_CONTINUE)
    buffer = bytearray()
    try:
        while piece := await content.readany():
            buffer += piece
            if len(buffer) > most:
                raise _too_large(most)
    except (web.RequestPayloadError, HttpProcessingError):
        raise _unreadable() from None
    return bytes(buffer)


def _unpacked(body: bytes, *, most: int) -> bytes:
    """Unpack a body as far as it may be long; the rest of a longer one is never unpacked."""
    unpacking = zlib.decompressobj(wbits=_EITHER)
    try:
        plain = unpacking.decompress(body, most + 1)
    except zlib.error:
        raise _unreadable() from None
    if len(plain) > most:
        raise _too_large(most)
    if not unpacking.eof or unpacking.unused_data:
        raise _unreadable()
    return plain


def _unreadable() -> RefusedError:
    return RefusedError(400, "bad_body", "the body cannot be read to its end")


def _too_large(most: int) -> RefusedError:
    return RefusedError(413, "body_too_large", f"the body is longer than {most} bytes")
