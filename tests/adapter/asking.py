"""Requests for tests, and ways to have them answered: without a socket, and over one."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from denv.adapter.formats import CHAT, FORMATS, MESSAGES, RESPONSES, Format
from denv.adapter.refusals import RefusedError
from denv.adapter.server import Adapter
from denv.adapter.serving import make_adapter, serve
from denv.adapter.settings import AdapterSettings
from denv.adapter.wire import frame
from denv.records import Secret
from tests.adapter.reading import frames
from tests.adapter.scripted import Scripted

__all__ = ["CHAT", "FORMATS", "MESSAGES", "RESPONSES", "adapting", "ask", "body_of", "served"]

FLASH, PRO = "DeepSeek-V4.1-Flash", "DeepSeek-V4-Pro"
PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
}


def settings(**fields: Any) -> AdapterSettings:
    """Write settings as the file does, with dashes for underscores."""
    plain = {name.replace("_", "-"): value for name, value in fields.items()}
    return AdapterSettings.model_validate({"port": 0, **plain})


async def adapting(engine: Scripted, *, keys: Sequence[Secret] = (), **fields: Any) -> Adapter:
    return await make_adapter(settings(**fields), engine, keys=keys)


@asynccontextmanager
async def served(
    engine: Scripted, *, keys: Sequence[Secret] = (), **fields: Any
) -> AsyncIterator[tuple[aiohttp.ClientSession, Adapter]]:
    """Serve an engine, and give a session whose base is the server."""
    adapter = await adapting(engine, keys=keys, **fields)
    async with (
        serve(adapter) as url,
        aiohttp.ClientSession(url.removesuffix("/v1")) as session,
    ):
        yield session, adapter


def body_of(
    format_: Format,
    *,
    model: str = FLASH,
    text: str = "What is the weather?",
    thinking: bool = True,
    tools: bool = False,
    max_tokens: int | None = None,
    stop: Sequence[str] = (),
    **fields: Any,
) -> dict[str, Any]:
    """Write the same request for any of the APIs."""
    body: dict[str, Any] = {"model": model}
    if format_ is RESPONSES:
        body |= {"input": text, "reasoning": {"effort": "high" if thinking else "none"}}
        name = "max_output_tokens"
    else:
        body["messages"] = [{"role": "user", "content": text}]
        body["thinking"] = {"type": "enabled" if thinking else "disabled"}
        name = "max_tokens"
    if format_ is MESSAGES:
        max_tokens = max_tokens or 256
        if thinking:
            body["thinking"]["budget_tokens"] = 1024
    if max_tokens is not None:
        body[name] = max_tokens
    if tools:
        body["tools"] = [_tool(format_)]
    if stop:
        body["stop_sequences" if format_ is MESSAGES else "stop"] = list(stop)
    return body | fields


def _tool(format_: Format) -> dict[str, Any]:
    about = {"name": "get_weather", "description": "Tell the weather of a city."}
    if format_ is MESSAGES:
        return {**about, "input_schema": PARAMETERS}
    if format_ is RESPONSES:
        return {"type": "function", **about, "parameters": PARAMETERS}
    return {"type": "function", "function": {**about, "parameters": PARAMETERS}}


async def ask(adapter: Adapter, format_: Format, body: dict[str, Any]) -> bytes:
    """Have a request answered without a socket: the body of its answer."""
    asked = adapter.reader.read(format_, json.dumps(body).encode())
    if not asked.stream:
        return await adapter.writer.whole(asked)
    return b"".join([frame(*event) async for event in adapter.writer.events(asked)])


async def refused(adapter: Adapter, format_: Format, body: Any) -> tuple[int, dict[str, Any]]:
    """Have a request refused: status and error."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        adapter.reader.read(format_, raw)
    except RefusedError as error:
        return error.refusal.status, json.loads(error.refusal.body)["error"]
    raise AssertionError("the request was not refused")


async def events_of(response: aiohttp.ClientResponse) -> list[tuple[str | None, str]]:
    return frames(await response.read())


async def error_of(response: aiohttp.ClientResponse) -> dict[str, Any]:
    """Read an error, which has the official form."""
    document = await response.json()
    assert list(document) == ["error"]
    assert set(document["error"]) == {"message", "type", "param", "code"}
    error: dict[str, Any] = document["error"]
    return error
