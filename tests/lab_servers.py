"""Fixtures with real servers; a folder's conftest imports those that it uses.

The model is fetched once into the user's own cache, where the demo finds it too.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from denv.lab.cache import cache_dir
from denv.lab.model import fetch
from denv.lab.server import LlamaServer, ServerConfig, serve
from denv.lab.templates import template
from denv.lab.weights import requantise


@pytest.fixture(scope="session")
def weights() -> Path:
    """Fetch the real model's file."""
    return fetch(cache_dir(), progress=print)


@pytest.fixture(scope="session")
def coarse_weights(weights: Path) -> Path:
    """Give the same model, rounded to q4_0."""
    return requantise(weights, "q4_0", cache_dir())


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def lab_server(weights: Path) -> AsyncIterator[LlamaServer]:
    """Run a faithful server, with the template that renders tools."""
    async with serve(ServerConfig(weights=weights, chat_template=template("tools"))) as server:
        yield server


async def post(url: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Send JSON and give the status and the JSON that came."""
    async with aiohttp.ClientSession() as session, session.post(url, json=body) as response:
        return response.status, await response.json()


async def get(url: str) -> str:
    """Give the body of a page."""
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        return await response.text()


async def chat(url: str, text: str, **fields: Any) -> dict[str, Any]:
    """Ask one question greedily and give the first choice."""
    messages = [{"role": "user", "content": text}]
    body = {"messages": messages, "temperature": 0, "seed": 0, "max_tokens": 48, **fields}
    status, answer = await post(f"{url}/chat/completions", body)
    assert status == 200, answer
    choice: dict[str, Any] = answer["choices"][0]
    return choice
