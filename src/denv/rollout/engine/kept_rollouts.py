"""A rollout as the store has it, for whoever works on it, and what is no longer awaited of it."""

from __future__ import annotations

import json
from typing import Any

from denv.errors import StoreError
from denv.rollout import states
from denv.rollout.engine.messages import Task
from denv.rollout.plan import Plan
from denv.store import RolloutRecord, SqlStore


def read_rollout(store: SqlStore, rollout: str) -> tuple[RolloutRecord, Plan]:
    """Give a rollout's record and its plan.

    Raises
    ------
    StoreError
        There is none of this id, or it cannot be read.
    """
    record = store.rollouts.get_rollout(rollout)
    if record is None:
        raise StoreError(f"there is no rollout {rollout}")
    return record, Plan.from_json(json.dumps(record.plan))


def action_of(task: Task) -> Any:
    """Read a task's action."""
    return states.action_from_json(task.action)


def is_awaited(record: RolloutRecord, action: Any) -> bool:
    """Whether the rollout still waits for an action; a try that comes late has nothing to do."""
    pending = states.state_from_json(record.state).pending
    return any(one.number == action.number for one in pending)
