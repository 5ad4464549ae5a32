"""Lists for pages and the API: filtered, in pages, and read from the indexes that are for them."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from sqlalchemy import insert, text, update
from sqlalchemy.dialects import postgresql, sqlite

from denv.errors import DamagedError
from denv.records import CaseResult, Cause, Kind, Outcome
from denv.store import MeasureRecord, Purpose, RunRecord, can_be_kept, tables
from denv.store.browsing_sql import (
    cases_query,
    not_passed_counts_query,
    runs_query,
    stages_query,
)
from denv.store.runlog import stage_digest

CHAT = {"url": "http://chat/v1", "model": "m"}
CODE = {"url": "http://code/v1", "model": None}
HOSTILE = ["\x00", "\ud800", "x" * 1_000_000, "' OR 1=1 --", "%", "", "\u202e"]


def settings(stage=CHAT, suite="a", cases=8, **more):
    return {
        "identity": {
            "suite": {"name": f"{suite}.jsonl", "sha256": suite * 64, "cases": cases},
            "stage": stage,
            "reference": {"url": "http://reference/v1", "model": None},
            "release": "r8",
            **more,
        }
    }


def run(store, name, started, *, verdict=None, given=None):
    store.create_run(
        RunRecord(name, started, "running", given or settings(), {"reference": {"model": "found"}})
    )
    if verdict:
        head = {
            "verdict": verdict,
            "suite": {"cases": 8},
            "kinds": {"exact": {"planned": 8}},
        }
        store.update_run(name, state="finished", head=head, finished=started + 1)


def result(index, outcome="pass", cause=None, check="equals", case_id=None):
    return CaseResult(
        id=case_id or f"c{index}",
        index=index,
        check=check,
        kind=Kind.EXACT,
        outcome=Outcome(outcome),
        cause=Cause(cause) if cause else None,
        reason='"check":"regex"',
        warnings=(),
        tags=(),
        detail={"check": "regex"},
        stage=None,
        reference=None,
    )


RESULTS = [
    result(0),
    result(1, "fail", "template", check="contains"),
    result(2, case_id='x","check":"regex","kind":"'),
    result(3, "fail", "parser"),
    result(4, "unmeasured", check="contains"),
    result(5, check="contains"),
    result(6, "fail", "template"),
    result(8, "fail", "model", check="contains"),  # beyond the suite: of the private part
]


@pytest.fixture
def browsing(opened):
    run(opened, "run-1", 1.0, verdict="pass")
    run(opened, "run-2", 2.0, verdict="fail", given=settings(CODE, "b"))
    run(opened, "run-3a", 3.0, verdict="fail")
    run(opened, "run-3b", 3.0)
    opened.append("run-1", [], RESULTS)
    return opened.browsing


def names(rows):
    return [row.run for row in rows]


def test_runs_are_filtered(browsing):
    """Each filter leaves the runs that are as it says, the newest first, and they add up."""
    assert names(browsing.runs()) == ["run-3b", "run-3a", "run-2", "run-1"]
    chat, code = stage_digest(CHAT), stage_digest(CODE)
    assert names(browsing.runs(stage=chat)) == ["run-3b", "run-3a", "run-1"]
    assert names(browsing.runs(stage=chat, verdict="fail")) == ["run-3a"]
    assert names(browsing.runs(suite="b" * 64)) == ["run-2"]
    assert names(browsing.runs(state="running")) == ["run-3b"]
    assert browsing.runs(stage=code, suite="a" * 64) == []
    row = browsing.run("run-2")
    assert (row.stage, row.stage_url, row.suite_name) == (code, "http://code/v1", "b.jsonl")
    assert (row.verdict, row.cases, row.reference_model) == ("fail", 8, "found")
    assert browsing.run("absent") is None


def test_runs_come_in_pages(browsing):
    """Pages of one neither repeat nor leave out a run, though two started at once."""
    found, before = [], None
    while page := browsing.runs(before=before, limit=1):
        found += names(page)
        before = (page[-1].started, page[-1].run)
    assert found == ["run-3b", "run-3a", "run-2", "run-1"]


@pytest.mark.parametrize(
    ("given", "indexes"),
    [
        ({}, [0, 1, 2, 3, 4, 5, 6]),
        ({"outcome": "pass"}, [0, 2, 5]),
        ({"outcome": "fail"}, [1, 3, 6]),
        ({"cause": "template"}, [1, 6]),
        ({"outcome": "fail", "cause": "parser"}, [3]),
        ({"outcome": "pass", "cause": "parser"}, []),
        ({"check": "contains"}, [1, 4, 5]),
        ({"check": "regex"}, []),
        ({"check": "contain"}, []),
        ({"check": "contains", "outcome": "fail"}, [1]),
        ({"check": "equals", "outcome": "pass"}, [0, 2]),
        ({"after": 3}, [4, 5, 6]),
        ({"after": 1, "limit": 2, "outcome": "fail"}, [3, 6]),
        ({"limit": 0}, []),
        ({"limit": -5}, []),
        ({"after": -(10**30)}, [0, 1, 2, 3, 4, 5, 6]),
        ({"after": 10**30}, []),
    ],
)
def test_cases_are_filtered(browsing, given, indexes):
    """Cases come in the suite's order; those of the private part never."""
    found = browsing.cases("run-1", **given)
    assert [index for index, _ in found] == indexes
    assert all(document["index"] == index for index, document in found)


def test_one_case_and_counts(browsing):
    """A case is found by its index, and counts are of what is shown alone."""
    assert browsing.case("run-1", 3)["cause"] == "parser"
    for index in (7, 8, -1, 10**30):
        assert browsing.case("run-1", index) is None
    assert browsing.counts("run-1") == {
        ("pass", None): 3,
        ("fail", "parser"): 1,
        ("fail", "template"): 2,
        ("unmeasured", None): 1,
    }
    assert browsing.counts("run-2") == browsing.counts("absent") == {}


def test_stages_and_suites(browsing):
    """Each stands once, with its newest run, how many there are, and what was planned."""
    stages = [(row.url, row.model, row.latest.run, row.runs) for row in browsing.stages()]
    assert stages == [("http://chat/v1", "m", "run-3b", 3), ("http://code/v1", None, "run-2", 1)]
    suites = [(row.name, row.cases, row.runs, row.latest, row.kinds) for row in browsing.suites()]
    assert suites == [
        ("a.jsonl", 8, 3, "run-3b", {"exact": 8}),
        ("b.jsonl", 8, 1, "run-2", {"exact": 8}),
    ]


def test_the_verdict_of_a_stage_is_that_of_its_last_full_run(opened):
    """Looks, golden prompts, runs that go on and cancelled ones leave the one before standing."""
    golden = {**settings(suite="g"), "options": {"purpose": "golden"}}

    def stage():
        (found,) = opened.browsing.stages()
        standing = opened.browsing.standing(found.stage)
        assert standing == found.standing
        return found.runs, found.parity_runs, standing and standing.run

    run(opened, "look", 1.0, verdict="fail", given=settings(only="0" * 64))
    run(opened, "golden", 2.0, verdict="fail", given=golden)
    assert stage() == (2, 0, None)
    run(opened, "cancelled", 3.0, verdict="cancelled")
    assert stage() == (3, 1, "cancelled")
    run(opened, "full", 2.5, verdict="pass")
    run(opened, "look-2", 5.0, verdict="fail", given=settings(only="1" * 64))
    run(opened, "running", 6.0)
    run(opened, "cancelled-2", 7.0, verdict="cancelled")
    assert stage() == (7, 4, "full")
    run(opened, "full-2", 8.0, verdict="fail")
    assert stage() == (8, 5, "full-2")
    found = {row.run: row.purpose for row in opened.browsing.runs()}
    assert (found["look"], found["golden"], found["full"]) == ("look", "golden", "parity")
    assert [row.run for row in opened.browsing.runs(purpose=Purpose.GOLDEN)] == ["golden"]
    assert opened.browsing.standing("nul\0") is None


@pytest.mark.parametrize("silent", ["cancelled", "error"])
def test_a_verdict_that_says_nothing_of_the_stage_leaves_a_failure_standing(opened, silent):
    """A failure is not over since the next run broke or was ended."""
    run(opened, "failed", 1.0, verdict="fail")
    run(opened, "silent", 3.0, verdict=silent)
    (found,) = opened.browsing.stages()
    assert found.standing.run == "failed"


def test_a_clock_that_ran_ahead_hides_no_later_failure(opened):
    """An end that is still to come stands only where no other run has ended."""
    run(opened, "ahead", time.time() + 86_400, verdict="pass")
    (found,) = opened.browsing.stages()
    assert found.standing.run == "ahead"
    run(opened, "true", time.time() - 60, verdict="fail")
    (found,) = opened.browsing.stages()
    assert found.standing.run == "true"


@pytest.mark.parametrize("kept", ["{", "\x11"])
def test_a_row_that_is_no_json_is_told_as_damage(opened, kept):
    """Bits that flipped within a text leave a file that opens and rows that cannot be read."""
    run(opened, "r", 1.0, verdict="pass")
    with opened._database.write() as connection:
        connection.execute(update(tables.runs).values(settings=kept))
    for read in (lambda: opened.browsing.run("r"), opened.browsing.runs, opened.browsing.stages):
        with pytest.raises(DamagedError, match="the file is damaged"):
            read()


def test_a_suite_is_measured_by_a_run_of_all_its_cases(browsing, opened):
    """A look at some drawn cases is the newest run, and what the suite holds is told by another."""
    run(opened, "look", 4.0, given=settings(only="0" * 64))
    drawn = {"suite": {"cases": 8, "drawn": 2}, "kinds": {"exact": {"planned": 2}}}
    opened.update_run("look", state="finished", head={"verdict": "pass", **drawn}, finished=5.0)
    first = browsing.suites()[0]
    assert (first.latest, first.measured, first.kinds) == ("look", "run-3a", {"exact": 8})
    run(opened, "other", 6.0, given=settings(CHAT, "c", only="0" * 64))
    opened.update_run("other", state="finished", head={"verdict": "pass", **drawn}, finished=7.0)
    assert browsing.suites()[0].measured == "other"  # there is no better one


def test_measures(opened):
    """Measurements come in pages, the newest first; the verdict is the document's."""
    given = {"stage": CHAT, "reference": {"url": "r", "model": "x"}}
    for n, instrument in enumerate(["tokens", "gates", "tokens"]):
        opened.create_measure(
            MeasureRecord(f"m{n}", instrument, float(n), "running", given, {"stage": {}})
        )
    opened.update_measure("m0", state="finished", document={"verdict": "faithful"}, finished=9.0)
    opened.update_measure("m1", state="finished", document={"gates": []}, finished=9.0)
    rows = opened.browsing.measures()
    assert [(row.measure, row.verdict) for row in rows] == [
        ("m2", None),
        ("m1", None),
        ("m0", "faithful"),
    ]
    assert {row.stage for row in rows} == {stage_digest(CHAT)}
    assert [row.measure for row in opened.browsing.measures(instrument="tokens", limit=1)] == ["m2"]
    later = opened.browsing.measures(instrument="tokens", before=(2.0, "m2"))
    assert [row.measure for row in later] == ["m0"]
    assert opened.browsing.measured(["m1", "m2", "absent", "\0"]) == {"m1": {"gates": []}}
    assert opened.browsing.measured([]) == {}


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: ascii(name[:8]))
def test_no_name_breaks_a_list(browsing, name):
    """Whatever is asked for by name, what is not there is not there."""
    assert browsing.runs(stage=name, suite=name, verdict=name, state=name) == []
    assert browsing.cases(name) == browsing.cases("run-1", check=name, outcome=name) == []
    assert browsing.case(name, 0) is browsing.run(name) is None
    assert browsing.counts(name) == {}
    assert browsing.measures(instrument=name) == []
    assert can_be_kept(name) == (name not in {"\x00", "\ud800"})


# ---------------------------------------------------------------- indexes

DEFINED_BY = {
    True: "SELECT sql FROM sqlite_master WHERE name = 'results_not_passed'",
    False: "SELECT indexdef FROM pg_indexes WHERE indexname = 'results_not_passed'",
}


def plan_of(store, query):
    """Give how the database would carry a query out."""
    database = store._database
    dialect = sqlite.dialect() if database.is_sqlite else postgresql.dialect()
    written = query.compile(dialect=dialect, compile_kwargs={"literal_binds": True})
    explain = "EXPLAIN QUERY PLAN" if database.is_sqlite else "EXPLAIN"
    with database.read() as connection:
        rows = connection.exec_driver_sql(f"{explain} {written}".replace("%", "%%")).all()
    return " ".join(str(row) for row in rows)


@pytest.fixture
def large(opened):
    """Give a run of many cases, few of which did not pass, and others beside it."""
    for name in ("large", "other"):
        run(opened, name, 1.0, given=settings(cases=5000))
        rows = [result(n, *(("fail", "template") if n % 100 == 99 else ())) for n in range(5000)]
        opened.append(name, [], rows)
    others = [
        {
            "run": f"r{n}",
            "started": float(n),
            "state": "finished",
            "settings": "{}",
            "notes": "{}",
            "stage": f"{n % 50:064}",
        }
        for n in range(3000)
    ]
    with opened._database.write() as connection:
        connection.execute(insert(tables.runs), others)
    if not opened._database.is_sqlite:
        with opened._database.write() as connection:
            connection.execute(text("ANALYZE"))
    return opened


def test_pages_are_read_from_their_indexes(large):
    """No page of a filter reads the cases that passed, and none sorts a run or all runs."""
    for given in (
        {"outcome": "fail", "cause": None},
        {"outcome": None, "cause": "template"},
        {"outcome": "unmeasured", "cause": None},
    ):
        plan = plan_of(large, cases_query("large", after=50, **given).limit(50))
        assert "results_not_passed" in plan, plan
        assert "Sort" not in plan, plan
        assert "TEMP B-TREE" not in plan, plan
    assert "results_not_passed" in plan_of(large, not_passed_counts_query("large"))
    for outcome in (None, "pass"):
        plan = plan_of(large, cases_query("large", after=50, outcome=outcome, cause=None).limit(50))
        assert "results_pkey" in plan or "sqlite_autoindex_results_1" in plan, plan
    plan = plan_of(large, stages_query())
    if large._database.is_sqlite:
        assert "COVERING INDEX runs_by_end" in plan, plan
    unfiltered: dict[str, Any] = dict.fromkeys(("stage", "suite", "verdict", "state", "before"))
    plan = plan_of(large, runs_query(**unfiltered).limit(50))
    assert "runs_by_started" in plan, plan
    plan = plan_of(large, runs_query(**{**unfiltered, "stage": f"{7:064}"}).limit(50))
    # Of a stage with few runs PostgreSQL finds them by either index that begins with it.
    assert re.search("runs_by_stage|runs_by_end", plan), plan

    with large._database.read() as connection:
        sql = connection.scalar(text(DEFINED_BY[large._database.is_sqlite]))
    # What passed is in no index but that of its key: the journal is written at speed.
    assert re.search(r"WHERE \(*outcome\)?(::text)? <> 'pass'", sql), sql
