"""``denv db``: what it says and the codes it ends with."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from denv.cli import run
from denv.store import RunRecord, open_store

HISTORIC = Path(__file__).parents[1] / "store" / "historic" / "first.sql"


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("DENV_HOME", str(tmp_path))
    monkeypatch.delenv("DENV_DATABASE", raising=False)
    return tmp_path


@pytest.fixture
def old_home(home):
    with closing(sqlite3.connect(home / "denv.sqlite3")) as file:
        file.executescript(HISTORIC.read_text())
    return home


@pytest.fixture
def full_home(home):
    with closing(open_store(home)) as store:
        store.create_run(RunRecord("run-1", 86_400.0, "finished", {}, {}))
    return home


def test_upgrade_copies_a_file_and_says_from_where_to_where(old_home, capfd):
    """An old file is copied beside itself, private, and brought to the present form."""
    assert run(["db", "upgrade"]) == 0
    assert "from 'first' to" in capfd.readouterr().out
    (copy,) = old_home.glob("denv.sqlite3.first-*")
    assert copy.stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(copy)) as file:
        assert file.execute("SELECT value FROM meta WHERE name='schema_version'").fetchone()
    assert run(["db", "upgrade"]) == 0
    assert "the data have the present form" in capfd.readouterr().out
    assert list(old_home.glob("denv.sqlite3.first-*")) == [copy]


def test_other_commands_name_the_upgrade(old_home, capfd):
    """A command that needs the data says which command brings them to its form, with code 4."""
    assert run(["rollout", "list"]) == 4
    assert "denv db upgrade" in capfd.readouterr().err


def test_check_says_what_there_is(full_home, capfd):
    """Whole data are counted, and the code is 0."""
    assert run(["db", "check", "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert found["whole"] is True
    assert found["rows"]["runs"] == 1
    assert run(["db", "check"]) == 0
    assert "whole" in capfd.readouterr().out


@pytest.mark.parametrize("first", [1, 2, 10, 30])
def test_check_finds_damage(full_home, capfd, first):
    """A file with overwritten pages is damaged or cannot be read: never whole."""
    path = full_home / "denv.sqlite3"
    content = bytearray(path.read_bytes())
    content[4096 * first :] = b"\xff" * (len(content) - 4096 * first)
    path.write_bytes(content)
    assert run(["db", "check"]) in {1, 4}
    captured = capfd.readouterr()
    assert "\nwhole" not in captured.out
    assert "FAULT" in captured.out or "damaged: put its last copy back" in captured.err
    assert "db check" not in captured.out + captured.err


def _damage(path, first):
    """Overwrite what lies in the file from so many hundredths of it on."""
    content = bytearray(path.read_bytes())
    at = len(content) * first // 100
    content[at:] = b"\xff" * (len(content) - at)
    path.write_bytes(content)


@pytest.fixture
def large_home(home):
    with closing(open_store(home)) as store:
        for number in range(3000):
            store.create_run(RunRecord(f"run-{number}", 86_400.0, "finished", {"a": "b" * 99}, {}))
    return home


@pytest.mark.parametrize("first", [30, 60, 90])
def test_what_can_be_opened_and_not_read_is_damaged(large_home, capfd, first):
    """Pages of rows that are none are a finding of the check, with code 1, and no error of it."""
    _damage(large_home / "denv.sqlite3", first)
    assert run(["db", "check", "--json"]) == 1
    found = json.loads(capfd.readouterr().out)
    assert found["whole"] is False
    assert found["faults"]


def test_an_export_that_breaks_off_leaves_nothing(large_home, tmp_path, capfd):
    """Of a table that cannot be read to its end no file stays that looks like all of it."""
    _damage(large_home / "denv.sqlite3", 60)
    out = tmp_path / "out"
    assert run(["db", "export", "--out", str(out)]) == 4
    assert "the file is damaged" in capfd.readouterr().err
    assert not list(out.iterdir())


def test_check_of_nothing(home, capfd):
    """Where there are no data yet it says so."""
    assert run(["db", "check"]) == 1
    said = capfd.readouterr().out
    assert said.endswith("denv.sqlite3: there are no data yet, so there is nothing to check\n")
    assert "None" not in said
    assert run(["db", "check", "--json"]) == 1
    assert json.loads(capfd.readouterr().out)["form"] is None


def test_prune_says_what_goes_before_it_goes(full_home, capfd):
    """A dry run names the same as the run itself, and changes nothing."""
    assert run(["db", "prune", "--older-than", "30d", "--dry-run"]) == 0
    first = capfd.readouterr()
    assert "run run-1 of 1970-01-02" in first.out
    assert "1 would go" in first.err
    assert run(["db", "prune", "--older-than", "30d"]) == 0
    second = capfd.readouterr()
    assert second.out == first.out
    assert "1 taken away" in second.err
    assert run(["db", "prune", "--older-than", "30d"]) == 0
    assert "0 taken away" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["prune"], "say what may go"),
        (["prune", "--older-than", "soon"], "not a duration"),
        (["prune", "--max-size", "2 apples"], "500MB or 2GB"),
        (["prune", "--max-size", "-1GB"], "500MB or 2GB"),
        (["export", "--out", "x", "--table", "traffic"], "there is no such table"),
    ],
)
def test_bad_input_is_said(full_home, capfd, arguments, said):
    """What cannot be meant is refused with code 2."""
    assert run(["db", *arguments]) == 2
    assert said in capfd.readouterr().err


def test_export_writes_files(full_home, tmp_path, capfd):
    """Only the tables that are named are written."""
    out = tmp_path / "out"
    assert run(["db", "export", "--out", str(out), "--table", "runs"]) == 0
    assert [path.name for path in out.iterdir()] == ["runs.parquet"]
    assert run(["db", "export", "--out", str(out), "--table", "runs"]) == 2
    assert "there already" in capfd.readouterr().err
