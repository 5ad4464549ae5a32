"""Plans: everything fixed at the start, written as strict JSON, and never a key."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from denv.errors import StoreError, SuiteError, UsageError
from denv.recipes import load
from denv.records import Kind
from denv.rollout.plan import Plan, freeze, recipe_of
from denv.rollout.secrets import secrets_of
from tests import suites

RELEASE = """\
release: chat-r8
stage: {url: http://127.0.0.1:8080/v1, model: m, key-env: STAGE_KEY, headers: {X-Team: chat}}
engine: {name: llama.cpp, version: b11549}
parity:
  reference: {url: http://127.0.0.1:8081/v1, key-file: reference.key, max-age: 24h}
  suite: suite.jsonl
  pass: {exact: 95%}
  coverage: 100%
rollout:
  batches: [10%, 33.3%, 100%]
  golden: golden.jsonl
  bake: 5m
  replicas:
    - {name: a, url: http://127.0.0.1:8080/v1}
    - {name: b, url: http://10.0.0.9:8080/v1, batch: 2, key-env: B_KEY}
    - {name: c, url: http://10.0.0.9:8081/v1, batch: 2}
  weights: {file: weights.json, webhook: {url: http://r/w, secret-env: HOOK}}
  deploy: {start: {run: [start, "{replica}"]}, stop: {run: [stop]}}
alarms: [{alertmanager: http://127.0.0.1:9093}, {apprise: {url-env: SLACK}}]
"""


@pytest.fixture
def frozen(tmp_path, release_of):
    """Freeze a release whose suite and golden prompts lie beside it."""
    suites.write(tmp_path, suites.numbered(60))
    suites.write(tmp_path, suites.numbered(2), "golden.jsonl")

    def freeze_text(text=RELEASE):
        release = release_of(text)
        return freeze(release, recipe_of(release), data_folder=tmp_path / "data")

    return freeze_text


def test_all_is_resolved(tmp_path, frozen):
    """Paths are absolute, defaults are filled in from the suite, thresholds are fractions."""
    plan = frozen()
    assert (plan.release, plan.stage.url) == ("chat-r8", "http://127.0.0.1:8080/v1")
    assert plan.reference.key.file == str(tmp_path / "reference.key")
    assert plan.rollout.weights.file == str(tmp_path / "weights.json")
    assert plan.folder == str(tmp_path)
    assert plan.thresholds.rates == {Kind.EXACT: Fraction(95, 100)}
    assert (plan.thresholds.coverage, plan.max_age_s) == (1, 86_400)
    # 60 cases: looks of 50, one shard; five looks in a bake of 300 s are 60 s apart
    assert (plan.rollout.look_cases, plan.rollout.shards) == (50, 1)
    assert plan.rollout.look_every_s == 60
    assert [sink.kind for sink in plan.sinks] == ["alertmanager", "apprise"]
    assert plan.settings().release == "chat-r8"


def test_a_plan_survives_json(frozen):
    """What is read back equals what was written, and is strict JSON."""
    plan = frozen()
    text = plan.to_json()
    assert Plan.from_json(text) == plan
    assert json.loads(text)["schema"] == "denv.rollout.plan/1"
    assert Plan.from_json(text).to_json() == text


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "{}",
        lambda text: "[1",
        lambda text: text.replace('"repeats":1', '"repeats":1,"repeats":2'),
        lambda text: text.replace('"repeats":1', '"repeats":"1"'),
        lambda text: text.replace('"repeats":1', '"repeats":1,"other":2'),
        lambda text: text.replace('"coverage":', '"other":1,"coverage":'),
        lambda text: text.replace('"sha256"', '"sha512"', 1),
        lambda text: text.replace("rollout.plan/1", "rollout.plan/2"),
    ],
)
def test_a_changed_form_is_refused(frozen, change):
    """A plan of another form, or with anything more or less, is an error of the store."""
    with pytest.raises(StoreError, match="kept plan"):
        Plan.from_json(change(frozen().to_json()))


def test_edits_do_not_move_the_goal(tmp_path, frozen):
    """The copies stay what they were when the suite and the golden prompts are edited."""
    plan = frozen()
    suites.write(tmp_path, suites.numbered(1))
    suites.write(tmp_path, suites.numbered(1), "golden.jsonl")
    assert plan.suite.load().cases == 60
    assert plan.golden.load().cases == 2
    assert plan.suite.load().name == "suite.jsonl"
    assert Path(plan.suite.path).parent == tmp_path / "data" / "suites"
    assert Path(plan.suite.path).name == f"{plan.suite.sha256}.jsonl"


def test_a_damaged_copy_is_noticed(frozen):
    """A copy that was changed or removed is never asked; freezing anew mends it."""
    plan = frozen()
    Path(plan.suite.path).write_text("")
    with pytest.raises(StoreError, match="was changed"):
        plan.suite.load()
    assert frozen().suite.load().cases == 60
    Path(plan.suite.path).unlink()
    with pytest.raises(StoreError, match="is gone"):
        plan.suite.load()


def test_the_proof_is_of_release_suite_golden_reference_and_settings(tmp_path, frozen):
    """The digest changes with each of them and with nothing else."""
    proof = frozen().proof_digest
    assert proof.startswith("denv.proof/1:sha256:")
    assert frozen("# a comment\n" + RELEASE).proof_digest == proof
    for old, new in [
        ("chat-r8", "chat-r9"),
        ("127.0.0.1:8081", "127.0.0.1:8082"),
        ("95%", "94%"),
    ]:
        assert frozen(RELEASE.replace(old, new)).proof_digest != proof
    suites.write(tmp_path, suites.numbered(3), "golden.jsonl")
    changed = frozen().proof_digest
    assert changed != proof
    suites.write(tmp_path, suites.numbered(61))
    assert frozen().proof_digest not in {proof, changed}


def test_replicas_of_batches(frozen):
    """A batch proves its new replicas; one without new ones proves all that are there."""
    plan = frozen()
    names = {batch: [r.name for r in plan.proven_at(batch)] for batch in (1, 2, 3)}
    assert names == {1: ["a"], 2: ["b", "c"], 3: ["a", "b", "c"]}
    assert [name for name, _ in plan.party(1).replicas] == ["a"]
    assert len(plan.party().replicas) == 3


def test_a_key_reaches_only_the_host_it_was_given_for(frozen, monkeypatch):
    """A replica elsewhere has its own key or none; one at the stage's host has the stage's."""
    monkeypatch.setenv("STAGE_KEY", "stage-key-value")
    monkeypatch.setenv("B_KEY", "b-key-value")
    plan = frozen()
    keys = [plan.endpoint_of(replica).key for replica in plan.replicas]
    assert [key and key.reveal() for key in keys] == ["stage-key-value", "b-key-value", None]
    assert [replica.key for replica in plan.stage_at(2).replicas] == keys[1:]
    assert plan.stage_at(1).replicas == ()
    assert plan.endpoint_of(plan.replicas[1]).headers == {"X-Team": "chat"}


def test_keys_are_names_until_they_are_used(frozen, monkeypatch):
    """No key is needed to freeze, none stands in the JSON, and a missing one is named at use."""
    monkeypatch.setenv("STAGE_KEY", "stage-key-value")
    monkeypatch.setenv("HOOK", "hook-secret-value")
    monkeypatch.delenv("B_KEY", raising=False)
    plan = frozen()
    assert "value" not in plan.to_json()
    with pytest.raises(UsageError, match="B_KEY is not set"):
        plan.endpoint_of(plan.replicas[1])
    known = {secret.reveal() for secret in secrets_of(plan)}
    assert known == {"stage-key-value", "hook-secret-value"}


def test_a_release_without_replicas_is_its_stage(frozen):
    """Where no replica is named, the stage's own URL is the only one."""
    text = RELEASE.partition("rollout:")[0] + "rollout: {golden: golden.jsonl}\n"
    plan = frozen(text)
    assert [(r.name, r.url) for r in plan.replicas] == [("stage", plan.stage.url)]


def test_what_is_missing_is_said_at_once(frozen):
    """Suite and reference that are not named are named together, with the key to write."""
    with pytest.raises(UsageError) as caught:
        frozen("release: r\nstage: {url: http://127.0.0.1:8080/v1}\n")
    first, second = str(caught.value).split("\n")
    assert "release.yaml: parity.suite: missing" in first
    assert "release.yaml: parity.reference: missing" in second


def test_a_suite_without_threshold_is_refused(tmp_path, frozen):
    """Where no kind has a threshold no run could pass, so that no rollout begins."""
    lines = [suites.line("c", "x", {"logprobs-close": {"tolerance": 0.1}})]
    text = RELEASE.replace("  pass: {exact: 95%}\n", "")
    suites.write(tmp_path, lines)
    with pytest.raises(UsageError, match=r"parity.pass: missing: .*logprobs: 95%"):
        frozen(text)
    with pytest.raises(UsageError, match=r"parity.pass: a threshold for exact"):
        frozen()


def test_golden_prompts_may_be_left_out(frozen):
    """Without golden prompts there is a plan, whose digest is another."""
    plan = frozen(RELEASE.replace("  golden: golden.jsonl\n", ""))
    assert plan.golden is None
    assert plan.proof_digest != frozen().proof_digest


def test_a_wrong_suite_is_refused_by_its_line(tmp_path, frozen):
    """A fault of the golden prompts names their own file and line, not the copy's."""
    (tmp_path / "golden.jsonl").write_text("{}\n")
    with pytest.raises(SuiteError, match=r"golden\.jsonl:1: "):
        frozen()


def test_the_recipe_gives_what_the_release_leaves_out(frozen):
    """Suite, golden prompts, thresholds and limit come from the recipe where none are named."""
    head = RELEASE.partition("parity:")[0]
    plan = frozen(head + "recipe: smollm2\nparity: {reference: {url: http://127.0.0.1:8081/v1}}\n")
    assert (plan.golden.name, plan.golden.cases, plan.max_tokens) == ("golden.jsonl", 10, 96)
    assert plan.thresholds.rates[Kind.LOGPROBS] == Fraction(95, 100)
    assert plan.recipe == load("smollm2").label
    own = frozen(RELEASE.replace("  golden: golden.jsonl\n", "") + "recipe: smollm2\n")
    assert (own.suite.cases, own.golden.cases, own.max_tokens) == (60, 10, 4096)
