"""What a plain install does: no extra is needed to make, show, publish and check a report."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from tests import suites

ROOT = Path(__file__).parents[2]


@pytest.fixture
def alone(home, tmp_path):
    """Run the command in a process that can import nothing but what the core depends on."""

    async def run(*arguments: object) -> tuple[int, str]:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.cli.core_alone", *map(str, arguments)),
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        said, _ = await process.communicate()
        return process.returncode or 0, said.decode()

    return run


@pytest.mark.slow
async def test_a_report_is_made_published_and_verified(alone, serve, tmp_path):
    """Run, sign, publish and verify; then a changed suite is told by the same install."""
    suite = suites.write(tmp_path, suites.numbered(4))
    stage, reference = await serve(), await serve()
    sides = ("--stage", stage.url, "--reference", reference.url)
    for arguments in (
        ("parity", "run", "--suite", suite, *sides, "--html", "r.html", "--junit", "r.xml"),
        ("key", "new", "--out", "mine.key"),
        ("parity", "report", "--public", "--out", "public", "--key", "mine.key"),
        ("parity", "verify", "public", "--key", "mine.pub", "--suite", suite),
    ):
        code, said = await alone(*arguments)
        assert code == 0, said
    assert said.endswith("\nverified\n")
    other = suites.write(tmp_path, suites.numbered(5), "other.jsonl")
    code, said = await alone("parity", "verify", "public", "--key", "mine.pub", "--suite", other)
    assert code == 1
    assert "NOT verified" in said


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        (("lab", "serve"), "lab"),
        (("adapter", "--help"), None),
        (("rollout", "list"), None),
        (("parity", "selfcheck", "--help"), None),
    ],
)
async def test_what_needs_an_extra_says_which(alone, command, extra):
    """A command whose extra is missing says how it comes; the others do not need it."""
    code, said = await alone(*command)
    assert "Traceback" not in said
    assert code == (0 if extra is None else 2), said
    if extra is not None:
        assert f"denv-parity[{extra}]" in said
