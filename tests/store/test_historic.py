"""Data of every form that there has been: `denv db upgrade` brings them over, and loses nothing.

The files were made by the code of their form, with rows in every table that it had.
"""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import MetaData, insert, select

from denv import cli
from denv.store import open_store
from denv.store.revisions import PRESENT, REVISIONS, form_of
from denv.store.runlog_sql import log_faults
from denv.store.sql import find_database

HISTORIC = Path(__file__).parent / "historic"
RUN = "20260101-000000-abcdef"
# printf 'denv.run-log-stage/1\0{"model":"m","url":"http://stage.example/v1"}' | sha256sum
STAGE = "396b0627ee3675f2c41c8cacad18ff5ba76f4565d8b63892776da7a3603a9725"
ALARM = "parity-fail/chat"
FORMS = REVISIONS[1:-1]


def load(form, folder):
    """Lay the data of a form down as a denv of then has left them."""
    text = (HISTORIC / f"{form}.sql").read_text()
    url = os.environ.get("DENV_DATABASE")
    if url is None:
        folder.mkdir(exist_ok=True)
        with closing(sqlite3.connect(folder / "denv.sqlite3")) as file:
            file.executescript(text)
        return
    for ours, theirs in ((r"\bBLOB\b", "BYTEA"), (r"\bX'([0-9A-F]*)'", r"'\\x\1'")):
        text = re.sub(ours, theirs, text)
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(text.encode())


def rows_of(folder):
    """Read every table as it stands, by the columns that it has; bytes as bytes."""
    database, _ = find_database(folder)
    found = MetaData()
    with database.read() as connection:
        found.reflect(connection)
        rows = {
            name: sorted(
                [dict(row) for row in connection.execute(select(table)).mappings()], key=repr
            )
            for name, table in found.tables.items()
        }
    database.engine.dispose()
    return rows


def without(rows, columns):
    """Leave only some columns of rows."""
    return sorted([{c: row[c] for c in columns} for row in rows], key=repr)


@pytest.mark.parametrize("form", FORMS)
def test_an_upgrade_keeps_every_row(database, tmp_path, form):
    """What stood in any column of any table stands there afterwards, and all of it is read."""
    home = tmp_path / "home"
    load(form, home)
    before = rows_of(home)
    assert all(before.values()), "a table of this form has no row"
    assert cli.run(["db", "upgrade", "--store", str(home)]) == 0
    after = rows_of(home)
    assert after.pop("alembic_version") == [{"version_num": PRESENT}]
    assert before.pop("alembic_version") == [{"version_num": form}]
    for name, rows in before.items():
        assert without(after[name], rows[0]) == rows, name
    read_whole(home, form)


def read_whole(home, form):
    """Read what was kept by the program's own calls."""
    with closing(open_store(home)) as store:
        rows = {row.run: row for row in store.browsing.runs()}
        assert (rows[RUN].verdict, rows[RUN].suite_sha256, rows[RUN].cases) == ("fail", "5" * 64, 3)
        assert rows[RUN].stage == STAGE
        assert (rows[RUN].stage_model, rows[RUN].reference_model) == ("m", "found")
        assert (rows["20260102-000000-000000"].verdict, len(rows)) == (None, 2)
        assert [row.run for row in store.browsing.runs(stage=STAGE, verdict="fail")] == [RUN]
        assert store.browsing.counts(RUN) == {
            ("pass", None): 1,
            ("fail", "template"): 1,
            ("reference-fail", None): 1,
        }
        assert [i for i, _ in store.browsing.cases(RUN, cause="template")] == [1]
        assert {a.exchange.body for a in store.answers(RUN, 0, 1).values()} == {
            b'{"a":1}\x00\xff',
            b"",
        }
        (measure,) = store.browsing.measures()
        assert (measure.verdict, measure.stage) == ("undecided", STAGE)
        active, alarm = store.rollouts.active_rollout("chat"), store.alarms.open_alarm(ALARM)
        schedule = store.schedules.get_schedule("nightly")
        assert active is not None
        assert alarm is not None
        assert schedule is not None
        assert (active.rollout, alarm.repeats, schedule.paused) == ("r2", 1, "moving house")
        assert [d.text for d in store.rollouts.decisions("r1")] == ["2 of 40 failed: é"]
        if form not in FORMS[:2]:
            (publication,) = store.publications.all()
            assert store.publications.file(publication.publication, "badge.svg") == b"<svg/>"
        with store._database.read() as connection:
            assert form_of(connection).is_present
            if form != "by_start":
                assert list(log_faults(connection)) == []


def test_an_upgrade_tells_what_runs_were_asked_for(database, tmp_path):
    """Golden prompts are known by their ids, looks by their settings; tokens are the head's."""
    home = tmp_path / "home"
    load("browsing", home)
    golden = ["r1-3-0", "r2-12-1-0"]
    full = ["r1-3", "r1-4-0x", "elsewhere-1-0", "r1"]
    found, _ = find_database(home)
    run = MetaData()
    usage = '{"stage": {"usage": {"prompt_tokens": 7}}, "reference": {"usage": null}}'
    with found.write() as connection:
        run.reflect(connection)
        given = {"started": 1.0, "state": "finished", "notes": "{}", "head": usage}
        rows = [{**given, "run": name, "settings": "{}"} for name in golden + full]
        rows.append({**given, "run": "r1-5", "settings": '{"identity": {"only": "00"}}'})
        connection.execute(insert(run.tables["runs"]), rows)
    found.engine.dispose()
    assert cli.run(["db", "upgrade", "--store", str(home)]) == 0
    after = {row["run"]: row for row in rows_of(home)["runs"]}
    told = {"golden": golden, "parity": full, "look": ["r1-5"]}
    for purpose, names in told.items():
        assert {after[name]["purpose"] for name in names} == {purpose}
    assert after["r1-3"]["stage_prompt_tokens"] == 7
    assert after["r1-3"]["reference_prompt_tokens"] is None


def test_no_form_lacks_its_data():
    """Whoever adds a form leaves data of the one before."""
    assert {path.stem for path in HISTORIC.glob("*.sql")} == set(REVISIONS[:-1])
