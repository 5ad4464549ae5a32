"""Starting a rollout: the plan is frozen, and the stage's workflow is given it."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from denv.errors import HarnessError, RolloutRefusedError, RolloutSupersededError
from denv.release import Release
from denv.rollout.engine.connection import Client, Connection, connect
from denv.rollout.engine.messages import Status
from denv.rollout.engine.orders import ask_status, order_of, start_rollout
from denv.rollout.plan import Plan, freeze, recipe_of
from denv.rollout.states import BACK, TERMINAL, Phase
from denv.store import RolloutRecord, SqlStore

POLL_S = 0.2
TAKEN_UP_WITHIN_S = 30.0
STATUS_TIMEOUT_S = 5.0

Say = Callable[[str], None]


def _nothing() -> None:
    """Do nothing."""


async def start(
    release: Release,
    store: SqlStore,
    *,
    connection: Connection,
    folder: Path,
    queue: str,
    say: Say,
    on_given: Callable[[], None] = _nothing,
) -> str:
    """Start a release's rollout and give its id once the engine has decided to begin it, or not.

    Started again while just this is under way, that one is given and nothing is begun.
    ``on_given`` is called when the engine has the order, which goes on without us from there.

    Raises
    ------
    UsageError
        The release lacks something.
    HarnessError
        No engine takes it up.
    RolloutRefusedError
        The release before it could not be taken back.
    RolloutSupersededError
        It gave way to a newer one before it began.
    """
    plan = await asyncio.to_thread(lambda: freeze(release, recipe_of(release), data_folder=folder))
    client = await connect(connection)
    active = await asyncio.to_thread(store.rollouts.active_rollout, plan.stage.url)
    if active is not None and active.proof == plan.proof_digest and _goes_forward(active.phase):
        return _this_one(active.rollout, plan, say)
    rollout = new_id()
    if active is not None:
        say(f"rollout {active.rollout} of {active.release} {_fate(active)}")
    await start_rollout(client, order_of(plan, rollout=rollout, started=time.time()), queue=queue)
    on_given()
    found = await _taken_up(client, store, plan, rollout, before=active)
    if found != rollout:
        _this_one(found, plan, say)
    else:
        say(f"rollout {rollout} of {plan.release} to {plan.stage.url}")
    # One that was under way when this was ordered may have been refused meanwhile.
    await asyncio.to_thread(_say_override, store, found, say=say)
    return found


def new_id() -> str:
    """Make the id of a rollout, which sorts by its time."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    return f"r{stamp}-{secrets.token_hex(3)}"


def _goes_forward(phase: str) -> bool:
    return Phase(phase) not in BACK | TERMINAL


def _fate(active: RolloutRecord) -> str:
    """Say what becomes of the rollout before."""
    if active.phase == Phase.ROLLBACK_INCOMPLETE.value:
        return "could not be taken back: its rollback is tried again first"
    return "is superseded and taken back first"


def _this_one(rollout: str, plan: Plan, say: Say) -> str:
    say(f"rollout {rollout} of {plan.release} is this one, and under way")
    return rollout


async def _taken_up(
    client: Client, store: SqlStore, plan: Plan, rollout: str, *, before: RolloutRecord | None
) -> str:
    """Wait until the rollout, or one that proves just the same, has its first decision; give it."""
    began = time.monotonic()
    while not await asyncio.to_thread(_is_decided, store, rollout):
        late = time.monotonic() - began > TAKEN_UP_WITHIN_S
        await _check_up(store, plan, rollout, late=late)
        status = await _status(client, plan.stage.url)
        # The workflow had the order before it was asked: what it does not name, it has let go.
        if status is not None and rollout not in {status.rollout, status.following}:
            same = _same(status, plan.proof_digest)
            if same is not None:
                rollout = same
            elif await asyncio.to_thread(store.rollouts.get_rollout, rollout) is None:
                _check_refused(status, plan, before=before)
                rollout = _instead(status, plan, rollout)
        await asyncio.sleep(POLL_S)
    return rollout


def _say_override(store: SqlStore, rollout: str, *, say: Say) -> None:
    """Of a rollout that is refused, say which one failed and how it is overridden."""
    record = store.rollouts.get_rollout(rollout)
    if record is None or record.phase != Phase.REFUSED.value:
        return
    latch = store.rollouts.latched(record.proof)
    if latch is not None:
        again = f"denv rollout override {latch.rollout} --reason TEXT"
        say(f"it failed in {latch.rollout}; to let it be tried once more: {again}")


def _is_decided(store: SqlStore, rollout: str) -> bool:
    record = store.rollouts.get_rollout(rollout)
    return record is not None and record.seq > 0


async def _check_up(store: SqlStore, plan: Plan, rollout: str, *, late: bool) -> None:
    """Give up where nobody has taken anything up for so long.

    Raises
    ------
    HarnessError
        No worker is up.
    """
    active = await asyncio.to_thread(store.rollouts.active_rollout, plan.stage.url)
    if late and (active is None or active.rollout == rollout):
        raise HarnessError(f"no worker takes up rollout {rollout}: is denv serve or a worker up?")


def _instead(status: Status, plan: Plan, rollout: str) -> str:
    """Give the rollout that proves just the same, and has ended meanwhile.

    Raises
    ------
    RolloutSupersededError
        There is none: another was ordered before this one's turn came.
    """
    if status.following is None and status.proof == plan.proof_digest:
        return status.rollout
    newer = status.following or status.rollout
    raise RolloutSupersededError(
        f"rollout {rollout} of {plan.release} is superseded by {newer} and never began"
    )


async def _status(client: Client, stage: str) -> Status | None:
    """Ask the stage's workflow, which only answers while a worker is up."""
    try:
        async with asyncio.timeout(STATUS_TIMEOUT_S):
            return await ask_status(client, stage)
    except TimeoutError:
        return None


def _same(status: Status, proof: str) -> str | None:
    """Give the rollout that waits or is under way with just this proof."""
    if status.following is not None:
        return status.following if status.following_proof == proof else None
    return status.rollout if status.proof == proof and _goes_forward(status.phase) else None


def _check_refused(status: Status, plan: Plan, *, before: RolloutRecord | None) -> None:
    """Refuse what the engine let go because the rollback before it is incomplete.

    Raises
    ------
    RolloutRefusedError
        It was tried since the start, and did not succeed.
    """
    tried = before is None or status.rollout != before.rollout or status.steps > before.seq
    if status.phase == Phase.ROLLBACK_INCOMPLETE.value and status.following is None and tried:
        raise RolloutRefusedError(
            f"{plan.release} is not started: the rollback of {status.rollout} is still incomplete "
            f"and traffic may be on it: denv rollout rollback {status.rollout} tries again"
        )
