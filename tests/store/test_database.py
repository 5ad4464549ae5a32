"""What a damaged database says: one sentence that names the file and what to do."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from sqlalchemy import update

from denv.errors import DamagedError
from denv.store import MeasureRecord, RunRecord, open_store, tables


def test_a_byte_that_flipped_in_the_schema_is_told_as_damage(tmp_path, monkeypatch):
    """The file opens, and its first page holds no text any more."""
    monkeypatch.delenv("DENV_DATABASE", raising=False)
    open_store(tmp_path).close()
    path = tmp_path / "denv.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"CREATE TABLE runs ", b"CREATE T\xc1BLE runs ", 1))
    assert path.read_bytes() != whole
    with pytest.raises(DamagedError, match=r"denv\.sqlite3: .*the file is damaged"):
        open_store(tmp_path)


def test_a_record_that_is_no_json_is_told_as_damage(opened):
    """Bits that flipped within a text leave a file that opens and a record that cannot be read."""
    opened.create_run(RunRecord("r", 1.0, "running", {}, {}))
    opened.create_measure(MeasureRecord("m", "tokens", 1.0, "running", {}, {}))
    with opened._database.write() as connection:
        connection.execute(update(tables.runs).values(notes="{"))
        connection.execute(update(tables.measures).values(notes="{"))
    for read in (
        lambda: opened.get_run("r"),
        opened.latest_run,
        lambda: opened.get_measure("m"),
    ):
        with pytest.raises(DamagedError, match="the file is damaged"):
            read()


def test_bytes_that_are_no_text_are_told_as_damage(tmp_path, monkeypatch):
    """SQLite hands them over as they are, and its driver cannot read them."""
    monkeypatch.delenv("DENV_DATABASE", raising=False)
    with closing(open_store(tmp_path)) as store:
        store.create_run(RunRecord("r", 1.0, "running", {}, {}))
        with closing(store._database.engine.raw_connection()) as connection:
            connection.execute("UPDATE runs SET notes = CAST(x'7bff7d' AS TEXT)")
            connection.commit()
        with pytest.raises(DamagedError, match="the file is damaged"):
            store.get_run("r")
