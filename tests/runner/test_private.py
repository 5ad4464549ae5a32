"""A private part: asked among the suite's cases, compared with them, and shown as counts alone."""

from __future__ import annotations

import asyncio
import json
import random
from dataclasses import replace
from zlib import crc32

import pytest

from denv.errors import ResumeError, UsageError
from denv.records import Case, Contains, Endpoint
from denv.report import validate, write_html, write_json, write_junit, write_markdown
from denv.runner import PrivatePart, Settings, close_shards, open_shards, run_parity, run_shard
from denv.runner.drawing import Shapes
from denv.runner.portion import interleaved
from tests import suites
from tests.stubs import answers

PUBLIC, PRIVATE = 60, 20


def cases(first, count, *, prefix="c"):
    """Give cases whose echoed answer contains their number."""
    return [
        suites.line(f"{prefix}{n}", f"number {n};", {"contains": f"number {n};"}, max_tokens=32)
        for n in range(first, first + count)
    ]


@pytest.fixture
def suite(tmp_path):
    return suites.load(tmp_path, cases(0, PUBLIC))


@pytest.fixture
def private(tmp_path):
    lines = cases(1000, PRIVATE, prefix="hidden-")
    return PrivatePart(suites.load(tmp_path, lines, "private.jsonl"))


def said(request):
    return request["messages"][-1]["content"]


def asked(stub):
    """Give the numbers that were asked, in order, the preflight's question apart."""
    texts = [said(seen.json) for seen in stub.seen if seen.method == "POST"]
    return [int(text.split()[1].rstrip(";")) for text in texts if text.startswith("number")]


def cheating(share=100):
    """Answer the public cases rightly, and damage this share (in %) of all others."""

    def handler(request, n):
        text = said(request)
        known = text == "Hello" or int(text.split()[1].rstrip(";")) < PUBLIC
        damaged = not known and crc32(text.encode()) % 100 < share
        return answers.completion("no idea" if damaged else text)

    return handler


def weak(share=25):
    """Fail this share (in %) of all cases, whichever they are."""

    def handler(request, n):
        text = said(request)
        return answers.completion("no" if crc32(text.encode()) % 100 < share else text)

    return handler


def endpoint(stub, **fields):
    return Endpoint(stub.url, "stub", retries=0, **fields)


async def run(stage, reference, suite, private, **more):
    """Run with the private part, held to no rate of its own."""
    store = more.pop("store")
    settings = Settings(private=private, **more.pop("settings", {}))
    return await run_parity(
        suite, stage=endpoint(stage), reference=endpoint(reference), settings=settings,
        store=store, **more,
    )  # fmt: skip


async def test_a_stage_that_knows_the_public_cases_is_caught(serve, store, suite, private):
    """Right on all public cases and damaged otherwise: the run fails, and says why."""
    report = await run(await serve(cheating()), await serve(), suite, private, store=store)
    head = report.head
    assert head["kinds"]["exact"]["verdict"] == "pass"
    assert head["verdict"] == "fail"
    assert head["gaming"]["verdict"] == "found"
    assert head["reasons"][0].startswith("parity-gaming: the stage does better on public cases")
    assert head["gaming"]["private"]["stage"] == {"pass": 0, "pass_rate": 0.0}
    assert head["gaming"]["private"]["reference"]["pass"] == PRIVATE


async def test_a_stage_that_damages_a_part_is_caught(serve, store, suite, private):
    """Some wrong answers to private cases are enough."""
    report = await run(await serve(cheating(40)), await serve(), suite, private, store=store)
    assert report.head["gaming"]["verdict"] == "found"


async def test_an_honest_weak_stage_is_not(serve, store, suite, private):
    """A stage that fails both parts alike fails its threshold, and is not said to cheat."""
    report = await run(await serve(weak()), await serve(), suite, private, store=store)
    head = report.head
    assert head["verdict"] == "fail"
    assert head["kinds"]["exact"]["verdict"] == "fail"
    assert head["gaming"]["verdict"] == "not-found"
    assert not any("gaming" in reason for reason in head["reasons"])


async def test_a_faithful_stage_passes(serve, store, suite, private):
    """With a faithful stage the private part changes no figure of the suite."""
    stage, reference = await serve(), await serve()
    with_it = (await run(stage, reference, suite, private, store=store)).head
    without = (await run(stage, reference, suite, None, store=store)).head
    assert with_it["verdict"] == without["verdict"] == "pass"
    assert with_it["kinds"] == without["kinds"]
    assert with_it["checks"] == without["checks"]
    assert "gaming" not in without
    assert with_it["stage"]["requests"] == PUBLIC + PRIVATE


async def test_private_cases_are_asked_among_the_others(serve, store, suite, private):
    """Neither part is asked in one block, and both sides are asked all of both."""
    stage, reference = await serve(), await serve()
    await run(stage, reference, suite, private, store=store)
    for stub in (stage, reference):
        numbers = asked(stub)
        assert sorted(numbers) == [*range(PUBLIC), *range(1000, 1000 + PRIVATE)]
        places = [place for place, number in enumerate(numbers) if number >= 1000]
        assert places[0] < (PUBLIC + PRIVATE) / 2 < places[-1]


@pytest.mark.parametrize("write", [write_json, write_html, write_junit, write_markdown])
async def test_reports_hold_nothing_of_private_cases(serve, store, suite, tmp_path, write):
    """No id, prompt or answer of a private case is in any report; their counts are."""
    lines = cases(7_000_000, PRIVATE, prefix="hidden-")
    part = PrivatePart(suites.load(tmp_path, lines, "private.jsonl"))
    report = await run(await serve(cheating()), await serve(), suite, part, store=store)
    validate({**report.head, "cases": list(report.cases())})
    assert [case["index"] for case in report.cases()] == list(range(PUBLIC))
    write(report, tmp_path / "report")
    text = (tmp_path / "report").read_text("utf-8")
    assert "parity-gaming" in text
    for hidden in ("hidden-", "number 70", "no idea", part.suite.sha256):
        assert hidden not in text


async def test_a_stage_that_gives_private_cases_no_answer(serve, store, suite, private):
    """Rate limits to private cases alone leave the run undecided, whatever else passes."""

    def handler(request, n):
        text = said(request)
        hidden = text != "Hello" and int(text.split()[1].rstrip(";")) >= 1000
        return answers.error(429, "slow down") if hidden else answers.completion(text)

    report = await run(await serve(handler), await serve(), suite, private, store=store)
    assert report.head["verdict"] == "inconclusive"
    assert report.head["gaming"]["verdict"] == "undecided"
    assert report.head["unanswered"] == PRIVATE


async def test_a_run_is_continued_with_its_private_part(serve, store, suite, private):
    """What was answered of either part is not asked again, and another part is refused."""
    stage, reference = await serve(), await serve()
    stop = asyncio.Event()

    def until(progress):
        if progress.done >= 30:
            stop.set()

    first = await run(stage, reference, suite, private, store=store, watch=until, stop=stop)
    assert first.head["verdict"] == "cancelled"
    run_id = first.head["run"]
    with pytest.raises(ResumeError, match="private"):
        await run(stage, reference, suite, None, store=store, resume=run_id)
    again = await run(stage, reference, suite, private, store=store, resume=run_id)
    assert again.head["verdict"] == "pass"
    assert again.head["gaming"]["private"]["counted"] == PRIVATE
    for stub in (stage, reference):
        assert sorted(asked(stub)) == [*range(PUBLIC), *range(1000, 1000 + PRIVATE)]


async def test_shards_share_the_private_part(serve, store, suite, private):
    """In shards every private case is asked once, each shard has some, and the report is whole."""
    stage, reference = await serve(cheating()), await serve()
    sides = {
        "stage": endpoint(stage), "reference": endpoint(reference),
        "settings": Settings(private=private), "store": store,
    }  # fmt: skip
    plan = await open_shards(suite, shards=4, **sides)
    seen = []
    for shard in plan.to_ask:
        await run_shard(suite, plan=plan, shard=shard, **sides)
        seen.append(sum(number >= 1000 for number in asked(stage)))
        await run_shard(suite, plan=plan, shard=shard, **sides)  # again: nothing is asked
    assert seen == [5, 10, 15, 20]
    report = await close_shards(suite, plan=plan, **sides)
    assert report.head["gaming"]["verdict"] == "found"
    assert report.head["gaming"]["private"]["counted"] == PRIVATE
    assert len(list(report.cases())) == PUBLIC


async def test_shapes_are_taken_on_alike_by_both_sides(serve, store, suite, private):
    """Drawn parameters are the same for both sides and each run, and lower no limit of a case."""
    cells = [
        {"stream": True, "max_tokens": "256", "count": 30},
        {"stream": False, "max_tokens": "16", "count": 30},
        {"stream": False, "max_tokens": "more", "count": 30},
        {"stream": False, "max_tokens": "unset", "count": 30},
    ]
    text = json.dumps({"schema": "denv.shapes/1", "cells": cells})
    shaped = replace(private, shapes=Shapes.from_json(text))

    def streaming(request, n):
        if not request["stream"]:
            return answers.completion(said(request))
        delta = {"role": "assistant", "content": said(request)}
        chunk = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]}
        end = {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
        frames = [f"data: {json.dumps(each)}\n\n".encode() for each in (chunk, end)]
        return answers.sse([*frames, b"data: [DONE]\n\n"])(request, n)

    stage, reference = await serve(streaming), await serve(streaming)
    for _ in range(2):
        report = await run(stage, reference, suite, shaped, store=store)
        assert report.head["gaming"]["verdict"] == "not-found"
        assert report.head["verdict"] == "pass"
    drawn = [
        sorted((said(s.json), s.json["stream"], s.json["max_tokens"]) for s in stub.seen)
        for stub in (stage, reference)
    ]
    assert drawn[0] == drawn[1]
    private_ones = {each for each in drawn[0] if each[0].startswith("number 10")}
    public_ones = set(drawn[0]) - private_ones
    assert len(private_ones - {each for each in private_ones if len(each[0]) < 12}) == PRIVATE
    assert {stream for _, stream, _ in private_ones} == {True, False}
    assert {limit for text, _, limit in private_ones if len(text) > 11} == {32, 256, 4096}
    assert {each[1:] for each in public_ones if each[0] != "Hello"} == {(False, 32)}


@pytest.mark.parametrize(
    "given",
    [
        (cases(0, PUBLIC), "is the suite itself"),
        ([suites.line("x", "hi", {"equals": "hi"})], "has equals cases and suite.jsonl has none"),
    ],
)
async def test_a_private_part_that_fits_nothing(serve, store, suite, tmp_path, given):
    """The suite itself, and checks that it has not, are refused before anything is asked."""
    lines, why = given
    part = PrivatePart(suites.load(tmp_path, lines, "p.jsonl"))
    stage = await serve()
    with pytest.raises(UsageError, match=why):
        await run(stage, stage, suite, part, store=store)
    assert not stage.seen


def test_every_way_to_interleave_is_as_likely():
    """Two public and two private cases have six orders, each about as often as the others."""
    made = [Case(f"{n}", n, n + 1, {}, Contains("")) for n in range(4)]
    rng = random.Random(3)
    found: dict[str, int] = {}
    for _ in range(6000):
        merged = interleaved(iter(made[:2]), iter(made[2:]), counts=(2, 2), rng=rng)
        order = "".join(case.id for case in merged)
        found[order] = found.get(order, 0) + 1
    assert len(found) == 6
    assert all(order.index("0") < order.index("1") for order in found)
    assert all(abs(times - 1000) < 130 for times in found.values())
