"""The recordings of a real vLLM and a real llama.cpp hold what they are said to hold."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.stubs.replay import ReplayServer

FOLDER = Path(__file__).parent / "vllm"
TEXTS = json.loads((FOLDER / "texts.json").read_text(encoding="utf-8"))
VLLMS = ("vllm-float32", "vllm-bfloat16")
PARTS = ("japanese", "emoji", "french")
COMMA = 28
CACHE_MOVES = 0.01
"""By so many nats a prefix that comes out of llama.cpp's cache moves the likeliest token here."""

Ask = Callable[[ReplayServer, str, Any], Awaitable[Any]]


@pytest.fixture(params=VLLMS)
async def vllm(request: pytest.FixtureRequest) -> AsyncIterator[ReplayServer]:
    """Replay one of the vLLMs; a request that was not recorded fails the test."""
    async with ReplayServer(FOLDER / f"{request.param}.jsonl.xz") as server:
        yield server
    assert server.missed == []


@pytest.fixture
async def llama() -> AsyncIterator[ReplayServer]:
    """Replay llama.cpp; a request that was not recorded fails the test."""
    async with ReplayServer(FOLDER / "llama.jsonl.xz") as server:
        yield server
    assert server.missed == []


@pytest.fixture
async def ask() -> AsyncIterator[Ask]:
    """Give a function that posts to a server and gives the JSON that comes."""
    async with aiohttp.ClientSession() as session:

        async def post(server: ReplayServer, path: str, body: Any) -> Any:
            url = server.url.removesuffix("/v1") + path
            async with session.post(url, json=body) as answer:
                return await answer.json()

        yield post


def by_id(shown: dict[str, float]) -> dict[int, float]:
    """Read alternatives that were asked for as ids."""
    return {int(token.removeprefix("token_id:")): value for token, value in shown.items()}


def first(answer: Any) -> dict[int, float]:
    """Read llama.cpp's likeliest token."""
    (entry,) = answer["completion_probabilities"]
    likeliest = entry["top_logprobs"][0]
    return {likeliest["id"]: likeliest["logprob"]}


async def forced(
    ask: Ask, vllm: ReplayServer, text: Any
) -> AsyncIterator[tuple[int, dict[int, float], list[dict[int, float]]]]:
    """Give each token of a text with its alternatives: by one request; by a step, by a pushed."""
    prompt, answer = text["prompt_ids"], text["answer_ids"]
    body = {"max_tokens": 1, "temperature": 0}
    one = {**body, "prompt": prompt + answer, "prompt_logprobs": 20}
    rows = (await ask(vllm, "/v1/completions", one))["choices"][0]["prompt_logprobs"]
    step = {**body, "logprobs": 20, "return_tokens_as_token_ids": True}
    for position, token in enumerate(answer):
        at = {**step, "prompt": prompt + answer[:position]}
        pushed = {**at, "logit_bias": {str(token): 100}}
        steps = [await ask(vllm, "/v1/completions", each) for each in (at, pushed)]
        row = {int(key): entry["logprob"] for key, entry in rows[len(prompt) + position].items()}
        shown = [by_id(one["choices"][0]["logprobs"]["top_logprobs"][0]) for one in steps]
        yield token, row, shown


@pytest.mark.parametrize("vllm", ["vllm-float32"], indirect=True)
@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text["name"])
async def test_one_request_and_steps_give_the_same(ask: Ask, vllm: ReplayServer, text: Any) -> None:
    """In float32, prompt logprobs and steps agree in each alternative; pushing changes nothing."""
    async for token, row, (plain, pushed) in forced(ask, vllm, text):
        assert plain == pytest.approx({each: row[each] for each in plain}, abs=1e-6)
        assert pushed == pytest.approx({each: row[each] for each in pushed}, abs=1e-6)
        assert token in pushed


@pytest.mark.parametrize("vllm", ["vllm-bfloat16"], indirect=True)
@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text["name"])
async def test_bfloat16_moves_with_the_path(ask: Ask, vllm: ReplayServer, text: Any) -> None:
    """In bfloat16 the paths agree on the reference token to a tenth of a nat, and no better."""
    async for token, row, (_, pushed) in forced(ask, vllm, text):
        assert pushed[token] == pytest.approx(row[token], abs=0.1)


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text["name"])
async def test_both_engines_cut_alike(
    ask: Ask, vllm: ReplayServer, llama: ReplayServer, text: Any
) -> None:
    """Prompt and answer have the same ids, and render to the same prompt, on both sides."""
    messages = {"messages": text["messages"]}
    rendered = await ask(vllm, "/v1/chat/completions/render", messages)
    assert rendered["token_ids"] == text["prompt_ids"]
    assert (await ask(vllm, "/tokenize", messages))["tokens"] == text["prompt_ids"]
    assert (await ask(llama, "/apply-template", messages))["prompt"] == text["prompt"]
    for content in (text["prompt"], text["answer"]):
        ours = await ask(vllm, "/tokenize", {"prompt": content, "add_special_tokens": False})
        theirs = await ask(llama, "/tokenize", {"content": content})
        assert ours["tokens"] == theirs["tokens"]


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text["name"])
async def test_llama_shows_each_position_when_a_token_is_pushed(
    ask: Ask, llama: ReplayServer, text: Any
) -> None:
    """Unpushed, a part of a character has no logprobs; pushed, each position has twenty."""
    absent = 0
    for position, token in enumerate(text["answer_ids"]):
        prompt = text["prompt_ids"] + text["answer_ids"][:position]
        body = {"prompt": prompt, "n_predict": 1, "n_probs": 20}
        plain = await ask(llama, "/completion", body)
        pushed = await ask(llama, "/completion", {**body, "logit_bias": [[token, 100]]})
        if "completion_probabilities" not in pushed:
            absent += 1
            pushed = await ask(llama, "/completion", {**body, "logit_bias": [[COMMA, 100]]})
        (entry,) = pushed["completion_probabilities"]
        assert len(entry["top_logprobs"]) == 20
        if "completion_probabilities" in plain:
            assert first(plain) == pytest.approx(first(pushed), abs=CACHE_MOVES)
    assert (absent > 0) == (text["name"] in PARTS)
