"""A prompt that is far too long is refused soon, and holds nobody else up."""

from __future__ import annotations

import asyncio
import io
import json
import threading

import pytest

from denv.adapter.engines import lengths
from denv.adapter.engines.llama_cpp import LlamaCpp
from denv.adapter.engines.protocol import EngineFault, Prompt, Sampling
from denv.adapter.requests import Encoder
from tests.adapter.asking import CHAT, body_of, error_of, served
from tests.adapter.engines.stub import Stub, sse, stubbed, taken
from tests.adapter.scripted import IDS, Scripted, said
from tests.adapter.vocabulary import write_tokenizer

CONTEXT = 4096
DONE = said(["a</think>b"])


def large(body) -> io.BytesIO:
    return io.BytesIO(json.dumps(body).encode())


@pytest.mark.parametrize("prompt", ["ids", "text"])
async def test_only_its_beginning_is_counted(tmp_path, prompt):
    """Of eight megabytes a few thousand characters are enough to see that they cannot fit."""
    counted = []

    class Counting:
        """The tokenizer, which notes how much it is given."""

        def __init__(self, tokenizer):
            self._tokenizer = tokenizer

        def encode(self, text):
            counted.append(len(text))
            return self._tokenizer.encode(text)

    engine = Scripted(DONE, info=IDS)
    tokenizer = str(write_tokenizer(tmp_path))
    async with served(engine, tokenizer=tokenizer, prompt=prompt) as (session, adapter):
        encoder: Encoder = adapter.reader._encoder
        encoder._tokenizer = Counting(encoder._tokenizer)  # type: ignore[assignment]
        body = large(body_of(CHAT, text="hello world " * 700_000))
        async with session.post(CHAT.path, data=body) as response:
            assert response.status == 400
            assert "maximum context length is 4096" in (await error_of(response))["message"]
    assert counted == [16 * CONTEXT]
    assert not engine.asked


async def test_what_may_fit_is_counted_whole(tmp_path):
    """A long text of few tokens is not refused by its length."""
    engine = Scripted(DONE, info=IDS)
    tokenizer = str(write_tokenizer(tmp_path))
    async with served(engine, tokenizer=tokenizer, context_limit=200) as (session, _):
        for length, status in ((100, 200), (1000, 400), (10_000, 400)):
            async with session.post(CHAT.path, json=body_of(CHAT, text="a" * length)) as response:
                assert response.status == status


@pytest.mark.parametrize(("first", "refused"), [(2001, True), (2000, False)])
async def test_an_engine_is_asked_for_the_beginning_first(first, refused):
    """llama.cpp takes seconds for a megabyte: the whole is asked for where it may fit alone."""
    replies = {
        "/props": {"default_generation_settings": {"n_ctx": 1000}},
        "/tokenize": {"tokens": [1] * first},
        "/completion": sse({"stop": True, "stop_type": "eos", "tokens_predicted": 0}),
    }
    stub = Stub(replies)
    async with stubbed(stub) as http:
        engine = LlamaCpp(http)
        await engine.describe()
        asking = engine.complete(Prompt(text="b" * 50_000), Sampling(8))
        if refused:
            with pytest.raises(EngineFault, match="maximum context length is 1000") as fault:
                await taken(asking)
            assert fault.value.status == 400
        else:
            await taken(asking)
    tokenized = [len(asked["content"]) for path, asked in stub.asked if path == "/tokenize"]
    assert tokenized == ([16_000] if refused else [16_000, 50_000])


async def test_other_callers_are_answered_meanwhile(monkeypatch):
    """While huge prompts are read, small and large ones and /health are answered."""
    others = threading.Event()
    real = lengths.beginning

    def slow(text, *, context):
        if len(text) > 1_000_000:
            assert others.wait(30)
        return real(text, context=context)

    monkeypatch.setattr("denv.adapter.engines.lengths.beginning", slow)
    async with served(Scripted(DONE)) as (session, _):

        async def ask(length):
            body = large(body_of(CHAT, text="c" * length))
            async with session.post(CHAT.path, data=body) as response:
                return response.status

        huge = [asyncio.create_task(ask(2_000_000)) for _ in range(8)]
        await asyncio.sleep(0.3)
        assert await ask(10) == 200
        assert await ask(200_000) == 200
        async with session.get("/health") as response:
            assert response.status == 200
        assert not any(task.done() for task in huge)
        others.set()
        assert await asyncio.gather(*huge) == [200] * 8
