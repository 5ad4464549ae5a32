"""A measurement from its instrument to its document, against stub servers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from denv.errors import HarnessError, ResumeError, RunCancelledError, SelfCheckError
from denv.instruments.probes import CHAT, Cost, Finding, Probe, Together, ask, json_of
from denv.instruments.speed import Speed, Target
from denv.observe import observe
from denv.records import Endpoint, Exchange, Side
from denv.runner import measuring, run_measure
from denv.runner.benching import run_bench
from denv.runner.probing import spent_of
from tests.stubs import answers

SCHEMA = "denv.parity.counting/1"


@dataclass(frozen=True)
class Counting:
    """Asks each side for some texts and counts those that agree."""

    texts: tuple[str, ...] = ("a", "b", "c")
    seed: int = 0
    most: int | None = None
    breaks: bool = False
    name: str = "counting"
    schema: str = SCHEMA

    def settings(self) -> Mapping[str, object]:
        return {"texts": list(self.texts), "seed": self.seed}

    def cost(self) -> Mapping[Side, Cost]:
        return {side: Cost(len(self.texts)) for side in Side}

    def strand(self, facts):
        results = yield Together([self._one(text, facts) for text in self.texts], self.most)
        if self.breaks:
            raise ValueError("broken")
        return Finding("faithful", {"agree": sum(results)})

    def _one(self, text, facts):
        assert facts[Side.STAGE].model == "stub"
        messages = [{"role": "user", "content": text}]
        body = {"messages": messages, "temperature": 0, "max_tokens": 5, "stream": False}
        found = yield Together([ask(Probe(side, CHAT, body)) for side in Side])
        texts = [observe(exchange).text for exchange in found]
        return texts[0] == texts[1]


def endpoint(stub, **options):
    return Endpoint(url=stub.url, **{"retries": 0, "concurrency": 2, **options})


async def measure(stage, reference, *, store, instrument=None, **options):
    return await run_measure(
        instrument or Counting(),
        stage=endpoint(stage),
        reference=endpoint(reference),
        store=store,
        **options,
    )


def asked(stub):
    return sorted(
        content
        for s in stub.seen
        if s.method == "POST" and (content := s.json["messages"][-1]["content"]) != "Hello"
    )


async def test_document_names_its_sides_and_what_was_spent(store, serve):
    """Schema, id, times, sides, settings and costs stand around what the instrument found."""
    stub = await serve()
    measured = await measure(stub, stub, store=store)
    document = measured.document
    assert measured.exit_verdict == "faithful"
    assert (document["schema"], document["agree"]) == (SCHEMA, 3)
    assert document["stage"]["model"] == "stub"
    assert document["settings"] == {"texts": ["a", "b", "c"], "seed": 0}
    assert document["spent"]["stage"]["requests"] == 3
    assert document["spent"]["stage"]["completion_tokens"] > 0
    assert store.get_measure(measured.measure).document == document


async def test_resume_asks_only_what_has_no_answer(store, serve):
    """A measurement that was cut short goes on: no answered probe is sent again."""
    stage, reference = await serve(), await serve()
    stop = asyncio.Event()

    def handler(request, n):
        if n > 1:
            stop.set()
        return answers.completion("same")

    slow = await serve(handler)
    names: list[str] = []
    with pytest.raises(RunCancelledError, match="--resume"):
        await measure(
            slow,
            reference,
            store=store,
            instrument=Counting(tuple("abcdefghijklmnop"), most=1),
            stop=stop,
            on_start=names.append,
        )
    before = len(asked(slow))
    assert 0 < before < 16
    assert store.get_measure(names[0]).state == "stopped"
    again = await measure(
        slow,
        reference,
        store=store,
        instrument=Counting(tuple("abcdefghijklmnop"), most=1),
        resume=names[0],
    )
    assert again.measure == names[0]
    # What was in flight when it was stopped may be asked twice, no more than the slots.
    assert len(set(asked(slow))) == 16
    assert len(asked(slow)) <= 16 + 2
    assert again.document["spent"]["stage"]["requests"] == 16
    assert asked(stage) == []


@pytest.mark.parametrize("most", [1, None])
async def test_equal_probes_are_asked_once(store, serve, most):
    """The same request of one side and repeat has one answer, in flight or from the journal."""
    stub = await serve()
    twice = Counting(("a", "a", "a"), most=most)
    measured = await measure(stub, stub, store=store, instrument=twice)
    assert measured.document["agree"] == 3
    assert measured.document["spent"]["stage"]["requests"] == 1
    assert asked(stub) == ["a", "a"]  # once for each side


async def test_what_was_measured_otherwise_is_not_resumed(store, serve):
    """Other settings, another instrument and an unknown id are named."""
    stub = await serve()
    done = await measure(stub, stub, store=store)
    with pytest.raises(ResumeError, match=r"these have changed: instrument\.seed"):
        await measure(stub, stub, store=store, instrument=Counting(seed=1), resume=done.measure)
    with pytest.raises(ResumeError, match="is a measurement of counting"):
        await measure(
            stub, stub, store=store, instrument=Counting(name="other"), resume=done.measure
        )
    with pytest.raises(ResumeError, match="there is no measurement"):
        await measure(stub, stub, store=store, resume="counting-1")


async def test_an_unreachable_side_is_an_error(store, serve):
    """Nothing can be measured where a side does not answer."""
    stub = await serve()
    gone = Endpoint(url="http://127.0.0.1:9/v1", model="m", retries=0)
    with pytest.raises(HarnessError, match="the reference is unreachable"):
        await run_measure(Counting(), stage=endpoint(stub), reference=gone, store=store)


async def test_a_fault_of_the_instrument_is_not_swallowed(store, serve):
    """What an instrument raises comes out as it is, from within side-by-side strands too."""
    stub = await serve()
    with pytest.raises(ValueError, match="broken"):
        await measure(stub, stub, store=store, instrument=Counting(breaks=True))


async def test_refused_fields_are_dropped_and_extra_fields_added(store, serve):
    """Chat probes are written in the endpoint's dialect, with the fields declared for it."""

    def handler(request, n):
        if "seed" in request:
            return answers.error(400, "Unsupported parameter: 'seed'")
        return answers.completion("x")

    @dataclass(frozen=True)
    class Seeded(Counting):
        def _one(self, text, facts):
            body = {"messages": [{"role": "user", "content": text}], "seed": 0, "max_tokens": 5}
            exchange = yield Probe(Side.STAGE, CHAT, body)
            return json_of(exchange) is not None

    picky = await serve(handler)
    measured = await run_measure(
        Seeded(),
        stage=endpoint(picky, extra={"provider": "p"}),
        reference=endpoint(await serve()),
        store=store,
    )
    assert measured.document["agree"] == 3
    last = picky.seen[-1].json
    assert last["provider"] == "p"
    assert next(iter(last)) == "model"


async def test_other_paths_begin_at_the_root(store, serve):
    """A raw path is asked beside the base, with the same key; a GET has no body."""

    @dataclass(frozen=True)
    class Raw(Counting):
        def strand(self, facts):
            posted = yield Probe(Side.STAGE, "/tokenize", {"content": "x"})
            got = yield Probe(Side.STAGE, "/props")
            return Finding("faithful", {"found": [posted.status, got.status]})

    stub = await serve(answers.always(answers.completion("x")))
    measured = await measure(stub, stub, store=store, instrument=Raw())
    assert measured.document["found"] == [200, 200]
    paths = [(seen.method, seen.path) for seen in stub.seen][-2:]
    assert paths == [("POST", "/tokenize"), ("GET", "/props")]


def test_answers_to_several_prompts_are_counted_together():
    """A list of answers, as to several prompts of one request, costs the sum of their tokens."""
    body = (
        b'[{"tokens_evaluated": 10, "tokens_predicted": 3},'
        b' {"tokens_evaluated": 7, "tokens_predicted": 2}, null]'
    )
    assert spent_of(Exchange(200, body=body)) == Cost(1, 17, 5)


async def test_what_asks_questions_needs_the_answers_selfcheck(store, serve, monkeypatch):
    """Where an answer is read wrong, an instrument of questions sends nothing; others go on."""

    def wrong(_folder):
        raise SelfCheckError("first failing: answer-plain")

    monkeypatch.setattr(measuring, "require_answers_selfcheck", wrong)
    stub = await serve()
    for name in ("answers", "derivations", "all"):
        with pytest.raises(SelfCheckError, match="answer-plain"):
            await measure(stub, stub, store=store, instrument=Counting(name=name))
    assert stub.seen == []
    assert (await measure(stub, stub, store=store)).exit_verdict == "faithful"


async def test_a_stop_does_not_wait_for_the_first_question(store, serve):
    """A side that never answers the question before all others holds no stop up."""
    never, asking, stop = asyncio.Event(), asyncio.Event(), asyncio.Event()

    def handler(request, n):
        asking.set()
        return never.wait()

    stub = await serve(handler)
    running = asyncio.create_task(measure(stub, stub, store=store, stop=stop))
    await asking.wait()
    stop.set()
    with pytest.raises(RunCancelledError, match="before anything was measured"):
        await asyncio.wait_for(running, 2)


async def test_a_stop_of_a_speed_run_does_not_wait_either(serve):
    """As for any measurement."""
    never, asking, stop = asyncio.Event(), asyncio.Event(), asyncio.Event()

    def handler(request, n):
        asking.set()
        return never.wait()

    stub = await serve(handler)
    speed = Speed(targets=(Target("stage", Side.STAGE),))
    running = asyncio.create_task(run_bench(speed, endpoints={"stage": endpoint(stub)}, stop=stop))
    await asking.wait()
    stop.set()
    with pytest.raises(RunCancelledError):
        await asyncio.wait_for(running, 2)
