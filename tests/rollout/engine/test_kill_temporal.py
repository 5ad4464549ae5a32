"""Temporal's server, killed at every boundary of the journal."""

from __future__ import annotations

import pytest

from tests.rollout.engine.killed import MARKS, prepare, run_killed

pytestmark = [pytest.mark.slow, *MARKS]


async def test_the_temporal_server_killed_at_every_boundary(tmp_path, models, store):
    """The same where only Temporal's server dies, and is started again."""
    releases, path = await prepare(tmp_path, models, store, kills="temporal")
    made = await run_killed(tmp_path, store, releases, path, kills="temporal", every=7)
    assert len(made.labels()) >= 10
