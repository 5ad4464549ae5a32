"""What the caller gets: refusals, and a replica's answer as it comes.

Answers are written as bytes: the library's own responses cost as much as all else here together.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from email.utils import formatdate
from http import HTTPStatus

from aiohttp import HttpVersion10, web
from aiohttp.abc import AbstractStreamWriter

from denv.permits import REPLICA_HEADER
from denv.router.blanks import BadPackingError, Blanks, Passing
from denv.router.clock import Clock, Phase
from denv.router.course import Course
from denv.router.forward import PASSED, Answer, Failure, UpstreamError
from denv.router.refusals import Form, RefusedError, body_of

SERVER = "denv-router"
ID_HEADERS = {Form.OPENAI: "x-request-id", Form.ANTHROPIC: "request-id"}
_CLOSE_AFTER = frozenset({408, 413})
"""Refusals that leave a body unread."""

_NO_BODY = frozenset({204, 304})
_REASONS = {status.value: status.phrase for status in HTTPStatus}


class Reply(web.StreamResponse):
    """An answer that is written as bytes, now or already."""

    def __init__(self, written: bytes, *, keep: bool) -> None:
        self._written = written
        self._keep = keep

    @property
    def keep_alive(self) -> bool:
        """Whether the connection is kept."""
        return self._keep

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter | None:
        """Write what is there to write."""
        if self._written:
            _write(request, self._written)
        return None

    async def write_eof(self, data: bytes = b"") -> None:
        """Write nothing: all is written."""


class PassedOn:
    """An answer on its way to the caller, without the keys that ``blanks`` knows."""

    __slots__ = ("_blanks", "_course", "_idle_s", "_request", "begun")

    def __init__(
        self, request: web.BaseRequest, course: Course, *, idle_s: float, blanks: Blanks
    ) -> None:
        self._blanks = blanks
        self._request = request
        self._course = course
        self._idle_s = idle_s
        self.begun = False
        """Whether the caller has got the head already, so that nothing else can be said."""

    async def whole(self, answer: Answer, clock: Clock) -> Reply:
        """Pass the head on, and the body as it comes.

        Raises
        ------
        ConnectionError
            The caller is gone.
        UpstreamError
            The body broke off, or is not packed as its head says, before anything was passed on.
        """
        self._course.status = answer.status
        try:
            if answer.is_here and not self._unpacks(answer):
                body = self._blanks.whole(await answer.piece())
                if answer.status not in _NO_BODY:
                    length = f"Content-Length: {len(body)}\r\n"
                    return Reply(self._head(answer, length) + body, keep=self._request.keep_alive)
                return Reply(self._head(answer, ""), keep=self._request.keep_alive)
            return await self._in_pieces(answer, clock)
        except UpstreamError as error:
            if not self.begun:
                raise
            return self.cut_off(error.failure)
        finally:
            answer.close()

    def _unpacks(self, answer: Answer) -> bool:
        """Whether an answer is unpacked to be looked into."""
        return bool(self._blanks and answer.packing) and answer.status not in _NO_BODY

    async def _in_pieces(self, answer: Answer, clock: Clock) -> Reply:
        request, idle_s = self._request, self._idle_s
        packed = self._unpacks(answer)
        length = None if packed else answer.headers.get("Content-Length")
        chunked = length is None and request.version > HttpVersion10
        keep = request.keep_alive and (chunked or length is not None)
        framing = "Transfer-Encoding: chunked\r\n" if chunked else ""
        if length is not None:
            framing = f"Content-Length: {length}\r\n"
        clock.begin(Phase.IDLE, idle_s)
        async with aclosing(self._pieces(answer, clock, packed=packed)) as pieces:
            # Of what is packed, the first piece shows whether it is packed as the head says.
            first = await anext(pieces, b"") if packed else b""
            self.begun = True
            _write(request, self._head(answer, framing, keep=keep))
            if first:
                _write(request, b"%x\r\n%b\r\n" % (len(first), first) if chunked else first)
            async for piece in pieces:
                _write(request, b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
                await request.writer.drain()  # a caller that reads slowly is not read ahead of
                clock.begin(Phase.IDLE, idle_s)
        return Reply(b"0\r\n\r\n" if chunked else b"", keep=keep)

    async def _pieces(
        self, answer: Answer, clock: Clock, *, packed: bool
    ) -> AsyncGenerator[bytes, None]:
        """Give what comes, without keys; none is empty, which would end a body in chunks."""
        passing = Passing(self._blanks, packed=packed)
        try:
            while piece := await answer.piece():
                clock.begin(Phase.IDLE, self._idle_s)
                for going in passing.take(piece):
                    yield going
                    if packed:  # a small piece may unpack to very much: others are to be answered
                        await asyncio.sleep(0)
            if rest := passing.rest():
                yield rest
        except BadPackingError:
            raise UpstreamError(Failure.PROTOCOL) from None

    def cut_off(self, why: str) -> Reply:
        """Close the connection, so that the caller cannot take what came for the whole."""
        self._course.cut = str(why)
        transport = self._request.transport
        if transport is not None:
            if transport.get_write_buffer_size() and why in {Phase.IDLE, Phase.TOTAL}:
                transport.abort()  # it does not read, so that closing could take for ever
            else:
                transport.close()
        return Reply(b"", keep=False)

    def _head(self, answer: Answer, framing: str, *, keep: bool | None = None) -> bytes:
        request, course = self._request, self._course
        form = Form.OPENAI if course.route is None else course.route.form
        lines = [
            f"HTTP/1.1 {answer.status} {_REASONS.get(answer.status, '')}",
            f"Server: {SERVER}",
            f"Date: {_date()}",
            f"{ID_HEADERS[form]}: {course.request_id}",
        ]
        lines += [
            f"{name}: {self._blanks.value(value)}"
            for name in PASSED
            if (value := answer.passed(name)) is not None
            and not (name == "Content-Encoding" and self._unpacks(answer))
        ]
        if course.permit is not None and course.replica is not None:
            lines.append(f"{REPLICA_HEADER}: {course.replica.name}")
        if not (request.keep_alive if keep is None else keep):
            lines.append("Connection: close")
        elif request.version <= HttpVersion10:
            lines.append("Connection: keep-alive")
        head = "\r\n".join(lines)
        return f"{head}\r\n{framing}\r\n".encode("utf-8", "surrogateescape")


def refusal(refused: RefusedError, *, form: Form, request_id: str) -> web.Response:
    """Write a refusal."""
    headers = {"Server": SERVER, ID_HEADERS[form]: request_id, "Content-Type": "application/json"}
    if refused.retry_after_s is not None:
        headers["Retry-After"] = str(max(1, -int(-refused.retry_after_s // 1)))
    if refused.allow is not None:
        headers["Allow"] = refused.allow
    response = web.Response(status=refused.status, body=body_of(refused, form), headers=headers)
    if refused.status in _CLOSE_AFTER:
        response.force_close()
    return response


def _write(request: web.BaseRequest, data: bytes) -> None:
    transport = request.transport
    if transport is None or transport.is_closing():
        raise ConnectionResetError("the caller is gone")
    transport.write(data)


_dated: tuple[int, str] = (0, "")


def _date() -> str:
    """Give the time as a header has it, made once a second."""
    global _dated  # noqa: PLW0603 - all answers of a second share it
    now = int(time.time())
    if _dated[0] != now:
        _dated = (now, formatdate(now, usegmt=True))
    return _dated[1]
