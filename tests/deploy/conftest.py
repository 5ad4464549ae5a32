"""Releases over stub servers, and the commands of manifests run as they stand."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests import suites
from tests.stubs import StubServer, answers

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
BIN = Path(sys.executable).parent


def manifest(path: str):
    return yaml.safe_load((DEPLOY / path).read_text("utf-8"))


def wrong_at(number):
    """Echo, but answer nonsense to this number."""

    def handler(request, n):
        content = request["messages"][-1]["content"]
        return answers.completion("no" if content == f"number {number};" else content)

    return handler


@dataclass(frozen=True)
class Ended:
    """What a command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
async def stack():
    async with AsyncExitStack() as opened:
        yield opened


@pytest.fixture
def release(tmp_path, stack):
    """Write ``etc/chat.yaml`` whose run ends with this verdict; gives its folder."""

    async def write(verdict="pass", folder="etc"):
        stage = {"fail": wrong_at(0)}.get(verdict)
        reference = {"inconclusive": wrong_at(0)}.get(verdict)
        urls = [
            (await stack.enter_async_context(StubServer(handler))).url
            for handler in (stage, reference)
        ]
        etc = tmp_path / folder
        etc.mkdir(exist_ok=True)
        suites.write(etc, suites.numbered(1))
        settings = {
            "release": "chat-r8",
            "stage": {"url": urls[0]},
            "parity": {
                "reference": {"url": urls[1], "key-env": "REFERENCE_KEY"},
                "suite": "suite.jsonl",
            },
        }
        (etc / "chat.yaml").write_text(yaml.safe_dump(settings), "utf-8")
        return etc

    return write


@pytest.fixture
def run(tmp_path):
    """Run words, or a script by a shell, with this environment's ``denv`` first on the path."""

    async def start(*words, **environment):
        process = await asyncio.create_subprocess_exec(
            *words,
            cwd=tmp_path,
            env={
                **os.environ,
                "PATH": f"{BIN}:{os.environ['PATH']}",
                "REFERENCE_KEY": "key-of-a-test",
                **environment,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        out, err = await process.communicate()
        return Ended(process.returncode or 0, out.decode(), err.decode())

    return start
