"""A run's shards in messages, and asked some at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import asdict
from typing import TypeVar

from denv.rollout.engine.messages import Plain
from denv.runner import ShardPlan

T = TypeVar("T")


def shards_to_plain(shards: ShardPlan) -> Plain:
    """Write a plan of shards as JSON values."""
    return asdict(shards)


def shards_of(plain: Plain) -> ShardPlan:
    """Read a plan of shards."""
    return ShardPlan(
        run=plain["run"],
        shards=tuple((first, last) for first, last in plain["shards"]),
        at_once=plain["at_once"],
        down=plain["down"],
        rate_limited=tuple(plain["rate_limited"]),
    )


async def some_at_once(
    ask: Callable[[int], Awaitable[T]], to_ask: Iterable[int], *, at_once: int
) -> list[T]:
    """Ask shards by their numbers, so many at a time; give what came of each."""
    slots = asyncio.Semaphore(at_once)

    async def one(shard: int) -> T:
        async with slots:
            return await ask(shard)

    return list(await asyncio.gather(*(one(shard) for shard in to_ask)))
