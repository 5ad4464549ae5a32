"""Temporal's own server as a child: up, alone on its file, up again, and gone at the end."""

from __future__ import annotations

import asyncio

import pytest

from denv.errors import HarnessError, UsageError
from denv.rollout.engine import server as servers
from denv.rollout.engine.connection import Connection, answers, connect
from denv.rollout.engine.server import ServerSettings, embedded
from tests.rollout.engine.killing import kill_temporal


async def test_it_comes_up_again_on_its_port_when_it_dies(tmp_path):
    """Killed, it is started again where it was; ended, nothing listens there."""
    async with embedded(ServerSettings(tmp_path)) as server:
        client = await connect(server.connection)
        assert await answers(client)
        kill_temporal(tmp_path)
        while server.restarts == 0 or not await answers(client):
            await asyncio.sleep(0.05)
    with pytest.raises(HarnessError, match="no Temporal server answers at"):
        await connect(server.connection, timeout_s=1.0)
    assert (tmp_path / "temporal.sqlite3").stat().st_mode & 0o077 == 0


async def test_two_servers_never_share_a_file(tmp_path, monkeypatch):
    """A server that a killed process left is waited for, and one that stays is an error."""
    monkeypatch.setattr(servers, "LEFT_TIMEOUT_S", 0.3)
    async with embedded(ServerSettings(tmp_path)):
        with pytest.raises(HarnessError, match="another Temporal server uses"):
            async with embedded(ServerSettings(tmp_path)):
                pass


async def test_one_that_does_not_start_says_why(tmp_path):
    """The last lines of its log are in the error."""
    (tmp_path / "temporal.sqlite3").write_text("this is no database")
    with pytest.raises(HarnessError, match=r"did not start: .*file is not a database"):
        async with embedded(ServerSettings(tmp_path)):
            pass


async def test_a_namespace_that_is_not_there_is_told(temporal):
    """A typing error in the namespace is no riddle."""
    with pytest.raises(UsageError, match="has no namespace 'nowhere'"):
        await connect(Connection(temporal.address, namespace="nowhere"))
