"""A clock that tests move: sleepers wake in order, and no second passes outside."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Coroutine
from itertools import count
from typing import Any

SETTLE = 30
"""Turns of the event loop after which tasks that do no I/O stand still."""


class VirtualTime:
    """Gives ``clock`` and ``sleep`` to what is tested, and runs it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []
        self._order = count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        woken = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.now + seconds, next(self._order), woken))
        await woken

    async def run(self, *work: Coroutine[Any, Any, Any]) -> list[Any]:
        """Run all to their ends, moving the clock whenever every one of them sleeps."""
        tasks = [asyncio.ensure_future(one) for one in work]
        while not all(task.done() for task in tasks):
            for _ in range(SETTLE):
                await asyncio.sleep(0)
            if self._sleepers:
                at, _, woken = heapq.heappop(self._sleepers)
                if not woken.done():  # a cancelled sleeper moves nothing
                    self.now = max(self.now, at)
                    woken.set_result(None)
        return [task.result() for task in tasks]


class FixedRandom:
    """A random source that always gives the same number."""

    def __init__(self, value: float) -> None:
        self.value = value

    def random(self) -> float:
        return self.value
