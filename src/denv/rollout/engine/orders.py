"""Orders to the engine: start a rollout, say a word about one, take up what was left."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from denv.errors import HarnessError, UsageError
from denv.rollout.engine.admitting import order_for
from denv.rollout.engine.alarm_activities import tell_all_sinks
from denv.rollout.engine.messages import RolloutOrder, StageOrder, Status, Word
from denv.rollout.engine.patience import heartbeat_s
from denv.rollout.plan import Plan
from denv.store import RolloutRecord, SqlStore

WORDS = ("promote", "rollback", "cancel")


def workflow_id(stage: str) -> str:
    """Give the id of a stage's workflow: there is one at a time."""
    return f"rollout/{stage}"


def order_of(plan: Plan, *, rollout: str, started: float) -> RolloutOrder:
    """Make the order for a plan."""
    return RolloutOrder(
        rollout=rollout,
        stage=plan.stage.url,
        release=plan.release,
        proof=plan.proof_digest,
        started=started,
        plan=json.loads(plan.to_json()),
        heartbeat_s=heartbeat_s(),
    )


async def start_rollout(client: Client, order: RolloutOrder, *, queue: str) -> None:
    """Have a stage's workflow carry out a rollout; one that runs is superseded first.

    Said twice of the same rollout, nothing changes.
    """
    await client.start_workflow(
        "rollout",
        StageOrder(order=order),
        id=workflow_id(order.stage),
        task_queue=queue,
        start_signal="supersede",
        start_signal_args=[order],
    )


async def say(client: Client, record: RolloutRecord, what: str, word: Word) -> None:
    """Say a word about a rollout to its stage's workflow.

    Raises
    ------
    HarnessError
        No workflow carries it out at this server.
    """
    if what not in WORDS:
        raise UsageError(f"{what!r} is no word about a rollout")
    try:
        await client.get_workflow_handle(workflow_id(record.stage)).signal(what, word)
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            raise HarnessError(
                f"nothing carries out rollout {record.rollout} at this Temporal server"
            ) from None
        raise HarnessError(f"the Temporal server did not take it: {error.status.name}") from None


async def ask_status(client: Client, stage: str) -> Status | None:
    """Ask a stage's workflow what it does; None where there is none that answers."""
    try:
        handle = client.get_workflow_handle(workflow_id(stage))
        status: Status = await handle.query("status", result_type=Status)
    except RPCError:
        return None
    return status


async def take_up(client: Client, store: SqlStore, *, queue: str) -> Sequence[str]:
    """See that each rollout that has not ended, and each owed alarm, is carried out.

    All that is needed stands in the data: also a Temporal server that lost its own goes on.

    Raises
    ------
    HarnessError
        The Temporal server does not answer.
    """
    try:
        return await _take_up(client, store, queue=queue)
    except RPCError as error:
        raise HarnessError(f"the Temporal server does not answer: {error.status.name}") from None


async def _take_up(client: Client, store: SqlStore, *, queue: str) -> Sequence[str]:
    active = await asyncio.to_thread(lambda: store.rollouts.list_rollouts(active=True))
    begun = []
    for record in active:
        try:
            await client.start_workflow(
                "rollout",
                StageOrder(order=order_for(record)),
                id=workflow_id(record.stage),
                task_queue=queue,
                id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
            )
        except WorkflowAlreadyStartedError:
            continue  # it goes on by itself
        begun.append(record.rollout)
    await tell_all_sinks(client, store, queue=queue)
    return begun
