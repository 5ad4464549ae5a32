"""The replay server answers what was recorded, and says so of everything else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.stubs.replay import ReplayServer

STEP = {"model": "m", "prompt": [1, 2], "max_tokens": 1, "temperature": 0, "logprobs": 20}
IDS = {"return_token_ids": True}
ANSWER = {"choices": [{"text": "a", "token_ids": [7], "prompt_token_ids": [1, 2]}]}


def written(folder: Path, *rows: tuple[str, Any, int, Any]) -> Path:
    """Write a recording: path, body, status, answer."""
    file = folder / "recorded.jsonl"
    names = ("path", "body", "status", "answer")
    lines = [
        {"method": "GET" if row[1] is None else "POST", **dict(zip(names, row, strict=True))}
        for row in rows
    ]
    file.write_text("\n".join(map(json.dumps, lines)))
    return file


async def ask(server: ReplayServer, path: str, body: Any = None) -> tuple[int, Any]:
    root = server.url.removesuffix("/v1")
    method = "GET" if body is None else "POST"
    async with (
        aiohttp.ClientSession() as session,
        session.request(method, root + path, json=body) as answer,
    ):
        raw = await answer.read()
        return answer.status, json.loads(raw) if raw else None


@pytest.mark.parametrize(
    "body",
    [
        STEP,
        {**STEP, "model": "other", "seed": 0, "cache_prompt": True, "stream": False, "n": 1},
        {key: value for key, value in STEP.items() if key != "temperature"},
        {"max_completion_tokens": 1, **{k: v for k, v in STEP.items() if k != "max_tokens"}},
    ],
)
async def test_answers_the_same_request_in_other_words(tmp_path: Path, body: Any) -> None:
    """The model's name, the seed, the cache and defaults do not make another request."""
    async with ReplayServer(written(tmp_path, ("/v1/completions", STEP, 200, ANSWER))) as server:
        assert await ask(server, "/v1/completions", body) == (200, ANSWER)
        assert server.missed == []
        assert server.seen[0].json == body


@pytest.mark.parametrize(
    ("path", "body", "names"),
    [
        ("/v1/completions", {**STEP, "prompt": [1, 3]}, "prompt"),
        ("/v1/completions", {**STEP, "max_tokens": 2}, "max_tokens"),
        ("/v1/completions", {**STEP, "logprobs": 5}, "logprobs"),
        ("/v1/completions", {**STEP, "logprobs": 0}, "logprobs"),
        ("/v1/completions", {**STEP, "temperature": 1}, "temperature"),
        ("/v1/completions", {**STEP, "prompt_logprobs": 0, "echo": True}, "echo, prompt_logprobs"),
        ("/v1/completions", {**STEP, **IDS}, "return_token_ids"),
        ("/v1/completions", {**STEP, "ignore_eos": True}, "ignore_eos"),
        ("/v1/completions", {**STEP, "logit_bias": {"5": 100}}, "logit_bias"),
        ("/tokenize", {"prompt": "a"}, "POST /tokenize"),
        ("/health", None, "GET /health"),
        ("/v1/completions", ["a"], "no JSON object"),
    ],
)
async def test_refuses_what_is_not_recorded(
    tmp_path: Path, path: str, body: Any, names: str
) -> None:
    """Another prompt, length, kind of logprobs or path is 404 and says where it differs."""
    async with ReplayServer(written(tmp_path, ("/v1/completions", STEP, 200, ANSWER))) as server:
        status, answer = await ask(server, path, body)
        assert status == 404
        assert answer["error"]["message"].endswith(names)
        assert len(server.missed) == 1


async def test_shows_ids_only_when_they_are_asked_for(tmp_path: Path) -> None:
    """What was recorded with ids answers a request without them as the engine does: blank."""
    file = written(tmp_path, ("/v1/completions", {**STEP, **IDS}, 200, ANSWER))
    async with ReplayServer(file) as server:
        assert await ask(server, "/v1/completions", {**STEP, **IDS}) == (200, ANSWER)
        _, blank = await ask(server, "/v1/completions", STEP)
        choice = {"text": "a", "token_ids": None, "prompt_token_ids": None}
        assert blank == {"choices": [choice]}


async def test_replays_refusals_and_empty_bodies(tmp_path: Path) -> None:
    """A recorded status is served with its body, and a body that was empty is empty."""
    refusal = {"error": {"message": "too long", "code": 400}}
    rows = (("/v1/completions", STEP, 400, refusal), ("/health", None, 200, None))
    async with ReplayServer(written(tmp_path, *rows)) as server:
        assert await ask(server, "/v1/completions", STEP) == (400, refusal)
        assert await ask(server, "/health") == (200, None)


async def test_a_rendered_prompt_does_not_depend_on_sampling(tmp_path: Path) -> None:
    """Where only a prompt is shown, lengths and logprobs count for nothing; messages do."""
    path, body = "/v1/chat/completions/render", {"messages": [{"role": "user", "content": "a"}]}
    file = written(tmp_path, (path, {**body, "max_tokens": 1}, 200, {"token_ids": [1]}))
    async with ReplayServer(file) as server:
        asked = {**body, "max_tokens": 9, "temperature": 1, "logprobs": True, "top_logprobs": 5}
        assert await ask(server, path, asked) == (200, {"token_ids": [1]})
        assert (await ask(server, path, {**body, "tools": [{}]}))[0] == 404


def test_two_answers_to_one_request_are_an_error(tmp_path: Path) -> None:
    """A recording that contradicts itself is not used."""
    row = ("/v1/completions", STEP, 200, ANSWER)
    with pytest.raises(ValueError, match="recorded twice"):
        ReplayServer(written(tmp_path, row, row))


async def test_a_pushed_token_counts_in_either_form(tmp_path: Path) -> None:
    """A bias that is sure to win is the same as a map and as pairs, whatever its size."""
    file = written(tmp_path, ("/completion", {**STEP, "logit_bias": {"5": 100}}, 200, ANSWER))
    async with ReplayServer(file) as server:
        assert await ask(server, "/completion", {**STEP, "logit_bias": [[5, 1e6]]}) == (200, ANSWER)
        for other in ({"6": 100}, {"5": 1}, [[5, False]]):
            assert (await ask(server, "/completion", {**STEP, "logit_bias": other}))[0] == 404
