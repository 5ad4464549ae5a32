"""A stage of several replicas: each is asked its cases, and their rates are compared."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from io import StringIO

import pytest
from rich.console import Console

from denv.errors import EndpointError, ResumeError, UsageError
from denv.records import Endpoint, Kind, Replica, Secret, Thresholds
from denv.report import print_report, validate, write_html, write_json
from denv.runner import Settings, run_parity
from tests import suites
from tests.stubs import StubServer, answers


def contents(stub):
    """Give what a server was asked, in order, the preflight's question apart."""
    asked = [s.json["messages"][-1]["content"] for s in stub.seen if s.method == "POST"]
    return [content for content in asked if content != "Hello"]


def hellos(stub):
    return sum(
        s.method == "POST" and s.json["messages"][-1]["content"] == "Hello" for s in stub.seen
    )


def wrong():
    return lambda request, n: answers.completion("no")


def stage(front, *replicas, **fields):
    """Give a stage with replicas a, b and c."""
    named = tuple(Replica(name, stub.url) for name, stub in zip("abc", replicas, strict=False))
    return Endpoint(url=front.url, model="stub", retries=0, replicas=named, **fields)


@pytest.fixture
async def front(serve):
    return await serve()


@pytest.fixture
def suite(tmp_path):
    return suites.load(tmp_path, suites.numbered(12))


async def test_cases_are_spread_by_their_index(serve, front, store, suite):
    """Case i is asked of replica i mod n; the stage's own URL is asked nothing at all."""
    replicas = [await serve() for _ in range(3)]
    side = stage(front, *replicas)
    report = await run_parity(suite, stage=side, reference=replace(side, replicas=()), store=store)
    for number, stub in enumerate(replicas):
        assert sorted(contents(stub)) == sorted(f"number {n};" for n in range(number, 12, 3))
        assert hellos(stub) == 1
    assert sorted(contents(front)) == sorted(f"number {n};" for n in range(12))  # as reference
    assert report.head["verdict"] == "pass"
    assert [case["stage"]["replica"] for case in report.cases()] == ["a", "b", "c"] * 4
    groups = {g["value"]: g["pass"] for g in report.head["stage"]["groups"]}
    assert groups == {"a": 4, "b": 4, "c": 4}
    assert not any("mixed backends" in limit for limit in report.head["limits"])


async def test_the_report_names_replicas_without_their_urls(serve, front, store, suite, tmp_path):
    """Names are in the report of the stage; where the replicas are is not."""
    replicas = [await serve() for _ in range(2)]
    side = stage(front, *replicas)
    report = await run_parity(suite, stage=side, reference=replace(side, replicas=()), store=store)
    assert report.head["stage"]["replicas"] == ["a", "b"]
    assert report.head["reference"]["replicas"] == []
    write_json(report, tmp_path / "r.json")
    text = (tmp_path / "r.json").read_text("utf-8")
    assert not any(stub.url in text for stub in replicas)


async def test_a_bad_replica_among_good_ones_fails_the_run(serve, front, store, tmp_path):
    """20 of 20 against 0 of 20: the exact test of one rate rejects, whatever the threshold."""
    suite = suites.load(tmp_path, suites.numbered(40))
    side = stage(front, await serve(), await serve(wrong()))
    report = await run_parity(
        suite,
        stage=side,
        reference=replace(side, replicas=()),
        settings=Settings(thresholds=Thresholds(rates={Kind.EXACT: Fraction(1, 100)})),
        store=store,
    )
    assert report.head["verdict"] == "fail"
    assert any("replica" in reason for reason in report.head["reasons"])


async def test_a_replica_that_is_down_is_a_stage_that_is_down(serve, front, store, suite):
    """Each replica must answer the preflight; the verdict names the one that does not."""
    async with StubServer() as gone:
        side = stage(front, await serve(), gone)
    report = await run_parity(suite, stage=side, reference=replace(side, replicas=()), store=store)
    assert report.head["verdict"] == "fail"
    assert any("replica b:" in reason for reason in report.head["reasons"])


async def test_replicas_of_different_models(serve, front, store, suite):
    """Where the model is not named each replica is asked, and all must serve the same one."""
    side = stage(front, await serve(models=["x"]), await serve(models=["y"]))
    with pytest.raises(EndpointError, match="different models, name one: a 'x', b 'y'"):
        await run_parity(
            suite,
            stage=replace(side, model=None),
            reference=replace(side, replicas=()),
            store=store,
        )


async def test_a_key_reaches_the_host_it_was_given_for(serve, front, store, suite):
    """The stage's key stays with its host and port; a replica elsewhere has its own or none."""
    other, third = await serve(), await serve()
    side = Endpoint(
        url=front.url,
        model="stub",
        key=Secret("front-key"),
        replicas=(
            Replica("own", front.url),
            Replica("b", other.url, Secret("b-key")),
            Replica("c", third.url),
        ),
    )
    await run_parity(suite, stage=side, reference=Endpoint(third.url, model="stub"), store=store)
    assert {seen.headers.get("Authorization") for seen in front.seen} == {"Bearer front-key"}
    assert {seen.headers.get("Authorization") for seen in other.seen} == {"Bearer b-key"}
    assert {seen.headers.get("Authorization") for seen in third.seen} == {None}


async def test_a_key_that_a_replica_returns_is_masked(serve, front, store, suite, tmp_path):
    """No replica's key gets into the report, even where the server sends it back."""
    echo = await serve(lambda request, n: answers.completion("your key is b-secret-key"))
    side = Endpoint(
        url=front.url, model="stub", replicas=(Replica("b", echo.url, Secret("b-secret-key")),)
    )
    report = await run_parity(suite, stage=side, reference=Endpoint(front.url, "stub"), store=store)
    write_json(report, tmp_path / "r.json")
    assert "b-secret-key" not in (tmp_path / "r.json").read_text("utf-8")


async def test_other_replicas_are_another_run(serve, front, store, suite):
    """A run is continued with the same replicas only; the error says what has changed."""
    side = stage(front, await serve(), await serve())
    reference = replace(side, replicas=())
    report = await run_parity(suite, stage=side, reference=reference, store=store)
    run = report.head["run"]
    swapped = replace(side, replicas=side.replicas[::-1])
    with pytest.raises(ResumeError, match=r"stage\.replicas"):
        await run_parity(suite, stage=swapped, reference=reference, store=store, resume=run)
    again = await run_parity(suite, stage=side, reference=reference, store=store, resume=run)
    assert again.head["verdict"] == "pass"


async def test_replicas_that_cannot_be_told_apart(serve, front, store, suite, tmp_path):
    """A name or an URL twice, and more replicas than cases, are refused."""
    stub = await serve()
    for replicas, match in (
        ((Replica("a", stub.url), Replica("a", front.url)), "the name a stands for two"),
        ((Replica("a", stub.url), Replica("b", stub.url)), "the URL .* stands for two"),
    ):
        side = Endpoint(front.url, "stub", replicas=replicas)
        with pytest.raises(EndpointError, match=match):
            await run_parity(suite, stage=side, reference=side, store=store)
    short = suites.load(tmp_path, suites.numbered(1), "short.jsonl")
    with pytest.raises(UsageError, match="1 cases cannot reach all 2 replicas"):
        await run_parity(
            short, stage=stage(front, stub, front), reference=stage(front), store=store
        )


async def test_a_replica_that_no_drawn_case_reaches_is_said(serve, front, store, suite):
    """Drawn cases may all fall to one replica: the report names the other."""
    side = stage(front, await serve(), await serve())
    report = await run_parity(
        suite,
        stage=side,
        reference=replace(side, replicas=()),
        settings=Settings(only=(0, 2, 4)),
        store=store,
    )
    assert "No case of this run was asked of the stage's replica b." in report.head["limits"]


def test_a_replica_does_not_show_its_key():
    """``repr`` of an endpoint hides the keys of its replicas."""
    side = Endpoint("http://127.0.0.1:1/v1", replicas=(Replica("a", "u", Secret("s3cret")),))
    assert "s3cret" not in repr(side)
    assert "s3cret" not in json.dumps(repr(side))


async def test_every_form_of_the_report_takes_replicas_and_drawn_cases(
    serve, front, store, suite, tmp_path
):
    """The document fits its schema, and the page names replicas and how many were drawn."""
    side = stage(front, await serve(), await serve())
    report = await run_parity(
        suite,
        stage=side,
        reference=replace(side, replicas=()),
        settings=Settings(only=(0, 1, 2, 3, 5)),
        store=store,
    )
    write_json(report, tmp_path / "r.json")
    validate(json.loads((tmp_path / "r.json").read_text("utf-8")))
    write_html(report, tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "<dt>Replicas</dt><dd><code>a</code>, <code>b</code></dd>" in page
    assert "5 drawn of 12 cases" in page
    print_report(report, Console(file=(text := StringIO()), width=200))
    assert "5 drawn of 12 cases" in text.getvalue()
