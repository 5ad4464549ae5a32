"""The stub that carries the benchmarks answers as a process."""

from __future__ import annotations

import asyncio
import json
import sys

from denv.client.http import AiohttpTransport
from denv.client.transport import HttpCall


async def test_the_process_prints_its_url_and_answers():
    """The printed base serves chat and models until the process is ended."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.stubs.server", "--text", "Hi"),
        stdout=asyncio.subprocess.PIPE,
    )
    transport = AiohttpTransport()
    try:
        assert process.stdout is not None
        base = (await process.stdout.readline()).decode().strip()
        for _ in range(3):
            chat = await transport.send(HttpCall("POST", f"{base}/chat/completions", body=b"{}"))
            assert json.loads(chat.body)["choices"][0]["message"]["content"] == "Hi"
        listed = await transport.send(HttpCall("GET", f"{base}/models"))
        assert json.loads(listed.body)["data"][0]["id"] == "stub"
    finally:
        await transport.close()
        process.kill()
        await process.wait()
