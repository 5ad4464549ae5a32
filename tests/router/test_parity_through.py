"""A parity run and a rollout's steps through the router itself, over stub replicas."""

from __future__ import annotations

import asyncio
import json

import pytest

from denv.errors import EndpointError
from denv.records import Endpoint, Replica, Secret
from denv.release import load_release
from denv.rollout import states
from denv.rollout.engine.performing import perform
from denv.rollout.engine.work import Work
from denv.rollout.plan import freeze
from denv.rollout.steps.golden import GoldenState, run_golden
from denv.rollout.weights import Table
from denv.runner import Settings, run_parity
from denv.store import RolloutRecord, open_store
from tests import suites
from tests.router.replicas import running, table_of
from tests.stubs import StubServer, answers

SECRET = "s" * 40
KEY = "a-customers-ordinary-key"


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Open a store in a fresh data folder, beside the variables that hold the secrets."""
    monkeypatch.setenv("DENV_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PERMITS", SECRET)
    monkeypatch.setenv("CUSTOMER", KEY)
    opened = open_store(tmp_path / "home")
    yield opened
    opened.close()


def router_at(tmp_path, *rows):
    """Run a router that takes permits, before replicas a, b, c … of these weights."""
    client = {"name": "parity", "key-env": "CUSTOMER"}
    settings = {"clients": [client], "permit-secret": {"key-env": "PERMITS"}}
    table = table_of(*((stub.url, weight) for stub, weight in rows))
    return running(tmp_path, table, **settings)


def stage(router, *names, secret=SECRET):
    return Endpoint(
        url=router.url, model="stub", key=Secret(KEY), permits=Secret(secret),
        replicas=tuple(Replica(name, router.url) for name in names),
    )  # fmt: skip


def asked(stub):
    texts = [seen.json["messages"][-1]["content"] for seen in stub.seen if seen.method == "POST"]
    return [text for text in texts if text.startswith("number")]


async def test_a_run_reaches_each_replica_whatever_its_weight(tmp_path, store):
    """Cases go to the permitted replicas in turn, one of weight 0 too; no permit gets there."""
    suite = suites.load(tmp_path, suites.numbered(12))
    async with StubServer() as a, StubServer() as b, StubServer() as reference:
        async with router_at(tmp_path, (a, 1.0), (b, 0.0)) as router:
            report = await run_parity(
                suite,
                stage=stage(router, "a", "b"),
                reference=Endpoint(reference.url, "stub"),
                settings=Settings(stream="no"),
                store=store,
            )
        assert report.head["verdict"] == "pass"
        assert report.head["path"] == "router"
        assert [case["stage"]["replica"] for case in report.cases()] == ["a", "b"] * 6
        assert len(asked(a)) == len(asked(b)) == 6
        for seen in (*a.seen, *b.seen):
            assert not any("denv" in name.lower() for name in seen.headers)
            assert KEY not in str(seen.headers)


async def test_a_broken_replica_is_told_by_its_name(tmp_path, store):
    """The replica that answers wrongly is the one whose rate shows it."""
    suite = suites.load(tmp_path, suites.numbered(12))
    async with (
        StubServer() as a,
        StubServer(lambda request, n: answers.completion("no")) as b,
        StubServer() as reference,
        router_at(tmp_path, (a, 1.0), (b, 0.0)) as router,
    ):
        report = await run_parity(
            suite, stage=stage(router, "a", "b"), reference=Endpoint(reference.url, "stub"),
            store=store,
        )  # fmt: skip
    assert report.head["verdict"] == "fail"
    groups = {group["value"]: group["fail"] for group in report.head["stage"]["groups"]}
    assert groups == {"a": 0, "b": 6}


@pytest.mark.parametrize(
    ("name", "secret", "why"), [("a", SECRET[1:], "not signed"), ("z", SECRET, "not in the table")]
)
async def test_a_refused_permit_sends_no_case(tmp_path, store, name, secret, why):
    """The router's refusal is said as it says it, and nothing is asked of any replica."""
    suite = suites.load(tmp_path, suites.numbered(4))
    async with (
        StubServer() as a,
        StubServer() as reference,
        router_at(tmp_path, (a, 1.0)) as router,
    ):
        with pytest.raises(EndpointError, match=why):
            await run_parity(
                suite, stage=stage(router, name, secret=secret),
                reference=Endpoint(reference.url, "stub"), store=store,
            )  # fmt: skip
        assert not asked(a)


class _NoMemory:
    earlier = None

    def keep(self, value):
        """Keep nothing: the action is tried once."""


async def test_a_rollout_proves_a_new_replica_through_the_router(tmp_path, store):
    """A new replica is put into the router's table at weight 0 and asked there, by its name."""
    suites.write(tmp_path, suites.numbered(6))
    suites.write(tmp_path, suites.numbered(3), "golden.jsonl")
    async with (
        StubServer() as old,
        StubServer() as new,
        StubServer() as reference,
        router_at(tmp_path, (old, 1.0)) as router,
    ):
        release = tmp_path / "release.yaml"
        release.write_text(
            f"release: r2\nstage: {{url: '{router.url}', model: stub, key-env: CUSTOMER,"
            " router: {permit-env: PERMITS}}\n"
            f"parity: {{suite: suite.jsonl, reference: {{url: '{reference.url}', model: stub}}}}\n"
            "rollout: {golden: golden.jsonl, weights: {file: weights.json},"
            f" replicas: [{{name: r2-a, url: '{new.url}'}}]}}\n"
        )
        plan = freeze(load_release(release), data_folder=tmp_path / "home")
        record = RolloutRecord(
            "ro1", plan.stage.url, "r2", "p", 1.0, json.loads(plan.to_json()), {}
        )  # fmt: skip
        store.rollouts.create_rollout(record)
        before = json.loads((tmp_path / "weights.json").read_bytes())
        store.rollouts.set_weights(record.stage, {**before, "stage": record.stage}, at=1.0)
        (tmp_path / "weights.json").unlink()  # of another stage's name

        event = await perform(
            Work(
                record=record, plan=plan, action=states.StartReplicas(number=1, batch=1),
                store=store, folder=tmp_path / "home", memory=_NoMemory(), stop=asyncio.Event(),
            )
        )  # fmt: skip
        assert isinstance(event, states.ReplicasStarted), event
        table = Table.from_json((tmp_path / "weights.json").read_bytes())
        assert [(row.replica, row.weight) for row in table.weights] == [("a", 1.0), ("r2-a", 0.0)]
        async with asyncio.timeout(20):
            while b"r2-a" not in (await router.admin("/weights"))[1]:
                await asyncio.sleep(0.02)

        outcome = await run_golden(plan, plan.replicas, store=store, run_key="g")
        assert (outcome.state, outcome.note) == (GoldenState.PASSED, "")
        report = await run_parity(
            plan.suite.load(), stage=plan.stage_at(1), reference=plan.reference.endpoint(),
            settings=plan.proof_settings(), store=store,
        )  # fmt: skip
        assert (report.head["verdict"], report.head["path"]) == ("pass", "router")
        assert {case["stage"]["replica"] for case in report.cases()} == {"r2-a"}
        assert len(asked(new)) == 9
        assert not asked(old)
        assert (await router.chat(headers={"Authorization": f"Bearer {KEY}"}))[0] == 200
        assert len(old.seen) > 0  # customers still get to the old replica alone
