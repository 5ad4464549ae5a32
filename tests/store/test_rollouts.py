"""What the store promises of rollouts: one decision a number, one active rollout a stage."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError

from denv.errors import ActiveRolloutError, OverrideError, StepConflictError, StoreError
from denv.store import (
    Decision,
    Incumbent,
    Latch,
    Override,
    Raise,
    Resolve,
    RolloutRecord,
    StepCommit,
    open_store,
    tables,
)
from denv.store.sql import find_database

ROOT = Path(__file__).parents[2]
ROLLOUT = RolloutRecord(
    rollout="r1",
    stage="chat",
    release="chat-r8",
    proof="sha256:aa",
    started=10.0,
    plan={"batches": [0.1, 1], "suite": "é\u2028"},
    state={"phase": "pending", "n": None},
)
ALARM = Raise(
    once="r1/1/parity-fail",
    identity="parity-fail/chat",
    kind="parity-fail",
    stage="chat",
    release="chat-r8",
    summary="2 of 40 failed",
    at=11.0,
    run="run-1",
    rollout="r1",
    details={"n": 1},
    sinks={"pager": {"routing-key-env": "PAGER"}, "hook": {}},
)


@pytest.fixture
def store(opened):
    opened.rollouts.create_rollout(ROLLOUT)
    return opened.rollouts


def decision(seq, **fields):
    given = {
        "seq": seq,
        "at": 10.0 + seq,
        "phase": "parity",
        "event": {"event": "parity-ended", "verdict": "fail"},
        "rule": "parity-fail",
        "text": "2 of 40 failed",
        "next_phase": "restoring",
        "actions": ({"action": "restore-weights"},),
        "detail": {"cases": ["c1", "c2"]},
    }
    return Decision(**{**given, **fields})


def step(seq, **fields):
    return StepCommit(**{"decision": decision(seq), "state": {"seq": seq}, **fields})


# ---------------------------------------------------------------- decisions


def test_step_comes_back_whole(store):
    """State, phase, number and every field of the decision are what was given."""
    assert store.commit_step("r1", step(1)) is True
    found = store.get_rollout("r1")
    assert found == replace(ROLLOUT, seq=1, phase="restoring", state={"seq": 1})
    assert store.decisions("r1") == [decision(1)]


def test_the_same_step_again_changes_nothing(opened, store):
    """A retry of a step that was written, later by the clock, writes and raises nothing."""
    store.commit_step("r1", step(1, raised=[ALARM]))
    store.commit_step("r1", step(2, resolved=[Resolve(ALARM.identity, 12.0)]))
    again = step(1, decision=decision(1, at=99.0), state={"seq": "other"}, raised=[ALARM])
    assert store.commit_step("r1", again) is False
    assert store.get_rollout("r1").state == {"seq": 2}
    assert [each.at for each in store.decisions("r1")] == [11.0, 12.0]
    assert opened.alarms.open_alarm(ALARM.identity) is None
    assert len(opened.alarms.list_alarms()) == 1


def test_another_decision_at_a_number_is_a_conflict(store):
    """Of two processes that decide differently the second is told so."""
    store.commit_step("r1", step(1))
    with pytest.raises(StepConflictError, match="decision 1 is parity-fail, not parity-pass"):
        store.commit_step("r1", step(1, decision=decision(1, rule="parity-pass")))


def test_decisions_have_no_gap(store):
    """Decision 2 cannot be written before decision 1, nor anything for an unknown rollout."""
    with pytest.raises(StepConflictError, match="decision 2 follows 0, not 1"):
        store.commit_step("r1", step(2))
    with pytest.raises(StoreError, match="no rollout r9"):
        store.commit_step("r9", step(1))
    assert store.decisions("r1") == []


def test_what_has_ended_takes_no_decision(store):
    """After its end a rollout's log is closed; its last decision may still be repeated."""
    store.commit_step("r1", step(1, ended=True))
    assert store.get_rollout("r1").ended == 11.0
    with pytest.raises(StepConflictError, match="has ended"):
        store.commit_step("r1", step(2))
    assert store.commit_step("r1", step(1, ended=True)) is False


def test_step_is_whole_or_not_at_all(opened, store):
    """Where the last part of a step cannot be written, none of it is."""
    bad = replace(ALARM, details={"x": object()})
    with pytest.raises((StoreError, TypeError)):
        store.commit_step(
            "r1",
            step(
                1, latch=Latch("sha256:aa", "r1", 1.0, "parity-fail"), promoted=True, raised=[bad]
            ),
        )
    assert store.get_rollout("r1") == ROLLOUT
    assert store.decisions("r1") == []
    assert store.latched("sha256:aa") is None
    assert store.get_stage("chat") is None
    assert store.commit_step("r1", step(1)) is True


def test_decisions_after_a_number(store):
    """Who has seen the log up to a number reads on from there."""
    for seq in (1, 2, 3):
        store.commit_step("r1", step(seq))
    assert [each.seq for each in store.decisions("r1", after=1)] == [2, 3]


# ---------------------------------------------------------------- stages


def test_one_active_rollout_a_stage(store):
    """A stage that has a rollout under way takes no other; another stage does."""
    with pytest.raises(ActiveRolloutError, match=r"r1 of chat-r8 is under way on chat"):
        store.create_rollout(replace(ROLLOUT, rollout="r2"))
    store.create_rollout(replace(ROLLOUT, rollout="r3", stage="other"))
    store.commit_step("r1", step(1, ended=True))
    assert store.active_rollout("chat") is None
    store.create_rollout(replace(ROLLOUT, rollout="r2", started=20.0))
    assert store.active_rollout("chat").rollout == "r2"
    assert [each.rollout for each in store.list_rollouts(stage="chat")] == ["r2", "r1"]
    assert [each.rollout for each in store.list_rollouts(active=False)] == ["r1"]


def test_the_database_itself_guards_the_stage(store, tmp_path):
    """Also who writes past this code cannot make a second active rollout."""
    database, _ = find_database(tmp_path)
    with database.engine.connect() as connection:
        row = connection.execute(select(tables.rollouts)).one()._asdict()
        with pytest.raises(IntegrityError):
            connection.execute(insert(tables.rollouts), {**row, "rollout": "r2"})
    database.engine.dispose()


def test_the_same_rollout_again(store):
    """Creating it again changes nothing, not even after decisions; another plan is an error."""
    store.commit_step("r1", step(1))
    store.create_rollout(ROLLOUT)
    assert store.get_rollout("r1").seq == 1
    with pytest.raises(StoreError, match="another plan"):
        store.create_rollout(replace(ROLLOUT, plan={}))


def test_promoted_becomes_the_incumbent(store):
    """The stage then serves that rollout's plan, as it was frozen, and keeps its weights."""
    assert store.get_stage("chat") is None
    store.set_weights("chat", {"a": 0.1}, at=5.0)
    assert store.get_stage("chat").incumbent is None
    store.commit_step("r1", step(1, promoted=True, ended=True))
    found = store.get_stage("chat")
    assert found.incumbent == Incumbent("r1", "chat-r8", "sha256:aa", ROLLOUT.plan, 11.0)
    assert (found.weights, found.weighed) == ({"a": 0.1}, 5.0)
    assert store.list_stages() == [found]


# ---------------------------------------------------------------- latches


def test_failure_is_latched_for_its_proof(store):
    """A failed proof stays failed, and no other proof is."""
    latch = Latch("sha256:aa", "r1", 11.0, "parity-fail", "run-1")
    store.commit_step("r1", step(1, latch=latch))
    assert store.latched("sha256:aa") == latch
    assert store.latched("sha256:bb") is None


def test_override_is_used_once(store):
    """One override lets one rollout through; the latch stays and the use is shown."""
    with pytest.raises(OverrideError, match="has not failed"):
        store.add_override(Override("sha256:aa", "ann", "flaky host", 12.0))
    store.commit_step("r1", step(1, latch=Latch("sha256:aa", "r1", 11.0, "parity-fail")))
    store.add_override(Override("sha256:aa", "ann", "flaky host", 12.0))
    with pytest.raises(OverrideError, match="an override by ann, not used yet"):
        store.add_override(Override("sha256:aa", "bob", "me too", 13.0))
    used = Override("sha256:aa", "ann", "flaky host", 12.0, "r2", 14.0)
    assert store.take_override("sha256:aa", rollout="r2", at=14.0) == used
    assert store.take_override("sha256:aa", rollout="r2", at=15.0) == used
    assert store.take_override("sha256:aa", rollout="r3", at=16.0) is None
    assert store.latched("sha256:aa") is not None
    store.add_override(Override("sha256:aa", "bob", "again", 17.0))
    assert [each.used_by for each in store.overrides("sha256:aa")] == ["r2", None]


# ---------------------------------------------------------------- processes

RACER = """
import sys
from pathlib import Path
from denv.errors import ActiveRolloutError, StepConflictError
from denv.store import Decision, Raise, RolloutRecord, StepCommit, open_store

store, name = open_store(Path(sys.argv[1])), sys.argv[2]
shared = RolloutRecord("shared", "chat", "r", "p", 0.0, {}, {})
store.rollouts.create_rollout(shared)
try:
    store.rollouts.create_rollout(RolloutRecord(name, "other", "r", "p", 0.0, {}, {}))
    print("won")
except ActiveRolloutError:
    print("lost")
written = 0
for seq in range(1, 101):
    alarm = Raise(f"shared/{seq}", "i", "health-fail", "chat", "r", "s", 1.0, sinks={"a": {}})
    decision = Decision(seq, 1.0, "p", {"seq": seq}, "rule", "text", "p")
    written += store.rollouts.commit_step("shared", StepCommit(decision, {}, raised=[alarm]))
print(written)
"""


def test_processes_decide_once(database, tmp_path):
    """Of three processes that write the same log one writes each line, and one wins a stage."""
    all_three = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(tmp_path / "home"), name],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=ROOT,
        )
        for name in ("a", "b", "c")
    ]
    said = []
    for process in all_three:
        out, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors.decode()
        said.append(out.split())
    assert sorted(words[0] for words in said) == [b"lost", b"lost", b"won"]
    assert sum(int(words[1]) for words in said) == 100
    store = open_store(tmp_path / "home")
    (alarm,) = store.alarms.list_alarms()
    assert alarm.repeats == 99
    assert len(store.rollouts.decisions("shared")) == 100
    store.close()
