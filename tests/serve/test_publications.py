"""Published reports over HTTP: read by their address, taken back, and gone when they expire."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta

import pytest
from aiohttp import ClientSession
from sqlalchemy import text

from denv.publish.gathering import gather
from denv.publish.keys import load_public, load_signer, new_key
from denv.publish.serving import publish
from denv.publish.verify import verify
from denv.serve.publications import publication_app
from denv.store import open_store
from tests.publish import samples
from tests.report import samples as runs
from tests.serve.mounting import mounted


@pytest.fixture
def store(tmp_path):
    opened = open_store(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
async def site(store):
    async with mounted("/r", publication_app(store.publications)) as url:
        yield f"{url}/r"


@pytest.fixture
def put(store, tmp_path):
    """Publish the sample, signed."""
    new_key(tmp_path / "mine.key")

    def published(*, expires=None, ago_days=0, **terms):
        when = datetime.now(UTC) - timedelta(days=ago_days)
        report = samples.public(tmp_path, runs.failing(), published=when, **terms)
        return publish(
            report,
            store.publications,
            run="r",
            place=samples.PLACE,
            created=when.timestamp(),
            expires=expires,
            signer=load_signer(tmp_path / "mine.key"),
            suite=None,
        ).publication

    return published


async def fetch(url, **options):
    async with ClientSession() as session, session.get(url, **options) as response:
        return response.status, response.headers, await response.text()


async def test_a_report_is_read_by_its_address(site, put):
    """Page, JSON, envelope and badge are served with strict headers; nothing may list them."""
    address = put()
    assert len(address) == 32
    for name, kind in {
        "": "text/html; charset=utf-8",
        "report.json": "application/json",
        "report.intoto.json": "application/json",
        "badge.svg": "image/svg+xml",
        "history": "text/html; charset=utf-8",
    }.items():
        status, headers, body = await fetch(f"{site}/{address}/{name}")
        assert (status, headers["Content-Type"]) == (200, kind)
        assert headers["X-Robots-Tag"] == "noindex"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert headers["Cache-Control"] == "public, max-age=300"
        assert body
        again = await fetch(f"{site}/{address}/{name}", headers={"If-None-Match": headers["ETag"]})
        assert again[0] == 304
    status, _, body = await fetch(f"{site}/{address}")  # follows to the folder
    assert (status, "Run 3 of 5" in body) == (200, True)


async def test_what_is_not_there(site, put, store):
    """Unknown, expired and revoked addresses look the same, and so does any other name."""
    gone, late, here = put(), put(expires=time.time() - 1), put(expires=time.time() + 60)
    assert store.publications.revoke(gone, at=time.time())
    assert not store.publications.revoke(gone, at=time.time())
    answers = {(await fetch(f"{site}/{each}/"))[::2] for each in (gone, late, "0" * 32, "x")}
    assert answers == {(404, "404: there is no such report")}
    assert store.publications.file(gone, "report.json") is None
    assert (await fetch(f"{site}/{here}/"))[0] == 200
    for name in ("suite.jsonl", "nothing", "../x", "a/b"):
        assert (await fetch(f"{site}/{here}/{name}"))[0] == 404


async def test_a_served_badge_turns_stale(site, put, tmp_path):
    """After its day the badge says so, and the report still verifies as it was signed."""
    fresh, old = put(), put(ago_days=40)
    assert "stale after" in (await fetch(f"{site}/{fresh}/badge.svg"))[2]
    body = (await fetch(f"{site}/{old}/badge.svg"))[2]
    assert "stale: fail" in body
    assert "stale since" in body
    key = load_public(tmp_path / "mine.pub")
    for address in (fresh, old):
        found = verify(await asyncio.to_thread(gather, f"{site}/{address}/"), key)
        assert found.holds, found.checks


async def test_history_links_only_what_may_be_listed(site, put, store):
    """A stage's reports stand with their dates; the address of a private one is not told."""
    listed, private, gone = put(indexed=True, ago_days=2), put(ago_days=1), put(indexed=True)
    store.publications.revoke(gone, at=time.time())
    status, headers, body = await fetch(f"{site}/{listed}/history")
    assert (status, headers["X-Robots-Tag"]) == (200, "noindex")
    assert private not in body
    assert gone not in body
    assert body.count("<tr><th") == 4
    assert "taken back" in body
    _, headers, body = await fetch(f"{site}/{private}/history")
    assert f"../{listed}/" in body
    assert "X-Robots-Tag" not in (await fetch(f"{site}/{listed}/"))[1]


async def test_data_that_cannot_be_read_are_503(site, put, store):
    """Badge and page say that they may come back, and nothing about where the data are."""
    publication = put()
    with store._database.write() as connection:
        connection.execute(text("ALTER TABLE publications RENAME TO away"))
    for name in ("", "/", "/badge.svg"):
        status, headers, body = await fetch(f"{site}/{publication}{name}")
        assert (status, headers["Cache-Control"]) == (503, "no-store")
        assert "try again later" in body
        assert "publications" not in body
