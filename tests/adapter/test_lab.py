"""Through the adapter a real llama.cpp server completes chats.

Its words are SmolLM2's, which knows nothing of these marks; the form is DeepSeek's.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from denv.adapter.engines import open_engine
from denv.adapter.formats import FORMATS, MARKS, Format
from denv.adapter.serving import make_adapter, serve
from denv.adapter.settings import EngineSettings
from denv.lab.server import LlamaServer, ServerConfig
from denv.lab.server import serve as serve_llama
from tests.adapter.asking import CHAT, body_of, events_of, settings
from tests.adapter.reading import streamed, whole
from tests.adapter.vocabulary import write_gguf_tokenizer

pytestmark = [pytest.mark.lab, pytest.mark.asyncio(loop_scope="session")]


@asynccontextmanager
async def adapted(server: LlamaServer, **fields: Any) -> AsyncIterator[aiohttp.ClientSession]:
    """Serve the adapter in front of a real server."""
    named = EngineSettings(name="llama.cpp", url=server.url.removesuffix("/v1"))
    engine = open_engine(named, special_tokens=MARKS)
    try:
        adapter = await make_adapter(settings(prompt="text", **fields), engine)
        async with (
            serve(adapter) as url,
            aiohttp.ClientSession(url.removesuffix("/v1")) as session,
        ):
            yield session
    finally:
        await engine.close()


@pytest.mark.parametrize("format_", FORMATS, ids=lambda f: f.name)
async def test_chats(lab_server: LlamaServer, format_: Format) -> None:
    """Each API is answered whole and streamed, the same words at temperature 0, and counted."""
    async with adapted(lab_server) as session:
        body = body_of(format_, text="Say hello.", thinking=False, max_tokens=12, temperature=0)
        async with session.post(format_.path, json=body) as response:
            assert response.status == 200, await response.text()
            assert response.headers["Server"] == "denv-adapter llama.cpp"
            one = whole(format_.name, await response.read())
        async with session.post(format_.path, json=body | {"stream": True}) as response:
            other = streamed(format_.name, await events_of(response))
    assert one.text
    assert one.text == other.text
    assert one.finish == other.finish
    used = one.usage
    assert used.get("completion_tokens", used.get("output_tokens")) in range(1, 13)
    prompt = used.get("prompt_tokens", used.get("input_tokens"))
    assert prompt + used.get("cache_read_input_tokens", 0) > 3


async def test_thinks(lab_server: LlamaServer) -> None:
    """A model that never ends its thoughts has given nothing but thoughts."""
    async with adapted(lab_server) as session:
        body = body_of(CHAT, text="Say hello.", max_tokens=8, seed=1)
        async with session.post(CHAT.path, json=body) as response:
            assert response.headers["denv-sampled"] == "1.0"
            read = whole("chat", await response.read())
    assert read.reasoning
    assert (read.text, read.finish) == ("", "length")


@pytest.mark.slow
async def test_logprobs(lab_server: LlamaServer, weights: Path, tmp_path: Path) -> None:
    """With the model's tokenizer each token has its logprob and alternatives, bytes and all."""
    path = write_gguf_tokenizer(weights, tmp_path)
    async with adapted(lab_server, tokenizer=str(path)) as session:
        body = body_of(CHAT, text="Say hello.", thinking=False, max_tokens=12, temperature=0)
        body |= {"logprobs": True, "top_logprobs": 3}
        async with session.post(CHAT.path, json=body) as response:
            assert response.status == 200, await response.text()
            document = await response.json()
    (choice,) = document["choices"]
    entries = choice["logprobs"]["content"]
    spelled = bytes(byte for entry in entries for byte in entry["bytes"]).decode()
    # The recipe drops line breaks that an answer begins with, and keeps their tokens.
    assert spelled.lstrip("\n") == choice["message"]["content"]
    for entry in entries:
        assert entry["logprob"] <= 0
        assert len(entry["top_logprobs"]) == 3
        assert entry["top_logprobs"][0]["bytes"] == entry["bytes"]
    assert document["usage"]["prompt_tokens"] > 3


async def busy(server: LlamaServer) -> bool:
    """Tell whether the server computes anything."""
    url = server.url.removesuffix("/v1")
    async with aiohttp.ClientSession() as session, session.get(f"{url}/slots") as response:
        assert response.status == 200, await response.text()
        return any(slot["is_processing"] for slot in await response.json())


async def until(happened: Callable[[], Any]) -> None:
    async with asyncio.timeout(60):
        while not await happened():
            await asyncio.sleep(0.02)


async def test_cancel(lab_server: LlamaServer) -> None:
    """Who leaves in the middle of a stream leaves nothing computing behind."""
    async with adapted(lab_server) as session:
        body = body_of(CHAT, text="Count.", thinking=False, max_tokens=1900, stream=True)
        response = await session.post(CHAT.path, json=body)
        await response.content.readline()
        await until(lambda: busy(lab_server))
        response.close()

        async def idle() -> bool:
            return not await busy(lab_server)

        await until(idle)


@pytest.mark.parametrize("stream", [False, True])
async def test_kill(weights: Path, stream: bool) -> None:
    """A server that is killed in the middle is an error, or a stream that never looks finished."""
    async with serve_llama(ServerConfig(weights=weights)) as server, adapted(server) as session:
        body = body_of(CHAT, text="Count.", thinking=False, max_tokens=1900, stream=stream)
        request = asyncio.create_task(session.post(CHAT.path, json=body))
        await until(lambda: busy(server))
        if stream:
            response = await request
            await response.content.readline()
        server.process.kill()
        response = await request
        if stream:
            rest = await response.read()
            assert b"[DONE]" not in rest
            last = json.loads(rest.strip().split(b"\n\n")[-1].removeprefix(b"data: "))
            assert last["error"]["type"] == "service_unavailable_error"
        else:
            assert response.status == 503
        async with session.post(CHAT.path, json=body) as response:
            assert response.status == 503
            assert response.headers["Retry-After"] == "1"
        async with session.get("/health") as response:
            assert response.status == 503
