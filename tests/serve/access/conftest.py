"""All that is served over an empty data folder, and tokens of both roles."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from denv.serve.access.issuing import Issued, issue
from denv.serve.access.signin import Invitation
from denv.serve.app import PageSettings, build_app
from denv.serve.context import ServeContext
from denv.serve.health import Health
from denv.store import open_store

HERE = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}


@dataclass
class Clock:
    """A time that moves when it is told to."""

    at: datetime = field(default_factory=lambda: datetime(2026, 1, 2, tzinfo=UTC))

    def __call__(self) -> datetime:
        """Give it."""
        return self.at

    def forward(self, seconds: float) -> None:
        """Let some time pass."""
        self.at += timedelta(seconds=seconds)


@dataclass
class Site:
    """What is served, and who may ask."""

    store: Any
    app: Any
    clock: Clock
    invitation: Invitation
    tokens: dict[str, Issued]

    @property
    def cookie(self) -> str:
        """The name of a session's cookie over plain HTTP."""
        return f"denv-{self.store.meta.identity()}"

    def browser(self, **options: Any) -> TestClient:
        """Give a browser that nobody is signed in with."""
        given = {"base_url": "http://localhost", "follow_redirects": False, **options}
        return TestClient(self.app, **given)

    def bearer(self, role: str) -> dict[str, str]:
        """Give the header of a program."""
        return {"Authorization": f"Bearer {self.tokens[role].shown}"}

    def signed_in(self, role: str, **options: Any) -> tuple[TestClient, str]:
        """Give a browser that is signed in, and the secret of its forms."""
        browser = self.browser(**options)
        answer = browser.post("/sign-in", data={"token": self.tokens[role].shown}, headers=HERE)
        assert answer.status_code == 303
        found = re.search('name="csrf" value="([0-9a-f]{64})"', browser.get("/").text)
        assert found is not None
        return browser, found[1]


@pytest.fixture
def site_of(tmp_path, monkeypatch):
    """Give what makes a site of these settings."""
    monkeypatch.delenv("DENV_DATABASE", raising=False)
    (tmp_path / "releases").mkdir()
    stores: dict[Path, Any] = {}

    def make(home: Path = tmp_path / "home", **options: Any) -> Site:
        store = stores.setdefault(home, None) or open_store(home)
        stores[home] = store
        clock = Clock()
        invitation = Invitation(lambda: clock().timestamp())
        context = ServeContext(store, home, now=clock)
        given = {"host": "127.0.0.1", "port": 0, "releases": tmp_path / "releases", **options}
        app = build_app(
            context, PageSettings(**given), Health({"store": well}), invitation=invitation
        )
        now = clock().timestamp()
        tokens = {"read": issue("ann", "read", now=now), "run": issue("bob", "run", now=now)}
        for each in tokens.values():
            store.tokens.add(each.token)
        return Site(store, app, clock, invitation, tokens)

    yield make
    for store in stores.values():
        store.close()


async def well() -> bool:
    """Say that all is well."""
    return True


@pytest.fixture
def site(site_of):
    """Give a site on loopback."""
    return site_of()
