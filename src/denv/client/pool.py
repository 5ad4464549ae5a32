"""The pool of kept connections: one is only used again where nothing is left over on it.

A server may answer before it has read a request, and may send more than it was asked for. On a
kept connection the next request would then wait behind the rest of the last one, or be given an
answer that is not its own.
"""

from __future__ import annotations

import fcntl
import select
import termios
from asyncio.trsock import TransportSocket
from contextvars import ContextVar
from ssl import SSLContext
from weakref import WeakKeyDictionary, WeakSet

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.client_reqrep import ConnectionKey
from aiohttp.connector import Connection
from aiohttp.tracing import Trace

from denv.records import Fault, FaultKind

KEEPALIVE_S = 4.0
"""Common servers close idle connections after 5 s; leaving first avoids asking a closed one."""

STALE_WITHIN_S = 1.0
"""A reused connection cut this early was closed while idle: that says nothing of the server."""

TAKEN_WHOLE_BYTES = 4096
"""The system at the other end takes a request of this size at once, read or not."""

_reused: ContextVar[bool] = ContextVar("reused", default=False)
"""Whether the present call's connection was kept from an earlier one."""


def begin_call() -> None:
    """Forget of the present task's earlier call whether its connection was a kept one."""
    _reused.set(False)


def is_stale(fault: Fault | None, *, answered: bool, after_s: float) -> bool:
    """Tell whether the present call failed only since its kept connection was already closed.

    Such a call is sent once more: no try of it has reached the server. ``answered`` says that
    the head of an answer came, ``after_s`` how long the call took.
    """
    cut = fault is not None and fault.kind is FaultKind.CUT
    return _reused.get() and cut and not answered and after_s < STALE_WITHIN_S


class Pool(aiohttp.TCPConnector):
    """Keeps connections, and notes for the present call whether its own is a kept one.

    The library's tracing tells the same, but costs each request more than all else here.
    """

    def __init__(self, *, limit: int, ssl: SSLContext | bool = True) -> None:
        super().__init__(limit=limit, keepalive_timeout=KEEPALIVE_S, ssl=ssl)
        self._polls: WeakKeyDictionary[ResponseHandler, select.poll | None] = WeakKeyDictionary()
        self._small: WeakSet[ResponseHandler] = WeakSet()

    def note_size(self, protocol: ResponseHandler, request_bytes: int) -> None:
        """Hear how large the request is that is sent on a connection before it is released."""
        if request_bytes <= TAKEN_WHOLE_BYTES:
            self._small.add(protocol)

    async def connect(
        self,
        req: aiohttp.ClientRequest,
        traces: list[Trace],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 - the base class has it so
    ) -> Connection:
        """Get a connection as the base class does; kept ones that are not clean are closed."""
        while True:
            connection = await super().connect(req, traces, timeout)
            protocol = connection.protocol
            if protocol is None:
                connection.close()
                continue
            if protocol not in self._polls:
                self._polls[protocol] = _poll_of(protocol)
                return connection
            if _is_clean(protocol, self._polls[protocol]):
                _reused.set(True)
                return connection
            connection.close()

    def _release(
        self, key: ConnectionKey, protocol: ResponseHandler, *, should_close: bool = False
    ) -> None:
        if protocol in self._small:  # asking the system has its price
            self._small.discard(protocol)
        elif _is_unsent(protocol):
            should_close = True
        super()._release(key, protocol, should_close=should_close)
        # Without a parser, what comes while it is idle stays where _is_clean sees it.
        protocol._parser = None  # noqa: SLF001 - the base class does so where a connection ends


def _is_unsent(protocol: ResponseHandler) -> bool:
    """Whether a part of a request has not arrived yet: it was answered before it was read."""
    transport = protocol.transport
    if transport is None:
        return False
    return transport.get_write_buffer_size() > 0 or _is_queued(transport.get_extra_info("socket"))


def _is_queued(socket: TransportSocket | None) -> bool:
    """Whether the system still holds bytes that the server's system has not taken.

    An answer to a whole request acknowledges all of it, so that this is never so by chance.
    """
    if socket is None:
        return False
    try:
        held = fcntl.ioctl(socket.fileno(), termios.TIOCOUTQ, bytes(4))
    except OSError:
        return False  # no such count on this system: the library's own buffer is all that is known
    return any(held)


def _poll_of(protocol: ResponseHandler) -> select.poll | None:
    """Give what tells whether bytes wait in a connection's socket."""
    socket = None if protocol.transport is None else protocol.transport.get_extra_info("socket")
    if socket is None:
        return None
    waiting = select.poll()
    waiting.register(socket.fileno(), select.POLLIN)
    return waiting


def _is_clean(protocol: ResponseHandler, waiting: select.poll | None) -> bool:
    """Whether nothing has come since the last answer, neither bytes nor the end.

    ``should_close`` knows of what was read; the rest may still wait in the socket.
    """
    if protocol.transport is None or protocol.should_close:
        return False
    return waiting is None or not waiting.poll(0)
