"""The data folder and its database, in each state that they can be in."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from denv.doctor.data import examine_data
from denv.doctor.finding import Level
from denv.store import RunRecord, open_store
from tests.postgres import new_database

HISTORIC = Path(__file__).parents[1] / "store" / "historic" / "first.sql"


def findings(folder):
    return {finding.name: finding for finding in examine_data(folder)}


@pytest.fixture
def store(folder):
    """Open a store in the folder."""
    with closing(open_store(folder)) as opened:
        yield opened


def test_nothing_is_made_by_looking(folder):
    """A folder that is not there is a note, and is not there afterwards."""
    found = findings(folder)
    assert (found["folder"].level, found["database"].level) == (Level.NOTE, Level.NOTE)
    assert not folder.exists()


def test_whole_data_are_well(folder, store):
    """A new store has nothing wrong, and looking leaves no file behind."""
    before = sorted(path.name for path in folder.iterdir())
    found = findings(folder)
    assert {finding.level for finding in found.values()} == {Level.OK}
    assert sorted(path.name for path in folder.iterdir()) == before


def test_data_that_are_read_meanwhile_are_well(folder, store):
    """Somebody who writes is not held up, and does not make the look fail."""
    with closing(sqlite3.connect(folder / "denv.sqlite3")) as other:
        other.execute("BEGIN IMMEDIATE")
        assert findings(folder)["database"].level is Level.OK
        other.rollback()


def test_an_older_form_names_the_upgrade(folder):
    """Data of an older denv are a fault until they are upgraded; they are left as they are."""
    folder.mkdir()
    file = folder / "denv.sqlite3"
    with closing(sqlite3.connect(file)) as old:
        old.executescript(HISTORIC.read_text())
    file.chmod(0o600)
    before = file.read_bytes()
    found = findings(folder)["database"]
    assert found.level is Level.FAULT
    assert "denv db upgrade" in found.advice
    assert file.read_bytes() == before


def test_a_damaged_file_is_a_fault(folder, store):
    """Pages that hold something else are noticed."""
    store.create_run(RunRecord("run-1", 1.0, "finished", {}, {}))
    store.close()
    file = folder / "denv.sqlite3"
    raw = bytearray(file.read_bytes())
    raw[4096:] = bytes(len(raw) - 4096)
    file.write_bytes(raw)
    levels = {finding.level for finding in examine_data(folder) if finding.name != "folder"}
    assert Level.FAULT in levels
    file.write_bytes(b"no database" * 1000)
    assert findings(folder)["database"].level is Level.FAULT


def test_files_that_others_can_open_are_a_warning(folder, store):
    """Answers and the key that signs are their owner's."""
    key = folder / "publisher.key"
    key.write_text("secret")
    key.chmod(0o644)
    found = findings(folder)["private files"]
    assert (found.level, found.advice) == (Level.WARNING, f"chmod 600 {key}")
    key.chmod(0o600)
    assert findings(folder)["private files"].level is Level.OK


def test_runs_that_nobody_carries_out_are_told_with_how_to_go_on(folder, store):
    """A killed run stays as it was; a run that is held is not one of them."""
    for run, started in (("run-a", 1.0), ("run-b", 2.0)):
        store.create_run(RunRecord(run, started, "running", {}, {}))
    with store.claim("run-a"):
        found = findings(folder)
        assert found["locks"].text == "1 held"
        assert found["stopped runs"].text == "nobody carries out: run-b"
        assert "--resume run-b" in found["stopped runs"].advice
    (folder / "run-run-b.lock").touch()
    assert findings(folder)["locks"].text == "held by nobody: run-run-b.lock"


def test_a_place_that_is_no_folder_is_a_fault(folder):
    """A file in the folder's place cannot be written into."""
    folder.write_text("")
    assert findings(folder)["folder"].level is Level.FAULT


def test_a_database_of_the_environment(folder, monkeypatch):
    """What $DENV_DATABASE names is looked at; its password is told by nobody."""
    url = new_database()
    monkeypatch.setenv("DENV_DATABASE", url)
    assert findings(folder)["database"].level is Level.NOTE  # empty
    open_store(folder).close()
    assert findings(folder)["database"].level is Level.OK


def test_a_database_that_does_not_answer(folder, monkeypatch):
    """A server that is not there is a fault, soon, and without user and password."""
    monkeypatch.setenv("DENV_DATABASE", "postgresql://me:hunter2-hunter2@127.0.0.1:9/denv")
    started = time.monotonic()
    found = findings(folder)["database"]
    assert time.monotonic() - started < 30
    assert found.level is Level.FAULT
    assert "hunter2" not in f"{found.text}{found.advice}"
    monkeypatch.setenv("DENV_DATABASE", "mysql://db/denv")
    assert findings(folder)["database"].level is Level.FAULT
