"""A worker that is killed at every boundary of the journal."""

from __future__ import annotations

import pytest

from tests.rollout.engine.killed import MARKS, prepare, run_killed

pytestmark = [pytest.mark.slow, *MARKS]


async def test_a_worker_killed_at_every_boundary(tmp_path, models, store, temporal):
    """One rollback, one alarm, no lost answer, nothing journaled paid twice, no downtime baked."""
    releases, path = await prepare(tmp_path, models, store, kills="worker")
    made = await run_killed(
        tmp_path, store, releases, path, kills="worker", temporal=temporal.address
    )
    assert len(made.lives.kills) >= 10
    assert len(set(made.labels())) >= 4
