"""Bounded concurrency: so many requests at once, so many in a queue, the rest told at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from denv.adapter.refusals import RATE_LIMIT, UNAVAILABLE, RefusedError, refusal


class Places:
    """The places of one adapter. ``taken`` and ``waiting`` are how many there are of each now."""

    def __init__(self, *, concurrency: int, queue: int, wait_s: float) -> None:
        self._free = asyncio.Semaphore(concurrency)
        self._queue = queue
        self._wait_s = wait_s
        self._none_left = asyncio.Event()
        self._none_left.set()
        self.taken = 0
        self.waiting = 0
        self.closed = False

    @asynccontextmanager
    async def take(self) -> AsyncIterator[None]:
        """Hold a place for the length of the block.

        Raises
        ------
        RefusedError
            429 where the queue is full, 503 where no place came free in time or the adapter ends.
        """
        await self._enter()
        self.taken += 1
        self._none_left.clear()
        try:
            yield
        finally:
            self.taken -= 1
            self._free.release()
            if not self.taken:
                self._none_left.set()

    async def _enter(self) -> None:
        self._check_open()
        if self._free.locked() and self.waiting >= self._queue:
            text = "too many requests at once; try again shortly"
            raise RefusedError(refusal(429, text, kind=RATE_LIMIT, retry_after_s=1))
        self.waiting += 1
        try:
            async with asyncio.timeout(self._wait_s):
                await self._free.acquire()
        except TimeoutError:
            text = f"no place came free within {self._wait_s:g} s; try again shortly"
            busy = refusal(503, text, kind=UNAVAILABLE, retry_after_s=1)
            raise RefusedError(busy) from None
        finally:
            self.waiting -= 1
        try:
            self._check_open()
        except RefusedError:
            self._free.release()
            raise

    def _check_open(self) -> None:
        if self.closed:
            ending = refusal(503, "the adapter is ending", kind=UNAVAILABLE, retry_after_s=1)
            raise RefusedError(ending)

    async def drain(self, timeout_s: float) -> bool:
        """Take nobody in any more, and wait for those within; tell whether all have left."""
        self.closed = True
        try:
            async with asyncio.timeout(timeout_s):
                await self._none_left.wait()
        except TimeoutError:
            return False
        return True
