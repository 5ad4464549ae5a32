"""The event loop that commands run on."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end on uvloop, a faster event loop, where there is one for the platform.

    Cycles are collected less often: with the libraries loaded a collection walks through some
    hundred thousand objects that stay, and answers make few cycles.
    """
    gc.set_threshold(20_000, 20, 100)
    try:
        import uvloop
    except ImportError:
        return asyncio.run(work)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)
