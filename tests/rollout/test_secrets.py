"""The secrets that no alarm's reason may show: those of the plan that raised it."""

from __future__ import annotations

import json

import pytest

from denv.rollout.plan import freeze
from denv.rollout.secrets import secrets_about, secrets_of_release
from denv.store import Raise, RolloutRecord, ScheduleRecord
from tests.rollout.schedules.sides import write_suites

RELEASE = """
release: chat-r8
stage: {{url: "http://127.0.0.1:9/v1", key-file: {stage}}}
parity:
  reference: {{url: "http://127.0.0.1:8/v1", key-env: REFERENCE_KEY}}
  suite: suite.jsonl
  pass: {{exact: 95%}}
alarms:
  - {{pagerduty: {{routing-key-env: PAGER_KEY}}}}
"""


@pytest.fixture
def release(tmp_path, release_of, monkeypatch):
    """Give a release with a key in a file, one in the environment, and a sink's."""
    write_suites(tmp_path)
    key = tmp_path / "stage.key"
    key.write_text("sk-stage-in-a-file", "utf-8")
    key.chmod(0o600)
    monkeypatch.setenv("REFERENCE_KEY", "sk-reference")
    monkeypatch.setenv("PAGER_KEY", "routing-key")
    return release_of(RELEASE.format(stage=key))


def raised(store, name="a", **given):
    """Raise an alarm and give it."""
    return store.alarms.raise_alarm(
        Raise(f"once-{name}", name, "parity-fail", "s", "chat-r8", "it failed", 1.0, **given)
    )


def revealed(secrets):
    return {secret.reveal() for secret in secrets}


def test_of_a_rollout(release, store, tmp_path):
    """Keys of both sides, read from where they lie now, and those of the sinks."""
    plan = freeze(release, data_folder=tmp_path / "home")
    store.rollouts.create_rollout(
        RolloutRecord("r1", "s", "chat-r8", "p", 1.0, json.loads(plan.to_json()), {})
    )
    found = revealed(secrets_about(store, raised(store, rollout="r1")))
    assert found == {"sk-stage-in-a-file", "sk-reference", "routing-key"}


def test_of_a_schedule(release, store, tmp_path):
    """An alarm of a schedule names it in its details."""
    plan = freeze(release, data_folder=tmp_path / "home")
    store.schedules.add_schedule(
        ScheduleRecord("nightly", 1.0, {}, json.loads(plan.to_json())),
    )
    alarm = raised(store, details={"schedule": "nightly"})
    assert "sk-stage-in-a-file" in revealed(secrets_about(store, alarm))


def test_what_cannot_be_read_holds_up_no_alarm(release, store, tmp_path, monkeypatch):
    """A key that is gone, or a plan of another version, hides nothing and stops nothing."""
    plan = json.loads(freeze(release, data_folder=tmp_path / "home").to_json())
    (tmp_path / "stage.key").unlink()
    store.rollouts.create_rollout(RolloutRecord("r1", "s", "chat-r8", "p", 1.0, plan, {}))
    alarm = raised(store, rollout="r1")
    assert revealed(secrets_about(store, alarm)) == {"sk-reference", "routing-key"}
    store.rollouts.create_rollout(
        RolloutRecord("r2", "t", "chat-r8", "p", 1.0, {**plan, "schema": "another"}, {})
    )
    assert secrets_about(store, raised(store, "b", rollout="r2")) == ()


def test_of_a_release(release):
    """A test alarm knows the release's own keys."""
    assert revealed(secrets_of_release(release)) == {"sk-stage-in-a-file", "sk-reference"}
