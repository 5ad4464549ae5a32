"""A claim of the data that is lost with its connection is taken again, or ends the server."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from denv.errors import HarnessError, ResumeError
from denv.serve.claim import ENGINE, OnlyEngine
from denv.store import open_store
from tests.postgres import new_database


@pytest.fixture
def shared(tmp_path, monkeypatch):
    """Open one PostgreSQL database twice; give both stores, and what cuts every connection."""
    url = new_database()
    monkeypatch.setenv("DENV_DATABASE", url)
    first, second = open_store(tmp_path / "a"), open_store(tmp_path / "b")

    def cut():
        with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )

    yield first, second, cut
    first.close()
    second.close()


async def test_it_is_taken_again(shared):
    """After the database was started anew nobody else can have it."""
    first, second, cut = shared
    with OnlyEngine(first, every_s=0.05) as claim:
        keeping = asyncio.create_task(claim.keep())
        cut()
        await asyncio.sleep(0.5)
        with pytest.raises(ResumeError), second.claim(ENGINE):
            pass
        assert not keeping.done()
        keeping.cancel()
    with second.claim(ENGINE):
        pass


async def test_it_ends_where_another_was_quicker(shared):
    """Two engines would do each step twice: the one whose claim was lost gives way."""
    first, second, cut = shared
    with OnlyEngine(first, every_s=0.2) as claim:
        cut()
        with second.claim(ENGINE), pytest.raises(HarnessError, match="another denv serve"):
            async with asyncio.timeout(10):
                await claim.keep()


async def test_a_share_is_taken_again_beside_the_others(shared):
    """Servers of one Temporal all come back, and still nobody works for another one."""
    first, second, cut = shared
    with (
        OnlyEngine(first, server="a:7233", every_s=0.05) as one,
        OnlyEngine(second, server="a:7233", every_s=0.05) as two,
    ):
        keeping = [asyncio.create_task(each.keep()) for each in (one, two)]
        cut()
        await asyncio.sleep(1)
        for server, said in (("b:7233", "the Temporal server a:7233"), (None, "a:7233")):
            with pytest.raises(HarnessError, match=said), OnlyEngine(second, server=server):
                pass
        assert not any(each.done() for each in keeping)
        for each in keeping:
            each.cancel()
    with OnlyEngine(second, server="b:7233"), pytest.raises(HarnessError, match="b:7233"):
        OnlyEngine(first).__enter__()
    with (
        OnlyEngine(first),
        pytest.raises(HarnessError, match="a Temporal server of its own"),
        OnlyEngine(second, server="b:7233"),
    ):
        pass


async def test_a_folder_s_claim_is_held_as_long_as_its_process(tmp_path, monkeypatch):
    """A lock file is lost with nothing but its process."""
    monkeypatch.delenv("DENV_DATABASE", raising=False)
    store = open_store(tmp_path)
    with store.claim(ENGINE) as held:
        assert held()
    store.close()
