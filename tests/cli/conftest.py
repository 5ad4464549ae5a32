"""The command line, run in this process against stub servers."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass

import pytest

from denv import cli
from tests.stubs import StubServer


@dataclass(frozen=True)
class Ended:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """The lines of standard error."""
        return self.err.split("\n")[:-1]


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Keep all data inside the test's folder, and every variable of the caller's out."""
    monkeypatch.setenv("DENV_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "120")
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"


@pytest.fixture
def denv(home, capsys):
    """Run the command with these arguments, beside the loop that the stub servers need."""

    async def run(*arguments: object) -> Ended:
        capsys.readouterr()
        code = await asyncio.to_thread(cli.run, [str(each) for each in arguments])
        return Ended(code, *capsys.readouterr())

    return run


@pytest.fixture
async def serve():
    """Start stub servers that end with the test."""
    async with AsyncExitStack() as stack:

        async def start(handler=None, **options):
            return await stack.enter_async_context(StubServer(handler, **options))

        yield start
