"""The time of a batch: a clock in workflow time that ends it where it is not proven by then."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from denv.rollout import states

UNPROVEN = frozenset(
    {
        states.Phase.STARTING,
        states.Phase.HEALTH,
        states.Phase.GOLDEN,
        states.Phase.PARITY,
        states.Phase.HOLDING,
    }
)


class StageClock:
    """Runs while a batch is not proven; each batch has its time anew.

    ``deadline`` is the Unix second at which the time of ``batch`` is over: a workflow that begins
    a new history hands both on.
    """

    def __init__(
        self, tell: Callable[[states.Event], None], *, deadline: float | None, batch: int
    ) -> None:
        self._tell = tell
        self.deadline, self.batch = deadline, batch
        self._running: asyncio.Task[None] | None = None

    def keep(self, state: states.State) -> None:
        """Run for this state, or stop."""
        if state.phase not in UNPROVEN:
            self.stop()
            return
        if self.deadline is None or self.batch != state.batch:
            self.stop()
            self.deadline = workflow.time() + state.terms.deadline_s
            self.batch = state.batch
        if self._running is None:
            self._running = asyncio.create_task(self._run(state.batch))

    def stop(self) -> None:
        """Forget the time of the batch."""
        if self._running is not None:
            self._running.cancel()
        self._running = self.deadline = None

    async def _run(self, batch: int) -> None:
        left_s = (self.deadline or 0.0) - workflow.time()
        if left_s > 0:
            await asyncio.sleep(left_s)
        self._tell(states.Deadline(batch=batch))
