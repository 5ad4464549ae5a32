"""What every part of ``denv serve`` is given: the data, and the engine where there is one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from denv.serve.large import LargeAnswers
from denv.store import SqlStore

if TYPE_CHECKING:  # pages alone are served without Temporal's client
    from denv.rollout.engine.connection import Client


@dataclass(frozen=True, slots=True)
class Engine:
    """The Temporal server that carries out rollouts and schedules, and the queue of this data."""

    client: Client
    queue: str


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class ServeContext:
    """The data folder and its store; ``engine`` is None where the pages are served alone."""

    store: SqlStore
    folder: Path
    engine: Engine | None = None
    now: Callable[[], datetime] = _now
    large: LargeAnswers = field(default_factory=LargeAnswers, repr=False, compare=False)
