"""The log of ended runs: written with each head, in one chain, and never shortened."""

from __future__ import annotations

import re
import threading

import pytest
from sqlalchemy import text

from denv.store import RunRecord, open_store
from denv.store.runlog import FIRST
from denv.store.sql import find_database
from denv.store.upkeep import faults_of, prunable, prune

STAGE: dict[str, object] = {
    "url": "http://stage.example/v1",
    "model": "m",
    "extra": {},
    "headers": None,
}


def identity(suite="a" * 64, **stage):
    return {"suite": {"sha256": suite}, "stage": {**STAGE, **stage}}


def end(store, run, *, verdict="pass", state="finished", **of):
    """Begin a run and end it."""
    store.create_run(RunRecord(run, 1.0, "running", {"identity": identity(**of)}, {}))
    store.update_run(run, state=state, head={"verdict": verdict}, finished=2.5)


@pytest.fixture
def place(opened, tmp_path):
    found, _ = find_database(tmp_path)
    yield found
    found.engine.dispose()


def change(place, statement):
    with place.write() as connection:
        connection.execute(text(statement))


def test_each_end_is_an_entry(opened, place):
    """A run that ends is logged with its head, whatever its verdict; one that goes on is not."""
    end(opened, "run-1")
    end(opened, "run-2", verdict="cancelled", state="stopped")
    opened.create_run(RunRecord("run-3", 1.0, "running", {"identity": identity()}, {}))
    opened.update_run("run-3", notes={"a": 1})
    one, two = opened.log.entries()
    assert (one.number, one.run, one.verdict, one.previous) == (1, "run-1", "pass", FIRST)
    assert (two.number, two.run, two.verdict, two.previous) == (2, "run-2", "cancelled", one.entry)
    assert faults_of(place) == []


def test_a_place_counts_runs_of_one_suite_and_stage(opened):
    """Other suites and stages count for themselves; other headers and fields are no other stage."""
    end(opened, "run-1")
    end(opened, "other-suite", suite="b" * 64)
    end(opened, "other-stage", url="http://other.example/v1")
    end(opened, "run-2", verdict="cancelled", extra={"a": 1})
    end(opened, "run-3")
    found = opened.log.place("run-2")
    assert (found.position, found.runs, found.cancelled, found.entries) == (2, 3, 1, 5)
    assert found.last.run == "run-2"
    assert opened.log.place("other-suite").runs == 1
    assert opened.log.place("nobody") is None


def test_a_resumed_run_stays_one_run(opened, place):
    """Ending again adds an entry and no run: its place is that of its first end."""
    end(opened, "run-1", verdict="inconclusive")
    end(opened, "run-2")
    opened.update_run("run-1", state="running")
    opened.update_run("run-1", state="finished", head={"verdict": "pass"}, finished=9.0)
    found = opened.log.place("run-1")
    assert (found.position, found.runs, found.entries) == (1, 2, 3)
    assert (found.last.number, found.last.verdict) == (3, "pass")
    assert faults_of(place) == []


def test_pruning_leaves_the_log(opened, place):
    """Runs go, their entries stay, and the chain holds."""
    end(opened, "run-1")
    end(opened, "run-2")
    prune(place, prunable(place, before=9e9, most_bytes=None))
    assert opened.get_run("run-1") is None
    assert [entry.run for entry in opened.log.entries()] == ["run-1", "run-2"]
    assert opened.log.place("run-2").runs == 2
    assert faults_of(place) == []


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("UPDATE run_log SET verdict = 'pass' WHERE number = 2", "entry 2 .* was changed"),
        ("DELETE FROM run_log WHERE number = 2", "lacks entry 2"),
        ("DELETE FROM run_log WHERE number = 1", "lacks entry 1"),
        ("UPDATE run_log SET previous = '00' WHERE number = 3", "entry 3 .* does not follow"),
        ("UPDATE runs SET head = '{}' WHERE run = 'run-2'", "report of run run-2 is not the one"),
    ],
)
def test_what_was_changed_is_told(opened, place, statement, told):
    """An entry that is gone or changed, and a report that is another, are faults of the data."""
    for number, verdict in enumerate(("pass", "fail", "pass"), start=1):
        end(opened, f"run-{number}", verdict=verdict)
    change(place, statement)
    faults = faults_of(place)
    assert any(re.search(told, fault) for fault in faults), faults


def test_one_run_is_held_against_the_log(opened, place):
    """A changed head, result or log is a fault of the run; another run's head is none of it."""
    for number in (1, 2):
        end(opened, f"run-{number}")
    assert opened.log.fault("run-1") is None
    assert opened.log.fault("nobody") is None
    change(place, "UPDATE runs SET head = '{}' WHERE run = 'run-2'")
    assert opened.log.fault("run-1") is None
    assert "report of run run-2 is not the one" in opened.log.fault("run-2")
    change(
        place,
        "INSERT INTO results (run, case_index, outcome, document) VALUES ('run-1', 0, '', '{}')",
    )
    assert "report of run run-1 is not the one" in opened.log.fault("run-1")
    change(place, "DELETE FROM run_log WHERE number = 1")
    assert "lacks entry 1" in opened.log.fault("run-2")


def test_writers_at_once_make_one_chain(opened, place, tmp_path):
    """Runs that end at the same time in several connections follow one another."""

    def finish(name):
        store = open_store(tmp_path)
        try:
            for number in range(5):
                end(store, f"{name}-{number}")
        finally:
            store.close()

    threads = [threading.Thread(target=finish, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [entry.number for entry in opened.log.entries()] == list(range(1, 21))
    assert faults_of(place) == []
