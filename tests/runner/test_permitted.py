"""A run through a router: each case reaches its replica by a permit, which is kept nowhere."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO

import pytest
from aiohttp import web
from rich.console import Console

from denv.errors import EndpointError, HarnessError, ResumeError
from denv.permits import HEADER
from denv.records import Endpoint, Replica, Secret
from denv.report import print_report, validate, write_html, write_json, write_markdown
from denv.runner import Settings, run_parity
from tests import suites
from tests.stubs import answers
from tests.stubs.permitting import SECRET, passing_on


@pytest.fixture
def suite(tmp_path):
    return suites.load(tmp_path, suites.numbered(8))


def through(router, *names, secret=SECRET):
    """Give a stage of these replicas behind a router."""
    replicas = tuple(Replica(name, router.url) for name in names)
    return Endpoint(
        url=router.url, model="stub", retries=0, replicas=replicas, permits=Secret(secret)
    )


def permits(stub):
    return [seen.headers[HEADER] for seen in stub.seen if HEADER in seen.headers]


async def test_each_case_reaches_its_replica(serve, store, suite, tmp_path):
    """Cases go to the replicas in turn, all by the router's one URL, and the report says so."""
    a, b, reference = await serve(), await serve(), await serve()
    router = await serve(passing_on({"a": a, "b": b}))
    report = await run_parity(
        suite,
        stage=through(router, "a", "b"),
        reference=Endpoint(reference.url, "stub"),
        store=store,
    )
    assert report.head["verdict"] == "pass"
    assert report.head["path"] == "router"
    assert [case["stage"]["replica"] for case in report.cases()] == ["a", "b"] * 4
    assert {g["value"]: g["pass"] for g in report.head["stage"]["groups"]} == {"a": 4, "b": 4}
    assert len(a.seen) == len(b.seen) == 4 + 1  # the cases, and the preflight's question
    validate({**report.head, "cases": list(report.cases())})
    shown = StringIO()
    print_report(report, Console(file=shown, width=120))
    assert "through the router" in shown.getvalue()
    for write in (write_html, write_markdown):
        write(report, tmp_path / "page")
        assert "router" in (tmp_path / "page").read_text("utf-8")


async def test_each_request_has_a_permit_of_its_own(serve, store, suite):
    """No permit is sent twice, and none passes the router or goes to the reference."""
    a, reference = await serve(), await serve()
    router = await serve(passing_on({"a": a}))
    await run_parity(
        suite, stage=through(router, "a"), reference=Endpoint(reference.url, "stub"), store=store
    )
    given = permits(router)
    assert len(given) == len(set(given)) == 9
    assert not permits(a)
    assert not permits(reference)


async def test_permits_are_kept_nowhere(serve, store, suite, tmp_path):
    """Also where an answer quotes it, no permit and no secret is in the data or in a report."""

    def quoting(request, n):
        async def answer(http, stub):
            said = json.dumps(answers.completion(f"number {n}; {http.headers[HEADER]}"))
            headers = {"denv-replica": "a", "x-quoted": http.headers[HEADER]}
            return web.Response(text=said, headers=headers, content_type="application/json")

        return answer

    router, reference = await serve(quoting), await serve()
    report = await run_parity(
        suite, stage=through(router, "a"), reference=Endpoint(reference.url, "stub"), store=store
    )
    write_json(report, tmp_path / "r.json")
    store.close()
    texts = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    assert len(permits(router)) == 9
    for secret in (*permits(router), SECRET, "dp1:a:"):
        assert not any(secret.encode() in text for text in texts)


async def test_another_replicas_answer_is_the_harnesss_error(serve, store, suite):
    """An answer of another replica than the permitted one ends the run, and is not kept."""
    a, b, reference = await serve(), await serve(), await serve()
    router = await serve(passing_on({"a": a, "b": b}, says=lambda name: "b"))
    with pytest.raises(HarnessError, match=r"permitted to ask the replica a and answered from 'b'"):
        await run_parity(
            suite,
            stage=through(router, "a", "b"),
            reference=Endpoint(reference.url, "stub"),
            store=store,
        )


async def test_what_names_no_replica_is_no_router(serve, store, suite):
    """A server that answers without naming a replica takes no permits: that is said plainly."""
    server, reference = await serve(), await serve()
    with pytest.raises(HarnessError, match="does not say which replica answered"):
        await run_parity(
            suite,
            stage=through(server, "a"),
            reference=Endpoint(reference.url, "stub"),
            store=store,
        )


@pytest.mark.parametrize(
    "given", [("a", SECRET[::-1], "not signed"), ("c", SECRET, "not in the table")]
)
async def test_a_refused_permit(serve, store, suite, given):
    """A permit that the router refuses is no failure of the stage: no case is sent."""
    name, secret, why = given
    a, reference = await serve(), await serve()
    router = await serve(passing_on({"a": a}))
    with pytest.raises(EndpointError, match=why):
        await run_parity(
            suite,
            stage=through(router, name, secret=secret),
            reference=Endpoint(reference.url, "stub"),
            store=store,
        )
    assert not a.seen


async def test_a_replicas_own_refusal_is_the_stages(serve, store, suite):
    """What the replica itself refuses is judged as ever."""
    a = await serve(lambda request, n: answers.error(403, "no") if n else answers.completion("Hi"))
    reference = await serve()
    router = await serve(passing_on({"a": a}))
    report = await run_parity(
        suite, stage=through(router, "a"), reference=Endpoint(reference.url, "stub"), store=store
    )
    assert report.head["verdict"] == "fail"
    assert report.head["kinds"]["exact"]["fail"] == 8


async def test_the_references_answers_are_used_again(serve, store, suite):
    """Permits change nothing of what earlier answers are found by."""
    a, reference = await serve(), await serve()
    router = await serve(passing_on({"a": a}))
    sides = {"stage": through(router, "a"), "reference": Endpoint(reference.url, "stub")}
    await run_parity(suite, **sides, store=store)
    asked = len(reference.seen)
    report = await run_parity(suite, **sides, store=store, settings=Settings(max_age_s=3600))
    assert report.head["reference"]["cached"] == 8
    assert len(reference.seen) <= asked + 1  # the preflight's question at the most


async def test_a_run_is_continued_on_its_path(serve, store, suite):
    """A run through the router is not continued past it, and asks nothing twice."""
    a, reference = await serve(), await serve()
    router = await serve(passing_on({"a": a}))
    stage = through(router, "a")
    sides = {"stage": stage, "reference": Endpoint(reference.url, "stub")}
    first = await run_parity(suite, **sides, store=store)
    asked = len(a.seen)
    again = await run_parity(suite, **sides, store=store, resume=first.head["run"])
    assert again.head["verdict"] == "pass"
    assert len(a.seen) == asked
    with pytest.raises(ResumeError, match=r"stage\.path"):
        await run_parity(
            suite,
            stage=replace(stage, permits=None, replicas=()),
            reference=sides["reference"],
            store=store,
            resume=first.head["run"],
        )
