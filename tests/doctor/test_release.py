"""A release as it would be used: each thing that it names, there and not there."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from denv.doctor.finding import Level
from denv.doctor.release import examine_release, read_release, secrets_of, variables_of
from denv.release import Release
from tests import suites

KEY = "sk-planted-7f31c2d9"


@dataclass(frozen=True)
class Written:
    """A release's file: called, it is written with what is changed, and read."""

    read: Callable[..., Release | None]
    settings: dict
    folder: Path

    def __call__(self, **changed):
        found = self.read(**changed)
        assert found is not None
        return found


@pytest.fixture
async def release(folder, serve, tmp_path, monkeypatch):
    """Write a release whose every part is there; give a function that reads it, changed."""
    stage, reference = await serve(models=["m"]), await serve(models=["m"])
    suites.write(tmp_path, suites.numbered(3))
    key = tmp_path / "stage.key"
    key.write_text(KEY)
    key.chmod(0o600)
    monkeypatch.setenv("REFERENCE_KEY", KEY)
    monkeypatch.setenv("PAGER_KEY", KEY)
    settings = {
        "release": "r",
        "stage": {"url": stage.url, "model": "m", "key-file": "stage.key"},
        "parity": {
            "suite": "suite.jsonl",
            "reference": {"url": reference.url, "model": "m", "key-env": "REFERENCE_KEY"},
        },
        "rollout": {"deploy": {"start": {"run": ["true"]}, "stop": {"run": ["true"]}}},
        "alarms": [
            {"alertmanager": "http://127.0.0.1:9"},
            {"pagerduty": {"routing-key-env": "PAGER_KEY"}},
            {"command": {"run": ["true"]}},
        ],
    }

    def read(**changed):
        path = tmp_path / "release.yaml"
        path.write_text(json.dumps({**settings, **changed}))  # JSON is YAML
        return read_release(path).release

    return Written(read, settings, tmp_path)


async def look(release):
    found: dict[str, list] = {}
    async for finding in examine_release(release):
        found.setdefault(finding.name, []).append(finding)
    return found


async def test_a_release_of_which_all_is_there(release):
    """Every part is looked at and well; nothing is sent to where alarms go."""
    found = await look(release())
    assert {each.level for parts in found.values() for each in parts} == {Level.OK}
    assert set(found) == {
        "suite", "stage's key", "reference's key", "stage", "reference",
        "deploy start", "deploy stop",
        "alarm 1 (alertmanager)", "alarm 2 (pagerduty)", "alarm 3 (command)",
    }  # fmt: skip


async def test_keys_that_are_not_set_or_open_to_others(release, monkeypatch):
    """Each missing key is a fault of its own; none is shown."""
    monkeypatch.delenv("REFERENCE_KEY")
    monkeypatch.delenv("PAGER_KEY")
    (release.folder / "stage.key").chmod(0o644)
    found = await look(release())
    for name in ("reference's key", "stage's key", "alarm 2 (pagerduty)"):
        assert found[name][0].level is Level.FAULT
        assert KEY not in f"{found[name]}"
    assert "chmod 600" in found["stage's key"][0].text


async def test_programs_that_are_not_there(release):
    """A program is looked for as it will be run: by the path, or in the release's folder."""
    program = release.folder / "start.sh"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    deploy = {"start": {"run": ["./start.sh"]}, "stop": {"run": ["no-such-program-at-all"]}}
    found = await look(release(rollout={"deploy": deploy}))
    assert found["deploy start"][0].level is Level.OK
    assert found["deploy stop"][0].level is Level.FAULT


async def test_suites_and_recipes(release):
    """A suite that cannot be read names file and line; an unknown recipe those that there are."""
    (release.folder / "suite.jsonl").write_text('{"id": 3}\n')
    found = await look(release(recipe="no-such"))
    assert (found["suite"][0].level, found["recipe"][0].level) == (Level.FAULT, Level.FAULT)
    assert "suite.jsonl:1" in found["suite"][0].text
    assert (await look(release(recipe="generic")))["recipe"][0].level is Level.OK
    neither = await look(release(parity={"pass": {"exact": "90%"}}))
    assert neither["suite"][0].level is Level.FAULT


async def test_replicas_that_the_rollout_starts_may_be_down(release):
    """What the release starts may be down now; what it does not start may not."""
    replicas = [{"name": "a", "url": "http://127.0.0.1:9/v1"}]
    deploy = release.settings["rollout"]["deploy"]
    found = await look(release(rollout={"deploy": deploy, "replicas": replicas}))
    assert found["replica a"][0].level is Level.NOTE
    found = await look(release(rollout={"replicas": replicas}))
    assert found["replica a"][0].level is Level.FAULT


async def test_a_release_that_cannot_be_read_is_a_fault(tmp_path):
    """All that is wrong in the file is told with its line."""
    path = tmp_path / "release.yaml"
    path.write_text("release: r\nstages: {}\n")
    read = read_release(path)
    assert read.release is None
    assert read.finding.level is Level.FAULT
    assert 'did you mean "stage"?' in read.finding.text


async def test_what_is_secret_of_a_release(release):
    """Values of all variables and key files that it names are known, to be cut out."""
    given = release()
    assert variables_of(given) == {"REFERENCE_KEY", "PAGER_KEY"}
    assert {secret.reveal() for secret in secrets_of(given)} == {KEY}
