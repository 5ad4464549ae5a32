"""Forms of the data: new data have the last, older ones are brought to it, newer are refused."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

import denv.store
from denv.errors import StoreError
from denv.records import Side
from denv.store import AnswerKey, open_store, tables
from denv.store.revisions import PRESENT, REVISIONS, form_of, upgrade
from denv.store.sql import find_database

HISTORIC = Path(__file__).parent / "historic"
RUN = "20260101-000000-abcdef"


def historic(folder, name="first"):
    """Make a file as an older denv has left it."""
    with closing(sqlite3.connect(folder / "denv.sqlite3")) as file:
        file.executescript((HISTORIC / f"{name}.sql").read_text())


def upgraded(folder):
    database, _ = find_database(folder)
    try:
        return upgrade(database)
    finally:
        database.engine.dispose()


def differences(folder, *, types=True):
    """Compare with the tables; SQLite files keep the names of types that mean the same there."""
    database, _ = find_database(folder)
    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": types})
        found = compare_metadata(context, tables.metadata)
    database.engine.dispose()
    return found


def test_names_are_those_of_the_migrations():
    """The list of forms is the chain of migrations, in its order, and nothing stands beside it."""
    config = Config()
    where = Path(denv.store.__file__).parent / "migrations"
    config.set_main_option("script_location", str(where))
    scripts = ScriptDirectory.from_config(config)
    assert tuple(s.revision for s in reversed(list(scripts.walk_revisions()))) == REVISIONS
    assert scripts.get_heads() == [PRESENT]


def test_a_new_database_is_as_the_tables_say(opened, tmp_path):
    """What is made at once has nothing more and nothing less than the tables."""
    assert differences(tmp_path) == []


def test_an_old_file_is_refused_until_it_is_upgraded(tmp_path):
    """A file of an older form is left alone, is upgraded on request, and loses nothing."""
    historic(tmp_path)
    with pytest.raises(StoreError, match="denv db upgrade"):
        open_store(tmp_path)
    assert upgraded(tmp_path) == ("first", PRESENT)
    assert differences(tmp_path, types=False) == []
    with closing(open_store(tmp_path)) as store:
        latest, active = store.latest_run(), store.rollouts.active_rollout("chat")
        assert latest is not None
        assert latest.head == {"verdict": "pass"}
        found = store.answers(RUN, 0, 0)
        assert found[AnswerKey(0, Side.STAGE)].exchange.body == b'{"a":1}'
        assert active is not None
        assert active.rollout == "r1"


def test_an_old_file_may_lack_tables(tmp_path):
    """Files from before measurements, rollouts and alarms take them after an upgrade."""
    historic(tmp_path)
    with closing(sqlite3.connect(tmp_path / "denv.sqlite3")) as file:
        for name in ("probes", "measures", "rollouts", "decisions", "alarms", "deliveries"):
            file.execute(f"DROP TABLE {name}")
        file.commit()
    upgraded(tmp_path)
    assert differences(tmp_path, types=False) == []
    open_store(tmp_path).close()


def test_an_upgrade_that_fails_changes_nothing(tmp_path):
    """Where something stands in the way of a migration, the file is as it was before."""
    historic(tmp_path)
    path = tmp_path / "denv.sqlite3"
    with closing(sqlite3.connect(path)) as file:
        file.execute("CREATE TABLE measures_by_started (x)")
        file.commit()
        before = list(file.iterdump())
    with pytest.raises(StoreError, match="measures_by_started"):
        upgraded(tmp_path)
    with closing(sqlite3.connect(path)) as file:
        assert list(file.iterdump()) == before


def test_what_is_newer_is_refused_and_left_alone(opened, database, tmp_path):
    """Data of a form that this program does not know are neither read nor changed."""
    with opened._database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = 'of-tomorrow'"))
    for attempt in (open_store, upgraded):
        with pytest.raises(StoreError, match="'of-tomorrow' of a newer denv"):
            attempt(tmp_path)
    with opened._database.read() as connection:
        assert form_of(connection).revision == "of-tomorrow"


def test_upgrading_again_changes_nothing(opened, tmp_path):
    """Data of the present form stay as they are."""
    assert upgraded(tmp_path) is None


def test_upgrading_nothing_makes_the_present_form(database, tmp_path):
    """An empty database gets the present form."""
    assert upgraded(tmp_path) is None
    assert differences(tmp_path) == []
    open_store(tmp_path).close()


@pytest.mark.parametrize(
    "url",
    ["mysql://h/d", "postgresql+asyncpg://h/d", "nothing", "postgresql+psycopg://h:x/d"],
)
def test_an_url_that_cannot_be_used_is_a_setting_that_is_wrong(monkeypatch, tmp_path, url):
    """What $DENV_DATABASE says is refused with the name of the variable, and no password shown."""
    monkeypatch.setenv("DENV_DATABASE", url.replace("://", "://user:hunter2@"))
    with pytest.raises(denv.errors.UsageError, match="DENV_DATABASE") as caught:
        open_store(tmp_path)
    assert "hunter2" not in str(caught.value)


def test_a_server_that_is_not_there(monkeypatch, tmp_path):
    """A server that does not answer is a StoreError that names it without user and password."""
    monkeypatch.setenv("DENV_DATABASE", "postgresql+psycopg://user:hunter2@127.0.0.1:1/none")
    with pytest.raises(StoreError, match=r"127\.0\.0\.1:1/none") as caught:
        open_store(tmp_path)
    assert "hunter2" not in str(caught.value)
