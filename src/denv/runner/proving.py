"""Comparisons of answers that cannot hold up a run: they are made in a process that can be killed.

What a model writes may send SymPy into hours of work. The child is a plain interpreter that runs
this file, as for searches; processor time, memory and wall time are each limited.
"""

from __future__ import annotations

import json
import math
import resource
import select
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from denv.errors import HarnessError
from denv.instruments.derivations.forms import Form, form_of
from denv.instruments.derivations.notation import MAX_LENGTH
from denv.instruments.derivations.scoring import Comparison

CPU_S = 10
WALL_S = 60.0
START_TIMEOUT_S = 120.0
MEMORY_BYTES = 1024**3
RENEW_BYTES = 512 * 1024**2
"""A child that has once held more is replaced after its answer, lest the next one lacks memory."""

_LENGTH = struct.Struct(">I")
_READY: Mapping[str, Any] = {"ready": True}


class KillableOracle:
    """Compares answers with truths; safe to call from several threads at once.

    The child is started with the first comparison and used for all; one that is killed, over its
    limits, costs its own comparison alone, which comes back ``undecided``. ``close``, or leaving
    the context, ends the child.

    Parameters
    ----------
    cpu_s
        Processor time that one comparison may take, in whole seconds.
    wall_s
        Time by the clock, for a machine that is busy with other work.
    memory_bytes
        Address space of the child.
    """

    def __init__(
        self, *, cpu_s: int = CPU_S, wall_s: float = WALL_S, memory_bytes: int = MEMORY_BYTES
    ) -> None:
        self._cpu_s = cpu_s
        self._wall_s = wall_s
        self._memory_bytes = memory_bytes
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._closed = False

    def __call__(self, answer: str, truth: str, form: Form) -> Comparison:
        """Compare an answer with the truth.

        Raises
        ------
        HarnessError
            The truth cannot be read, or the child cannot be started.
        """
        if len(answer) > MAX_LENGTH:
            return _undecided(f"beyond the limits: the answer has {len(answer)} characters")
        with self._lock:
            if self._closed:
                raise HarnessError("the oracle has been closed")
            return self._in_child({"answer": answer, "truth": truth, "form": asdict(form)})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the child process, if there is one."""
        with self._lock:
            self._closed = True
            self._end()

    def _in_child(self, asked: Mapping[str, Any]) -> Comparison:
        child = self._running() or self._start()
        sink, source = _pipes(child)
        try:
            _send(sink, asked)
        except BrokenPipeError:
            return self._ended()
        try:
            answer = _receive(source, self._wall_s)
        except TimeoutError:
            self._end()
            return _undecided(f"the comparison took over {self._wall_s:g} s")
        if answer is None:
            return self._ended()
        if answer.get("last"):
            self._end()
        if "error" in answer:
            raise HarnessError(f"the truth {asked['truth'][:80]!r}: {answer['error']}")
        return Comparison(answer["result"], answer["reason"])

    def _running(self) -> subprocess.Popen[bytes] | None:
        if self._child is not None and self._child.poll() is not None:
            self._end()
        return self._child

    def _start(self) -> subprocess.Popen[bytes]:
        # Unbuffered, so that no answer can wait in a buffer that select does not see.
        limits = [str(self._cpu_s), str(self._memory_bytes)]
        self._child = subprocess.Popen(  # noqa: S603 - this very file, with two numbers
            [sys.executable, "-m", "denv.runner.proving", *limits],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
        )
        try:
            ready = _receive(_pipes(self._child)[1], START_TIMEOUT_S) == _READY
        except TimeoutError:
            ready = False
        if not ready:
            self._end()
            raise HarnessError("the process that compares answers did not start")
        return self._child

    def _ended(self) -> Comparison:
        """Say why a child has gone by itself."""
        code = self._end()
        if code == -signal.SIGXCPU:
            return _undecided(f"the comparison took over {self._cpu_s} s of processor time")
        return _undecided(f"the comparison ended its process ({code})")

    def _end(self) -> int | None:
        if self._child is None:
            return None
        child, self._child = self._child, None
        for pipe in _pipes(child):
            pipe.close()
        try:
            # One that has ended by itself says so at once; its own code is the reason.
            code = child.wait(timeout=0.05)
        except subprocess.TimeoutExpired:
            child.kill()
            code = child.wait()
        return code


def _undecided(reason: str) -> Comparison:
    return Comparison("undecided", reason)


def _pipes(child: subprocess.Popen[bytes]) -> tuple[BinaryIO, BinaryIO]:
    assert child.stdin is not None  # noqa: S101 - both were asked for
    assert child.stdout is not None  # noqa: S101
    return child.stdin, child.stdout  # type: ignore[return-value]  # IO[bytes] is a BinaryIO here


def _send(sink: BinaryIO, message: Mapping[str, Any]) -> None:
    body = json.dumps(message).encode()
    left = memoryview(_LENGTH.pack(len(body)) + body)
    while left:
        left = left[sink.write(left) :]
    sink.flush()


def _receive(source: BinaryIO, timeout_s: float) -> dict[str, Any] | None:
    """Read a message; None when the other side has ended, TimeoutError when it says nothing."""
    ready, _, _ = select.select([source], [], [], timeout_s)
    if not ready:
        raise TimeoutError
    head = _read_exactly(source, _LENGTH.size)
    body = None if head is None else _read_exactly(source, *_LENGTH.unpack(head))
    return None if body is None else json.loads(body)


def _read_exactly(source: BinaryIO, count: int) -> bytes | None:
    found = b""
    while len(found) < count:
        piece = source.read(count - len(found))
        if not piece:
            return None
        found += piece
    return found


# ---------------------------------------------------------------- the child


def serve(source: BinaryIO, sink: BinaryIO, *, cpu_s: int) -> None:
    """Answer comparisons until the parent closes the pipe; the system ends what takes too long."""
    from denv.instruments.derivations.oracle import compare  # noqa: PLC0415 - SymPy is the child's

    _send(sink, _READY)
    while (head := _read_exactly(source, _LENGTH.size)) is not None:
        asked = json.loads(_read_exactly(source, *_LENGTH.unpack(head)) or b"null")
        _allow(cpu_s)
        try:
            found = compare(asked["answer"], asked["truth"], form_of(asked["form"]))
            answer = asdict(found)
        except ValueError as error:
            answer = {"error": str(error)}
        _send(sink, {**answer, "last": _held_bytes() > RENEW_BYTES})


def _allow(cpu_s: int) -> None:
    """Let the process live for so many more seconds of processor time."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = math.ceil(usage.ru_utime + usage.ru_stime) + cpu_s
    if hard != resource.RLIM_INFINITY:
        soft = min(soft, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def _held_bytes() -> int:
    """Give the memory held now; the peak that getrusage tells begins with the parent's on Linux."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except OSError:
        pass
    else:
        return pages * resource.getpagesize()
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return held if sys.platform == "darwin" else held * 1024


def _limit_memory(memory_bytes: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # ending over its time writes no core file


if __name__ == "__main__":
    _limit_memory(int(sys.argv[2]))
    serve(sys.stdin.buffer, sys.stdout.buffer, cpu_s=int(sys.argv[1]))
