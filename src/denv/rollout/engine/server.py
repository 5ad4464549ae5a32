"""Temporal's own server as a child of this process, its file beside the data."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import signal
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from denv.errors import HarnessError
from denv.rollout.engine.connection import Connection, connect
from denv.rollout.engine.extra import server_program

DATABASE = "temporal.sqlite3"
LOG = "temporal.log"
START_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 5.0
POLL_S = 0.05
FIRST_RESTART_S, MOST_RESTART_S = 0.1, 5.0
MOST_LOG_BYTES = 10_000_000
LOG_LINES_SHOWN = 4

# Ends the server when standard input does: the pipe closes with the parent, however that ends.
WATCHDOG = (
    "umask 077; exec 3<&0; "
    '"$@" </dev/null 3<&- & child=$!; '
    "( while read -r _; do :; done <&3; kill -TERM $child 2>/dev/null ) & guard=$!; "
    "wait $child; code=$?; kill $guard 2>/dev/null; exit $code"
)

LOCK = "temporal.lock"
LEFT_TIMEOUT_S = 20.0
"""How long the server of a process that was killed may take to end."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Where the server keeps its data and listens; ``port`` 0 picks a free one."""

    folder: Path
    port: int = 0
    ip: str = "127.0.0.1"
    start_timeout_s: float = START_TIMEOUT_S


class EmbeddedServer:
    """A running server; ``restarts`` counts how often it died and was started again."""

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        self._port = settings.port or _free_port(settings.ip)
        self._process: asyncio.subprocess.Process | None = None
        self._keeper: asyncio.Task[None] | None = None
        self.restarts = 0

    @property
    def connection(self) -> Connection:
        """How to reach it; the same for as long as it is kept running."""
        ip = f"[{self._settings.ip}]" if ":" in self._settings.ip else self._settings.ip
        return Connection(f"{ip}:{self._port}")

    @property
    def failed(self) -> asyncio.Task[None]:
        """The task that keeps it running: it ends only by an error."""
        if self._keeper is None:
            raise HarnessError("Temporal's server was not started")
        return self._keeper

    async def start(self) -> None:
        """Start it and wait until it answers.

        Raises
        ------
        HarnessError
            It did not come up; the message ends with the last lines of its log.
        """
        await self._spawn()
        await self._answers()
        self._keeper = asyncio.create_task(self._keep())

    async def stop(self) -> None:
        """End it and wait for its end."""
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait({self._keeper})
        await self._end()

    async def _keep(self) -> None:
        pause_s = FIRST_RESTART_S
        while self._process is not None:
            await self._process.wait()
            await self._end()
            self.restarts += 1
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, MOST_RESTART_S)
            await self._spawn()
            with contextlib.suppress(HarnessError):  # it died at once: the loop starts it again
                await self._answers()
                pause_s = FIRST_RESTART_S

    async def _spawn(self) -> None:
        settings = self._settings
        arguments = [
            server_program(), "server", "start-dev", "--headless",
            "--db-filename", str(settings.folder / DATABASE),
            "--ip", settings.ip, "--port", str(self._port), "--log-level", "error",
        ]  # fmt: skip
        with (
            _log_file(settings.folder / LOG) as log,
            await _lock(settings.folder / LOCK) as lock,
        ):
            self._process = await asyncio.create_subprocess_exec(
                *("/bin/sh", "-c", WATCHDOG, "sh", *arguments),
                stdin=asyncio.subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
                # Held by the server itself: two on one file would spoil it.
                pass_fds=(lock,),
            )

    async def _answers(self) -> None:
        process = self._process
        waiting = asyncio.ensure_future(self._until_connected())
        ended = asyncio.ensure_future(process.wait() if process else asyncio.sleep(0))
        try:
            await asyncio.wait(
                {waiting, ended},
                timeout=self._settings.start_timeout_s,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if not waiting.done():
                await self._end()
                log = self._settings.folder / LOG
                raise HarnessError(f"Temporal's server did not start: {_tail(log)}")
            waiting.result()
        finally:
            for task in (waiting, ended):
                task.cancel()
            await asyncio.gather(waiting, ended, return_exceptions=True)

    async def _until_connected(self) -> None:
        while True:
            with contextlib.suppress(HarnessError):  # not listening yet
                await connect(self.connection, timeout_s=1.0)
                return
            await asyncio.sleep(POLL_S)

    async def _end(self) -> None:
        """Ask by closing the pipe, then kill; the process is reaped when this returns."""
        process = self._process
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_TIMEOUT_S):
                await process.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


@asynccontextmanager
async def embedded(settings: ServerSettings) -> AsyncIterator[EmbeddedServer]:
    """Keep a server running for the length of the block."""
    server = EmbeddedServer(settings)
    try:
        await server.start()
        yield server
    finally:
        await server.stop()


def _free_port(ip: str) -> int:
    family = socket.AF_INET6 if ":" in ip else socket.AF_INET
    with socket.socket(family) as probe:
        probe.bind((ip, 0))
        port: int = probe.getsockname()[1]
        return port


async def _lock(path: Path) -> contextlib.AbstractContextManager[int]:
    """Hold the database's lock, once the server of an earlier process has let go of it."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    with contextlib.ExitStack() as stack:
        stack.callback(os.close, handle)
        try:
            async with asyncio.timeout(LEFT_TIMEOUT_S):
                while not _locked(handle):  # noqa: ASYNC110 - another process holds it
                    await asyncio.sleep(POLL_S)
        except TimeoutError:
            raise HarnessError(f"another Temporal server uses {path.parent / DATABASE}") from None
        stack.pop_all()
    return _closing(handle)


@contextlib.contextmanager
def _closing(handle: int) -> Iterator[int]:
    try:
        yield handle
    finally:
        os.close(handle)


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextlib.contextmanager
def _log_file(path: Path) -> Iterator[int]:
    """Open the log to be written at its end; one that has grown is begun anew."""
    with contextlib.suppress(FileNotFoundError):
        if path.stat().st_size > MOST_LOG_BYTES:
            path.replace(path.with_suffix(".log.1"))
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield handle
    finally:
        os.close(handle)


def _tail(log: Path) -> str:
    lines = log.read_text("utf-8", errors="replace").splitlines()
    kept = [line.strip() for line in lines if line.strip()][-LOG_LINES_SHOWN:]
    return " | ".join(kept) or "its log is empty"
