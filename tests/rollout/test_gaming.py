"""A private part in rollouts and schedules: its alarm, its place in plans, and the router's way."""

from __future__ import annotations

import json

import pytest

from denv.errors import UsageError
from denv.gaming import FOUND
from denv.records import Secret, Verdict
from denv.report import Report
from denv.rollout.engine.proofs import event_of, settings_of, stage_of
from denv.rollout.plan import Plan, freeze
from denv.rollout.schedules.scheduled import fire
from denv.rollout.secrets import secrets_of
from denv.rollout.states import AlarmKind, Look, ParityEnded, RaiseAlarm, RunParity, next_state
from denv.rollout.weights import Party, Table, Weight, WeightsError, with_newcomers
from tests import suites
from tests.rollout.schedules.sides import DAY, START, Side, add, write_suites
from tests.rollout.states.situations import AWAITED, DIGEST, SITUATIONS, tallies

SECRET = "s" * 40
RELEASE = """
release: chat-r8
stage: {{url: {stage}, model: stub{router}}}
parity:
  reference: {{url: {reference}, model: stub}}
  suite: suite.jsonl
  pass: {{exact: 50%}}
{private}rollout: {{golden: golden.jsonl{replicas}}}
"""


@pytest.fixture
def plan_of(tmp_path, release_of):
    """Freeze a release with or without a private part and a router."""
    write_suites(tmp_path)
    hidden = [{**each, "id": f"h{n}"} for n, each in enumerate(suites.numbered(60)[40:])]
    suites.write(tmp_path, hidden, "private.jsonl")

    def make(stage="http://127.0.0.1:1/v1", reference="http://127.0.0.1:2/v1", **parts):
        given = {
            "private": "  private: private.jsonl\n" if parts.get("private") else "",
            "router": ", router: {permit-env: PERMITS}" if parts.get("router") else "",
            "replicas": parts.get("replicas", ""),
        }
        text = RELEASE.format(stage=stage, reference=reference, **given)
        return freeze(release_of(text), data_folder=tmp_path / "home")

    return make


REPLICAS = (
    ", replicas: [{name: a, url: 'http://10.0.0.1/v1'},"
    " {name: b, url: 'http://10.0.0.2/v1', batch: 2}], batches: [50%, 100%]"
)


# ---------------------------------------------------------------- the alarm


def ended(gaming: str) -> ParityEnded:
    return ParityEnded(
        answers=AWAITED, run="run-2", verdict=Verdict.FAIL, proof_digest=DIGEST,
        tallies=tallies(80, 0), missing=gaming, gaming=gaming,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("gaming", "kind"),
    [("parity-gaming: it knows", AlarmKind.PARITY_GAMING), ("", AlarmKind.PARITY_FAIL)],
)
def test_a_stage_that_knows_the_cases_has_its_own_alarm(gaming, kind):
    """The proof fails and is latched as any other; the alarm says what it is."""
    step = next_state(SITUATIONS["parity"], ended(gaming))
    assert [one.kind for one in step.actions if isinstance(one, RaiseAlarm)] == [kind]
    assert [one.type for one in step.actions] == ["latch", "raise-alarm", "restore-weights"]
    assert gaming in step.text


@pytest.mark.parametrize("verdict", [FOUND, "not-found"])
def test_the_report_s_finding_becomes_the_event_s(plan_of, store, verdict):
    """The event says why where gaming was found, and nothing where it was not."""
    kinds = {"exact": dict.fromkeys(("planned", "pass", "fail"), 0)}
    for outcome in ("reference-fail", "unmeasured", "reference-error"):
        kinds["exact"][outcome] = 0
    head = {
        "run": "r", "verdict": "fail", "reasons": ["because"], "kinds": kinds,
        "gaming": {"verdict": verdict, "reason": "because"},
    }  # fmt: skip
    action = RunParity(number=3, batch=1, attempt=1, again=None)
    event = event_of(plan_of(), action, Report(head, lambda: iter(())), store=store, down={})
    assert isinstance(event, ParityEnded)
    assert event.gaming == ("because" if verdict == FOUND else "")


# ---------------------------------------------------------------- plans


def test_a_plan_keeps_the_private_part(plan_of):
    """It is copied, survives JSON, is part of the proof, and is asked in whole proofs alone."""
    plan, without = plan_of(private=True), plan_of()
    assert plan.proof_digest != without.proof_digest
    assert Plan.from_json(plan.to_json()) == plan
    batch = settings_of(plan, RunParity(number=1, batch=1, attempt=1, again=None), rollout="r")
    assert batch.private is not None
    assert batch.private.suite.cases == 20
    look = settings_of(plan, Look(number=2, look=1), rollout="r")
    assert look.private is None
    assert plan.settings().private is None
    assert without.proof_settings().private is None


def test_a_plan_of_before_has_no_private_part(plan_of):
    """What was written before there were private parts and routers is read as one without."""
    plan = plan_of()
    plain = json.loads(plan.to_json())
    del plain["private"], plain["stage"]["router"], plain["reference"]["router"]
    assert Plan.from_json(json.dumps(plain)) == plan


def test_a_release_without_them_has_its_digest_of_before(plan_of):
    """That releases may name a router and a private part changes no digest of those that do not."""
    digest = plan_of().release_digest
    assert digest == (
        "denv.release/1:sha256:6ba815b5c31e8304c3a0e71e25cff04396ab53f6383ecb997e2589a46cb22363"
    )


def test_a_router_is_asked_by_permits(plan_of, monkeypatch):
    """All that is asked of replicas goes to the router's URL, by names and the release's secret."""
    monkeypatch.setenv("PERMITS", SECRET)
    plan = plan_of(router=True, replicas=REPLICAS)
    action = RunParity(number=1, batch=2, attempt=1, again=None)
    golden = plan.endpoint_of(plan.replicas[1])
    for endpoint, names in (
        (stage_of(plan, action, batch=2), ["b"]),
        (stage_of(plan, Look(number=2, look=1), batch=2), ["a", "b"]),
        (golden, ["b"]),
        (plan.stage_served(), ["a", "b"]),
    ):
        assert endpoint.permits == Secret(SECRET)
        assert [replica.name for replica in endpoint.replicas] == names
        assert {replica.url for replica in endpoint.replicas} == {plan.stage.url}
    assert SECRET not in plan.to_json()
    assert SECRET in [secret.reveal() for secret in secrets_of(plan)]


def test_a_router_needs_replicas(plan_of):
    """Without names there is nothing that a permit could name."""
    with pytest.raises(UsageError, match=r"rollout\.replicas: missing"):
        plan_of(router=True)


# ---------------------------------------------------------------- the router's table

ROWS = (Weight("r7", "x", "http://x/v1", 0.75), Weight("r7", "y", "http://y/v1", 0.25))
TABLE = Table("s", 4, ROWS)


def test_newcomers_get_no_traffic():
    """New replicas stand behind all others at weight 0, and no other row changes."""
    made = with_newcomers(TABLE, Party("r8", (("a", "http://a/v1"),)), stage="s", version=5)
    assert made == Table("s", 5, (*ROWS, Weight("r8", "a", "http://a/v1", 0.0)))
    again = with_newcomers(made, Party("r8", (("a", "http://a/v1"),)), stage="s", version=5)
    assert again == made
    first = with_newcomers(None, Party("r8", (("a", "http://a/v1"),)), stage="s", version=1)
    assert [row.weight for row in first.weights] == [0.0]


@pytest.mark.parametrize(("name", "url"), [("x", "http://a/v1"), ("x", "http://x/v1")])
def test_a_name_that_is_taken(name, url):
    """A name is one replica's of one release: a permit for it must not reach another."""
    with pytest.raises(WeightsError, match="the name x stands for a replica of r7"):
        with_newcomers(TABLE, Party("r8", ((name, url),)), stage="s", version=5)


# ---------------------------------------------------------------- schedules


async def test_a_schedule_raises_and_resolves_the_alarm(plan_of, serve, store):
    """A stage that comes to know the public cases alone raises parity-gaming and nothing else."""
    stage, reference = Side(), Side()
    plan = plan_of((await serve(stage)).url, (await serve(reference)).url, private=True)
    add(store, plan)

    async def shot(number):
        fired = await fire(store, "nightly", START + number * DAY, clock=lambda: START + DAY)
        return fired, sorted(one.kind for one in store.alarms.list_alarms(only_open=True))

    assert await shot(1)
    stage.wrong = set(range(40, 60))  # of the private part alone
    fired, kinds = await shot(2)
    assert (fired.verdict, fired.raised, kinds) == ("fail", ("parity-gaming",), ["parity-gaming"])
    alarm = store.alarms.list_alarms(only_open=True)[0]
    assert "the stage does better on public cases" in alarm.summary
    stage.wrong = set()
    assert (await shot(3))[1] == []
