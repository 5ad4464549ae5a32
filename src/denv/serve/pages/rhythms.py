"""What the engine says of a schedule: its next times, and whether a run goes on."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from denv.errors import DenvError
from denv.serve.context import ServeContext

if TYPE_CHECKING:
    from denv.rollout.engine.schedules import Described

WAIT_S = 5.0
"""A page is shown without its next times where the engine takes longer."""

NO_ENGINE = "the pages are served without an engine here"


@dataclass(frozen=True, slots=True)
class Engine:
    """A schedule as the engine has it, or why that is not known."""

    described: Described | None = None
    missing: str | None = None


async def describe(context: ServeContext, name: str) -> Engine:
    """Ask the engine about a schedule; that it does not answer is a sentence, and no fault."""
    if context.engine is None:
        return Engine(missing=NO_ENGINE)
    from denv.rollout.engine import schedules  # noqa: PLC0415 - it needs Temporal's client

    asked = schedules.describe(context.engine.client, name)
    try:
        return Engine(await asyncio.wait_for(asked, WAIT_S))
    except TimeoutError:
        return Engine(missing="the Temporal server does not answer")
    except DenvError as error:
        return Engine(missing=str(error))
