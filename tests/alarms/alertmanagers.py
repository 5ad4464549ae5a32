"""Debian's Alertmanager, started on a free port with a webhook receiver of the test's own."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
import yaml

PROGRAM = "prometheus-alertmanager"
GROUP_INTERVAL_S = 0.4


@asynccontextmanager
async def alertmanager(folder: Path, webhook: str) -> AsyncIterator[str]:
    """Run an Alertmanager that tells ``webhook`` of everything; gives its root URL.

    Alerts are grouped by all labels; a group is told at once, and again after a second.
    """
    program = shutil.which(PROGRAM)
    if program is None:
        if os.environ.get("DENV_ALL_TESTS"):
            pytest.fail(f"{PROGRAM} is missing: apt-get install {PROGRAM}")
        pytest.skip(f"{PROGRAM} is missing: apt-get install {PROGRAM}")
    config = {
        "route": {
            "receiver": "hook",
            "group_by": ["..."],
            "group_wait": "100ms",
            "group_interval": f"{GROUP_INTERVAL_S * 1000:.0f}ms",
            "repeat_interval": "1h",
        },
        "receivers": [
            {"name": "hook", "webhook_configs": [{"url": webhook, "send_resolved": True}]}
        ],
    }
    (folder / "alertmanager.yml").write_text(yaml.safe_dump(config), "utf-8")
    port = _free_port()
    process = await asyncio.create_subprocess_exec(
        program,
        f"--config.file={folder / 'alertmanager.yml'}",
        f"--storage.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--cluster.listen-address=",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        await _ready(process, f"http://127.0.0.1:{port}/-/ready")
        yield f"http://127.0.0.1:{port}"
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _ready(process: asyncio.subprocess.Process, url: str) -> None:
    async with asyncio.timeout(30), aiohttp.ClientSession() as session:
        while True:
            assert process.returncode is None, "alertmanager ended at once"
            try:
                async with session.get(url) as answer:
                    if answer.status == 200:
                        return
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(0.05)


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])
