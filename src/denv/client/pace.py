"""When one endpoint's workers may send: at even gaps or gaps of chance, held back by one wait."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from math import log

from denv.client.retry import Rng
from denv.records import Pacing

MAX_JITTER_S = 1.0


class Pace:
    """Spaces sends at ``rate`` a second (None: no limit) and holds them all while a wait stands.

    A time slot is taken by arithmetic before the wait for it, so that workers queue in order
    without a lock. Interleaved, the gaps are exponential with the mean 1/rate: the sends are a
    Poisson process, as the requests of many customers are together.
    """

    def __init__(
        self,
        rate: float | None,
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]],
        rng: Rng,
        pacing: Pacing = Pacing.EVEN,
    ) -> None:
        self._pacing = pacing
        self._gap_s = 1.0 / rate if rate else 0.0
        self._clock, self._sleep, self._rng = clock, sleep, rng
        self._next_at = float("-inf")
        self._resume_at = float("-inf")
        self._why = ""
        self.waits = 0
        """How many shared waits have begun; one that is made longer counts once."""

    def hold(self, wait_s: float, *, why: str) -> None:
        """Let nobody send for so long; a longer wait that stands already is kept."""
        now = self._clock()
        if wait_s > 0 and self._resume_at <= now:
            self.waits += 1
        if now + wait_s > self._resume_at:
            self._resume_at, self._why = now + wait_s, why

    @property
    def held_s(self) -> float:
        """Seconds until the shared wait ends, 0 where none stands."""
        return max(0.0, self._resume_at - self._clock())

    @property
    def held_why(self) -> str:
        """What the standing wait was begun for, "" where none stands."""
        return self._why if self.held_s > 0 else ""

    async def resumed(self) -> None:
        """Wait until no shared wait stands."""
        while (pause := self._resume_at - self._clock()) > 0:
            # Each worker adds its own jitter, so that they do not all come back at once.
            await self._sleep(pause + self._rng.random() * min(0.1 * pause, MAX_JITTER_S))

    def _gap(self) -> float:
        if self._pacing is Pacing.EVEN:
            return self._gap_s
        return -self._gap_s * log(1.0 - self._rng.random())

    async def admitted(self) -> None:
        """Wait for the next moment at which one request may be sent."""
        while True:
            await self.resumed()
            if not self._gap_s:
                return
            now = self._clock()
            at = max(now, self._next_at)
            self._next_at = at + self._gap()
            if at > now:
                await self._sleep(at - now)
            if self._resume_at <= self._clock():
                return
