"""What runs need: a store of their own, and stub servers to ask."""

from __future__ import annotations

from contextlib import AsyncExitStack

import pytest

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
    """Start stub servers that end with the test."""
    async with AsyncExitStack() as stack:

        async def start(handler=None, **options):
            return await stack.enter_async_context(StubServer(handler, **options))

        yield start
