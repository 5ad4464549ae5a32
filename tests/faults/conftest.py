"""Runs over real sockets for the tests of this folder."""

from __future__ import annotations

from contextlib import AsyncExitStack

import pytest

from denv.records import Endpoint
from denv.report import validate
from denv.runner import Settings, run_parity
from denv.store import open_store
from denv.suite import load_suite
from tests.stubs import StubServer


@pytest.fixture
async def serve():
    """Start stub servers that end with the test."""
    async with AsyncExitStack() as stack:

        async def start(handler=None):
            return await stack.enter_async_context(StubServer(handler))

        yield start


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """Share one data folder, so that the self-check is tried once and not for every run."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def store(tmp_path, monkeypatch, home):
    """Keep all data of a run inside the tests' folders."""
    monkeypatch.setenv("DENV_HOME", str(home))
    opened = open_store(tmp_path / "home")
    yield opened
    opened.close()


@pytest.fixture
def run(tmp_path, store):
    """Run a suite, given as lines of text, against two stubs; give report and document."""

    async def start(lines, stage, reference, *, stage_options=None, **settings):
        path = tmp_path / "suite.jsonl"
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        options = {"retries": 0, **(stage_options or {})}
        report = await run_parity(
            load_suite(path),
            stage=Endpoint(url=stage.url, **options),
            reference=Endpoint(url=reference.url, retries=0),
            settings=Settings(**settings),
            store=store,
        )
        document = {**report.head, "cases": list(report.cases())}
        validate(document)
        return report, document

    return start
