"""Offline engines: batches from one thread, over a model that a test writes down."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from denv.adapter.engines.offline import Answer, OfflineEngine, find_model
from denv.adapter.engines.protocol import (
    Ended,
    EngineFault,
    EngineInfo,
    Prompt,
    Sampling,
    Token,
)
from denv.errors import UsageError
from tests.adapter.engines.stub import taken, written


class Model:
    """Answers each prompt with itself, or as ``answers`` says; ``gate`` holds a batch back."""

    def __init__(self, answers: Callable[[Sequence[Prompt]], Sequence[Answer]] | None = None):
        self.answers = answers or (lambda prompts: [echo(one.text) for one in prompts])
        self.batches: list[list[str | None]] = []
        self.threads: set[int] = set()
        self.gate = threading.Event()
        self.gate.set()
        self.begun = threading.Event()
        self.closed = False

    def describe(self) -> EngineInfo:
        return EngineInfo("model", "1", 100, frozenset(("text",)))

    def generate(self, prompts: Sequence[Prompt], sampling: Sequence[Sampling]) -> Sequence[Answer]:
        self.threads.add(threading.get_ident())
        self.batches.append([one.text for one in prompts])
        self.begun.set()
        self.gate.wait(20)
        return self.answers(prompts)

    def close(self) -> None:
        self.closed = True


def echo(text: str | None) -> list[Any]:
    raw = (text or "").encode()
    return [*(Token(chr(one), bytes([one]), id=one) for one in raw), Ended("stop", 3, 0, len(raw))]


async def ask(engine: OfflineEngine, text: str, **fields: Any) -> list[Any]:
    return await taken(engine.complete(Prompt(text), Sampling(9, **fields)))


async def begun(model: Model) -> None:
    assert await asyncio.to_thread(model.begun.wait, 20)
    model.begun.clear()


async def test_requests_are_gathered():
    """Requests that come together are one batch, in one thread that is not the loop's."""
    model = Model()
    engine = OfflineEngine(lambda: model, window_s=0.2)
    answers = await asyncio.gather(*(ask(engine, text) for text in "abc"))
    assert [written(items) for items in answers] == [b"a", b"b", b"c"]
    assert model.batches == [["a", "b", "c"]]
    assert model.threads != {threading.get_ident()}
    await engine.close()
    assert model.closed


async def test_a_full_batch_does_not_wait():
    """A batch begins when it is full, and the rest are the next."""
    model = Model()
    engine = OfflineEngine(lambda: model, batch=2, window_s=30)
    answers = await asyncio.wait_for(asyncio.gather(*(ask(engine, text) for text in "abcd")), 20)
    assert len(answers) == 4
    assert model.batches == [["a", "b"], ["c", "d"]]
    await engine.close()


async def test_a_request_that_is_cancelled_in_time_is_taken_out():
    """What is cancelled while another batch runs is never given to the model."""
    model = Model()
    model.gate.clear()
    engine = OfflineEngine(lambda: model)
    first = asyncio.create_task(ask(engine, "a"))
    await begun(model)
    second = asyncio.create_task(ask(engine, "b"))
    third = asyncio.create_task(ask(engine, "c"))
    await asyncio.sleep(0.01)
    second.cancel()
    model.gate.set()
    assert written(await first) == b"a"
    assert written(await third) == b"c"
    assert model.batches == [["a"], ["c"]]
    await engine.close()


async def test_the_answer_of_a_cancelled_request_is_dropped():
    """A batch that runs is finished; the others of it get their answers."""
    model = Model()
    model.gate.clear()
    engine = OfflineEngine(lambda: model, window_s=0.2)
    first = asyncio.create_task(ask(engine, "a"))
    second = asyncio.create_task(ask(engine, "b"))
    await begun(model)
    first.cancel()
    model.gate.set()
    assert written(await second) == b"b"
    with pytest.raises(asyncio.CancelledError):
        await first
    await engine.close()


async def test_stop_strings_are_cut():
    """The model need not know of stop strings."""
    engine = OfflineEngine(Model)
    items = await ask(engine, "one END two", stop=("END",))
    assert written(items) == b"one "
    assert items[-1] == Ended("stop", 3, 0, 11, "END")
    await engine.close()


def raising(_: Sequence[Prompt]) -> Sequence[Answer]:
    raise ValueError("secret")


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        (raising, "its model raised ValueError$"),
        (lambda prompts: [], "not one completion a prompt"),
        (lambda prompts: [[Token("a", b"a")] for _ in prompts], "not one end"),
        (lambda prompts: [[] for _ in prompts], "not one end"),
        (lambda prompts: [[Ended("stop"), Ended("stop")] for _ in prompts], "not one end"),
        (lambda prompts: [EngineFault("too long", status=400) for _ in prompts], "too long"),
    ],
)
async def test_faults_of_the_model(answers, said):
    """What a model does wrong is a fault of the request, and the next one is still served."""
    model = Model(answers)
    engine = OfflineEngine(lambda: model)
    with pytest.raises(EngineFault, match=said):
        await ask(engine, "a")
    model.answers = lambda prompts: [echo(one.text) for one in prompts]
    assert written(await ask(engine, "b")) == b"b"
    await engine.close()


async def test_a_fault_of_one_prompt_is_not_the_batchs():
    """Each prompt of a batch may have a fault of its own."""
    model = Model(lambda prompts: [EngineFault("no"), echo("b")])
    engine = OfflineEngine(lambda: model, window_s=0.2)
    both: list[Any] = await asyncio.gather(
        ask(engine, "a"), ask(engine, "b"), return_exceptions=True
    )
    first, second = both
    assert isinstance(first, EngineFault)
    assert written(second) == b"b"
    await engine.close()


async def test_the_queue_is_bounded():
    """What comes beyond the queue is refused at once, and may be tried again."""
    model = Model()
    model.gate.clear()
    engine = OfflineEngine(lambda: model, batch=1, queue=1)
    first = asyncio.create_task(ask(engine, "a"))
    await begun(model)
    second = asyncio.create_task(ask(engine, "b"))
    await asyncio.sleep(0.01)
    with pytest.raises(EngineFault, match="queue is full") as caught:
        await ask(engine, "c")
    assert caught.value.retry
    model.gate.set()
    await asyncio.gather(first, second)
    await engine.close()


async def test_closing_cancels_what_waits():
    """Who waits when the engine closes is not left waiting, and nothing is taken on after it."""
    model = Model()
    model.gate.clear()
    engine = OfflineEngine(lambda: model, batch=1)
    running = asyncio.create_task(ask(engine, "a"))
    await begun(model)
    waiting = asyncio.create_task(ask(engine, "b"))
    await asyncio.sleep(0.01)
    closing = asyncio.create_task(engine.close())
    await asyncio.sleep(0.01)
    model.gate.set()
    await closing
    for task in (running, waiting):
        with pytest.raises(EngineFault, match="it is closed"):
            await task
    assert model.closed
    with pytest.raises(EngineFault, match="it is closed"):
        await ask(engine, "c")


async def test_describe_makes_the_model():
    """The engine is what its model says, and is made once."""
    made: list[Model] = []

    def make() -> Model:
        made.append(Model())
        return made[-1]

    engine = OfflineEngine(make)
    infos = await asyncio.gather(engine.describe(), engine.describe())
    assert infos[0].name == "model"
    assert len(made) == 1
    await engine.close()


def test_entries():
    """A class is found by module and name; what is not there is said in one line."""
    found: object = find_model("json:JSONDecoder")
    assert found is json.JSONDecoder
    for entry, said in (
        ("nothing", "MODULE:CLASS"),
        ("no_such_module:Model", "cannot be imported"),
        ("json:Model", "has no Model"),
        ("string:digits", "no class"),
    ):
        with pytest.raises(UsageError, match=said):
            find_model(entry)
