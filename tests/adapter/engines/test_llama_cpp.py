"""llama.cpp's streams as a real server wrote them, read without a socket; faults by a stub."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest

from denv.adapter.engines.llama_cpp import Answer, LlamaCpp, request
from denv.adapter.engines.protocol import Ended, EngineFault, EngineInfo, Prompt, Sampling, Token
from tests.adapter.engines.stub import Stub, sse, stubbed, taken, written

DATA = Path(__file__).parent / "data"
GREEDY = Sampling(40, temperature=0.0)
EVENT = {
    "content": "Hi",
    "tokens": [5],
    "stop": False,
    "tokens_predicted": 1,
    "tokens_evaluated": 4,
}
LAST = {
    "content": "", "tokens": [], "stop": True, "stop_type": "limit",
    "tokens_predicted": 1, "tokens_evaluated": 4, "timings": {"cache_n": 3},
}  # fmt: skip


async def replayed(name: str, sampling: Sampling) -> list[Any]:
    """Complete with what a real server streamed."""
    stub = Stub({"/completion": (DATA / f"{name}.sse").read_bytes()})
    async with stubbed(stub) as http:
        return await taken(LlamaCpp(http).complete(Prompt(ids=(1,)), sampling))


async def answered(*events: object, sampling: Sampling = GREEDY) -> list[Any]:
    async with stubbed(Stub({"/completion": sse(*events, done=False)})) as http:
        return await taken(LlamaCpp(http).complete(Prompt(ids=(1,)), sampling))


async def test_a_recorded_answer_with_logprobs():
    """Ids, bytes, logprobs and alternatives are the server's; the end-of-sequence token is not."""
    items = await replayed("llama-paris", Sampling(40, logprobs=2))
    assert written(items) == b"The capital of France is Paris."
    first = items[0]
    assert (first.id, first.text, first.alternatives[0].id) == (504, "The", 504)
    assert first.logprob == pytest.approx(-0.527, abs=0.01)
    assert [len(item.alternatives) for item in items[:-1]] == [2] * 7
    assert items[-1] == Ended("stop", 16, 0, 8)


async def test_no_more_alternatives_than_were_asked_for():
    """For its own logprob alone the server is asked for one alternative, which is not passed on."""
    items = await replayed("llama-paris", Sampling(40, logprobs=0))
    assert items[0].logprob is not None
    assert items[0].alternatives == ()


async def test_characters_of_several_tokens():
    """The server tells of the last token of a character alone: it has no id, and a count."""
    items = await replayed("llama-emoji", GREEDY)
    unicorn = Token("🦄", "🦄".encode(), count=3)
    assert items == [unicorn, unicorn, Ended("length", 28, 0, 8)]


async def test_the_last_logprob_is_not_the_characters():
    """Of a character of several tokens no logprob is given, though the server writes one."""
    items = await replayed("llama-emoji-probs", Sampling(8, logprobs=1))
    assert [(item.logprob, item.alternatives) for item in items[:-1]] == [(None, ())] * 2


async def test_a_stop_string_is_cut_here():
    """The stop string is not sent, is not let out, and is named with the counts so far."""
    items = await replayed("llama-paris", Sampling(40, stop=("ance is",)))
    assert written(items) == b"The capital of Fr"
    assert items[-2].id is None
    assert items[-1] == Ended("stop", 16, None, 5, "ance is")


async def test_text_is_tokenized_as_it_stands():
    """Text goes through /tokenize without a token put before it, and its ids are completed."""
    stub = Stub({"/tokenize": {"tokens": [7, 8]}, "/completion": sse(EVENT, LAST)})
    async with stubbed(stub) as http:
        await taken(LlamaCpp(http, special=("<x>",)).complete(Prompt("<x>hi"), GREEDY))
    (path, asked), (_, body) = stub.asked
    assert (path, asked) == (
        "/tokenize",
        {"content": "<x>hi", "add_special": False, "parse_special": True},
    )
    assert (body["prompt"], body["preserved_tokens"], body["n_probs"]) == ([7, 8], ["<x>"], 0)


def test_nothing_is_left_to_the_servers_settings():
    """Temperature comes before top_p, and no other sampler cuts."""
    sampling = Sampling(9, temperature=0.6, top_p=0.95, stop=("x",), seed=0xFFFF_FFFF)
    body = request((1, 2), sampling, special=(), cache_prompt=False)
    assert body["samplers"] == ["temperature", "top_p"]
    assert (body["temperature"], body["top_p"], body["n_predict"]) == (0.6, 0.95, 9)
    assert body["seed"] == 0  # its own value for none is left out
    assert "stop" not in body
    assert request((1,), Sampling(1), special=(), cache_prompt=True)["seed"] == 0xFFFF_FFFF


async def test_describe():
    """Version, context of one slot and both forms of prompt come from /props."""
    props = {"default_generation_settings": {"n_ctx": 2048}, "build_info": "b9-abc"}
    async with stubbed(Stub({"/props": props})) as http:
        info = await LlamaCpp(http, cache_prompt=False).describe()
    both: frozenset[Literal["text", "ids"]] = frozenset(("text", "ids"))
    assert info == EngineInfo("llama.cpp", "b9-abc", 2048, both, deterministic=True)


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ({**EVENT, "content": 5}, "content is not a string"),
        ({**EVENT, "tokens": [1, 2]}, "not one token"),
        ({**EVENT, "tokens": ["1"]}, "not a whole number"),
        ({**EVENT, "tokens_predicted": 0}, "does not grow"),
        ({**EVENT, "tokens_predicted": None}, "not a whole number"),
        ({**LAST, "stop_type": "none"}, "stop_type"),
        ([], "not an object"),
    ],
)
async def test_wrong_shapes(event, said):
    """An answer of another shape is a fault that says which, never an empty text."""
    with pytest.raises(EngineFault, match=said):
        await answered(event)


async def test_absent_logprobs():
    """Logprobs that were asked for and are not there are a fault."""
    with pytest.raises(EngineFault, match="no logprobs"):
        await answered(EVENT, LAST, sampling=Sampling(4, logprobs=1))


async def test_an_answer_without_its_last_event():
    """A stream that ends before it says why is cut, and may be tried again."""
    with pytest.raises(EngineFault, match="broke off") as caught:
        await answered(EVENT)
    assert caught.value.retry


def test_a_token_without_text_waits_for_the_next():
    """Special tokens that the server does not write out keep their place and id."""
    answer = Answer(None)
    silent = {**EVENT, "content": "", "tokens": [9]}
    assert answer.take(silent) == []
    assert answer.take({**EVENT, "tokens_predicted": 2}) == [
        Token("", b"", id=9),
        Token("Hi", b"Hi", id=5),
    ]
    assert answer.take({**silent, "tokens_predicted": 3}) == []
    assert answer.take({**LAST, "stop_type": "eos", "tokens_predicted": 3}) == [
        Ended("stop", 4, 3, 3)
    ]
