"""How long each part of a request may take.

One sweep looks at all requests that run, ten times a second: a timer each would cost every request
more than a tenth of its time, and no limit here is so short that a tenth of a second matters.
"""

from __future__ import annotations

import asyncio
from enum import StrEnum
from types import TracebackType

from denv.router.refusals import RefusedError

SWEEP_S = 0.1


class Phase(StrEnum):
    """What is being waited for."""

    BODY = "body"
    QUEUE = "queue"
    FIRST_BYTE = "first-byte"
    IDLE = "idle"
    TOTAL = "total"


_LATE = {
    Phase.BODY: (408, "body_timeout", "the body did not come in time", None),
    Phase.QUEUE: (503, "queue_timeout", "all replicas are busy; ask again later", 1.0),
    Phase.FIRST_BYTE: (504, "upstream_timeout", "the replica did not answer in time", None),
    Phase.IDLE: (504, "upstream_timeout", "the replica did not answer in time", None),
    Phase.TOTAL: (504, "total_timeout", "the request took too long in all", None),
}


class Clock:
    """Ends the block that it is entered for, by ``TimeoutError``, when a phase takes too long."""

    __slots__ = ("_clocks", "_total_at", "due", "expired", "phase", "task")

    def __init__(self, clocks: Clocks, *, body_s: float, total_s: float) -> None:
        now = clocks.now()
        self._clocks = clocks
        self._total_at = now + total_s
        self.phase = Phase.BODY
        self.due = min(now + body_s, self._total_at)
        self.task = asyncio.current_task()
        self.expired = False

    def begin(self, phase: Phase, seconds: float) -> None:
        """Go on to a phase that may take so long; also once a part of it has come."""
        due = self._clocks.now() + seconds
        if due < self._total_at:
            self.phase, self.due = phase, due
        else:
            self.phase, self.due = Phase.TOTAL, self._total_at

    def work(self) -> None:
        """Go on to what is waited for by nobody but this process, which the whole alone bounds."""
        self.phase, self.due = Phase.TOTAL, self._total_at

    def refused(self) -> RefusedError:
        """Say what took too long."""
        status, code, message, again_s = _LATE[self.phase]
        return RefusedError(status, code, message, retry_after_s=again_s)

    def __enter__(self) -> None:
        self._clocks.running.add(self)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._clocks.running.discard(self)
        if self.expired and self.task is not None:
            # Whoever else has cancelled the task meanwhile is not overheard.
            others = self.task.uncancel()
            if not others and isinstance(error, asyncio.CancelledError):
                raise TimeoutError from error


class Clocks:
    """The clocks of all requests that run, and the sweep that reads them."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.now = self._loop.time
        self.running: set[Clock] = set()

    async def watch(self) -> None:
        """Look for ever for what takes too long."""
        while True:
            await asyncio.sleep(SWEEP_S)
            now = self.now()
            for clock in [clock for clock in self.running if clock.due <= now]:
                if not clock.expired and clock.task is not None:
                    clock.expired = True
                    clock.task.cancel()
