"""Answers that read all of a run: few are made at once, so that nothing else waits for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import BoundedSemaphore
from typing import TypeVar

from starlette.exceptions import HTTPException

MOST_AT_ONCE = 2
MOST_BEGUN = 8
AGAIN_S = 10

T = TypeVar("T")


def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MOST_AT_ONCE, thread_name_prefix="denv-large")


@dataclass(frozen=True, slots=True)
class LargeAnswers:
    """Threads of their own: those of all other requests, and of the engine, stay free."""

    _threads: ThreadPoolExecutor = field(default_factory=_pool)
    _room: BoundedSemaphore = field(default_factory=lambda: BoundedSemaphore(MOST_BEGUN))

    async def make(self, work: Callable[[], T]) -> T:
        """Give what ``work`` gives, after those that came before.

        Raises
        ------
        HTTPException
            As many as may wait do so already.
        """
        if not self._room.acquire(blocking=False):
            raise HTTPException(
                503,
                "whole runs are being read for others: ask again in a moment",
                {"Retry-After": str(AGAIN_S)},
            )
        made = self._threads.submit(work)
        made.add_done_callback(lambda _: self._room.release())  # also where nobody waits any more
        return await asyncio.wrap_future(made)
