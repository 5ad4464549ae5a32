"""Golden prompts asked of real little endpoints: passed, failed, or not proven."""

from __future__ import annotations

import asyncio

import pytest

from denv.errors import UsageError
from denv.rollout.plan import freeze
from denv.rollout.steps.golden import GoldenState, run_golden
from denv.store import Purpose
from tests import suites
from tests.stubs import answers


@pytest.fixture
def plan_of(tmp_path, release_of):
    """Freeze a release of two replicas with a golden suite of three cases."""

    def freeze_at(replicas, reference, *, golden=None, more=""):
        lines = suites.numbered(3) if golden is None else golden
        suites.write(tmp_path, lines, "golden.jsonl")
        suites.write(tmp_path, suites.numbered(9))
        named = ", ".join(f"{{name: {name}, url: '{stub.url}'}}" for name, stub in replicas.items())
        release = release_of(
            f"release: r\nstage: {{url: '{next(iter(replicas.values())).url}', model: stub{more}}}"
            f"\nparity: {{suite: suite.jsonl, reference: {{url: '{reference.url}', model: stub}}}}"
            f"\nrollout: {{golden: golden.jsonl, replicas: [{named}]}}\n"
        )
        return freeze(release, data_folder=tmp_path / "home")

    return freeze_at


def questions(stub):
    return [s.json["messages"][-1]["content"] for s in stub.seen if s.method == "POST"]


def numbers(stub):
    return [content for content in questions(stub) if content.startswith("number")]


def wrong_at(number):
    """Echo, but answer nonsense to one number."""

    def handler(request, n):
        content = request["messages"][-1]["content"]
        return answers.completion("no" if content == f"number {number};" else content)

    return handler


async def golden(plan, store, **options):
    return await run_golden(plan, plan.replicas, store=store, **options)


async def test_every_replica_answers_every_prompt(serve, store, plan_of):
    """Each replica is asked all prompts, the reference is asked them once for all replicas."""
    first, second, reference = await serve(), await serve(), await serve()
    plan = plan_of({"a": first, "b": second}, reference)
    outcome = await golden(plan, store, run_key="step-1")
    assert (outcome.state, outcome.cases, outcome.note) == (GoldenState.PASSED, (), "")
    assert dict(outcome.runs) == {"a": "step-1-0", "b": "step-1-1"}
    assert len(numbers(first)) == len(numbers(second)) == len(numbers(reference)) == 3
    kept = {row.run for row in store.browsing.runs(purpose=Purpose.GOLDEN)}
    assert kept == {"step-1-0", "step-1-1"}  # which are no verdict of a stage


async def test_one_wrong_answer_of_one_replica_fails(serve, store, plan_of):
    """Two of three are not enough, and replica and case are named."""
    first, second = await serve(), await serve(wrong_at(1))
    outcome = await golden(plan_of({"a": first, "b": second}, await serve()), store)
    assert (outcome.state, outcome.cases) == (GoldenState.FAILED, ("b: c1",))


async def test_a_reference_that_fails_proves_nothing(serve, store, plan_of):
    """Where the reference itself fails a prompt, its case is named and nothing is proven."""
    outcome = await golden(plan_of({"a": await serve()}, await serve(wrong_at(1))), store)
    assert outcome.state is GoldenState.UNPROVEN
    assert "c1 (reference-fail)" in outcome.note


async def test_a_reference_that_is_down_proves_nothing(serve, store, plan_of):
    """An unreachable reference is no fault of the replica."""
    plan = plan_of({"a": await serve()}, await serve(lambda r, n: answers.error(401, "no")))
    with pytest.raises(UsageError):
        await golden(plan, store)


async def test_a_stopped_step_proves_nothing(serve, store, plan_of):
    """A step that is stopped is cancelled, which is no pass; with its key it goes on later."""
    stop = asyncio.Event()
    stage, reference = await serve(), await serve()
    plan = plan_of({"a": stage}, reference)
    stop.set()
    outcome = await golden(plan, store, run_key="s", stop=stop)
    assert outcome.state is GoldenState.UNPROVEN
    assert "cancelled" in outcome.note
    assert (await golden(plan, store, run_key="s")).state is GoldenState.PASSED
    assert len(numbers(stage)) == 3


async def test_a_failure_stands_over_what_is_unproven(serve, store, plan_of):
    """The worst of the replicas decides."""
    first, second = await serve(), await serve(wrong_at(2))
    plan = plan_of({"a": first, "b": second}, await serve(wrong_at(1)))
    outcome = await golden(plan, store)
    assert (outcome.state, outcome.cases) == (GoldenState.FAILED, ("b: c2",))


async def test_a_run_is_continued_not_paid_again(serve, store, plan_of):
    """A step that is done once more with its key asks no prompt again."""
    stage, reference = await serve(), await serve()
    plan = plan_of({"a": stage}, reference)
    outcome = await golden(plan, store, run_key="step-1")
    assert await golden(plan, store, run_key="step-1") == outcome
    assert len(numbers(stage)) == len(numbers(reference)) == 3


async def test_no_golden_prompts_pass_with_a_note(serve, store, release_of, tmp_path):
    """Where none are named the step passes, sends nothing, and says so."""
    suites.write(tmp_path, suites.numbered(1))
    stub = await serve()
    release = release_of(
        f"release: r\nstage: {{url: '{stub.url}'}}\n"
        f"parity: {{suite: suite.jsonl, reference: {{url: '{stub.url}'}}}}\n"
    )
    outcome = await golden(freeze(release, data_folder=tmp_path / "home"), store)
    assert outcome.state is GoldenState.PASSED
    assert "no golden prompts are named" in outcome.note
    assert stub.seen == []


async def test_kinds_without_a_threshold_of_the_release_must_pass_too(serve, store, plan_of):
    """Tool prompts are held to all of them even where the release names a rate for exact alone."""
    tool = {"tool-call": {"name": "get_weather", "arguments": {"city": "Paris"}}}
    lines = [suites.line("t", "weather", tool, tools=[suites.WEATHER]), *suites.numbered(1)]
    outcome = await golden(plan_of({"a": await serve()}, await serve(), golden=lines), store)
    assert (outcome.state, outcome.cases) == (GoldenState.FAILED, ("a: t",))
