"""Reading the bodies that callers send: within bounds, and unpacked only when asked.

A listener gives its connections ``auto_decompress=False``. The library would unpack a body without
bound, and also one that nobody reads, as where the key is missing.
"""

from __future__ import annotations

import asyncio
import zlib
from dataclasses import dataclass

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from denv.errors import DenvError

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_PACKINGS = frozenset({"identity", "gzip", "x-gzip", "deflate"})
_EITHER = zlib.MAX_WBITS | 32
"""Makes zlib tell gzip from deflate by itself."""

_SMALL = 1024
"""Fewer packed bytes become a megabyte at most, which is soon unpacked; more are for a thread."""


class BodyError(DenvError):
    """A body that is not taken: the status that says so, a code, and why in one sentence.

    Nothing of the body stands in the message.
    """

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


@dataclass(frozen=True, slots=True)
class Body:
    """A body as it came, and how it is packed."""

    data: bytes
    packing: str
    most: int

    async def plain(self) -> bytes:
        """Give the body unpacked.

        Raises
        ------
        BodyError
            413 where it is longer than may be, 400 where it cannot be unpacked.
        """
        if self.packing == "identity":
            return self.data
        if len(self.data) < _SMALL:
            return _unpacked(self.data, most=self.most)
        return await asyncio.to_thread(_unpacked, self.data, most=self.most)


async def receive(request: web.BaseRequest, *, most: int) -> Body:
    """Wait for a body of at most so many bytes.

    A caller that waits for ``100 Continue`` gets it here, and not before.

    Raises
    ------
    BodyError
        413 where it is longer, 400 where it broke off, 415 where it is packed in another way than
        gzip or deflate.
    """
    packing = request.headers.get("Content-Encoding", "").strip().lower() or "identity"
    if packing not in _PACKINGS:
        raise BodyError(415, "unsupported_encoding", "a body can be packed by gzip or deflate")
    return Body(await _as_it_came(request, most=most), packing, most)


async def _as_it_came(request: web.BaseRequest, *, most: int) -> bytes:
    content = request.content
    if content.is_eof() and content.exception() is None:  # a small body is here by now, mostly
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


def _unreadable() -> BodyError:
    return BodyError(400, "bad_body", "the body cannot be read to its end")


def _too_large(most: int) -> BodyError:
    return BodyError(413, "body_too_large", f"the body is longer than {most} bytes")
