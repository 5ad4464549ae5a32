"""The requests that deepseek-recipe documents are answered, in the form that it documents."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.adapter.asking import CHAT, FLASH, MESSAGES, RESPONSES, body_of, served
from tests.adapter.reading import frames, streamed, whole
from tests.adapter.scripted import Scripted, said

HI = [{"role": "user", "content": "hi"}]
HELLO = [{"role": "user", "content": "Hello"}]

EXAMPLES: dict[str, tuple[Any, dict[str, Any]]] = {
    "readme": (CHAT, {"messages": HELLO}),
    "streaming page": (CHAT, {"messages": HELLO, "thinking": {"type": "disabled"}}),
    "server, chat": (CHAT, {"messages": HI}),
    "server, responses": (RESPONSES, {"input": "hi"}),
    "server, messages": (MESSAGES, {"messages": HI}),
    "server, own temperature": (RESPONSES, {"input": "hi", "temperature": 0.25}),
    "server, ignored search": (RESPONSES, {"input": "hi", "tools": [{"type": "web_search"}]}),
}
SEARCH = {"type": "web_search_20250305", "name": "web_search"}
IMAGE = {"type": "image_url", "image_url": {"url": "https://images.example/cat.png"}}

REFUSED: dict[str, tuple[Any, Any, str]] = {
    "no fields": (CHAT, {}, "missing field `messages`"),
    "searching": (MESSAGES, {"messages": HI, "tools": [SEARCH]}, "server tools"),
    "an image": (
        CHAT,
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "what?"}, IMAGE]}]},
        "no images",
    ),
}


@pytest.mark.parametrize("example", EXAMPLES)
async def test_documented_requests(example: str) -> None:
    """Each is answered whole, and streamed with its API's own last event."""
    format_, fields = EXAMPLES[example]
    thought = "" if "thinking" in fields else "Hm.</think>"
    engine = Scripted(said([thought, "Hello ", "world!"] if thought else ["Hello ", "world!"]))
    async with served(engine) as (session, _):
        body = {"model": FLASH, **fields}
        async with session.post(format_.path, json=body) as response:
            assert response.status == 200
            assert response.content_type == "application/json"
            read = whole(format_.name, await response.read())
        async with session.post(format_.path, json=body | {"stream": True}) as response:
            assert response.status == 200
            assert response.headers["Content-Type"].startswith("text/event-stream")
            assert streamed(format_.name, frames(await response.read())) == read
    assert read.text == "Hello world!"
    asked, sampling = engine.asked[0]
    assert (asked.text or "").count("<｜User｜>") == 1
    # A model that thinks is sampled at 1.0, whatever was asked for.
    assert sampling.temperature == 1.0


@pytest.mark.parametrize("example", REFUSED)
async def test_documented_refusals(example: str) -> None:
    """What the documented server refuses is refused with its status and its form."""
    format_, fields, said_ = REFUSED[example]
    engine = Scripted()
    body = fields and {"model": FLASH, **fields}
    async with (
        served(engine) as (session, _),
        session.post(format_.path, data=json.dumps(body)) as response,
    ):
        assert response.status == 400
        error = (await response.json())["error"]
    assert error["type"] == error["code"] == "invalid_request_error"
    assert error["param"] is None
    assert said_ in error["message"]
    assert not engine.asked


async def test_conversation_with_history() -> None:
    """Thoughts, calls and results of earlier turns go into the prompt in the model's own marks."""
    engine = Scripted(said(["Fine.</think>Sunny."]))
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Weather?"},
        {
            "role": "assistant",
            "content": "",
            "reasoning_content": "I ask.",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "sun"},
    ]
    async with (
        served(engine) as (session, _),
        session.post(CHAT.path, json=body_of(CHAT, tools=True, messages=messages)) as response,
    ):
        assert response.status == 200
    prompt = engine.asked[0][0].text or ""
    assert "Be brief." in prompt
    assert '<｜DSML｜ parameter name="city" string="true">Oslo' in prompt
    assert prompt.index("I ask.") < prompt.index("Oslo") < prompt.rindex("sun")
