"""``/metrics`` beside a real Temporal server, which alone knows when schedules fire next."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest
from prometheus_client.parser import text_string_to_metric_families as plain_text
from starlette.requests import Request

from denv.rollout.engine.connection import connect
from denv.rollout.engine.schedules import create, resume
from denv.rollout.engine.server import ServerSettings, embedded
from denv.rollout.schedules.timing import Timing
from denv.serve.context import Engine, ServeContext
from denv.serve.metrics import metrics_routes
from denv.store import ScheduleRecord

EVERY_S = 6 * 3600


async def next_times(route):
    """Scrape once, and give the samples of the one metric."""
    answer = await route.endpoint(Request({"type": "http", "method": "GET", "headers": []}))
    families = {family.name: family.samples for family in plain_text(answer.body.decode())}
    return families["denv_schedule_next_timestamp_seconds"]


@pytest.fixture
def patient(monkeypatch):
    """Wait for a server on a busy machine, and read at every scrape."""
    monkeypatch.setattr("denv.serve.metrics.ENGINE_WAIT_S", 30.0)
    monkeypatch.setattr("denv.serve.metrics.KEPT_S", -1.0)


@pytest.mark.usefixtures("patient")
async def test_the_next_time_is_the_engines(store, tmp_path):
    """An interval's slots are whole multiples since 1970; a schedule it lacks has no time."""
    for name in ("six-hourly", "unknown"):
        store.schedules.add_schedule(ScheduleRecord(name, 1.0, {}, {}))
    async with embedded(ServerSettings(tmp_path)) as server:
        client = await connect(server.connection)
        now = datetime.now(UTC)
        await create(client, "six-hourly", Timing(every_s=EVERY_S), queue="q", now=now)
        await resume(client, "six-hourly")
        (route,) = metrics_routes(ServeContext(store, tmp_path, Engine(client, "q")))
        async with asyncio.timeout(60):
            while not (found := await next_times(route)):  # it takes note of a resume in a while
                await asyncio.sleep(0.2)
    (sample,) = found
    assert sample.labels == {"schedule": "six-hourly"}
    assert sample.value % EVERY_S == 0
    assert 0 < sample.value - now.timestamp() <= EVERY_S + 60
