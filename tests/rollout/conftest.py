"""What tests of rollouts need: web applications, and releases."""

from __future__ import annotations

from contextlib import AsyncExitStack

import pytest
from aiohttp.test_utils import TestServer

from denv.client import retry
from denv.release import load_release


@pytest.fixture(autouse=True)
def _quick_retries(monkeypatch):
    """Wait no time between a client's tries: that it waits is tested where it does."""
    monkeypatch.setattr(retry, "BASE_S", 0.01)


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
