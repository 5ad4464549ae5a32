"""The event loop that commands run on."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Coroutine
from contextlib import closing
from typing import Any, TypeVar

from denv.cli.signals import interrupted_by_sigterm

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end on uvloop, a faster event loop, where there is one for the platform.

    Cycles are looked for less often, and not in the libraries, which are some hundred thousand
    objects that stay: answers make few cycles.
    """
    gc.set_threshold(20_000, 20, 100)
    gc.freeze()
    with closing(work), interrupted_by_sigterm():  # which loops leave with the system's effect
        try:
            import uvloop
        except ImportError:
            return asyncio.run(work)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(work)
