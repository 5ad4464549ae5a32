"""``denv serve``: found, healthy, alone on its folder, and drained at its end."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import asynccontextmanager
from dataclasses import replace

import aiohttp
import psycopg
import pytest

from denv.errors import HarnessError
from denv.rollout.engine.address import find_serving
from denv.rollout.engine.server import ServerSettings, embedded
from denv.serve.app import PageSettings
from denv.serve.engine import serve_with_engine
from denv.serve.serving import serve_pages
from denv.serve.settings import Ready, ServeSettings
from tests.postgres import new_database

PATIENCE_S = 120


@asynccontextmanager
async def serving(folder, *, temporal=None):
    """Serve a folder in this process, by a Temporal server of its own unless one is named."""
    ready, stop = asyncio.Event(), asyncio.Event()
    settings = ServeSettings(folder, PageSettings("127.0.0.1", 0), temporal=temporal, queue="t")
    going = serve_with_engine(settings, stop=stop, on_ready=lambda _: ready.set())
    task = asyncio.create_task(going)
    waiting = asyncio.create_task(ready.wait())
    await asyncio.wait({task, waiting}, timeout=PATIENCE_S, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        waiting.cancel()
        task.result()
    try:
        yield find_serving(folder)
    finally:
        stop.set()
        await task


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Give a data folder."""
    monkeypatch.setenv("DENV_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


async def test_it_is_found_and_healthy_and_alone(folder):
    """While it serves it can be found and is well; a second one on the folder is refused."""
    async with serving(folder) as found, aiohttp.ClientSession() as session:
        async with session.get(f"{found.pages}/health") as response:
            assert response.status == 200
            body = await response.json()
        assert body == {"status": "ok", "parts": {"temporal": True, "worker": True, "store": True}}
        with pytest.raises(HarnessError, match="another denv serve"):
            async with serving(folder):
                pass
    assert find_serving(folder) is None


async def test_pages_alone(folder):
    """Without an engine the pages stand, beside one that serves the folder, and tell of data."""
    ready: asyncio.Future[Ready] = asyncio.get_running_loop().create_future()
    stop = asyncio.Event()
    pages = PageSettings("127.0.0.1", 0)
    settings = ServeSettings(folder, pages, invites=True)
    task = asyncio.create_task(serve_pages(settings, stop=stop, on_ready=ready.set_result))
    async with asyncio.timeout(20):
        found = await ready
        jar = aiohttp.CookieJar(unsafe=True)  # which keeps those of an address without a name
        async with aiohttp.ClientSession(cookie_jar=jar) as session:
            async with session.get(f"{found.url}/health") as response:
                assert await response.json() == {"status": "ok", "parts": {"store": True}}
            async with session.get(found.sign_in or "") as response:
                assert (response.status, response.url.path) == (200, "/")
        async with aiohttp.ClientSession() as session, session.get(found.sign_in or "") as again:
            assert again.status == 403
        assert (found.temporal, find_serving(folder)) == (None, None)
        stop.set()
        await task


async def test_a_database_has_one_engine_whatever_the_folder(folder, monkeypatch):
    """Two folders that share a database do not both have its rollouts carried out."""
    monkeypatch.setenv("DENV_DATABASE", new_database())
    async with serving(folder):
        with pytest.raises(HarnessError, match="another denv serve carries out"):
            async with serving(folder.with_name("other")):
                pass
    async with serving(folder.with_name("other")) as found:
        assert found is not None


async def test_servers_of_one_temporal_share_a_database_and_no_other_joins(folder, monkeypatch):
    """Whoever works for the same server is let in; another namespace would do each step twice."""
    beside = folder.with_name("temporal")
    beside.mkdir()
    async with embedded(ServerSettings(beside)) as server:
        monkeypatch.setenv("DENV_DATABASE", new_database())
        same = server.connection
        async with serving(folder, temporal=same):
            async with serving(folder.with_name("second"), temporal=same) as found:
                assert found is not None
            for other in (replace(same, namespace="another"), None):
                with pytest.raises(HarnessError, match=f"Temporal server {same.address}, namesp"):
                    async with serving(folder.with_name("third"), temporal=other):
                        pass


async def test_a_database_that_was_started_again_meanwhile_ends_nothing_badly(folder, monkeypatch):
    """Where the database has cut every connection, the end is as asked for."""
    url = new_database()
    monkeypatch.setenv("DENV_DATABASE", url)
    async with serving(folder):
        with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
    assert find_serving(folder) is None


@pytest.mark.slow
async def test_sigterm_ends_it_well_and_kill_takes_its_server_along(folder):
    """Ended as asked it exits 0 without its address; killed, its server does not live on."""
    process, found = await started(folder)
    process.send_signal(signal.SIGTERM)
    assert await asyncio.wait_for(process.wait(), PATIENCE_S) == 0
    assert find_serving(folder) is None
    process, found = await started(folder)
    process.kill()
    await process.wait()
    host, port = found.temporal.split(":")
    for _ in range(600):
        try:
            _, writer = await asyncio.open_connection(host, int(port))
        except OSError:
            return
        writer.close()
        await asyncio.sleep(0.1)
    pytest.fail("Temporal's server outlived the process that started it")


@pytest.mark.slow
async def test_a_killed_server_holds_a_database_no_longer(folder, monkeypatch):
    """While it lives no other Temporal server may carry out the data, and once it is gone any."""
    beside, second = folder.with_name("temporal"), folder.with_name("second")
    beside.mkdir()
    async with embedded(ServerSettings(beside)) as server:
        monkeypatch.setenv("DENV_DATABASE", new_database())
        address = server.connection.address
        process, _ = await started(folder, "--temporal", address)
        # The same server by another name, which counts as another one.
        other = replace(server.connection, address=address.replace("127.0.0.1", "localhost"))
        with pytest.raises(HarnessError, match=f"Temporal server {address}, namespace default"):
            async with serving(second, temporal=other):
                pass
        process.kill()
        await process.wait()
        await asyncio.sleep(1)
        async with serving(second, temporal=other) as found:
            assert found.temporal == other.address


async def started(folder, *options):
    """Start the command and wait until it serves."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "denv", "serve", "--port", "0", *options),
        env={**os.environ, "DENV_HOME": str(folder)},
        stderr=asyncio.subprocess.DEVNULL,
    )
    for _ in range(PATIENCE_S * 10):
        if (found := find_serving(folder)) is not None:
            return process, found
        assert process.returncode is None
        await asyncio.sleep(0.1)
    process.kill()
    raise AssertionError("it did not come up")
