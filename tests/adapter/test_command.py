"""``denv adapter`` as it is run."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from denv.adapter.extra import require_recipe
from denv.cli import run
from denv.errors import UsageError
from tests.adapter.asking import CHAT, body_of

PROPS = {"build_info": "b1-test", "default_generation_settings": {"n_ctx": 2048}}
ANSWER = [
    {"content": "Hm.</think>", "tokens": [1], "stop": False, "tokens_predicted": 1},
    {"content": "Hello", "tokens": [2], "stop": False, "tokens_predicted": 2},
    {"content": "", "tokens": [], "stop": True, "stop_type": "limit", "tokens_predicted": 2},
]


@asynccontextmanager
async def llama_stub() -> AsyncIterator[str]:
    """Run what answers like llama.cpp's server, one answer to everything."""

    async def props(_: web.Request) -> web.Response:
        return web.json_response(PROPS)

    async def tokenize(_: web.Request) -> web.Response:
        return web.json_response({"tokens": [1, 2, 3]})

    async def complete(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for document in ANSWER:
            await response.write(f"data: {json.dumps(document)}\n\n".encode())
        return response

    app = web.Application()
    app.router.add_get("/props", props)
    app.router.add_post("/tokenize", tokenize)
    app.router.add_post("/completion", complete)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def started(*arguments: str, **environment: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "denv", "adapter", *arguments),
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | environment,
    )


async def line_of(process: asyncio.subprocess.Process) -> str:
    assert process.stderr is not None
    return (await process.stderr.readline()).decode()


async def test_serves_until_told() -> None:
    """It says where it serves, answers with its key, and ends with 0 at SIGTERM."""
    async with llama_stub() as engine:
        process = await started(
            *("--engine", "llama.cpp", "--engine-url", engine, "--port", "0"),
            *("--key-env", "ADAPTER_KEY", "--model", "house=v4.1-flash"),
            ADAPTER_KEY="sk-house-1",
        )
        try:
            line = await line_of(process)
            assert "llama.cpp b1-test, 2048 tokens of context, prompts as text" in line
            url = line.split()[1].rstrip(":")
            async with aiohttp.ClientSession() as session:
                path = f"{url}/chat/completions"
                body = body_of(CHAT, model="house")
                async with session.post(path, json=body) as response:
                    assert response.status == 401
                headers = {"Authorization": "Bearer sk-house-1"}
                async with session.post(path, json=body, headers=headers) as response:
                    assert response.status == 200
                    message = (await response.json())["choices"][0]["message"]
            assert (message["reasoning_content"], message["content"]) == ("Hm.", "Hello")
            process.send_signal(signal.SIGTERM)
            assert await asyncio.wait_for(process.wait(), 30) == 0
            assert "ended" in await line_of(process)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


async def test_check() -> None:
    """``--check`` asks the engine and ends; an engine that is away is an error."""
    async with llama_stub() as engine:
        process = await started("--engine", "llama.cpp", "--engine-url", engine, "--check")
        assert "all is well" in await line_of(process)
        assert await process.wait() == 0
    process = await started("--engine", "llama.cpp", "--engine-url", engine, "--check")
    assert "the engine does not answer" in await line_of(process)
    assert await process.wait() == 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "no engine is named"),
        (["--engine", "abacus"], "'abacus' is no engine"),
        (["--engine", "vllm", "--engine-url", "ftp://a"], "--engine-url"),
        (["--engine", "vllm", "--engine-url", "http://a", "--model", "house"], "NAME=VERSION"),
        (["--engine", "vllm", "--engine-url", "http://a", "--host", "0.0.0.0"], "not loopback"),
        (["--engine", "vllm", "--engine-url", "http://a", "--key-env", "NO_SUCH"], "NO_SUCH"),
        (["--engine", "llama.cpp-in-process", "--weights", "/no/such"], "/no/such"),
        (["--config", "/no/such.yaml"], "cannot be read"),
    ],
)
def test_usage(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What cannot be served is one line and exit code 2, before anything listens."""
    assert run(["adapter", *arguments]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert said in lines[0]


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without deepseek-recipe one line says how to install it."""
    monkeypatch.setitem(sys.modules, "deepseek_recipe", None)
    with pytest.raises(UsageError, match=r"pip install 'denv-parity\[deepseek\]'"):
        require_recipe()


async def test_parts_that_need_no_extra(tmp_path: Path) -> None:
    """Settings and engines can be imported where the extra is not installed."""
    code = (
        "import sys; sys.modules['deepseek_recipe'] = None\n"
        "import denv.adapter.settings, denv.adapter.engines, denv.adapter.places\n"
        "import denv.adapter.refusals, denv.adapter.wire, denv.adapter.keys, denv.cli.adapter\n"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, cwd=tmp_path)
    assert await process.wait() == 0
