"""Health of replicas: passes in a row before traffic comes, and watched while it is there."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit, urlunsplit

from denv.client import AiohttpTransport, HttpCall
from denv.records import Exchange, Timeouts
from denv.release import Health
from denv.rollout.sides import PlannedReplica

MAX_PROBE_S = 10.0
"""A replica that takes longer than this to say that it is healthy is not."""

_MAX_BYTES = 1024 * 1024

Clock = Callable[[], float]
Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class HealthOutcome:
    """What was seen of one replica; ``saw`` is one line, and never what the body says."""

    replica: str
    healthy: bool
    probes: int
    saw: str


@dataclass(frozen=True, slots=True)
class WatchOutcome:
    """For how many seconds replicas were watched, and why that ended early, if it did.

    ``changed`` says that something else was seen beside them that ends the watch.
    """

    observed_s: float
    unhealthy: str | None = None
    changed: str | None = None


async def check_health(
    replica: PlannedReplica,
    health: Health,
    *,
    clock: Clock = time.monotonic,
    sleep: Sleep = asyncio.sleep,
) -> HealthOutcome:
    """Ask until a replica is healthy often enough in a row, or its time is over."""
    deadline = clock() + health.timeout
    passed = probes = 0
    async with _Prober(replica, health) as prober:
        while True:
            seen = await prober.probe(within_s=deadline - clock())
            probes += 1
            passed = passed + 1 if seen.good else 0
            if passed == health.passes:
                return HealthOutcome(replica.name, healthy=True, probes=probes, saw=seen.line)
            if clock() + health.every >= deadline:
                why = (
                    f"{replica.name}: {health.path} was not healthy {_times(health.passes)} in a "
                    f"row within {health.timeout:g} s; asked {_times(probes)}, at last: {seen.line}"
                )
                return HealthOutcome(replica.name, healthy=False, probes=probes, saw=why)
            await sleep(health.every)


async def watch_health(
    replicas: Sequence[PlannedReplica],
    health: Health,
    *,
    seconds: float,
    on_observed: Callable[[float], None] | None = None,
    beside: Callable[[], Awaitable[str]] | None = None,
    clock: Clock = time.monotonic,
    sleep: Sleep = asyncio.sleep,
) -> WatchOutcome:
    """Watch replicas for so many observed seconds.

    A replica is unhealthy after as many failures in a row as it needs passes. A round counts for
    the time that passed since the one before, but a gap in which nobody looked does not: no
    round counts for more than one interval and one probe. ``on_observed`` is told the sum.
    ``beside`` is asked in each round whether anything else is wrong; a round in which it says
    what does not count. The clock must not be one that people or time servers set.
    """
    observed = 0.0
    longest = health.every + MAX_PROBE_S
    failed = dict.fromkeys((replica.name for replica in replicas), 0)
    probers = [_Prober(replica, health) for replica in replicas]
    try:
        last = clock()
        while True:
            seen = await asyncio.gather(*(prober.probe() for prober in probers))
            for replica, one in zip(replicas, seen, strict=True):
                failed[replica.name] = 0 if one.good else failed[replica.name] + 1
                if failed[replica.name] >= health.passes:
                    why = f"{replica.name}: {_times(health.passes)} in a row: {one.line}"
                    return WatchOutcome(observed, unhealthy=why)
            if beside is not None and (changed := await beside()):
                return WatchOutcome(observed, changed=changed)
            now = clock()
            observed += min(now - last, longest)
            last = now
            if on_observed is not None:
                on_observed(observed)
            # A bake does not end in the middle of failures that are not yet enough.
            if observed >= seconds and not any(failed.values()):
                return WatchOutcome(observed)
            rest = seconds - observed
            await sleep(min(health.every, rest) if rest > 0 else health.every)
    finally:
        await asyncio.gather(*(prober.close() for prober in probers))


@dataclass(frozen=True, slots=True)
class _Seen:
    good: bool
    line: str


class _Prober:
    """Asks one replica's health path over connections of its own; no key is sent."""

    def __init__(self, replica: PlannedReplica, health: Health) -> None:
        self._health = health
        self._url = health_url(replica.url, health.path)
        self._transport = AiohttpTransport(concurrency=1)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._transport.close()

    async def probe(self, *, within_s: float = MAX_PROBE_S) -> _Seen:
        limit = max(0.001, min(within_s, MAX_PROBE_S))
        timeouts = Timeouts(connect_s=limit, first_byte_s=limit, total_s=limit)
        call = HttpCall("GET", self._url, timeouts=timeouts, max_bytes=_MAX_BYTES)
        return _seen(await self._transport.send(call), self._health.status)


def _seen(exchange: Exchange, expected: int) -> _Seen:
    if exchange.fault is not None:
        return _Seen(good=False, line=exchange.fault.message)
    if exchange.status != expected:
        return _Seen(good=False, line=f"status {exchange.status}, expected {expected}")
    return _Seen(good=True, line=f"status {expected}")


def health_url(base: str, path: str) -> str:
    """Give the URL of a path from the root of a replica's host on."""
    parts = urlsplit(base)
    where, _, query = path.partition("?")
    return urlunsplit((parts.scheme, parts.netloc, where, query, ""))


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
