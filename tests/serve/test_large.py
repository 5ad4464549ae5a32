"""Answers that read all of a run: few at once, some that wait, and no more."""

from __future__ import annotations

import asyncio
import threading

import pytest
from starlette.exceptions import HTTPException

from denv.serve.large import MOST_AT_ONCE, MOST_BEGUN, LargeAnswers


async def test_few_are_made_at_once_and_others_find_threads():
    """However many wait, ordinary work goes on; one too many is told when to ask again."""
    answers, going_on, running = LargeAnswers(), threading.Event(), threading.Semaphore(0)

    def large() -> str:
        running.release()
        assert going_on.wait(20)
        return "made"

    begun = [asyncio.create_task(answers.make(large)) for _ in range(MOST_BEGUN)]
    async with asyncio.timeout(20):
        for _ in range(MOST_AT_ONCE):
            await asyncio.to_thread(running.acquire)
        assert not await asyncio.to_thread(lambda: running.acquire(timeout=0.1))
        with pytest.raises(HTTPException) as refused:
            await answers.make(large)
        assert refused.value.status_code == 503
        assert int((refused.value.headers or {})["Retry-After"]) > 0
        begun[-1].cancel()
        await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await begun[-1]
        begun[-1] = asyncio.create_task(answers.make(large))  # in the room of the one that left
        going_on.set()
        assert await asyncio.gather(*begun) == ["made"] * MOST_BEGUN
    assert await answers.make(lambda: 7) == 7


async def test_what_goes_wrong_is_raised_and_leaves_room():
    """An answer that could not be made takes no place."""
    answers = LargeAnswers()
    for _ in range(2 * MOST_BEGUN):
        with pytest.raises(ZeroDivisionError):
            await answers.make(lambda: 1 // 0)
