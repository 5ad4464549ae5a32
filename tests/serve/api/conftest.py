"""The API over a data folder with some of everything; who asks is known without a token here."""

from __future__ import annotations

import asyncio
import dataclasses

import pytest
from starlette.testclient import TestClient

from denv.serve.api import api_app
from denv.serve.context import ServeContext
from denv.store import open_store
from tests.serve.api.filling import fill


@dataclasses.dataclass(frozen=True)
class Someone:
    """A caller whom the access rules have let in."""

    name: str = "ann"


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    """Give a filled data folder without an engine."""
    folder = tmp_path_factory.mktemp("api")
    home = folder / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DENV_DATABASE", raising=False)
        patch.setenv("DENV_HOME", str(home))
        store = open_store(home)
        asyncio.run(fill(store, home, folder))
        yield ServeContext(store, home)
        store.close()


@pytest.fixture(scope="module")
def app(context):
    """Give the API, asked by somebody."""
    return let_in(api_app(context))


@pytest.fixture(scope="module")
def client(app):
    """Give what asks the API."""
    with TestClient(app, raise_server_exceptions=False) as asking:
        yield asking


def let_in(app):
    """Say to an application who asks."""

    async def asked(scope, receive, send):
        if scope["type"] == "http":
            scope.setdefault("state", {})["caller"] = Someone()
        await app(scope, receive, send)

    return asked
