"""What a stage can see of a request says nothing of who sent it, and these tests would notice."""

from __future__ import annotations

import pytest

from tests.router.matched import ask_in_pairs, routed
from tests.router.recording import recording_stage
from tests.router.telling import MAX_HALF_WIDTH, Auc, held_out_auc


async def told_apart(folder, *, pairs, plant=None, seed=1) -> Auc:
    """Ask in pairs through a router; give how well the stage tells parity from customers."""
    async with (
        recording_stage(listeners=2, delay_s=0.002) as stage,
        routed(stage, folder, plant=plant) as router,
    ):
        labels = await ask_in_pairs(router, stage, pairs=pairs, seed=seed)
        return held_out_auc(stage.seen, labels, seed=seed)


@pytest.mark.slow
async def test_a_stage_cannot_tell_parity_from_customers(tmp_path):
    """A classifier of bytes, connections and times guesses: the 99.9 % interval holds 0.5."""
    found = await told_apart(tmp_path, pairs=2_000)
    assert found.half_width <= MAX_HALF_WIDTH
    assert found.low <= 0.5 <= found.high, found


@pytest.mark.parametrize("plant", ["header", "pool", "port", "delay"])
async def test_a_planted_difference_is_found(tmp_path, plant):
    """One header, another pool, another port or 5 ms more for parity alone are told at once."""
    found = await told_apart(tmp_path, pairs=500, plant=plant)
    assert found.value >= 0.8, found
    assert found.low > 0.5
