"""Searches that cannot hold up a run: what is not quick is done in a process that can be killed.

Process pools of libraries start their children by importing the caller's main module again,
which would run a user's script twice; this child is a plain interpreter that runs this file.
"""

from __future__ import annotations

import json
import resource
import select
import struct
import subprocess
import sys
import threading
from typing import BinaryIO

from denv.checks.regex import TIMEOUT_S, search_within

QUICK_S = 0.05
QUICK_LENGTH = 64 * 1024
START_TIMEOUT_S = 30.0
MEMORY_BYTES = 2 * 1024**3

_LENGTH = struct.Struct(">I")
_READY, _FOUND, _ABSENT = b"r", b"y", b"n"


class KillableSearch:
    """Searches patterns in texts; safe to call from several threads at once.

    A search of a short text is tried here first. What takes longer goes to a child process,
    which is killed when its second is over. ``close`` ends the child.
    """

    def __init__(self, timeout_s: float = TIMEOUT_S) -> None:
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._closed = False

    def __call__(self, pattern: str, text: str) -> bool:
        """Tell whether the pattern is found.

        Raises
        ------
        TimeoutError
            The search took longer than ``timeout_s``, or more memory than a search may take.
        """
        if len(text) <= QUICK_LENGTH:
            try:
                return search_within(pattern, text, timeout_s=min(QUICK_S, self._timeout_s))
            except TimeoutError:
                pass  # it gets its whole second below
        with self._lock:
            return self._in_child(pattern, text)

    def close(self) -> None:
        """End the child process, if there is one."""
        with self._lock:
            self._closed = True
            self._end()

    def _in_child(self, pattern: str, text: str) -> bool:
        if self._closed:
            # A thread that was given up may come this far later; it must start nothing.
            raise TimeoutError("the searches have ended")
        child = self._child or self._start()
        sink, source = _pipes(child)
        message = json.dumps([pattern, text]).encode()
        try:
            _write_all(sink, _LENGTH.pack(len(message)) + message)
        except BrokenPipeError:
            self._end()
            raise TimeoutError("the search process has gone") from None
        answer = _answer(source, self._timeout_s)
        if answer not in {_FOUND, _ABSENT}:
            self._end()
            raise TimeoutError("the search took too long")
        return answer == _FOUND

    def _start(self) -> subprocess.Popen[bytes]:
        # Unbuffered, so that no answer can wait in a buffer that select does not see.
        self._child = subprocess.Popen(
            [sys.executable, "-m", "denv.runner.searching"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
        )
        if _answer(_pipes(self._child)[1], START_TIMEOUT_S) != _READY:
            self._end()
            raise TimeoutError("the search process did not start")
        return self._child

    def _end(self) -> None:
        if self._child is None:
            return
        self._child.kill()
        for pipe in _pipes(self._child):
            pipe.close()
        self._child.wait()
        self._child = None


def _pipes(child: subprocess.Popen[bytes]) -> tuple[BinaryIO, BinaryIO]:
    assert child.stdin is not None  # noqa: S101 - both were asked for
    assert child.stdout is not None  # noqa: S101
    return child.stdin, child.stdout  # type: ignore[return-value]  # IO[bytes] is a BinaryIO here


def _write_all(sink: BinaryIO, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[sink.write(left) :]


def _answer(source: BinaryIO, timeout_s: float) -> bytes | None:
    """Read one byte, or give None when the time is over; empty when the child has ended."""
    ready, _, _ = select.select([source], [], [], timeout_s)
    return source.read(1) if ready else None


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Answer searches until the parent closes the pipe; an error ends the child."""
    sink.write(_READY)
    sink.flush()
    while head := source.read(_LENGTH.size):
        pattern, text = json.loads(source.read(*_LENGTH.unpack(head)))
        # The parent's clock decides; this limit ends a child that nobody waits for any more.
        found = search_within(pattern, text, timeout_s=60.0)
        sink.write(_FOUND if found else _ABSENT)
        sink.flush()


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    serve(sys.stdin.buffer, sys.stdout.buffer)
