"""The workflow and the units: what they run is run, and systemd reads them."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

from tests.deploy.conftest import DEPLOY, manifest

SERVICE = DEPLOY / "systemd" / "denv-gate@.service"
TIMER = DEPLOY / "systemd" / "denv-gate@.timer"


# ---------------------------------------------------------------- GitHub Actions


def steps():
    return manifest("github/parity.yml")["jobs"]["parity"]["steps"]


@pytest.mark.parametrize(("verdict", "code"), [("pass", 0), ("fail", 1), ("inconclusive", 1)])
async def test_the_workflows_script(release, run, tmp_path, verdict, code):
    """Its script ends as the job is to end, with every report where the upload looks for it.

    The installation from the package index is not run here.
    """
    await release(verdict, folder="releases")
    (script,) = [step["run"] for step in steps() if step.get("name") == "parity"]
    summary = tmp_path / "summary.md"
    ended = await run("bash", "-eo", "pipefail", "-c", script, GITHUB_STEP_SUMMARY=str(summary))
    assert ended.code == code, ended.err
    assert json.loads((tmp_path / "parity" / "gate.json").read_text("utf-8"))["verdict"] == verdict
    assert verdict in summary.read_text("utf-8").lower()
    ET.parse(tmp_path / "parity" / "junit.xml")
    uploaded = steps()[-1]["with"]["path"].split()
    assert all((tmp_path / path).is_file() for path in uploaded)


def test_the_workflow_asks_for_no_right_that_it_does_not_need():
    """It may read the repository, and its key comes from the repository's secrets."""
    document = manifest("github/parity.yml")
    assert document["permissions"] == {"contents": "read"}
    text = (DEPLOY / "github" / "parity.yml").read_text("utf-8")
    assert set(re.findall(r"\$\{\{ *(.*?) *\}\}", text)) == {"secrets.REFERENCE_KEY"}


def test_the_workflow_runs_when_asked_when_called_and_nightly():
    """YAML 1.1 reads the key ``on`` as true; all three triggers are there."""
    document = yaml.load(
        (DEPLOY / "github" / "parity.yml").read_text("utf-8"), Loader=yaml.BaseLoader
    )
    assert set(document["on"]) == {"workflow_dispatch", "workflow_call", "schedule"}


# ---------------------------------------------------------------- systemd


def value(unit: Path, key: str) -> str:
    found: str
    (found,) = re.findall(rf"^{key}=(.*)$", unit.read_text("utf-8"), re.MULTILINE)
    return found


@pytest.mark.parametrize(("verdict", "code"), [("pass", 0), ("fail", 1), ("inconclusive", 3)])
async def test_the_services_command(release, run, tmp_path, verdict, code):
    """Any exit code but 0 is a failed unit; the document is all of its output."""
    etc = await release(verdict)
    line = value(SERVICE, "ExecStart").replace("%i", "chat").replace("/etc/denv", str(etc))
    words = shlex.split(line.replace("/var/lib/denv", str(tmp_path / "data")))
    assert words[0] == "/usr/local/bin/denv"
    ended = await run("denv", *words[1:])
    assert ended.code == code, ended.err
    assert json.loads(ended.out)["verdict"] == verdict


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is missing")
async def test_systemd_reads_the_units(run, tmp_path):
    """Systemd's own check of both units has nothing to say."""
    for unit in (SERVICE, TIMER):
        text = unit.read_text("utf-8").replace("/usr/local/bin/denv", "/bin/true")
        (tmp_path / unit.name.replace("@", "@chat")).write_text(text, "utf-8")
    names = [str(tmp_path / f"denv-gate@chat.{kind}") for kind in ("service", "timer")]
    ended = await run("systemd-analyze", "verify", "--man=no", *names)
    said = [line for line in ended.err.splitlines() if "denv-gate" in line]
    assert (ended.code, said) == (0, [])


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is missing")
async def test_the_timer_fires_every_six_hours(run):
    """Systemd's own calendar gives times that are six hours apart."""
    ended = await run(
        "systemd-analyze", "calendar", "--iterations=4", value(TIMER, "OnCalendar"), TZ="UTC"
    )
    assert ended.code == 0
    hours = [int(hour) for hour in re.findall(r"(\d\d):17:00 UTC", ended.out)]
    assert sorted(set(hours)) == [0, 6, 12, 18]
