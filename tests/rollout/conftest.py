"""What tests of rollouts need: a store, stub endpoints, and releases that name them."""

from __future__ import annotations

from contextlib import AsyncExitStack

import pytest
from aiohttp.test_utils import TestServer

from denv.release import load_release
from denv.store import open_store
from tests.stubs import StubServer


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Open a store in a fresh data folder."""
    monkeypatch.setenv("DENV_HOME", str(tmp_path / "home"))
    opened = open_store(tmp_path / "home")
    yield opened
    opened.close()


@pytest.fixture
async def serve():
    """Start stub endpoints that end with the test."""
    async with AsyncExitStack() as stack:

        async def start(handler=None, **options):
            return await stack.enter_async_context(StubServer(handler, **options))

        yield start


@pytest.fixture
async def web_server():
    """Start web applications that end with the test; each gives its root URL."""
    async with AsyncExitStack() as stack:

        async def start(app):
            server = await stack.enter_async_context(TestServer(app))
            return str(server.make_url("")).rstrip("/")

        yield start


@pytest.fixture
def release_of(tmp_path):
    """Load a release from its text, beside whatever the test has written."""

    def from_text(text, name="release.yaml"):
        path = tmp_path / name
        path.write_text(text)
        return load_release(path)

    return from_text
