"""Starting a rollout: the plan is frozen, and the stage's workflow is given it."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from denv.errors import HarnessError
from denv.release import Release
from denv.rollout.engine.connection import Client, Connection, connect
from denv.rollout.engine.orders import ask_status, order_of, start_rollout
from denv.rollout.plan import Plan, freeze, recipe_of
from denv.store import SqlStore

POLL_S = 0.2
TAKEN_UP_WITHIN_S = 30.0

Say = Callable[[str], None]


async def start(
    release: Release,
    store: SqlStore,
    *,
    connection: Connection,
    folder: Path,
    queue: str,
    say: Say,
) -> str:
    """Start a release's rollout and give its id once the engine has taken it up.

    Started again while just this is under way, that one is given and nothing is begun.

    Raises
    ------
    UsageError
        The release lacks something.
    HarnessError
        No engine takes it up.
    """
    plan = await asyncio.to_thread(lambda: freeze(release, recipe_of(release), data_folder=folder))
    client = await connect(connection)
    active = await asyncio.to_thread(store.rollouts.active_rollout, plan.stage.url)
    if active is not None and active.proof == plan.proof_digest and _goes_forward(active.phase):
        say(f"rollout {active.rollout} of {active.release} is this one, and under way")
        return active.rollout
    rollout = new_id()
    if active is not None:
        say(f"rollout {active.rollout} of {active.release} is superseded and taken back first")
    await start_rollout(client, order_of(plan, rollout=rollout, started=time.time()), queue=queue)
    await _taken_up(client, store, plan, rollout, superseding=active is not None)
    say(f"rollout {rollout} of {plan.release} to {plan.stage.url}")
    return rollout


def new_id() -> str:
    """Make the id of a rollout, which sorts by its time."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    return f"r{stamp}-{secrets.token_hex(3)}"


def _goes_forward(phase: str) -> bool:
    return phase not in {"restoring", "verifying", "stopping", "rollback-incomplete"}


async def _taken_up(
    client: Client, store: SqlStore, plan: Plan, rollout: str, *, superseding: bool
) -> None:
    """Wait until the rollout stands in the store."""
    began = time.monotonic()
    while await asyncio.to_thread(store.rollouts.get_rollout, rollout) is None:
        waited_s = time.monotonic() - began
        active = await asyncio.to_thread(store.rollouts.active_rollout, plan.stage.url)
        if active is None and waited_s > TAKEN_UP_WITHIN_S:
            raise HarnessError(
                f"no worker takes up rollout {rollout}: is denv serve or a worker up?"
            )
        if superseding and active is not None and waited_s > TAKEN_UP_WITHIN_S:
            status = await ask_status(client, plan.stage.url)
            if status is not None and rollout not in {status.rollout, status.following}:
                raise HarnessError(f"rollout {rollout} gave way to a newer one before it began")
        await asyncio.sleep(POLL_S)
