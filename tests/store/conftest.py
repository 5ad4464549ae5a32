from __future__ import annotations

import pytest

from denv.store import open_store
from tests.postgres import new_database


@pytest.fixture(params=["sqlite", "postgres"])
def database(request, monkeypatch):
    """Which database the data are in: the folder's file, or a new one of PostgreSQL."""
    monkeypatch.delenv("DENV_DATABASE", raising=False)
    if request.param == "postgres":
        monkeypatch.setenv("DENV_DATABASE", new_database())
    return request.param


@pytest.fixture
def opened(database, tmp_path):
    store = open_store(tmp_path)
    yield store
    store.close()
