"""A worker: takes workflows and activities from a Temporal server's queue and carries them out."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from temporalio.client import Client
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from denv.errors import HarnessError
from denv.instruments.selfcheck import require_selfcheck
from denv.rollout.engine.alarm_activities import AlarmActivities, tell_all_sinks
from denv.rollout.engine.parity_activities import ParityActivities
from denv.rollout.engine.rollout_activities import RolloutActivities
from denv.rollout.engine.schedule_activities import ScheduleActivities
from denv.rollout.engine.workflows import WORKFLOWS
from denv.store import SqlStore, data_folder

DRAIN_S = 10.0
"""How long activities have to come to a stop of their own after a shutdown is asked for."""

THROTTLE_S = 1.0
"""What an activity keeps with its signs of life is lost with its process for at most this long."""

STICKY_S = 3.0
"""A workflow whose worker is gone is taken up by another after this long."""


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """Which queue a worker takes from, and where its data are."""

    folder: Path
    queue: str
    drain_s: float = DRAIN_S


def make_worker(client: Client, store: SqlStore, settings: WorkerSettings) -> Worker:
    """Make a worker that does everything that the engine has to do."""

    async def on_alarms() -> None:
        await tell_all_sinks(client, store, queue=settings.queue)

    groups = (
        RolloutActivities(store, settings.folder),
        ParityActivities(store),
        AlarmActivities(store, client, settings.queue),
        ScheduleActivities(store, client, on_alarms),
    )
    return Worker(
        client,
        task_queue=settings.queue,
        workflows=WORKFLOWS,
        activities=[each for group in groups for each in group.all],
        # The table and its libraries are pure; loading them anew for each workflow costs seconds.
        workflow_runner=SandboxedWorkflowRunner(
            SandboxRestrictions.default.with_passthrough_all_modules()
        ),
        graceful_shutdown_timeout=timedelta(seconds=settings.drain_s),
        max_heartbeat_throttle_interval=timedelta(seconds=THROTTLE_S),
        default_heartbeat_throttle_interval=timedelta(seconds=THROTTLE_S),
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=STICKY_S),
    )


async def work(
    client: Client, store: SqlStore, settings: WorkerSettings, *, stop: asyncio.Event
) -> None:
    """Work until ``stop`` is set, then end what runs so that another can go on with it.

    Raises
    ------
    HarnessError
        The worker broke down.
    """
    # Runs insist on it; done here it holds up nobody's signs of life.
    await asyncio.to_thread(require_selfcheck, data_folder())
    worker = make_worker(client, store, settings)
    running = asyncio.ensure_future(worker.run())
    stopping = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            await worker.shutdown()
        await running
    except Exception as error:  # the SDK's worker raises whatever broke it, of no one kind
        raise HarnessError(f"the worker broke down: {type(error).__name__}: {error}") from error
    finally:
        stopping.cancel()
        await asyncio.gather(stopping, return_exceptions=True)
