"""The demo's three servers are what they are said to be."""

import pytest

from denv.lab.cache import cache_dir
from denv.lab.demo import demo_servers
from denv.suite import load_suite
from tests.lab_servers import chat

TOOL = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Add two whole numbers",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
        },
    },
}


@pytest.mark.lab
async def test_faithful_is_identical_and_damaged_is_not(weights):
    """The twin answers bit for bit; the damaged one moves logprobs and leaves calls in text."""
    assert weights.parent == cache_dir()
    told: list[str] = []
    async with demo_servers(cache_dir(), told.append) as servers:
        urls = (servers.reference, servers.faithful, servers.damaged)
        assert len(set(urls)) == 3
        ask = {"logprobs": True, "top_logprobs": 5, "max_tokens": 10}
        plain = [await chat(url, "Why is the sky blue?", **ask) for url in urls]
        calls = [await chat(url, "Add 12 and 30.", tools=[TOOL]) for url in urls]
    assert plain[0] == plain[1]
    assert plain[0]["logprobs"] != plain[2]["logprobs"]
    names = [len(choice["message"].get("tool_calls") or []) for choice in calls]
    assert names == [1, 1, 0]
    assert "<tool_call>" in calls[2]["message"]["content"]
    assert load_suite(servers.recipe.suite).cases > 20
    assert told
