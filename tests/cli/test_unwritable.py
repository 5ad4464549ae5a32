"""Standard error that cannot be written to makes no verdict out of an error."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

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


def test_nothing_that_can_be_said_is_an_error(tmp_path):
    """Where neither stream can be written to, a command that only shows ends with 4, never 1."""
    with Path("/dev/full").open("w") as full:
        assert ended("alarm", "list", home=tmp_path, stderr=full, stdout=full) == 4
