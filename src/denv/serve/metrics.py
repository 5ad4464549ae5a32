"""``GET /metrics``: what the data say of stages, as Prometheus and OpenMetrics read it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from denv.errors import DenvError, StoreError
from denv.serve.context import ServeContext
from denv.serve.families import families
from denv.serve.metering import MOST_SCHEDULES, Ledger, Snapshot, label_of, read_snapshot

KEPT_S = 5.0
"""So long a snapshot is good: several scrapers, or one in a hurry, cost one reading."""

ENGINE_WAIT_S = 2.0
"""The times at which schedules fire next are left out where the engine takes longer."""

PLAIN_TYPE = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"


def metrics_routes(context: ServeContext) -> list[Route]:
    """Give the route; it has a registry of its own, so that no library's metrics are among it."""
    source = _Source(context)

    async def metrics(request: Request) -> Response:
        try:
            snapshot, next_times = await source.read()
        except StoreError as error:
            return JSONResponse({"reason": str(error)}, status_code=503)
        now = context.now().timestamp()
        return _written(
            request.headers.get("accept", ""), lambda: families(snapshot, next_times, now=now)
        )

    return [Route("/metrics", metrics, methods=["GET"])]


def _written(accept: str, collect: Callable[[], Iterator[Metric]]) -> Response:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(collect))
    if _takes_openmetrics(accept):
        text = generate_openmetrics(registry)  # type: ignore[no-untyped-call]
        return Response(text, headers=_as(OPENMETRICS_TYPE))
    return Response(generate_latest(registry), headers=_as(PLAIN_TYPE))


def _takes_openmetrics(accept: str) -> bool:
    """Whether a scraper names OpenMetrics.

    The library chooses by the versions that are named too, and breaks down on those that are none.
    """
    named = {part.partition(";")[0].strip().lower() for part in accept.split(",")}
    return "application/openmetrics-text" in named


def _as(content_type: str) -> dict[str, str]:
    return {"Content-Type": content_type}


@dataclass(frozen=True)
class _Collector:
    """What the library asks for its metrics."""

    collect: Callable[[], Iterator[Metric]]


@dataclass
class _Source:
    """The newest snapshot, read again when it is too old; one reading at a time."""

    context: ServeContext
    ledger: Ledger = field(default_factory=Ledger)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    kept: tuple[Snapshot, Mapping[str, float]] | None = None
    read_at: float = 0.0

    async def read(self) -> tuple[Snapshot, Mapping[str, float]]:
        async with self.lock:
            if self.kept is None or time.monotonic() - self.read_at > KEPT_S:
                self.kept = await self._fresh()
                self.read_at = time.monotonic()
            return self.kept

    async def _fresh(self) -> tuple[Snapshot, Mapping[str, float]]:
        now = self.context.now().timestamp()
        reading = asyncio.to_thread(read_snapshot, self.context.store, self.ledger, now=now)
        snapshot = await reading
        names = [name for name, figures in snapshot.schedules.items() if not figures.paused]
        return snapshot, await _next_times(self.context, names[:MOST_SCHEDULES])


async def _next_times(context: ServeContext, names: list[str]) -> dict[str, float]:
    """Ask the engine when schedules fire next; it alone knows."""
    if context.engine is None or not names:
        return {}
    from denv.rollout.engine.schedules import describe  # noqa: PLC0415 - it needs Temporal's client

    client = context.engine.client
    found: dict[str, float] = {}

    async def ask(name: str) -> None:
        try:
            described = await describe(client, name)
        except DenvError:
            return  # its absence says so; /health says whether the engine is well
        if described.next_times:
            found[label_of(name)] = min(described.next_times)

    asking = [asyncio.create_task(ask(name)) for name in names]
    done, late = await asyncio.wait(asking, timeout=ENGINE_WAIT_S)
    for task in late:
        task.cancel()
    await asyncio.gather(*late, return_exceptions=True)
    for task in done:
        task.result()
    return found
