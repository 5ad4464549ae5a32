"""``denv doctor``: its codes, its document, its silence about secrets."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from jsonschema import Draft202012Validator, ValidationError

from denv.schemas import schema
from tests import suites

KEY = "sk-planted-7f31c2d9"


async def test_nothing_at_fault_is_0_and_warnings_are_allowed(denv, home, monkeypatch):
    """A new machine has notes; a slip in a variable is a warning; neither changes the code."""
    monkeypatch.setenv("DENV_HOM", "/nowhere")
    ended = await denv("doctor", "--json", "-")
    assert ended.code == 0, ended.err
    document = json.loads(ended.out)
    Draft202012Validator(schema("doctor-1")).validate(document)
    assert document["worst"] == "warning"
    assert "did you mean DENV_HOME?" in ended.err  # the table stands aside
    assert not home.exists()


async def test_a_fault_is_1(denv, tmp_path):
    """What does not work is a fault, whoever asked; the table goes to standard output."""
    (tmp_path / "r.yaml").write_text("release: r\n")
    ended = await denv("doctor", "--release", tmp_path / "r.yaml", "--json", tmp_path / "d.json")
    assert ended.code == 1
    assert "fault" in ended.out
    document = json.loads((tmp_path / "d.json").read_text())
    assert document["counts"]["fault"] == 1
    assert document["worst"] == "fault"


@pytest.mark.parametrize(
    "arguments",
    [
        ("--concurrency", "0"),
        ("--json", ""),
        ("--json", "/no/such/folder/d.json"),
        ("--temporal", "nonsense"),
        ("--namespace", "n"),
    ],
)
async def test_what_is_asked_wrongly_is_2(denv, arguments):
    """A slip in the command is told before anything is looked at."""
    assert (await denv("doctor", *arguments)).code == 2


async def test_no_secret_is_printed(denv, serve, tmp_path, monkeypatch):
    """Keys, passwords and tokens are in no output, whatever a server makes of them."""
    stage = await serve(models=[f"model-{KEY}"])
    suites.write(tmp_path, suites.numbered(1))
    monkeypatch.setenv("STAGE_KEY", KEY)
    monkeypatch.setenv("DENV_SECRET", KEY)
    monkeypatch.setenv("DENV_DATABASE", f"postgresql://u:{KEY}@127.0.0.1:9/denv")
    monkeypatch.setenv("HTTPS_PROXY", f"http://u:{KEY}@127.0.0.1:9")
    release = {
        "release": "r",
        "stage": {"url": stage.url, "key-env": "STAGE_KEY"},
        "parity": {"suite": "suite.jsonl"},
        "alarms": [{"apprise": {"url-env": "STAGE_KEY"}}],
    }
    (tmp_path / "r.yaml").write_text(json.dumps(release))
    ended = await denv("doctor", "--release", tmp_path / "r.yaml", "--json", "-")
    assert ended.code == 1
    assert "lists model-***" in ended.out
    assert KEY not in ended.out + ended.err


@pytest.mark.parametrize("level", ["warning", "fault"])
def test_the_schema_asks_for_advice(level):
    """Who is told that something is wrong is told what to do."""
    finding = {"area": "data", "name": "disk", "level": level, "text": "full", "advice": None}
    document = {
        "schema": "denv.doctor/1",
        "denv": "1",
        "worst": level,
        "counts": {"ok": 0, "note": 0, "warning": 0, "fault": 0},
        "findings": [finding],
    }
    with pytest.raises(ValidationError, match="None is not of type"):
        Draft202012Validator(schema("doctor-1")).validate(document)


def test_help_imports_none_of_it():
    """The list of commands is quick: what the doctor looks with is imported when it looks."""
    code = (
        "import sys; from denv.cli import run; run(['--help']); run(['doctor', '--help']); "
        "print([m for m in sys.modules if m.startswith('denv.doctor')])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines()[-1] == "[]"
