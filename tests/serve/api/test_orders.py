"""Orders by the API and by forms to a real engine: rollouts, schedules, alarms, public reports."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager, closing

import httpx2
import pytest

from denv import cli
from denv.serve.access.issuing import issue
from denv.store import open_store
from tests.rollout.engine.staging import LATE_CANCEL, Model, Releases
from tests.serve.pages.test_rollout_forms import begun, pressed, signed_in, until_phase
from tests.serve.test_serving import folder, serving  # noqa: F401 - a fixture

PATIENCE_S = 120


@asynccontextmanager
async def served(folder, tmp_path):  # noqa: F811
    """Serve a folder with an engine; give the API as Ann asks it, the store, and releases."""
    async with serving(folder) as found, Model() as stage, Model() as reference:
        releases = Releases(tmp_path, stage=stage, reference=reference)
        with closing(open_store(folder)) as store:
            issued = issue("ann", "run", now=time.time())
            store.tokens.add(issued.token)
            shows = {"Authorization": f"Bearer {issued.shown}"}
            base = f"{found.pages}/api/v1"
            async with httpx2.AsyncClient(base_url=base, headers=shows, timeout=60) as api:
                yield api, store, releases, found


async def told(api, path, status=202, **body):
    """Give an order; it is answered by this status."""
    answer = await api.post(path, json=body)
    assert answer.status_code == status, answer.text
    return answer.json()


async def until(look):
    """Wait until something is seen; give it."""
    async with asyncio.timeout(PATIENCE_S):
        while not (seen := look()):
            await asyncio.sleep(0.1)
    return seen


def ended_of(store, rollout):
    """Give the phase in which a rollout has ended."""
    record = store.rollouts.get_rollout(rollout)
    return record.phase if record and record.ended is not None else None


@pytest.mark.slow
@LATE_CANCEL
async def test_rollouts_obey_the_api(folder, tmp_path):  # noqa: F811
    """One is promoted, one cancelled, one taken back, by the token's name."""
    async with served(folder, tmp_path) as (api, store, releases, _):
        first = await begun(releases, store, folder, "r1")
        await until_phase(store, first, "baking")
        assert "promote" in (await told(api, f"/rollouts/{first}/promote", reason="go"))["told"]
        await until_phase(store, first, "promoted")
        late = await told(api, f"/rollouts/{first}/cancel", 409)
        assert "has ended (promoted)" in late["reason"]

        second = await begun(releases, store, folder, "r2")
        await told(api, f"/rollouts/{second}/cancel")
        ended = await until(lambda: ended_of(store, second))
        assert ended in {"cancelled", "rolled-back"}  # as far as it had come

        third = await begun(releases, store, folder, "r3")
        await until_phase(store, third, "baking")
        await told(api, f"/rollouts/{third}/rollback", reason="users complain")
        await until_phase(store, third, "rolled-back")
        assert "rolled back by ann: users complain" in (await api.get(f"/rollouts/{third}")).text
        assert (
            "has not failed"
            in (await told(api, f"/rollouts/{third}/override", 409, reason="so what"))["reason"]
        )


@pytest.mark.slow
async def test_schedules_obey_and_their_run_is_published(folder, tmp_path):  # noqa: F811
    """A schedule rests, goes on and runs now, by the API and by forms; its run is published.

    The alarm of another run is resolved by a form, that of a third by the API: sinks are told.
    """
    async with served(folder, tmp_path) as (api, store, releases, found):
        words = ("parity", "schedule", "add", "s", "--release", releases.write(), "--every", "24h")
        assert await asyncio.to_thread(cli.run, [str(word) for word in words]) == 0
        await told(api, "/schedules/s/pause", reason="the cluster moves")
        assert (await api.get("/schedules/s")).json()["paused"] == "the cluster moves"
        await told(api, "/schedules/s/resume")
        assert "not paused" in (await told(api, "/schedules/s/resume", 409))["reason"]
        await told(api, "/schedules/s/trigger", new_baseline=True)
        (run,) = await until(lambda: store.browsing.runs(state="finished"))
        async with httpx2.AsyncClient(base_url=found.pages) as browser:
            await signed_in(browser, store, found.pages)
            for word, given in (("pause", {"note": "again"}), ("resume", {}), ("trigger", {})):
                path = f"/schedules/s/{word}"
                answer = await pressed(browser, found.pages, path, **given)
                assert answer.status_code == 303, answer.text
            made = await told(api, f"/runs/{run.run}/publish", 201)
            page = await browser.get(made["path"])
            assert (page.status_code, f">{run.run}<" in page.text) == (200, True)
            badge = await browser.get(f"{made['path']}badge.svg")
            assert badge.headers["Content-Type"].startswith("image/svg+xml")
            await told(api, f"/publications/{made['publication']}/revoke", 200)
            assert (await browser.get(made["path"])).status_code == 404
        again = await told(api, f"/publications/{made['publication']}/revoke", 409)
        assert "taken back already" in again["reason"]

        releases.stage.wrong = True
        await asyncio.sleep(1)  # one run a second may be asked for by hand
        await told(api, "/schedules/s/trigger")
        alarm, *_ = await until(lambda: store.alarms.list_alarms(only_open=True))
        await until(lambda: (alarm.kind, "fire") in releases.told())
        async with httpx2.AsyncClient(base_url=found.pages) as browser:
            await signed_in(browser, store, found.pages)
            path = f"/alarms/{alarm.alarm}/resolve"
            assert (await pressed(browser, found.pages, path, reason="seen")).status_code == 303
        await until(lambda: (alarm.kind, "resolve") in releases.told())

        await told(api, "/schedules/s/trigger")
        again, *_ = await until(lambda: store.alarms.list_alarms(only_open=True))
        before = releases.told().count((again.kind, "resolve"))
        resolved = await told(api, f"/alarms/{again.alarm}/resolve", 200, reason="seen too")
        assert resolved["resolved_by"] == "ann: seen too"
        await until(lambda: releases.told().count((again.kind, "resolve")) > before)
