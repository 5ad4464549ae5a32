"""What the environment puts in the way."""

from __future__ import annotations

import re
import resource
from pathlib import Path

import pytest

import denv
from denv.doctor.finding import Level
from denv.doctor.machine import VARIABLES, examine_machine


def findings(name, **given):
    """Give what is found under a name; what comes after it is not looked for, as it may be slow."""
    found: list = []
    for each in examine_machine(**{"concurrency": 8, **given}):
        if found and each.name != name:
            break
        if each.name == name:
            found.append(each)
        if name == "open files" and found:
            break
    return found


def test_variables_are_those_that_the_program_reads():
    """Each variable of denv's own name that its source names is known, and no other."""
    source = Path(denv.__file__).parent
    parts = [path for path in source.rglob("*.py") if "doctor" not in path.parts]
    named = {name for path in parts for name in re.findall(r"\bDENV_[A-Z_]+\b", path.read_text())}
    assert named == set(VARIABLES)


def test_a_slip_in_a_variable_is_told_with_what_is_meant(folder, monkeypatch):
    """A variable that nobody reads looks as if it worked: it is a warning where one is near."""
    monkeypatch.setenv("DENV_DATABSE", "postgresql://db/denv")
    (found,) = findings("variables")
    assert (found.level, found.advice) == (Level.WARNING, "did you mean DENV_DATABASE?")
    assert "postgresql" not in found.text


def test_variables_that_a_release_names_are_its_own(folder, monkeypatch):
    """A key may have any name; one that only looks like denv's is a note."""
    monkeypatch.setenv("DENV_MY_STAGES_SECRET", "sk-1234567890")
    assert findings("variables", named={"DENV_MY_STAGES_SECRET"})[0].level is Level.OK
    (found,) = findings("variables")
    assert found.level is Level.NOTE
    assert "sk-123" not in f"{found.text}{found.advice}"


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_proxy_that_catches_loopback_is_a_warning(folder, monkeypatch, name):
    """Servers of this machine would be asked by way of the proxy, which cannot reach them."""
    monkeypatch.setenv(name, "http://user:hunter2@proxy.example:3128")
    if name == "HTTP_PROXY":  # a web server's own variable otherwise
        monkeypatch.delenv("REQUEST_METHOD", raising=False)
    (found,) = findings("proxies")
    assert found.level is Level.WARNING
    assert "http://127.0.0.1 to http://***@proxy.example:3128" in found.text
    assert "hunter2" not in found.text
    assert found.advice == "export NO_PROXY=127.0.0.1,localhost"
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    assert findings("proxies")[0].level is Level.OK


def test_a_proxy_that_is_not_spoken_is_a_fault(folder, monkeypatch):
    """With a SOCKS proxy no request can be sent at all."""
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1080")
    assert findings("proxies")[0].level is Level.FAULT


def test_the_limit_of_open_files_is_held_against_the_concurrency(folder):
    """As many connections as asked for need as many open files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (600, hard))
    try:
        assert findings("open files", concurrency=100)[0].level is Level.OK
        (found,) = findings("open files", concurrency=300)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert (found.level, found.advice) == (
        Level.WARNING,
        "ulimit -n 672, or a lower --concurrency",
    )


def test_a_worker_really_searches(folder, monkeypatch):
    """A child that cannot be started is a fault; one that can answers."""
    assert findings("regex worker")[0].level is Level.OK
    monkeypatch.setattr("sys.executable", "/bin/false")
    assert findings("regex worker")[0].level is Level.FAULT
