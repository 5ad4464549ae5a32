"""Standard error that cannot be written to makes no verdict out of an error."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from denv import cli
from denv.cli.outputs import print_by
from denv.errors import HarnessError
from denv.store import open_store

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device")


def ended(*arguments, home, **streams):
    """Give the exit code of the command as a process."""
    command = [sys.executable, "-m", "denv", *arguments]
    environment = {**os.environ, "DENV_HOME": str(home)}
    return subprocess.run(command, env=environment, check=False, **streams).returncode


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("parity", "check", "--suite", "nope.jsonl"), 2),
        (("parity", "run", "--frobnicate"), 2),
        (("alarm",), 2),
        (("alarm", "resolve", "nope", "--by", "a", "--reason", "b"), 2),
    ],
)
def test_errors_keep_their_code(tmp_path, arguments, code):
    """The code that was to be given is given, though nobody can be told why."""
    with Path("/dev/full").open("w") as full:
        assert ended(*arguments, home=tmp_path, stderr=full, stdout=subprocess.DEVNULL) == code


@pytest.mark.parametrize("arguments", ["token new --role read --name a", "key new"])
@pytest.mark.parametrize("where", [">/dev/full", ">&-"])
def test_what_is_shown_once_is_not_made_for_nobody(tmp_path, arguments, where):
    """Where standard output is full or closed, neither a token nor a key comes to be."""
    command = ["/bin/sh", "-c", f'exec "$0" -m denv {arguments} {where}', sys.executable]
    environment = {**os.environ, "DENV_HOME": str(tmp_path)}
    done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (4, 1)
    assert "is made" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_token_that_could_not_be_shown_lets_nobody_in(tmp_path):
    """A reader that has gone is seen only as it is shown: the token is revoked then."""
    reading, writing = os.pipe()
    os.close(reading)
    code = ended("token", "new", "--role", "read", "--name", "a", home=tmp_path, stdout=writing)
    os.close(writing)
    store = open_store(tmp_path)
    (kept,) = store.tokens.all()
    store.close()
    assert (code, kept.revoked is None) == (4, False)


@pytest.mark.parametrize("buffered", ["", "1"])
@pytest.mark.parametrize("arguments", [("recipe", "list"), ("suite", "--help"), ("alarm", "list")])
def test_standard_output_that_is_full(tmp_path, arguments, buffered):
    """What cannot be printed is one line and exit 4, no fault of the program."""
    command = [sys.executable, "-m", "denv", *arguments]
    environment = {**os.environ, "DENV_HOME": str(tmp_path), "PYTHONUNBUFFERED": buffered}
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            command, env=environment, check=False, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert ended.stderr == "denv: standard output: No space left on device\n"
    assert ended.returncode == 4


async def test_reports_to_standard_output_that_is_closed(home, monkeypatch):
    """It is known before anything is sent, so nothing is."""
    monkeypatch.setattr(sys, "stdout", None)
    url = "http://127.0.0.1:9/v1"
    sides = ("--stage", url, "--reference", url)
    code = await asyncio.to_thread(
        cli.run, ["parity", "run", "--suite", "s.jsonl", *sides, "--json", "-"]
    )
    assert code == 2


@pytest.mark.parametrize("fault", [OSError(errno.ENOSPC, "No space left on device"), None])
def test_a_report_that_cannot_be_printed(monkeypatch, fault):
    """Standard output that fills up, or is closed, at the end of a run is named."""

    def fail(stream):
        raise fault

    if fault is None:
        monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(HarnessError, match="standard output"):
        print_by(fail)


def test_nothing_that_can_be_said_is_an_error(tmp_path):
    """Where neither stream can be written to, a command that only shows ends with 4, never 1."""
    with Path("/dev/full").open("w") as full:
        assert ended("alarm", "list", home=tmp_path, stderr=full, stdout=full) == 4
