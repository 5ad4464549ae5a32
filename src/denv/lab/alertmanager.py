"""A real Alertmanager, of Debian's package, for the demo and the tests."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp

from denv.errors import HarnessError, UsageError
from denv.lab.model import Progress

PROGRAM = "prometheus-alertmanager"
START_TIMEOUT_S = 20.0
STOP_TIMEOUT_S = 5.0

CONFIGURATION = """\
route: {receiver: demo, group_wait: 0s}
receivers: [{name: demo}]
"""


async def find_alertmanager(progress: Progress) -> str:
    """Give the program, installed with Debian's tools where they are and may be used.

    Raises
    ------
    UsageError
        It is not there and cannot be installed; the message says how.
    """
    found = shutil.which(PROGRAM)
    if found is None and shutil.which("apt-get") and os.geteuid() == 0:
        progress(f"installing Debian's {PROGRAM}")
        await _install()
        found = shutil.which(PROGRAM)
    if found is None:
        raise UsageError(f"there is no {PROGRAM}: apt-get install {PROGRAM}, as root")
    return found


async def _install() -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    steps = (["update"], ["install", "-y", "--no-install-recommends", PROGRAM])
    for step in steps:
        process = await asyncio.create_subprocess_exec(
            "apt-get",
            "-qq",
            *step,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
        )
        if await process.wait():
            raise HarnessError(f"apt-get {step[0]} ended with status {process.returncode}")


@asynccontextmanager
async def alertmanager(program: str, *, configuration: str = CONFIGURATION) -> AsyncIterator[str]:
    """Run it on a free port of the loopback for the length of the block; give its root URL.

    Raises
    ------
    HarnessError
        It does not come up.
    """
    with tempfile.TemporaryDirectory(prefix="denv-alertmanager-") as made:
        folder = Path(made)
        (folder / "alertmanager.yml").write_text(configuration, "utf-8")
        port = _free_port()
        process = await asyncio.create_subprocess_exec(
            program,
            f"--config.file={folder / 'alertmanager.yml'}",
            f"--storage.path={folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{port}",
            "--cluster.listen-address=",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        url = f"http://127.0.0.1:{port}"
        try:
            await _until_ready(url, process)
            yield url
        finally:
            await _stop(process)


async def alerts(url: str) -> list[dict[str, Any]]:
    """Give the alerts that an Alertmanager holds as firing."""
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{url}/api/v2/alerts", params={"active": "true"}) as response,
    ):
        response.raise_for_status()
        found: list[dict[str, Any]] = await response.json()
        return found


async def _until_ready(url: str, process: asyncio.subprocess.Process) -> None:
    deadline = asyncio.get_running_loop().time() + START_TIMEOUT_S
    while asyncio.get_running_loop().time() < deadline:
        if process.returncode is not None:
            raise HarnessError(f"{PROGRAM} ended with status {process.returncode}")
        with suppress(aiohttp.ClientError):
            await alerts(url)
            return
        await asyncio.sleep(0.05)
    raise HarnessError(f"{PROGRAM} did not answer within {START_TIMEOUT_S:g} s")


async def _stop(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):  # it has ended meanwhile
        process.terminate()
    try:
        async with asyncio.timeout(STOP_TIMEOUT_S):
            await process.wait()
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
