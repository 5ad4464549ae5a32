"""Real llama.cpp, as a server of its own and in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from denv.adapter.engines.http import EngineHttp
from denv.adapter.engines.in_process import InProcessLlama
from denv.adapter.engines.llama_cpp import LlamaCpp
from denv.adapter.engines.protocol import Ended, Engine, EngineFault, Prompt, Sampling, Token
from denv.errors import UsageError
from denv.lab.server import LlamaServer
from tests.adapter.engines.stub import taken, written
from tests.lab_servers import post

pytestmark = [pytest.mark.lab, pytest.mark.asyncio(loop_scope="session")]

CHAT = "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n"
PARIS, POEM = CHAT.format("What is the capital of France?"), CHAT.format("Write a long poem.")
PARTY = CHAT.format("Say 🎉🦄") + "🎉🦄🎉🦄"
GREEDY = Sampling(40, temperature=0.0)


@pytest.fixture
def root(lab_server: LlamaServer) -> str:
    return lab_server.url.removesuffix("/v1")


@pytest_asyncio.fixture(loop_scope="session")
async def over_http(root: str) -> AsyncIterator[LlamaCpp]:
    engine = LlamaCpp(EngineHttp(root), cache_prompt=False)
    yield engine
    await engine.close()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def in_process(weights: Path) -> AsyncIterator[InProcessLlama]:
    engine = InProcessLlama(weights, context=1024, parallel=2, queue=1, cache_prompt=False)
    yield engine
    await engine.close()


@pytest.fixture(params=["over_http", "in_process"])
def engine(request: pytest.FixtureRequest) -> Engine:
    made: Engine = request.getfixturevalue(request.param)
    return made


Busy = Callable[[], Coroutine[Any, Any, dict[int, int]]]


@pytest.fixture
def busy(engine: Engine, root: str) -> Busy:
    """Give what asks an engine for its slots: id and tokens decoded of those that are busy."""

    async def ask() -> dict[int, int]:
        return {
            one: decoded for one, (works, decoded) in (await seen(engine, root)).items() if works
        }

    return ask


async def seen(engine: Engine, root: str) -> dict[int, tuple[bool, int]]:
    http = EngineHttp(root)
    if isinstance(engine, InProcessLlama):
        native, _ = await engine._load()
        http = EngineHttp("http://x", socket=native.socket)
    try:
        slots = await http.get("/slots")
    finally:
        await http.close()
    return {
        slot["id"]: (slot["is_processing"], slot.get("next_token", [{}])[0].get("n_decoded", 0))
        for slot in slots
    }


async def until(busy: Busy, wanted: int) -> dict[int, int]:
    """Wait until so many slots are busy, and give them."""
    async with asyncio.timeout(60):
        while len(found := await busy()) != wanted:
            await asyncio.sleep(0.02)
    return found


async def ids_of(root: str, text: str) -> tuple[int, ...]:
    body = {"content": text, "add_special": False, "parse_special": True}
    _, answer = await post(f"{root}/tokenize", body)
    return tuple(answer["tokens"])


async def test_greedy_text_is_the_servers_own(engine, root):
    """Temperature 0 gives the text of the server's own plain /completion."""
    body = {"prompt": PARIS, "n_predict": 40, "temperature": 0, "cache_prompt": False}
    _, own = await post(f"{root}/completion", body)
    items = await taken(engine.complete(Prompt(PARIS), GREEDY))
    assert written(items).decode() == own["content"]
    counts = (own["tokens_evaluated"], own["tokens_predicted"])
    assert (items[-1].prompt_tokens, items[-1].completion_tokens) == counts
    assert items[-1].reason == "stop"


async def test_ids_in_are_text_in(engine, root):
    """A prompt of ids and its text give the same tokens, logprobs and counts."""
    sampling = Sampling(20, temperature=0.0, logprobs=3)
    ids = await ids_of(root, PARIS)
    by_ids = await taken(engine.complete(Prompt(ids=ids), sampling))
    by_text = await taken(engine.complete(Prompt(PARIS), sampling))
    assert by_ids == by_text
    assert by_ids[-1].prompt_tokens == len(ids)


async def test_ids_out_are_text_out(engine, root):
    """The ids of an answer are those of its text, and each carries its own bytes."""
    items = await taken(engine.complete(Prompt(PARIS), GREEDY))
    given = [item.id for item in items[:-1]]
    assert tuple(given) == await ids_of(root, written(items).decode())


async def test_logprobs(engine):
    """Greedily the likeliest alternative is the chosen token, in id, bytes and logprob."""
    sampling = Sampling(8, temperature=0.0, logprobs=3)
    items = await taken(engine.complete(Prompt(PARIS), sampling))
    for token in items[:-1]:
        best = token.alternatives[0]
        assert (best.id, best.bytes, best.logprob) == (token.id, token.bytes, token.logprob)
        assert len(token.alternatives) == 3


async def test_logprobs_are_the_models_own(engine):
    """Temperature and top_p choose, and do not change what is told of the model."""
    cold = await taken(engine.complete(Prompt(PARIS), Sampling(1, temperature=0.0, logprobs=5)))
    warm = Sampling(1, temperature=1.7, top_p=0.3, seed=1, logprobs=5)
    assert (await taken(engine.complete(Prompt(PARIS), warm)))[0].alternatives == (
        cold[0].alternatives
    )


async def test_split_characters(engine):
    """A character that is split over tokens comes whole, as one token that counts for all."""
    items = await taken(engine.complete(Prompt(PARTY), Sampling(6, temperature=0.0)))
    assert [item.count for item in items[:-1]] == [3, 3]
    assert all(len(item.bytes) == 4 and item.id is None for item in items[:-1])
    assert items[-1] == Ended("length", items[-1].prompt_tokens, 0, 6)


async def test_special_tokens_are_written_out_where_they_are_named(root, weights):
    """A special token comes without text, unless it is one of those that the engine is told."""
    http = EngineHttp(root)
    prompt = Prompt(PARIS + "The capital of France is Paris.<|im_end|>\n")
    sampling = Sampling(3, temperature=0.0)
    silent = await taken(LlamaCpp(http, cache_prompt=False).complete(prompt, sampling))
    assert b"<|im_start|>" not in written(silent)
    named = LlamaCpp(http, special=("<|im_start|>",), cache_prompt=False)
    told = await taken(named.complete(prompt, sampling))
    assert [item.id for item in told[:-1]] == [item.id for item in silent[:-1]]
    if any(item.id == 1 for item in told[:-1]):
        assert b"<|im_start|>" in written(told)
    await http.close()


async def test_a_seed_draws_the_same(engine):
    """A seed, also one of 63 bits, gives the same text twice; another one gives another."""
    first, again, other = [
        written(await taken(engine.complete(Prompt(POEM), Sampling(24, seed=seed))))
        for seed in (2**63 - 1, 2**63 - 1, 5)
    ]
    assert first == again != other


async def test_stop_strings(engine):
    """A stop string is not let out, and frees the engine."""
    items = await taken(
        engine.complete(Prompt(PARIS), Sampling(40, temperature=0.0, stop=("aris",)))
    )
    assert written(items).decode().endswith(" P")
    assert (items[-1].reason, items[-1].stop_text) == ("stop", "aris")
    assert items[-1].cached_tokens == 0


async def test_closing_ends_it_in_the_engine(engine, busy, root):
    """The engine stops generating when the generator is closed, long before its limit."""
    given = engine.complete(Prompt(POEM), Sampling(900))
    assert isinstance(await anext(given), Token)
    (slot,) = await busy()
    await given.aclose()
    await until(busy, 0)
    assert (await seen(engine, root))[slot][1] < 100


async def test_cancelling_ends_it_in_the_engine(engine, busy, root):
    """Where the task is cancelled while the prompt is still read, no token is generated."""
    long = Prompt(CHAT.format("word " * 150))
    task = asyncio.create_task(taken(engine.complete(long, Sampling(500))))
    (slot,) = await until(busy, 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(busy, 0)
    assert (await seen(engine, root))[slot][1] <= 1


async def test_several_at_a_time(engine):
    """Requests that run together do not mix."""
    prompts = [CHAT.format(f"What is the capital of {land}?") for land in ("France", "Italy")]
    alone = [written(await taken(engine.complete(Prompt(one), GREEDY))) for one in prompts]
    together = await asyncio.gather(
        *(taken(engine.complete(Prompt(one), GREEDY)) for one in prompts)
    )
    assert [written(items) for items in together] == alone


@pytest.mark.parametrize("prompt", [Prompt(ids=(999_999,)), Prompt("a " * 4000)])
async def test_refused_prompts(engine, prompt):
    """What the engine refuses is a fault with its status."""
    with pytest.raises(EngineFault) as caught:
        await taken(engine.complete(prompt, GREEDY))
    assert (caught.value.status, caught.value.retry) == (400, False)


async def test_describe(engine):
    """An engine tells its name, context and what it takes."""
    info = await engine.describe()
    assert info.context_tokens == (1024 if isinstance(engine, InProcessLlama) else 2048)
    assert info.takes == {"text", "ids"}
    assert info.version
    assert info.deterministic


async def test_the_queue_in_this_process_is_bounded(in_process):
    """What comes beyond slots and queue is refused, and may be tried again."""
    running = [in_process.complete(Prompt(POEM), Sampling(500)) for _ in range(2)]
    for given in running:
        await anext(given)
    waiting = asyncio.create_task(taken(in_process.complete(Prompt(PARIS), GREEDY)))
    await asyncio.sleep(0)
    with pytest.raises(EngineFault, match="queue is full") as caught:
        await taken(in_process.complete(Prompt(PARIS), GREEDY))
    assert caught.value.retry
    for given in running:
        await given.aclose()
    assert written(await waiting)


async def test_weights_that_are_none(tmp_path):
    """A file that is no model is a fault, and nothing is left behind."""
    weights = tmp_path / "broken.gguf"
    weights.write_bytes(b"GGUF nothing")
    engine = InProcessLlama(weights)
    with pytest.raises(EngineFault, match="did not start"):
        await engine.describe()
    await engine.close()


async def test_without_the_binding(monkeypatch, tmp_path):
    """Where xllamacpp is missing one line says how to get it."""
    monkeypatch.setitem(__import__("sys").modules, "xllamacpp", None)
    with pytest.raises(UsageError, match=r"denv-parity\[lab\]"):
        await InProcessLlama(tmp_path / "m.gguf").describe()
