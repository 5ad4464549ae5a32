"""Waiting for a place at a replica, first come first served, with a bound."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection

from denv.router.fleet import Fleet, Replica
from denv.router.refusals import RefusedError

ASK_AGAIN_S = 1.0
_FULL = "all replicas are busy and too many requests are waiting; ask again later"
_NONE = "no replica is healthy; ask again later"


class _Waiter:
    """A request that waits, and for whom."""

    __slots__ = ("avoid", "future", "only")

    def __init__(
        self, future: asyncio.Future[Replica], only: str | None, avoid: Collection[Replica]
    ) -> None:
        self.future = future
        self.only = only
        self.avoid = avoid


class Places:
    """Gives each request a place at a replica; whoever gets one gives it back.

    No request that waits could have a free place: each that becomes free is given to the first
    that can use it. So one that comes never overtakes by taking a free place at once.
    """

    def __init__(self, fleet: Fleet, *, most_waiting: int) -> None:
        self._fleet = fleet
        self._most = most_waiting
        self._waiting: deque[_Waiter] = deque()

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._waiting)

    def at_once(
        self, *, only: str | None = None, avoid: Collection[Replica] = ()
    ) -> Replica | None:
        """Give a place that is free, None where one must be waited for.

        Raises
        ------
        RefusedError
            503: no replica that may be asked is healthy.
        """
        chosen = self._fleet.choose(only=only, avoid=avoid)
        if chosen is None and not self._fleet.could(only=only, avoid=avoid):
            raise RefusedError(503, "no_healthy_replica", _NONE, retry_after_s=ASK_AGAIN_S)
        return chosen

    async def wait(self, *, only: str | None = None, avoid: Collection[Replica] = ()) -> Replica:
        """Wait for a place; whoever calls bounds the time, by cancelling.

        Raises
        ------
        RefusedError
            503: as many wait as may, or no replica is healthy any more.
        """
        if len(self._waiting) >= self._most:
            raise RefusedError(503, "queue_full", _FULL, retry_after_s=ASK_AGAIN_S)
        waiter = _Waiter(asyncio.get_running_loop().create_future(), only, avoid)
        self._waiting.append(waiter)
        try:
            return await waiter.future
        except asyncio.CancelledError:
            if waiter in self._waiting:
                self._waiting.remove(waiter)
            elif not waiter.future.cancelled() and waiter.future.exception() is None:
                self.give_back(waiter.future.result())
            raise

    def give_back(self, replica: Replica) -> None:
        """Free a place; the first that can use it gets it."""
        replica.in_flight -= 1
        if self._waiting:
            self._serve(1)

    def changed(self) -> None:
        """Hear that the table or a replica's health is another: who can go on does."""
        if self._waiting:
            self._serve(len(self._waiting))

    def _serve(self, most: int) -> None:
        left: deque[_Waiter] = deque()
        while self._waiting and most:
            waiter = self._waiting.popleft()
            if waiter.future.done():  # cancelled, and about to take itself out
                continue
            chosen = self._fleet.choose(only=waiter.only, avoid=waiter.avoid)
            if chosen is not None:
                waiter.future.set_result(chosen)
                most -= 1
            elif self._fleet.could(only=waiter.only, avoid=waiter.avoid):
                left.append(waiter)
            else:
                waiter.future.set_exception(
                    RefusedError(503, "no_healthy_replica", _NONE, retry_after_s=ASK_AGAIN_S)
                )
        left.extend(self._waiting)
        self._waiting = left
