"""What the store promises: everything comes back as it was, newest last, and stays private."""

from __future__ import annotations

import sqlite3
import stat
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from denv.errors import StoreError
from denv.records import (
    Attempt,
    CaseResult,
    Cause,
    Exchange,
    Fault,
    FaultKind,
    Kind,
    Outcome,
    Side,
)
from denv.store import (
    AnswerKey,
    MeasureRecord,
    RunRecord,
    StoredAnswer,
    StoredProbe,
    open_store,
)

RUN = "20260101-000000-abcdef"
KEY = AnswerKey(3, Side.STAGE, 1, streamed=True)

WHOLE = Exchange(
    status=503,
    headers=(("content-type", "application/json"), ("x-a", "é \u2028"), ("x-a", "twice")),
    body=bytes(range(256)) * 3,
    streamed=True,
    fault=Fault(FaultKind.CUT, "the connection was cut"),
    attempts=(Attempt(429, "slow down", 1.25), Attempt(None, "no answer", 0.0)),
    first_byte_s=0.1,
    elapsed_s=1 / 3,
    replica="node-1",
)


@pytest.fixture
def store(opened):
    opened.create_run(record())
    return opened


@pytest.fixture
def file_store(tmp_path):
    opened = open_store(tmp_path)
    opened.create_run(record())
    yield opened
    opened.close()


def record(run=RUN, **fields):
    return RunRecord(
        **{"run": run, "started": 1.0, "state": "running", "settings": {}, "notes": {}, **fields}
    )


def answer(key=KEY, **fields):
    given = {"exchange": Exchange(200), "max_tokens": 5, "answered": 10.0, **fields}
    return StoredAnswer(key=key, **given)


def result(index, **fields):
    made = CaseResult(
        id=f"c{index}",
        index=index,
        check="tool-call",
        kind=Kind.TOOL_CALLS,
        outcome=Outcome.FAIL,
        cause=Cause.PARSER,
        reason="arguments are no JSON",
        warnings=("one", "two"),
        stage={"text": "a\u0000b\ud800", "n": [1, 2.5, None]},
        reference=None,
        detail={"x": {"y": [True]}},
        tags=("t",),
    )
    return replace(made, **fields)


# ---------------------------------------------------------------- answers


def test_every_field_of_an_exchange_comes_back(store):
    """Status, headers in their order, bytes, fault, attempts, times: nothing is lost or changed."""
    given = answer(exchange=WHOLE, cache_key=b"k" * 32, max_tokens=2**31, answered=1.5e9 + 1 / 3)
    store.append(RUN, [given], [])
    assert store.answers(RUN, 3, 3) == {KEY: given}


@pytest.mark.parametrize("kind", FaultKind)
def test_every_fault_comes_back(store, kind):
    """Each kind of fault, with no status at all."""
    exchange = Exchange(status=None, fault=Fault(kind, "why"))
    store.append(RUN, [answer(exchange=exchange)], [])
    assert store.answers(RUN, 0, 9)[KEY].exchange == exchange


def test_append_replaces(store):
    """The same answer or result again takes the earlier one's place."""
    store.append(RUN, [answer()], [result(3)])
    later = answer(max_tokens=6)
    store.append(RUN, [later], [result(3, outcome=Outcome.PASS, cause=None)])
    assert store.answers(RUN, 0, 9) == {KEY: later}
    assert [each.outcome for each in store.results(RUN)] == [Outcome.PASS]


def test_keys_tell_answers_apart(store):
    """Side, repeat and stream are part of which answer it is, and so is the run."""
    keys = {
        AnswerKey(0, side, repeat, streamed)
        for side in Side
        for repeat in (0, 1)
        for streamed in (False, True)
    }
    store.append(RUN, [answer(key) for key in keys], [])
    store.append("other", [answer(AnswerKey(0, Side.STAGE))], [])
    assert set(store.answers(RUN, 0, 0)) == keys
    assert set(store.answers("other", 0, 0)) == {AnswerKey(0, Side.STAGE)}


def test_ranges_hold_both_ends(store):
    """``answers`` and ``finished`` give the cases from first to last, both included."""
    store.append(
        RUN, [answer(AnswerKey(n, Side.STAGE)) for n in range(10)], [result(n) for n in range(10)]
    )
    assert sorted(key.case for key in store.answers(RUN, 2, 4)) == [2, 3, 4]
    assert store.finished(RUN, 2, 4) == {2, 3, 4}
    assert store.finished(RUN, 10, 20) == store.finished("absent", 0, 9) == set()
    assert store.answers("absent", 0, 9) == {}


def test_forget_takes_answer_and_result(store):
    """An answer that is forgotten is gone with its case's result; its neighbours stay."""
    keys = [AnswerKey(n, side) for n in (0, 1) for side in Side]
    store.append(RUN, [answer(key) for key in keys], [result(0), result(1)])
    store.forget(RUN, [AnswerKey(1, Side.REFERENCE)])
    assert set(store.answers(RUN, 0, 9)) == set(keys[:3])
    assert store.finished(RUN, 0, 9) == {0}
    store.forget(RUN, [])
    store.forget("absent", keys)
    assert len(store.answers(RUN, 0, 9)) == 3


# ---------------------------------------------------------------- results


def test_results_come_back_in_the_order_of_the_suite(store):
    """Whatever the order in which they are written, results are those of the suite's."""
    given = [result(n) for n in (1500, 2, 700, 0, 1)]
    store.append(RUN, [], given)
    assert list(store.results(RUN)) == sorted(given, key=lambda each: each.index)
    assert [each["index"] for each in store.documents(RUN)] == [0, 1, 2, 700, 1500]


def test_documents_are_streamed(store):
    """A walk that is left early, and another begun meanwhile, do not hold up a writer."""
    store.append(RUN, [], [result(n) for n in range(2000)])
    walk = store.documents(RUN)
    assert next(walk)["index"] == 0
    store.append(RUN, [], [result(5000)])
    assert sum(1 for _ in store.documents(RUN)) == 2001
    walk.close()


def test_batch_is_whole_or_not_at_all(store):
    """Where one of a batch cannot be written, none of it is."""
    with pytest.raises((StoreError, ValueError)):
        store.append(RUN, [answer()], [result(0), result(1, detail={"x": float("nan")})])
    assert store.answers(RUN, 0, 9) == {}
    assert store.finished(RUN, 0, 9) == set()


# ---------------------------------------------------------------- cache


def test_cache_gives_the_newest_that_is_young_enough(store):
    """Of several runs' answers to one request the newest serves, and none that is too old."""
    for n, answered in enumerate((10.0, 30.0, 20.0)):
        store.append(f"run{n}", [answer(answered=answered, cache_key=b"a" * 32)], [])
    assert store.cached([b"a" * 32], not_before=0.0)[b"a" * 32].answered == 30.0
    assert store.cached([b"a" * 32], not_before=30.0)[b"a" * 32].answered == 30.0
    assert store.cached([b"a" * 32], not_before=30.1) == {}
    assert store.cached([b"a" * 32], not_before=0.0, not_after=20.0)[b"a" * 32].answered == 20.0
    assert store.cached([b"a" * 32], not_before=0.0, not_after=9.9) == {}
    assert store.cached([b"b" * 32], not_before=0.0) == store.cached([], not_before=0.0) == {}


def test_answer_without_a_key_serves_nobody(store):
    """An answer that is not usable is journaled, and never found by a hash."""
    store.append(RUN, [answer(exchange=Exchange(500))], [])
    assert store.cached([b"", b"\0" * 32], not_before=0.0) == {}


def test_many_keys(store):
    """More keys than a statement takes values are looked up all the same."""
    keys = [n.to_bytes(32, "big") for n in range(300_000)]
    store.append(RUN, [answer(cache_key=keys[-1])], [])
    assert set(store.cached(keys, not_before=0.0)) == {keys[-1]}


# ---------------------------------------------------------------- runs


def test_run_comes_back(store):
    """A run's row holds what was given, also odd texts."""
    given = record(
        "r2",
        started=5.0,
        settings={"a": {"b": [1, None, "é\u2028"]}, "s": "\ud800"},
        notes={"stage": {"model": "m"}},
        head={"verdict": "pass"},
        finished=7.0,
    )
    store.create_run(given)
    assert store.get_run("r2") == given
    assert store.get_run("absent") is None
    assert store.latest_run() == given


def test_update_changes_only_what_is_given(store):
    """What is not named of a run stays."""
    store.update_run(RUN, notes={"a": 1})
    store.update_run(RUN, state="finished", head={"verdict": "fail"}, finished=3.0)
    assert store.get_run(RUN) == record(
        state="finished", notes={"a": 1}, head={"verdict": "fail"}, finished=3.0
    )
    store.update_run("absent", state="finished")
    assert store.get_run("absent") is None


def test_a_run_is_made_once(store):
    """The same id again is an error, not another run in its place."""
    with pytest.raises(StoreError):
        store.create_run(record())


def test_no_run_yet(opened):
    """A new store has no latest run."""
    assert opened.latest_run() is None


# ---------------------------------------------------------------- the file


def test_files_are_private(file_store, tmp_path):
    """The database and what lies beside it can be read by their owner alone."""
    file_store.append(RUN, [answer()], [])
    files = list(tmp_path.iterdir())
    assert len(files) > 1
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_everything_is_there_after_opening_again(store, tmp_path):
    """What was written is in the file, not in the object."""
    store.append(RUN, [answer(exchange=WHOLE)], [result(3)])
    store.close()
    again = open_store(tmp_path)
    assert again.answers(RUN, 3, 3)[KEY].exchange == WHOLE
    assert again.finished(RUN, 3, 3) == {3}
    again.close()


@pytest.mark.parametrize("name", ["a?b", "a%20b", "a#b", "a b", "ä", ":memory:"])
def test_any_folder_name(tmp_path, name):
    """A folder's name is a name, whatever it would mean in a URL."""
    folder = tmp_path / name
    opened = open_store(folder)
    opened.create_run(record())
    opened.close()
    with closing(sqlite3.connect(folder / "denv.sqlite3")) as connection:
        assert connection.execute("SELECT run FROM runs").fetchall() == [(RUN,)]
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("content", [b"junk" * 1000, b"SQLite format 3\0" + b"\xff" * 4096])
def test_what_is_no_database(tmp_path, content):
    """A file that is no database is a StoreError that names it."""
    path = tmp_path / "denv.sqlite3"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"denv\.sqlite3"):
        open_store(tmp_path)
    assert path.read_bytes() == content


def test_damage_in_the_middle(file_store, tmp_path):
    """Pages that were overwritten are a StoreError when they are read, never other answers."""
    many = [answer(AnswerKey(n, Side.STAGE), exchange=WHOLE) for n in range(500)]
    file_store.append(RUN, many, [])
    file_store.close()
    path = tmp_path / "denv.sqlite3"
    content = bytearray(path.read_bytes())
    content[8192:-8192] = b"\xff" * (len(content) - 16384)
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"denv\.sqlite3"):
        open_store(tmp_path).answers(RUN, 0, 500)


def test_folder_that_cannot_be_made(tmp_path):
    """A folder below a file is a StoreError that names it."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="file"):
        open_store(tmp_path / "file" / "data")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc")
def test_place_where_nothing_can_be_made():
    """Where even root can make nothing it is a StoreError."""
    with pytest.raises(StoreError, match="/proc"):
        open_store(Path("/proc/denv"))


# ---------------------------------------------------------------- measurements

MEASURE = MeasureRecord(
    measure="tokens-20260101-000000-abcdef",
    instrument="tokens",
    started=1.0,
    state="running",
    settings={"seed": 0},
    notes={"stage": {"model": "m"}},
)


def test_measurements_come_back_as_they_were(store):
    """A measurement's row keeps what was given, and takes what is changed of it."""
    store.create_measure(MEASURE)
    assert store.get_measure(MEASURE.measure) == MEASURE
    store.update_measure(MEASURE.measure, state="finished", document={"a": [1]}, finished=2.0)
    assert store.get_measure(MEASURE.measure) == replace(
        MEASURE, state="finished", document={"a": [1]}, finished=2.0
    )
    assert store.get_measure("tokens-1") is None
    assert store.get_run(MEASURE.measure) is None


def test_probes_come_back_as_they_were(store):
    """A journaled probe keeps its whole exchange; the last one of a key stands."""
    probe = StoredProbe(b"k" * 32, Side.REFERENCE, WHOLE, 3.0)
    store.keep_probe("m", replace(probe, exchange=Exchange(200), answered=2.0))
    store.keep_probe("m", probe)
    assert store.find_probe("m", b"k" * 32) == probe
    assert store.find_probe("m", b"x" * 32) is None
    assert store.find_probe("other", b"k" * 32) is None
