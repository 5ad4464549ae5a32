"""Repeats of a run: how they are asked, and what they show."""

from __future__ import annotations

import asyncio
from collections import Counter

from denv.records import Endpoint
from denv.report import validate
from denv.runner import Settings, run_parity
from tests import suites
from tests.stubs import answers


async def run(suite, stage, reference, *, store, **settings):
    sides = [Endpoint(url=stub.url, concurrency=4) for stub in (stage, reference)]
    report = await run_parity(
        suite,
        stage=sides[0],
        reference=sides[1],
        settings=Settings(**settings),
        store=store,
    )
    document = {**report.head, "cases": list(report.cases())}
    validate(document)
    return document


class Busy:
    """A stub's handler that answers otherwise while more than one request is in flight."""

    def __init__(self, *, steady: bool) -> None:
        self.steady = steady
        self.in_flight = 0
        self.alone: Counter[str] = Counter()

    async def __call__(self, request, n):
        content = request["messages"][-1]["content"]
        self.in_flight += 1
        busiest = 0
        for _ in range(8):
            busiest = max(busiest, self.in_flight)
            await asyncio.sleep(0.004)
        self.in_flight -= 1
        self.alone[content] += busiest == 1
        noisy = busiest > 1 and not self.steady and content != "Hello"
        return answers.completion(content + (" and so on" if noisy else ""))


async def test_every_third_answer_is_asked_alone(tmp_path, store, serve):
    """With three repeats each case is asked once with nothing else in flight on that side."""
    stage, reference = Busy(steady=True), Busy(steady=True)
    suite = suites.load(tmp_path, suites.numbered(12))
    document = await run(suite, await serve(stage), await serve(reference), store=store, repeats=3)
    assert document["verdict"] == "pass"
    for handler in (stage, reference):
        assert all(handler.alone[f"number {n};"] >= 1 for n in range(12))
    noise = document["noise"]
    assert noise["cases"] == 12
    assert noise["stage"]["identical"] == {
        "warm": {"cases": 12, "identical": 12},
        "alone": {"cases": 12, "identical": 12},
    }
    assert noise["reference"]["kinds"]["exact"]["agreement"] == 1.0
    assert noise["deterministic"]["held"] is True


async def test_changes_under_load_are_shown_apart(tmp_path, store, serve):
    """An engine whose answers depend on the batch keeps its outcome, and is seen to vary."""
    stage, reference = Busy(steady=False), Busy(steady=True)
    engine = {"name": "stub", "version": None, "deterministic": True}
    suite = suites.load(tmp_path, suites.numbered(12))
    document = await run(
        suite, await serve(stage), await serve(reference), store=store, repeats=3, engine=engine
    )
    assert document["verdict"] == "pass"  # contains is met either way
    noise = document["noise"]
    assert noise["stage"]["identical"]["alone"]["identical"] < 12
    assert noise["deterministic"]["declared"] is True
    assert noise["deterministic"]["held"] is False
    assert "declared deterministic" in noise["deterministic"]["finding"]
    assert any("rely mostly on tool-call" in limit for limit in document["limits"])


async def test_a_reference_that_wavers_cannot_hold_a_stage_to_the_threshold(tmp_path, store, serve):
    """Where the reference's repeats disagree too often, the threshold is refused with figures."""
    seen: Counter[str] = Counter()

    def wavering(request, n):
        content = request["messages"][-1]["content"]
        seen[content] += 1
        return answers.completion("no" if seen[content] == 2 else content)

    suite = suites.load(tmp_path, suites.numbered(20))
    reference = Endpoint(url=(await serve(wavering)).url, concurrency=1)
    report = await run_parity(
        suite,
        stage=Endpoint(url=(await serve()).url),
        reference=reference,
        settings=Settings(repeats=2),
        store=store,
    )
    assert report.head["verdict"] == "inconclusive"
    reason = report.head["kinds"]["exact"]["reason"]
    assert "is refused: the reference agrees with itself in 0 of 20 cases" in reason
    # one-sided upper limit of 0 in 20: 1 - 0.05^(1/20) = 13.9 %
    assert "at most in 13.9 %" in reason
