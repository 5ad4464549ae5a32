"""Runs from a suite to a report, against stub servers that answer as each test says."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from fractions import Fraction

import pytest

from denv.errors import EndpointError, ResumeError, UsageError
from denv.records import Endpoint, Kind, Price, Secret, Thresholds
from denv.report import validate
from denv.runner import Settings, run_parity
from tests import suites
from tests.stubs import answers


def asked(stub):
    """Give the contents of all chat requests but the preflight's, in order."""
    contents = [s.json["messages"][-1]["content"] for s in stub.seen if s.method == "POST"]
    return [content for content in contents if content != "Hello"]


def endpoint(stub, **options):
    return Endpoint(url=stub.url, **{"retries": 0, **options})


async def run(suite, stage, reference, *, store, settings=None, **options):
    report = await run_parity(
        suite,
        stage=stage if isinstance(stage, Endpoint) else endpoint(stage),
        reference=reference if isinstance(reference, Endpoint) else endpoint(reference),
        settings=settings,
        store=store,
        **options,
    )
    document = {**report.head, "cases": list(report.cases())}
    validate(document)
    return document


def wrong_at(*numbers):
    """Echo, but answer nonsense to these numbers."""

    def handler(request, n):
        content = request["messages"][-1]["content"]
        bad = any(content == f"number {number};" for number in numbers)
        return answers.completion("no" if bad else content)

    return handler


async def test_same_answers_pass(tmp_path, store, serve):
    """A stage that answers as the reference does passes, and every case is in the report."""
    stub = await serve()
    document = await run(suites.load(tmp_path, suites.numbered(250)), stub, stub, store=store)
    assert document["verdict"] == "pass"
    assert document["kinds"]["exact"]["pass"] == 250
    assert [case["id"] for case in document["cases"]] == [f"c{n}" for n in range(250)]
    assert len(asked(stub)) == 500
    assert document["stage"]["requests"] == 250
    assert document["stage"]["usage"] == {"prompt_tokens": 2250, "completion_tokens": 500}


async def test_one_wrong_answer_fails_all_of_exact(tmp_path, store, serve):
    """Without thresholds all exact cases must pass; the failing one is named."""
    stage, reference = await serve(wrong_at(7)), await serve()
    document = await run(suites.load(tmp_path, suites.numbered(20)), stage, reference, store=store)
    assert document["verdict"] == "fail"
    failing = [case for case in document["cases"] if case["outcome"] == "fail"]
    assert [case["id"] for case in failing] == ["c7"]
    assert failing[0]["stage"]["text"] == "no"
    assert failing[0]["reference"]["text"] == "number 7;"


async def test_threshold_decides(tmp_path, store, serve):
    """19 of 20 reach 95 % and miss 96 %."""
    stage, reference = await serve(wrong_at(7)), await serve()
    suite = suites.load(tmp_path, suites.numbered(20))
    for rate, verdict in ((Fraction(95, 100), "pass"), (Fraction(96, 100), "fail")):
        settings = Settings(thresholds=Thresholds(rates={Kind.EXACT: rate}))
        document = await run(suite, stage, reference, store=store, settings=settings)
        assert document["verdict"] == verdict


async def test_prices_give_a_cost(tmp_path, store, serve):
    """Ten answers of 9 + 2 tokens at 1 and 2 a million cost 10 · (9 + 4) / 10⁶."""
    stub = await serve()
    stage = endpoint(stub, price=Price(1.0, 2.0))
    document = await run(suites.load(tmp_path, suites.numbered(10)), stage, stub, store=store)
    assert document["stage"]["cost"] == pytest.approx(130e-6)
    assert document["reference"]["cost"] is None


# ---------------------------------------------------------------- sides that are not there


async def test_unreachable_stage_fails(tmp_path, store, serve):
    """A stage that cannot be reached fails the run without a case sent."""
    reference = await serve()
    gone = Endpoint(url="http://127.0.0.1:9/v1", model="m", retries=0)
    document = await run(suites.load(tmp_path, suites.numbered(3)), gone, reference, store=store)
    assert document["verdict"] == "fail"
    assert "unreachable" in document["reasons"][0]
    assert asked(reference) == []


async def test_unreachable_reference_is_an_error(tmp_path, store, serve):
    """A reference that cannot be reached is an error, never a failure of the stage."""
    stage = await serve()
    gone = Endpoint(url="http://127.0.0.1:9/v1", model="m", retries=0)
    document = await run(suites.load(tmp_path, suites.numbered(3)), stage, gone, store=store)
    assert document["verdict"] == "error"
    assert asked(stage) == []


@pytest.mark.parametrize("side", ["stage", "reference"])
async def test_wrong_key_is_a_usage_error(tmp_path, store, serve, side):
    """A key that is refused ends the run before a case is sent, and the error names it."""
    locked, open_ = await serve(answers.needs_key("right")), await serve()
    stage, reference = (locked, open_) if side == "stage" else (open_, locked)
    with pytest.raises(EndpointError, match="401"):
        await run(suites.load(tmp_path, suites.numbered(3)), stage, reference, store=store)
    assert asked(locked) == asked(open_) == []
    assert store.latest_run() is None


# ---------------------------------------------------------------- resuming


async def stopped(suite, stage, reference, *, store, after):
    """Run until ``after`` cases are done, then stop as an interrupt does."""
    stop = asyncio.Event()
    started: list[str] = []

    def watch(progress):
        if progress.done >= after:
            stop.set()

    document = await run(
        suite, stage, reference, store=store, stop=stop, watch=watch, on_start=started.append
    )
    assert document["verdict"] == "cancelled"
    assert document["run"] == started[0]
    return document


async def test_stopped_run_is_cancelled_and_resumes(tmp_path, store, serve):
    """What was answered before an interrupt is not asked again, and the report is whole."""
    stage, reference = await serve(wrong_at(3, 150)), await serve()
    suite = suites.load(tmp_path, suites.numbered(200))
    first = await stopped(suite, stage, reference, store=store, after=100)
    assert 100 <= len(first["cases"]) < 200
    kept = {f"number {case['index']};" for case in first["cases"]}
    before = len(asked(stage))
    document = await run(suite, stage, reference, store=store, resume=first["run"])
    assert not kept & set(asked(stage)[before:])
    assert document["run"] == first["run"]
    assert len(document["cases"]) == 200
    assert [c["id"] for c in document["cases"] if c["outcome"] == "fail"] == ["c3", "c150"]


async def test_resumed_report_equals_an_uninterrupted_one(tmp_path, store, serve):
    """Counts, causes and cases do not depend on where a run was interrupted."""
    stage, reference = await serve(wrong_at(3, 150)), await serve()
    suite = suites.load(tmp_path, suites.numbered(200))
    first = await stopped(suite, stage, reference, store=store, after=60)
    resumed = await run(suite, stage, reference, store=store, resume=first["run"])
    whole = await run(suite, stage, reference, store=store)
    for key in ("kinds", "checks", "causes", "verdict", "reasons", "settings", "limits"):
        assert resumed[key] == whole[key], key


@pytest.mark.parametrize("change", ["suite", "settings", "model"])
async def test_resume_refuses_what_has_changed(tmp_path, store, serve, change):
    """Another suite, setting or model cannot continue a run; the error names the change."""
    stub = await serve(models=["a"])
    suite = suites.load(tmp_path, suites.numbered(50))
    first = await stopped(suite, stub, stub, store=store, after=10)
    settings, stage = Settings(), endpoint(stub)
    if change == "suite":
        suite = suites.load(tmp_path, suites.numbered(51))
    elif change == "settings":
        settings = replace(settings, max_tokens=5)
    else:
        stage = endpoint(stub, model="b")
    with pytest.raises(ResumeError, match={"settings": "max_tokens"}.get(change, change)):
        await run(suite, stage, stub, store=store, settings=settings, resume=first["run"])


async def test_resume_of_nothing(tmp_path, store, serve):
    """A run that does not exist cannot be resumed."""
    stub = await serve()
    suite = suites.load(tmp_path, suites.numbered(1))
    with pytest.raises(ResumeError, match="no run 'x'"):
        await run(suite, stub, stub, store=store, resume="x")


async def test_finished_run_asks_again_only_what_was_not_answered(tmp_path, store, serve):
    """References that gave no answer are asked again; a failure of the stage stays one."""
    broken = True

    def flaky(request, n):
        content = request["messages"][-1]["content"]
        if broken and content in {"number 2;", "number 5;"}:
            return answers.error(500, "boom")
        return answers.completion(content)

    stage, reference = await serve(wrong_at(3)), await serve(flaky)
    suite = suites.load(tmp_path, suites.numbered(10))
    first = await run(suite, stage, reference, store=store)
    assert first["kinds"]["exact"]["reference-error"] == 2
    broken = False
    before = len(asked(stage)), len(asked(reference))
    again = await run(suite, stage, reference, store=store, resume=first["run"])
    assert again["kinds"]["exact"]["pass"] == 9
    assert again["kinds"]["exact"]["fail"] == 1
    assert len(asked(stage)) == before[0]
    assert sorted(asked(reference)[before[1] :]) == ["number 2;", "number 5;"]


# ---------------------------------------------------------------- cache and offline


async def test_reference_answers_are_used_again(tmp_path, store, serve):
    """Within max-age the reference is not asked at all, not even for a preflight."""
    stage, reference = await serve(), await serve()
    suite = suites.load(tmp_path, suites.numbered(150))
    settings = Settings(max_age_s=3600)
    known = endpoint(reference, model="stub")
    await run(suite, stage, known, store=store, settings=settings)
    before = len(reference.seen)
    document = await run(suite, stage, known, store=store, settings=settings)
    assert len(reference.seen) == before
    assert document["verdict"] == "pass"
    assert document["reference"]["cached"] == 150


@pytest.mark.parametrize("change", ["model", "extra", "headers", "byte", "age"])
async def test_any_change_is_a_miss(tmp_path, store, serve, change):
    """Another model, extra field, header or byte of the request asks the reference again."""
    stage, reference = await serve(), await serve()
    lines = suites.numbered(3)
    known = endpoint(reference, model="stub")
    await run(suites.load(tmp_path, lines), stage, known, store=store)
    before = len(asked(reference))
    settings = Settings(max_age_s=0.0 if change == "age" else 3600)
    if change == "byte":
        lines[1]["messages"][0]["content"] += " "
    changed = {
        "model": replace(known, model="other"),
        "extra": replace(known, extra={"top_k": 1}),
        "headers": replace(known, headers={"x-route": "b"}),
    }.get(change, known)
    await run(suites.load(tmp_path, lines), stage, changed, store=store, settings=settings)
    assert len(asked(reference)) - before == (1 if change == "byte" else 3)


async def test_answers_of_the_future_have_no_age(tmp_path, store, serve, monkeypatch):
    """What is stamped later than any clock may be is not taken for fresh."""
    stage, reference = await serve(), await serve()
    suite = suites.load(tmp_path, suites.numbered(3))
    known = endpoint(reference, model="stub")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 10**9)
    await run(suite, stage, known, store=store)
    monkeypatch.undo()
    before = len(asked(reference))
    await run(suite, stage, known, store=store, settings=Settings(max_age_s=3600))
    assert len(asked(reference)) - before == 3


async def test_offline_replays_both_sides(tmp_path, store, serve):
    """Offline a run gives the same outcomes from earlier answers and opens no connection."""
    stage, reference = await serve(wrong_at(1)), await serve()
    suite = suites.load(tmp_path, suites.numbered(5))
    sides = endpoint(stage, model="stub"), endpoint(reference, model="stub")
    live = await run(suite, *sides, store=store)
    before = len(stage.seen), len(reference.seen)
    replayed = await run(suite, *sides, store=store, settings=Settings(offline=True))
    assert (len(stage.seen), len(reference.seen)) == before
    assert replayed["kinds"] == live["kinds"]
    assert replayed["verdict"] == "fail"


async def test_offline_miss_names_the_case(tmp_path, store, serve):
    """Offline an answer that is not kept is a usage error that names side and case."""
    stub = await serve()
    sides = endpoint(stub, model="stub"), endpoint(stub, model="other")
    await run(suites.load(tmp_path, suites.numbered(2)), *sides, store=store)
    suite = suites.load(tmp_path, suites.numbered(3))
    with pytest.raises(UsageError, match="stage to case 'c2'"):
        await run(suite, *sides, store=store, settings=Settings(offline=True))


# ---------------------------------------------------------------- how cases are asked


async def test_fail_fast_stops_when_the_threshold_is_out_of_reach(tmp_path, store, serve):
    """With 98 % of 100 cases required the run stops at the third failure, and fails."""
    stage = await serve(wrong_at(*range(0, 100, 2)))
    settings = Settings(
        fail_fast=True, thresholds=Thresholds(rates={Kind.EXACT: Fraction(98, 100)})
    )
    one = endpoint(stage, concurrency=1)
    reference = endpoint(await serve(), concurrency=1)
    document = await run(
        suites.load(tmp_path, suites.numbered(100)), one, reference, store=store, settings=settings
    )
    assert document["verdict"] == "fail"
    assert document["kinds"]["exact"]["fail"] == 3
    assert len(document["cases"]) < 10


async def test_repeats_ask_each_side_that_often(tmp_path, store, serve):
    """Every case is asked N times a side, and a stage that varies is marked unstable."""

    def varying(request, n):
        return answers.completion(request["messages"][-1]["content"] if n % 2 else "no")

    stage, reference = await serve(varying), await serve()
    document = await run(
        suites.load(tmp_path, suites.numbered(1)),
        stage,
        reference,
        store=store,
        settings=Settings(repeats=3),
    )
    assert (len(asked(stage)), len(asked(reference))) == (3, 3)
    assert document["stage"]["requests"] == 3
    case = document["cases"][0]
    assert case["cause"] == "unstable" or any("unstable" in text for text in case["warnings"])


async def test_tool_cases_are_asked_both_ways(tmp_path, store, serve):
    """With both streams, a call that comes only without streaming is the parser's fault."""
    call = {
        "id": "k",
        "type": "function",
        "function": {"name": "get_weather", "arguments": '{"city":"Paris"}'},
    }

    def half(request, n):
        if not request["stream"]:
            return answers.completion(None, finish="tool_calls", tool_calls=[call])
        chunk = (
            b'data: {"choices":[{"index":0,"delta":{"content":"hm"},"finish_reason":"stop"}]}\n\n'
        )
        return answers.sse([chunk, b"data: [DONE]\n\n"])(request, n)

    stage, reference = (
        await serve(half),
        await serve(
            lambda request, n: answers.completion(None, finish="tool_calls", tool_calls=[call])
        ),
    )
    lines = [
        suites.line("text", "number 1;", {"regex": "."}),
        suites.line(
            "tool",
            "Weather in Paris?",
            {"tool-call": {"name": "get_weather", "arguments": {"city": "Paris"}}},
            tools=[suites.WEATHER],
        ),
    ]
    document = await run(
        suites.load(tmp_path, lines),
        stage,
        reference,
        store=store,
        settings=Settings(stream="both"),
    )
    tool = document["cases"][1]
    assert (tool["outcome"], tool["cause"]) == ("fail", "parser")
    ways = [s.json["stream"] for s in stage.seen if s.method == "POST" and "tools" in s.json]
    assert sorted(ways) == [False, True]


async def test_refused_field_is_dropped_once_and_reported(tmp_path, store, serve):
    """A server that refuses ``seed`` is asked without it, and the report says so."""
    stage, reference = await serve(answers.refuses_fields("seed")), await serve()
    lines = [suites.line(f"h{n}", "Hello there", {"contains": "Hello"}) for n in range(20)]
    document = await run(suites.load(tmp_path, lines), stage, reference, store=store)
    assert document["verdict"] == "pass"
    assert document["stage"]["dropped_fields"] == ["seed"]
    assert document["stage"]["retried"] == 0
    assert sum("seed" in s.json for s in stage.seen if s.method == "POST") == 1


async def test_retries_of_the_stage_fail_the_run(tmp_path, store, serve):
    """More than 2 % and at least 3 retried requests of the stage are a lack of availability."""
    failed = set()

    def flaky(request, n):
        content = request["messages"][-1]["content"]
        if content in {"number 1;", "number 4;", "number 7;"} and content not in failed:
            failed.add(content)
            return answers.error(500, "boom", headers={"Retry-After": "0"})
        return answers.completion(content)

    stage, reference = await serve(flaky), await serve()
    document = await run(
        suites.load(tmp_path, suites.numbered(20)),
        endpoint(stage, retries=2),
        reference,
        store=store,
    )
    assert document["kinds"]["exact"]["pass"] == 20
    assert document["verdict"] == "fail"
    assert "retried" in document["reasons"][0]


async def test_no_document_holds_a_key(tmp_path, store, serve, monkeypatch):
    """A key that the server quotes in its errors is in no document and not in the store."""
    key = "sk-planted-0123456789abcdef"

    def quoting(request, n):
        content = request["messages"][-1]["content"]
        return (
            answers.error(400, f"bad key {key}") if "2" in content else answers.completion(content)
        )

    stage, reference = await serve(quoting), await serve()
    document = await run(
        suites.load(tmp_path, suites.numbered(3)),
        endpoint(stage, key=Secret(key)),
        reference,
        store=store,
    )
    assert key not in str(document)
    store.close()
    for path in (tmp_path / "home").iterdir():
        assert key.encode() not in path.read_bytes()
