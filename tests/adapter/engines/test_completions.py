"""vLLM's streams as a real server wrote them (0.32.0, float32); other shapes by a stub."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from denv.adapter.engines.completions import VllmCompletions, request
from denv.adapter.engines.protocol import (
    Alternative,
    Ended,
    EngineFault,
    EngineInfo,
    Prompt,
    Sampling,
    Token,
)
from tests.adapter.engines.stub import Stub, sse, stubbed, taken, written

DATA = Path(__file__).parent / "data"
MODELS = json.loads((DATA / "vllm-models.json").read_text("utf-8"))
COUNTS = {"prompt_tokens": 4, "completion_tokens": 2}


def chunk(text: str, ids: list[int], **fields: object) -> dict[str, object]:
    return {"choices": [{"text": text, "token_ids": ids, "finish_reason": None, **fields}]}


async def completed(stream: bytes, sampling: Sampling) -> list[Any]:
    async with stubbed(Stub({"/v1/completions": stream})) as http:
        engine = VllmCompletions(http, model="m")
        return await taken(engine.complete(Prompt(ids=(1,)), sampling))


async def replayed(name: str, sampling: Sampling) -> list[Any]:
    return await completed((DATA / f"{name}.sse").read_bytes(), sampling)


async def test_a_recorded_answer_with_logprobs():
    """Ids and logprobs are the server's; the end-of-sequence token's id is left out."""
    items = await replayed("vllm-paris", Sampling(40, logprobs=2))
    assert written(items) == b"The capital of France is Paris."
    assert [item.id for item in items[:-1]] == [504, 3575, 282, 4649, 314, 7042, 30]
    assert items[0].logprob == pytest.approx(-0.587396502494812)
    assert items[0].alternatives == (
        Alternative(None, -0.587396502494812, id=504),
        Alternative(None, -2.316621780395508, id=60),
    )
    assert items[-1] == Ended("stop", 16, None, 8)


async def test_characters_of_several_tokens():
    """Each token of a split character has its id, and the last has the text."""
    items = await replayed("vllm-emoji", Sampling(8))
    assert written(items) == "🎉🦄".encode()
    assert [item.id for item in items[:3]] == [10813, 232, 227]
    assert [item.text for item in items[:3]] == ["", "", "🎉"]
    assert items[-1] == Ended("length", 28, None, 8)


async def test_characters_of_several_tokens_have_their_logprobs():
    """Each of them has its own logprob."""
    items = await replayed("vllm-emoji-probs", Sampling(8, logprobs=0))
    assert all(item.logprob < 0 for item in items[:-1])
    assert all(item.alternatives == () for item in items[:-1])


async def test_several_tokens_in_one_chunk():
    """A text of several tokens stands with the last of them."""
    stream = sse(chunk("ab", [1, 2], finish_reason="length"), {"choices": [], "usage": COUNTS})
    assert await completed(stream, Sampling(2)) == [
        Token("", b"", id=1),
        Token("ab", b"ab", id=2),
        Ended("length", 4, None, 2),
    ]


async def test_cached_tokens():
    """Where the server tells of cached tokens, so does the end."""
    usage = {**COUNTS, "prompt_tokens_details": {"cached_tokens": 3}}
    stream = sse(chunk("a", [1], finish_reason="length"), {"choices": [], "usage": usage})
    assert (await completed(stream, Sampling(2)))[-1] == Ended("length", 4, 3, 2)


async def test_a_late_text():
    """A text that comes without ids belongs to the tokens that wait for it."""
    stream = sse(chunk("", [1]), chunk("é", []), chunk("", [2], finish_reason="length"))
    items = await completed(stream, Sampling(2))
    assert items[0] == Token("é", "é".encode(), id=1)


async def test_an_aborted_answer():
    """What the server gave up ends as cancelled."""
    items = await completed(sse(chunk("a", [1], finish_reason="abort")), Sampling(2))
    assert items[-1].reason == "cancelled"


async def test_counts_that_do_not_come():
    """An answer whose counts are missing is whole all the same."""
    stream = sse(chunk("a", [1], finish_reason="length"))
    assert (await completed(stream, Sampling(2)))[-1] == Ended("length")


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (chunk("a", [1], finish_reason="error"), "finish_reason"),
        ({"choices": [{"text": "a"}]}, "token_ids is not a list"),
        ({"choices": [{"text": None, "token_ids": [1]}]}, "text is not a string"),
        ({"choices": None}, "choices is not a list"),
        (chunk("a", []), "without token_ids"),
    ],
)
async def test_wrong_shapes(document, said):
    """An answer of another shape is a fault that says which."""
    with pytest.raises(EngineFault, match=said):
        await completed(sse(document), Sampling(2))


@pytest.mark.parametrize(
    ("logprobs", "said"),
    [
        (None, "no logprobs"),
        ({"token_logprobs": []}, "not one logprob a token"),
        ({"token_logprobs": ["x"], "top_logprobs": [{}]}, "not a number"),
        ({"token_logprobs": [-1.0], "top_logprobs": [{"a": -1.0}]}, "no token id"),
    ],
)
async def test_absent_logprobs(logprobs, said):
    """Logprobs that were asked for and are not there are a fault."""
    with pytest.raises(EngineFault, match=said):
        await completed(sse(chunk("a", [1], logprobs=logprobs)), Sampling(2, logprobs=1))


async def test_a_stream_without_its_reason():
    """A stream that ends before it says why is cut."""
    with pytest.raises(EngineFault, match="broke off"):
        await completed(sse(chunk("a", [1])), Sampling(2))


async def test_describe():
    """Version and context are those that the server tells."""
    async with stubbed(Stub({"/v1/models": MODELS, "/version": {"version": "0.32.0"}})) as http:
        info = await VllmCompletions(http).describe()
    assert info == EngineInfo("vllm", "0.32.0", 4096, frozenset(("text", "ids")))


async def test_a_model_that_is_not_served():
    """A model that the server does not list is a fault that names it."""
    async with stubbed(Stub({"/v1/models": MODELS})) as http:
        with pytest.raises(EngineFault, match="does not serve other"):
            await VllmCompletions(http, model="other").describe()


async def test_without_a_model_the_one_that_is_served_is_asked():
    """The server's model need not be written down."""
    stream = sse(chunk("a", [1], finish_reason="length"))
    stub = Stub({"/v1/models": MODELS, "/v1/completions": stream})
    async with stubbed(stub) as http:
        await taken(VllmCompletions(http).complete(Prompt("hi"), Sampling(2)))
    assert stub.asked[1][1]["model"] == "smollm2"


def test_nothing_is_left_to_the_models_settings():
    """Text stands as it is, special tokens are written out, and stop strings are not sent."""
    body = request("m", Prompt("hi"), Sampling(9, stop=("x",), seed=2**62, logprobs=3))
    assert (body["prompt"], body["seed"], body["logprobs"]) == ("hi", 2**62, 3)
    assert (body["add_special_tokens"], body["skip_special_tokens"]) == (False, False)
    assert (body["top_k"], body["min_p"], body["repetition_penalty"]) == (0, 0.0, 1.0)
    assert "stop" not in body
    assert request("m", Prompt(ids=(1, 2)), Sampling(1))["prompt"] == [1, 2]
