"""A real llama.cpp server behind the router."""

from __future__ import annotations

import json

import pytest

from denv.lab.server import LlamaServer
from tests.lab_servers import lab_server, weights
from tests.router.replicas import running, table_of

__all__ = ["lab_server", "weights"]

pytestmark = [pytest.mark.lab, pytest.mark.asyncio(loop_scope="session")]

ASK = {
    "messages": [{"role": "user", "content": "What is the capital of France?"}],
    "temperature": 0,
    "seed": 0,
    "max_tokens": 16,
}


async def test_a_real_server_answers_through_the_router_as_it_does_alone(
    lab_server: LlamaServer, tmp_path
):
    """Greedy answers are the same with and without the router, streamed and not."""
    async with running(tmp_path, table_of((lab_server.url, 1))) as router:
        async with router.session.post(f"{lab_server.url}/chat/completions", json=ASK) as direct:
            wanted = (await direct.json())["choices"][0]["message"]["content"]
        status, body, _ = await router.chat(ASK)
        assert status == 200
        assert json.loads(body)["choices"][0]["message"]["content"] == wanted
        status, body, headers = await router.chat({**ASK, "stream": True})
        assert headers["Content-Type"].startswith("text/event-stream")
        events = [line[6:] for line in body.decode().split("\n") if line.startswith("data: ")]
        assert events.pop() == "[DONE]"
        deltas = [choice["delta"] for e in events for choice in json.loads(e)["choices"]]
        assert "".join(delta.get("content") or "" for delta in deltas) == wanted


async def test_an_error_of_a_real_server_passes(lab_server: LlamaServer, tmp_path):
    """What a real server refuses reaches the caller as the server said it."""
    async with running(tmp_path, table_of((lab_server.url, 1))) as router:
        status, body, _ = await router.chat({"messages": "none"})
        assert 400 <= status < 600
        assert "error" in json.loads(body)
