"""One action that is to be performed, with all that it needs."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from denv.rollout import states
from denv.rollout.plan import Plan
from denv.store import RolloutRecord, SqlStore


class Memory(Protocol):
    """What a try leaves for the next one, should its process die."""

    @property
    def earlier(self) -> Any:
        """What the last try has left, or None."""

    def keep(self, value: Any) -> None:
        """Leave a JSON value."""


@dataclass(frozen=True, slots=True)
class Work:
    """One action with all that it needs; ``folder`` is that of the data."""

    record: RolloutRecord
    plan: Plan
    action: Any
    store: SqlStore
    folder: Path
    memory: Memory
    stop: asyncio.Event

    @property
    def number(self) -> int:
        """The number that the event answers."""
        number: int = self.action.number
        return number

    @property
    def batch(self) -> int:
        """The batch that the rollout is in."""
        return states.state_from_json(self.record.state).batch


def incumbent_of(work: Work) -> Plan | None:
    """Give the plan of the stage's incumbent, or None."""
    stage = work.store.rollouts.get_stage(work.record.stage)
    if stage is None or stage.incumbent is None:
        return None
    return Plan.from_json(json.dumps(stage.incumbent.plan))
