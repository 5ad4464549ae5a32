"""What many parts need: a store, stub servers, the tests' order, and profiles of Hypothesis.

The profiles know no deadlines, which busy machines miss; mutants meet few examples.
"""

from __future__ import annotations

import os
import signal
from contextlib import AsyncExitStack

import pytest
from hypothesis import Phase, settings

from denv.store import open_store
from tests.stubs import StubServer

settings.register_profile(
    "mutants",
    max_examples=30,
    derandomize=True,
    deadline=None,
    database=None,
    phases=(Phase.explicit, Phase.generate),
)
settings.register_profile("everyday", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "everyday"))


def pytest_configure():
    """Hear SIGINT, which a shell has ignored in what it runs in the background.

    What ignores it hands that down to each process that a test starts and interrupts.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Begin with the files that take long, so that none of them is left for the end.

    `make test-slow` finds its files by what stands in them.
    """
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    hidden = [str(path) for path in slow if "mark.slow" not in path.read_text("utf-8")]
    if hidden:
        raise pytest.UsageError(f"marked slow, but not in the file itself: {', '.join(hidden)}")
    long = {item.path for item in items if any(map(item.get_closest_marker, ("slow", "lab")))}
    items.sort(key=lambda item: item.path not in long and item.path.parent.name != "engine")


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
