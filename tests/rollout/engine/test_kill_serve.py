"""``denv serve``, killed with its Temporal server at every boundary of the journal."""

from __future__ import annotations

import pytest

from tests.rollout.engine.killed import MARKS, prepare, run_killed

pytestmark = [pytest.mark.slow, *MARKS]


async def test_serve_killed_at_every_boundary(tmp_path, models, store):
    """The same where worker and Temporal server die together, and come back on their files."""
    releases, path = await prepare(tmp_path, models, store, kills="serve")
    made = await run_killed(tmp_path, store, releases, path, kills="serve")
    assert len(made.lives.kills) >= 10
