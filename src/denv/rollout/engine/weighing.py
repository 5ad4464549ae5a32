"""The weights of a stage: the table of an action, noted before it is set, and set."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from denv.rollout import states
from denv.rollout.engine.work import Work, incumbent_of
from denv.rollout.steps.weights import set_weights
from denv.rollout.weights import Party, Table, WeightsError, table_of, with_newcomers


async def introduce(work: Work) -> str:
    """Let the router know the batch's new replicas, at weight 0; say why where it cannot."""
    newcomer = Party(
        work.plan.release,
        tuple((one.name, one.url) for one in work.plan.new_at(work.action.batch)),
    )
    earlier = await asyncio.to_thread(noted_table, work)
    try:
        table = await asyncio.to_thread(
            _versioned,
            work,
            lambda version: with_newcomers(
                earlier, newcomer, stage=work.record.stage, version=version
            ),
        )
    except WeightsError as error:
        return str(error)
    return (await set_weights(work.plan.rollout.weights, table)).why


async def set_share(work: Work) -> states.Event:
    """Give the release the share of the traffic that the action names."""
    outcome = await set_weights(
        work.plan.rollout.weights, await asyncio.to_thread(_table, work, work.action.share)
    )
    if outcome.held:
        return states.WeightsSet(answers=work.number)
    return states.WeightsNotSet(answers=work.number, why=outcome.why)


async def restore(work: Work) -> states.Event:
    """Give all of the traffic back to the incumbent, or to nobody."""
    outcome = await set_weights(
        work.plan.rollout.weights, await asyncio.to_thread(_table, work, Fraction(0))
    )
    if outcome.held:
        return states.WeightsRestored(answers=work.number)
    return states.WeightsNotRestored(answers=work.number, why=outcome.why)


def noted_table(work: Work) -> Table | None:
    """Give the table that was set last on the stage."""
    stage = work.store.rollouts.get_stage(work.record.stage)
    if stage is None or stage.weights is None:
        return None
    return Table.from_json(json.dumps(stage.weights).encode())


def _table(work: Work, share: Fraction) -> Table:
    """Give the table in which the release has this share."""
    incumbent = incumbent_of(work)
    return _versioned(
        work,
        lambda version: table_of(
            work.record.stage,
            share=share,
            newcomer=work.plan.party(work.batch),
            incumbent=None if incumbent is None else incumbent.party(),
            version=version,
        ),
    )


def _versioned(work: Work, make: Callable[[int], Table]) -> Table:
    """Make the table of this action, under a version that is noted before anyone sees it.

    Done again, the action finds its own version there: the same table is the same.
    """
    store, stage = work.store.rollouts, work.record.stage
    key = f"{work.record.rollout}/{work.number}"
    found = store.get_stage(stage)
    noted: Mapping[str, Any] = (found.weights if found else None) or {}
    ours = noted.get("set_by") == key
    # Above whatever a carrier may hold of an earlier data folder.
    version = noted["version"] if ours else max(noted.get("version", 0) + 1, int(time.time()))
    table = make(version)
    if not ours:
        plain = {**json.loads(table.to_json()), "set_by": key}
        store.set_weights(stage, plain, at=time.time())
    return table
