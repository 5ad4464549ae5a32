"""Reading what a caller sends."""

from __future__ import annotations

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from denv.router.refusals import RefusedError

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


async def read_body(request: web.BaseRequest, *, most: int) -> bytes:
    """Read a body of at most so many bytes.

    Raises
    ------
    RefusedError
        413 where it is longer, 400 where it broke off or cannot be unpacked.
    """
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
        raise RefusedError(400, "bad_body", "the body cannot be read to its end") from None
    return bytes(buffer)


def _too_large(most: int) -> RefusedError:
    return RefusedError(413, "body_too_large", f"the body is longer than {most} bytes")
