"""A real rollout by ``denv serve``, promoted and taken back through the forms of its page."""

from __future__ import annotations

import asyncio
import re
import time
from contextlib import closing

import httpx2
import pytest

from denv.cli.starting import start
from denv.cli.temporal import found_connection
from denv.release import load_release
from denv.serve.access.issuing import issue
from denv.store import open_store
from tests.rollout.engine.staging import LATE_CANCEL, Model, Releases
from tests.serve.test_serving import folder, serving  # noqa: F401 - a fixture

PATIENCE_S = 120


@pytest.mark.slow
@LATE_CANCEL
async def test_a_rollout_is_promoted_and_another_taken_back_by_forms(folder, tmp_path):  # noqa: F811
    """Signed in, a person ends one bake and takes the next release back; the log names who."""
    async with serving(folder) as found, Model() as stage, Model() as reference:
        releases = Releases(tmp_path, stage=stage, reference=reference)
        async with httpx2.AsyncClient(base_url=found.pages) as client:
            with closing(open_store(folder)) as store:
                await signed_in(client, store, found.pages)
                first = await begun(releases, store, folder, "r1")
                await until_phase(store, first, "baking")
                html = (await client.get(f"/rollouts/{first}")).text
                assert ">Baking<" in html
                assert f'href="/rollouts/{first}/promote"' in html
                await pressed(client, found.pages, f"/rollouts/{first}/promote")
                await until_phase(store, first, "promoted")

                second = await begun(releases, store, folder, "r2")
                await until_phase(store, second, "baking")
                path = f"/rollouts/{second}/rollback"
                refused = await pressed(client, found.pages, path, reason="  ")
                assert refused.status_code == 400
                assert "must say why" in refused.text
                await pressed(client, found.pages, path, reason="users complain")
                await until_phase(store, second, "rolled-back")
                html = (await client.get(f"/rollouts/{second}")).text
                assert "rolled back by ann: users complain" in html
                assert 'data-live="' not in html
                late = await pressed(client, found.pages, path, reason="again")
                assert late.status_code == 409
                assert "has ended (rolled-back)" in late.text


async def signed_in(client, store, address):
    """Sign in with a new token of role run."""
    issued = issue("ann", "run", now=time.time())
    store.tokens.add(issued.token)
    given = {"token": issued.shown, "next": "/rollouts"}
    answer = await client.post("/sign-in", data=given, headers={"Origin": address})
    assert (answer.status_code, answer.headers["location"]) == (303, "/rollouts")


async def begun(releases, store, folder, name):  # noqa: F811
    """Start a release whose bake lasts longer than the test."""
    path = releases.write(name, batches=["100%"], bake="10m", parity_every="5m")
    connection, queue = found_connection({}, folder)
    return await start(
        load_release(path),
        store,
        connection=connection,
        folder=folder,
        queue=queue,
        say=lambda _: None,
    )


async def until_phase(store, rollout, phase):
    """Wait until a rollout is where it is to be."""
    until = time.monotonic() + PATIENCE_S
    while (record := store.rollouts.get_rollout(rollout)) is None or record.phase != phase:
        assert time.monotonic() < until, record and record.phase
        assert record is None or record.ended is None, record.phase
        await asyncio.sleep(0.1)


async def pressed(client, address, path, **fields):
    """Fill in the form of an action as a browser does, and send it."""
    html = (await client.get(path)).text
    (secret,) = set(re.findall('name="csrf" value="([^"]+)"', html))
    answer = await client.post(path, data={"csrf": secret, **fields}, headers={"Origin": address})
    if answer.status_code == 303:
        assert answer.headers["location"].startswith(path.rpartition("/")[0])
    return answer
