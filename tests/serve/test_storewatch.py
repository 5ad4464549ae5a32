"""Whether the store can be written is tried, and said once when it changes."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from contextlib import closing

import pytest

from denv.serve.storewatch import TRIED, StoreWatch
from denv.store import open_store


class Clock:
    """A time that the test sets."""

    now = 0.0

    def __call__(self):
        """Give the time in seconds."""
        return self.now


@pytest.fixture
def watch(tmp_path):
    """Give a watch over a new store."""
    with closing(open_store(tmp_path)) as store:
        yield StoreWatch(store, tmp_path, Clock())


async def test_a_store_that_can_be_written(watch):
    """It is well, and nothing is left beside the data."""
    assert await watch.writes()
    assert not (watch.folder / TRIED).exists()


@pytest.mark.parametrize("full", ["database", "folder"])
async def test_a_store_that_cannot(watch, caplog, full):
    """Either write that fails is enough; it is said once, and once when it is over."""
    statement = "CREATE TRIGGER full BEFORE INSERT ON meta BEGIN SELECT RAISE(FAIL, 'full'); END"
    caplog.set_level(logging.WARNING, "denv.serve")
    if full == "database":
        with closing(sqlite3.connect(watch.folder / "denv.sqlite3")) as data:
            data.execute(statement)
    else:
        (watch.folder / TRIED).mkdir()
    for _ in range(3):
        assert not await watch.writes()
        watch.clock.now += watch.every_s
    if full == "database":
        with closing(sqlite3.connect(watch.folder / "denv.sqlite3")) as data:
            data.execute("DROP TRIGGER full")
    else:
        (watch.folder / TRIED).rmdir()
    for _ in range(2):
        assert await watch.writes()
        watch.clock.now += watch.every_s
    assert [record.getMessage() for record in caplog.records] == [
        "the store cannot be written",
        "the store can be written again",
    ]


async def test_it_is_tried_now_and_then_alone(watch):
    """Between two tries the last one's result is given, however often that is asked."""
    assert await watch.writes()
    watch.folder = watch.folder / "gone"
    watch.clock.now += watch.every_s - 1
    assert await watch.writes()
    watch.clock.now += 1
    assert not await watch.writes()


async def test_a_database_that_somebody_locks_is_waited_for_no_longer_than_that(watch, caplog):
    """The answer comes long before SQLite gives up; the try goes on, and says when it is over."""
    caplog.set_level(logging.WARNING, "denv.serve")
    watch.longest_s = 0.1
    with closing(sqlite3.connect(watch.folder / "denv.sqlite3", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        async with asyncio.timeout(15):  # SQLite waits for 30 s
            assert not await watch.writes()
            assert not await watch.writes()
        other.execute("ROLLBACK")
    watch.longest_s = 20.0
    assert await watch.writes()
    assert [record.getMessage() for record in caplog.records] == [
        "the store cannot be written",
        "the store can be written again",
    ]
