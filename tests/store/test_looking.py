"""Looking at data makes nothing, changes nothing, and refuses what it cannot read."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from denv.errors import StoreError
from denv.store import RunRecord, open_store
from denv.store.home import data_folder, folder_as_it_is
from denv.store.looking import database_as_it_is, store_as_it_is
from tests.postgres import new_database

HISTORIC = Path(__file__).parent / "historic" / "first.sql"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Give a folder that is not there, and no database of the environment's."""
    monkeypatch.delenv("DENV_DATABASE", raising=False)
    return tmp_path / "a folder? with 100% odd#signs"


def test_nothing_is_made(folder, monkeypatch):
    """Neither a folder nor a file comes of looking; the same folder is meant as otherwise."""
    with store_as_it_is(folder) as store:
        assert store is None
    monkeypatch.setenv("DENV_HOME", str(folder))
    assert folder_as_it_is() == folder
    assert not folder.exists()
    assert data_folder() == folder
    assert folder_as_it_is(Path("/given")) == Path("/given")


def test_what_is_there_is_read_and_cannot_be_written(folder):
    """The store is whole for reading; a change is refused by the database itself."""
    with closing(open_store(folder)) as store:
        store.create_run(RunRecord("r", 1.0, "finished", {}, {}))
    with store_as_it_is(folder) as seen:
        assert seen is not None
        latest = seen.latest_run()
        assert latest is not None
        assert latest.run == "r"
        with pytest.raises(StoreError, match="readonly"):
            seen.create_run(RunRecord("other", 2.0, "finished", {}, {}))


def test_another_form_is_refused_and_left(folder):
    """Data of an older denv are not read as if they were new, and are not touched."""
    folder.mkdir()
    with closing(sqlite3.connect(folder / "denv.sqlite3")) as file:
        file.executescript(HISTORIC.read_text())
    before = (folder / "denv.sqlite3").read_bytes()
    with pytest.raises(StoreError, match="denv db upgrade"), store_as_it_is(folder):
        pass
    assert (folder / "denv.sqlite3").read_bytes() == before


def test_an_empty_database_of_the_environment_stays_empty(folder, monkeypatch):
    """No table is made in PostgreSQL either."""
    monkeypatch.setenv("DENV_DATABASE", new_database())
    with pytest.raises(StoreError, match="no data yet"), store_as_it_is(folder):
        pass
    database = database_as_it_is(folder)
    assert database is not None
    with database.read() as connection:
        tables = connection.scalar(text("SELECT count(*) FROM pg_tables WHERE schemaname='public'"))
    database.engine.dispose()
    assert tables == 0
