"""Looking after data: damage is found, what is old goes, and exports hold all there is."""

from __future__ import annotations

import json
from dataclasses import replace

import pyarrow.parquet
import pytest
from sqlalchemy import text

from denv.errors import ResumeError, UsageError
from denv.records import Exchange, Side
from denv.store import (
    AnswerKey,
    MeasureRecord,
    RolloutRecord,
    RunRecord,
    ScheduleRecord,
    StoredAnswer,
    StoredProbe,
    open_store,
)
from denv.store.exporting import NAMES, export
from denv.store.sql import find_database
from denv.store.upkeep import counts_of, faults_of, prunable, prune

DAY_S = 86_400.0
BODY = b"\0\xff" + b"x" * 9_998
EXCHANGE = Exchange(200, (), BODY, False, None, (), 0.1, 0.2, None)


def add_run(store, name, *, day, state="finished"):
    """Add a run with one answer of 10 kB."""
    store.create_run(RunRecord(name, day * DAY_S, state, {}, {}))
    answer = StoredAnswer(AnswerKey(0, Side.STAGE), EXCHANGE, 64, day * DAY_S)
    store.append(name, [answer], [])


@pytest.fixture
def place(opened, tmp_path):
    found, _ = find_database(tmp_path)
    yield found
    found.engine.dispose()


@pytest.fixture
def filled(opened):
    for day in range(1, 5):
        add_run(opened, f"run-{day}", day=day)
    measure = MeasureRecord("measure-2", "tokens", 2 * DAY_S, "finished", {}, {})
    opened.create_measure(measure)
    opened.keep_probe("measure-2", StoredProbe(b"k" * 32, Side.STAGE, EXCHANGE, 1.0))
    return opened


def names(gone):
    return [old.name for old in gone]


def test_age_takes_what_is_older(filled, place):
    """What started before a moment goes, runs and measurements alike, the oldest first."""
    gone = prunable(place, before=2.5 * DAY_S, most_bytes=None)
    assert names(gone) == ["run-1", "measure-2", "run-2"]
    prune(place, gone)
    assert filled.get_run("run-1") is None
    assert filled.get_measure("measure-2") is None
    assert filled.find_probe("measure-2", b"k" * 32) is None
    assert filled.answers("run-2", 0, 9) == {}
    assert filled.answers("run-3", 0, 9)[AnswerKey(0, Side.STAGE)].exchange.body == BODY
    assert faults_of(place) == []


def test_size_takes_the_oldest_until_the_rest_fits(filled, place):
    """Five journals of 10 kB are brought under 25 kB by taking the three oldest."""
    gone = prunable(place, before=None, most_bytes=25_000)
    assert names(gone) == ["run-1", "measure-2", "run-2"]
    assert all(10_000 <= old.size < 11_000 for old in gone)


def test_what_has_no_journal_goes_by_its_age_alone(filled, place, tmp_path):
    """A speed run makes no room, so no size takes it away; it is exported as all measurements."""
    document = {"schema": "denv.bench.speed/1"}
    filled.create_measure(
        MeasureRecord("speed-0", "speed", 0.0, "finished", {}, {}, document, finished=9.0)
    )
    export(place, tmp_path / "out", names=["measures"])
    rows = pyarrow.parquet.read_table(tmp_path / "out" / "measures.parquet").to_pylist()
    assert [json.loads(row["document"]) for row in rows if row["document"]] == [document]
    assert "speed-0" not in names(prunable(place, before=None, most_bytes=0))
    gone = prunable(place, before=DAY_S, most_bytes=None)
    assert [(old.name, old.size) for old in gone] == [("speed-0", 0)]
    prune(place, gone)
    assert filled.get_measure("speed-0") is None
    assert faults_of(place) == []


def test_what_is_needed_stays(filled, place):
    """Runs under way, of open rollouts and those schedules compare with stay at any age."""
    add_run(filled, "run-0", day=0, state="running")
    state = {"phase": "baking", "runs": ["run-1"]}
    filled.rollouts.create_rollout(RolloutRecord("r", "s", "c", "p", 0.0, {}, state))
    filled.schedules.add_schedule(ScheduleRecord("n", 1.0, {}, {}, baseline="run-2"))
    assert names(prunable(place, before=9e9, most_bytes=0)) == ["measure-2", "run-3", "run-4"]


def test_lost_owners_are_faults(filled, place):
    """Answers whose run is gone are told."""
    assert faults_of(place) == []
    with place.write() as connection:
        connection.execute(text("DELETE FROM runs WHERE run = 'run-1'"))
    assert faults_of(place) == ["1 rows of answers belong to no run that is there"]


def test_export_holds_every_row(filled, place, tmp_path):
    """Each table is a file with all rows, bytes as they are, that only its owner can read."""
    export(place, tmp_path / "out")
    counts = counts_of(place)
    for name in NAMES:
        path = tmp_path / "out" / f"{name}.parquet"
        assert pyarrow.parquet.read_metadata(path).num_rows == counts[name]
        assert path.stat().st_mode & 0o777 == 0o600
    answers = pyarrow.parquet.read_table(tmp_path / "out" / "answers.parquet").to_pylist()
    assert {row["body"] for row in answers} == {BODY}
    assert [row["run"] for row in answers] == ["run-1", "run-2", "run-3", "run-4"]
    with pytest.raises(UsageError, match="there already"):
        export(place, tmp_path / "out")


def test_claims_hold_over_connections(opened, tmp_path):
    """Who holds a run keeps others out; who holds cases lets others hold other cases."""
    add_run(opened, "run-1", day=1)
    other = open_store(tmp_path)
    with opened.claim("run-1"):
        with pytest.raises(ResumeError), other.claim("run-1"):
            pass
        with pytest.raises(ResumeError), other.claim_shard("run-1", 0, 9):
            pass
    with opened.claim_shard("run-1", 0, 9), other.claim_shard("run-1", 10, 19):
        with pytest.raises(ResumeError), other.claim_shard("run-1", 0, 9):
            pass
        with pytest.raises(ResumeError), other.claim("run-1"):
            pass
    with other.claim("run-1"):
        pass
    other.close()


def test_text_that_a_database_cannot_hold_is_shown_as_such(opened):
    """NUL and lone surrogates in what servers say never stop a write."""
    record = RolloutRecord("r", "s", "odd \0 \ud800", "p", 0.0, {"t": "\0\ud800"}, {})
    opened.rollouts.create_rollout(record)
    found = opened.rollouts.get_rollout("r")
    # A surrogate's three bytes are no UTF-8, each of them shown by itself.
    assert found == replace(record, release="odd \ufffd \ufffd\ufffd\ufffd")
