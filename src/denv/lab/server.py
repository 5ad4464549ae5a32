"""Real llama.cpp servers, each in a process and a session of its own."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import aiohttp

from denv.errors import HarnessError, UsageError
from denv.lab.extra import load_extra

STOP_TIMEOUT_S = 5.0
HEALTH_INTERVAL_S = 0.05
LOG_LINES_SHOWN = 8

CACHE_TYPES = ("f32", "f16", "bf16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0")
"""Types of the key and value cache that can be asked for."""


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """What one server serves, and how.

    ``alias`` is the model's only name in answers. ``chat_template`` is the text of a Jinja
    template that replaces the model's own. ``n_ctx`` tokens are divided over ``n_parallel``
    slots. One thread, because two a server collapse as soon as anything else runs. Without
    ``cache_prompt`` the same request has bit-identical answers whatever ran before or beside it;
    a reused prefix moves logprobs by some tenths of a nat. ``port`` 0 picks a free one.
    ``log_dir`` keeps the log; else it goes when the server ends.
    """

    weights: Path
    alias: str = "smollm2"
    chat_template: str | None = None
    n_ctx: int = 8192
    n_parallel: int = 4
    cache_type_k: str = "f16"
    cache_type_v: str = "f16"
    n_threads: int = 1
    cache_prompt: bool = False
    host: str = "127.0.0.1"
    port: int = 0
    start_timeout_s: float = 60.0
    log_dir: Path | None = None


@dataclass(frozen=True, slots=True)
class LlamaServer:
    """A running server: ``url`` ends in ``/v1``; ``log`` is its log file."""

    url: str
    model: str
    process: asyncio.subprocess.Process
    log: Path

    @property
    def pid(self) -> int:
        """The process that holds the server."""
        return self.process.pid


@asynccontextmanager
async def serve(config: ServerConfig) -> AsyncIterator[LlamaServer]:
    """Run one server for the length of the block.

    Raises
    ------
    UsageError
        There is no such weights file, an option is out of range, or the extra is missing.
    HarnessError
        The server did not come up; the message ends with the last lines of its log.
    """
    _validate(config)
    load_extra("xllamacpp")
    with tempfile.TemporaryDirectory(prefix="denv-lab-") as temporary:
        folder = config.log_dir or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "wb", dir=folder, prefix="llama-", suffix=".log", delete=False
        ) as log:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "denv.lab.child"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        try:
            url = await _started(process, config, log=Path(log.name))
            yield LlamaServer(f"{url}/v1", config.alias, process, Path(log.name))
        finally:
            await _stop(process)


@asynccontextmanager
async def serve_many(configs: Sequence[ServerConfig]) -> AsyncIterator[tuple[LlamaServer, ...]]:
    """Run several servers, in the order of ``configs``, for the length of the block."""
    async with AsyncExitStack() as stack:
        yield tuple([await stack.enter_async_context(serve(config)) for config in configs])


async def serve_forever(config: ServerConfig, on_ready: Callable[[LlamaServer], None]) -> None:
    """Serve until SIGINT or SIGTERM; ``on_ready`` is told the server once it answers.

    Raises
    ------
    HarnessError
        The server did not come up, or ended by itself.
    """
    loop = asyncio.get_running_loop()
    interrupted = asyncio.Event()
    signals = (signal.SIGINT, signal.SIGTERM)
    for number in signals:
        loop.add_signal_handler(number, interrupted.set)
    try:
        async with serve(config) as server:
            on_ready(server)
            await _first(interrupted.wait(), server.process.wait())
            if not interrupted.is_set():
                raise HarnessError(f"the server ended by itself: {_tail(server.log)}")
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


def _validate(config: ServerConfig) -> None:
    if not config.weights.is_file():
        raise UsageError(f"{config.weights}: no such weights file")
    for name in ("cache_type_k", "cache_type_v"):
        if getattr(config, name) not in CACHE_TYPES:
            raise UsageError(f"{name} must be one of {', '.join(CACHE_TYPES)}")
    if min(config.n_ctx, config.n_parallel, config.n_threads) < 1:
        raise UsageError("n_ctx, n_parallel and n_threads must be 1 or more")


async def _started(process: asyncio.subprocess.Process, config: ServerConfig, *, log: Path) -> str:
    """Hand the child its configuration and wait until it answers."""
    message = {**asdict(config), "weights": str(config.weights.absolute()), "log_dir": None}
    try:
        async with asyncio.timeout(config.start_timeout_s):
            url = await _address(process, json.dumps(message).encode() + b"\n")
            if url is None or not await _healthy(process, url):
                raise HarnessError(f"the server did not start: {_tail(log)}")
            return url
    except TimeoutError:
        waited = f"the server did not answer within {config.start_timeout_s:g} s"
        raise HarnessError(f"{waited}: {_tail(log)}") from None


async def _address(process: asyncio.subprocess.Process, message: bytes) -> str | None:
    if process.stdin is None or process.stdout is None:
        raise HarnessError("the server's process has no pipes")
    with suppress(BrokenPipeError, ConnectionResetError):  # it ended: its log says why
        process.stdin.write(message)
        await process.stdin.drain()
    line = await process.stdout.readline()
    return str(json.loads(line)["url"]) if line else None


async def _healthy(process: asyncio.subprocess.Process, url: str) -> bool:
    """Wait until the server says that it is; False when it ended first."""
    async with aiohttp.ClientSession() as session:
        while process.returncode is None:
            with suppress(aiohttp.ClientConnectionError):  # not listening yet
                async with session.get(f"{url}/health") as response:
                    if response.status == 200:
                        return True
            await asyncio.sleep(HEALTH_INTERVAL_S)
    return False


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Terminate, then kill; the process is reaped when this returns."""
    for ask in (process.terminate, process.kill):
        with suppress(ProcessLookupError):
            ask()
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_TIMEOUT_S):
                await process.wait()
                break
    if process.stdin is not None:
        process.stdin.close()


async def _first(*waits: Coroutine[Any, Any, object]) -> None:
    """Return when one of them is done, and leave none of them running."""
    tasks = [asyncio.create_task(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _tail(log: Path) -> str:
    lines = log.read_text("utf-8", errors="replace").splitlines()
    kept = [line.strip() for line in lines if line.strip()][-LOG_LINES_SHOWN:]
    return " | ".join(kept) or "its log is empty"
