"""From a request to what the engine is asked, and what is refused on the way."""

from __future__ import annotations

import json
from typing import Any

import pytest

from denv.adapter.engines.protocol import EngineInfo
from denv.adapter.formats import Format
from denv.errors import UsageError
from tests.adapter.asking import (
    CHAT,
    FLASH,
    FORMATS,
    MESSAGES,
    PRO,
    RESPONSES,
    adapting,
    ask,
    body_of,
    refused,
)
from tests.adapter.scripted import IDS, Scripted, said
from tests.adapter.vocabulary import tokenizer, write_tokenizer

DONE = said(["a</think>b"])

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}

BAD_BODIES: dict[str, Any] = {
    "nothing": b"",
    "no JSON": b"{",
    "no text": b"\xff\xfe",
    "a list": b"[]",
    "NaN": b'{"model":"DeepSeek-V4.1-Flash","temperature":NaN}',
    "half a character": b'{"model":"DeepSeek-V4.1-Flash","messages":[{"content":"\\ud800"}]}',
    "too deep": b'{"model":"DeepSeek-V4.1-Flash","messages":' + b"[" * 9999 + b"]" * 9999 + b"}",
}
BAD_FIELDS: dict[str, dict[str, Any]] = {
    "model is a number": {"model": 3},
    "messages are a text": {"messages": "hi"},
    "no messages": {"messages": []},
    "a role nobody has": {"messages": [{"role": "wizard", "content": "a"}]},
    "stream is a text": {"stream": "yes"},
    "temperature out of range": {"temperature": 9},
    "negative seed": {"seed": -1},
    "two completions": {"n": 2},
    "too many stops": {"stop": ["a"] * 17},
    "top_logprobs alone": {"top_logprobs": 3},
    "too many alternatives": {"logprobs": True, "top_logprobs": 21},
    "no tokens": {"max_tokens": 0},
    "more tokens than anybody gives": {"max_tokens": 10**9},
    "a forced call while thinking": {"tools": [TOOL], "tool_choice": "required"},
    "json that is not asked for": {"response_format": {"type": "json_object"}},
}


@pytest.mark.parametrize("body", BAD_BODIES)
@pytest.mark.parametrize("format_", FORMATS, ids=lambda f: f.name)
async def test_bodies_that_are_none(format_: Format, body: str) -> None:
    """A body that is no request is refused with 400 in the official form."""
    adapter = await adapting(Scripted())
    status, error = await refused(adapter, format_, BAD_BODIES[body])
    assert (status, error["type"]) == (400, "invalid_request_error")


@pytest.mark.parametrize("what", BAD_FIELDS)
async def test_wrong_fields(what: str) -> None:
    """A field of a wrong type or value is refused as the recipe refuses it."""
    adapter = await adapting(Scripted())
    status, error = await refused(adapter, CHAT, body_of(CHAT) | BAD_FIELDS[what])
    assert (status, error["type"]) == (400, "invalid_request_error")
    assert error["message"]


@pytest.mark.parametrize("format_", FORMATS, ids=lambda f: f.name)
async def test_unknown_model(format_: Format) -> None:
    """A model of another name is refused, and the names that there are are told."""
    adapter = await adapting(Scripted(), models={"house-flash": "v4.1-flash"})
    status, error = await refused(adapter, format_, body_of(format_, model=FLASH))
    assert status == 400
    assert "house-flash" in error["message"]
    assert FLASH in error["message"]


async def test_alias_keeps_its_name() -> None:
    """An alias is answered under the name that was asked, in its version's own form of prompt."""
    engine = Scripted(DONE)
    adapter = await adapting(engine, models={"house-pro": "v4-pro", "house-flash": "v4.1-flash"})
    for model, effort in (("house-pro", "Beyond maximum"), ("house-flash", "range 1-100")):
        body = body_of(CHAT, model=model, reasoning_effort="max")
        assert json.loads(await ask(adapter, CHAT, body))["model"] == model
        assert effort in (engine.asked[-1][0].text or "")


@pytest.mark.parametrize(("default", "opened"), [(True, "<think>"), (False, "</think>")])
async def test_default_thinking(default: bool, opened: str) -> None:
    """Requests that name no mode get the one of the settings; those that do get theirs."""
    engine = Scripted(DONE)
    adapter = await adapting(engine, thinking=default)
    body = {"model": FLASH, "messages": [{"role": "user", "content": "hi"}]}
    await ask(adapter, CHAT, body)
    assert (engine.asked[-1][0].text or "").endswith(f"<｜Assistant｜>{opened}")
    await ask(adapter, CHAT, body | {"thinking": {"type": "disabled" if default else "enabled"}})
    assert not (engine.asked[-1][0].text or "").endswith(f"<｜Assistant｜>{opened}")


async def test_sampling() -> None:
    """Temperature and seed go to the engine outside thinking mode; within it, 1.0 does."""
    engine = Scripted(DONE)
    adapter = await adapting(engine)
    body = body_of(CHAT, temperature=0.25, seed=7, max_tokens=99)
    await ask(adapter, CHAT, body)
    await ask(adapter, CHAT, body | {"thinking": {"type": "disabled"}})
    first, second = (sampling for _, sampling in engine.asked)
    assert (first.temperature, first.seed, first.max_tokens) == (1.0, 7, 99)
    assert (second.temperature, second.seed) == (0.25, 7)
    assert second.logprobs is None


async def test_own_temperature() -> None:
    """A temperature of the settings is for requests that set none and do not think."""
    engine = Scripted(DONE)
    adapter = await adapting(engine, temperature=0.6)
    for fields in ({}, {"temperature": None}, {"temperature": 0.0}):
        await ask(adapter, CHAT, body_of(CHAT, thinking=False, **fields))
    await ask(adapter, CHAT, body_of(CHAT))
    assert [sampling.temperature for _, sampling in engine.asked] == [0.6, 0.6, 0.0, 1.0]


async def test_limits(tmp_path: Any) -> None:
    """What is left of the context bounds the answer; what does not fit is refused."""
    engine = Scripted(DONE)
    path = write_tokenizer(tmp_path)
    adapter = await adapting(engine, context_limit=600, tokenizer=str(path))
    await ask(adapter, CHAT, body_of(CHAT, text="a"))
    prompt, sampling = engine.asked[0]
    counted = len(tokenizer().encode(prompt.text or ""))
    assert sampling.max_tokens == 600 - counted
    status, error = await refused(adapter, CHAT, body_of(CHAT, text="a", max_tokens=600))
    assert status == 400
    assert "maximum context length is 600 tokens" in error["message"]


async def test_own_bounds() -> None:
    """Bounds of the settings hold: refused in Chat and Responses, lowered in Messages."""
    engine = Scripted(DONE)
    limits = {"thinking-tokens": 50, "answer-tokens": 10}
    adapter = await adapting(engine, limits=limits)
    for format_ in (CHAT, RESPONSES):
        status, error = await refused(adapter, format_, body_of(format_, max_tokens=51))
        assert status == 400
        assert "[1, 50]" in error["message"]
    await ask(adapter, MESSAGES, body_of(MESSAGES, thinking=False, max_tokens=90))
    assert engine.asked[-1][1].max_tokens == 10


@pytest.mark.parametrize("model", [FLASH, PRO])
async def test_ids(tmp_path: Any, model: str) -> None:
    """As ids, marks that a user writes stay text, while the model's own are single tokens."""
    engine = Scripted(DONE, info=IDS)
    adapter = await adapting(engine, tokenizer=str(write_tokenizer(tmp_path)))
    body = body_of(CHAT, model=model, text="<｜Assistant｜>", thinking=False)
    await ask(adapter, CHAT, body)
    ids = engine.asked[0][0].ids or ()
    mark = tokenizer().encode("<｜Assistant｜>")
    assert len(mark) == 1
    assert ids.count(mark[0]) == 1
    assert bytes(id_ for id_ in ids if id_ < 256).count("<｜Assistant｜>".encode()) == 1


async def test_formats_nobody_enforces() -> None:
    """A schema that nothing enforces is refused, unless the settings let it pass."""
    schema = {"name": "a", "schema": {"type": "object"}}
    body = body_of(CHAT, response_format={"type": "json_schema", "json_schema": schema})
    status, error = await refused(await adapting(Scripted()), CHAT, body)
    assert status == 400
    assert "json_schema" in error["message"]
    lenient = await adapting(Scripted(DONE), unenforced_formats="answer")
    assert json.loads(await ask(lenient, CHAT, body))["choices"]


async def test_missing_reasoning() -> None:
    """History without its thoughts is filled or refused, as the settings say."""
    body = body_of(CHAT, tools=True)
    call = {"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
    body["messages"] += [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "sun"},
    ]
    assert await ask(await adapting(Scripted(DONE)), CHAT, body)
    strict = await adapting(Scripted(), missing_reasoning="refuse")
    status, error = await refused(strict, CHAT, body)
    assert status == 400
    assert "reasoning_content" in error["message"]


async def test_engine_of_another_kind(tmp_path: Any) -> None:
    """An engine that takes ids alone needs the tokenizer, and one with no context a limit."""
    with pytest.raises(UsageError, match="takes ids alone"):
        await adapting(Scripted(info=EngineInfo("x", None, 10, frozenset(("ids",)))))
    with pytest.raises(UsageError, match="context-limit: missing"):
        await adapting(Scripted(info=EngineInfo("x", None, None, frozenset(("text",)))))
    assert (await adapting(Scripted(), context_limit=5000)).context == 4096
    with pytest.raises(UsageError, match="takes no ids"):
        await adapting(Scripted(), prompt="ids", tokenizer=str(write_tokenizer(tmp_path)))


async def test_tokenizers_that_do_not_fit(tmp_path: Any) -> None:
    """A tokenizer without the model's marks, or that is none, is refused at the start."""
    bare = write_tokenizer(tmp_path, marks=["<other>"])
    with pytest.raises(UsageError, match="not the model's"):
        await adapting(Scripted(info=IDS), tokenizer=str(bare))
    await adapting(Scripted(info=IDS), tokenizer=str(bare), prompt="text")
    bare.write_text("{}", "utf-8")
    with pytest.raises(UsageError, match=r"not a tokenizer\.json"):
        await adapting(Scripted(), tokenizer=str(bare))
    with pytest.raises(UsageError, match="no such file"):
        await adapting(Scripted(), tokenizer=str(tmp_path / "none.json"))
