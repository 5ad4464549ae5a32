"""Figures over all runs: those that have ended, and their heads, on both databases."""

from __future__ import annotations

from denv.store import RunRecord
from denv.store.runlog import stage_column


def add(store, run, finished, *, url="http://s.test/v1", verdict="pass"):
    """Keep a run; without a verdict it has not ended."""
    settings = {"identity": {"stage": {"url": url, "model": "m"}}}
    head = None if verdict is None else {"verdict": verdict, "n": run}
    record = RunRecord(run, 1.0, "finished", settings, {}, head=head, finished=finished)
    store.create_run(record)
    return stage_column(settings["identity"])


def test_ended_runs_of_some_stages(opened):
    """They come in the order of their ends; those that run and those of other stages do not."""
    stage = add(opened, "late", 30.0, verdict="fail")
    add(opened, "early", 10.0)
    add(opened, "running", None, verdict=None)
    other = add(opened, "other", 20.0, url="http://other.test/v1")
    found = opened.figures.ended([stage])
    assert [(run.run, run.verdict, run.finished) for run in found] == [
        ("early", "pass", 10.0),
        ("late", "fail", 30.0),
    ]
    assert [run.run for run in opened.figures.ended([stage, other])] == ["early", "other", "late"]
    assert [run.run for run in opened.figures.ended([stage], since=10.5)] == ["late"]
    assert opened.figures.ended([]) == []


def test_tokens_are_those_of_the_head(opened):
    """They stand beside the run; what no server told, or none can hold, is not there."""
    usage = {"prompt_tokens": 2**40, "completion_tokens": 0}
    head = {"verdict": "pass", "stage": {"usage": usage}}
    stage = add(opened, "r", 10.0, verdict=None)
    opened.update_run("r", head=head, finished=10.0)
    (found,) = opened.figures.ended([stage])
    assert found.spent == (2**40, 0, None, None)
    opened.update_run("r", head={**head, "reference": {"usage": {"prompt_tokens": 2**70}}})
    assert opened.figures.ended([stage])[0].spent == (2**40, 0, None, None)


def test_a_head_that_holds_half_a_character(opened):
    """What a server has said may be no Unicode; it is read all the same."""
    head = {"verdict": "pass", "reasons": ["\ud800"]}
    opened.create_run(RunRecord("r", 1.0, "finished", {}, {}, head=head, finished=1.0))
    assert opened.figures.heads(["r"]) == {"r": head}


def test_heads_of_runs(opened):
    """Each run that is there and has ended has its head; more than one statement takes too."""
    for number in range(3):
        add(opened, f"r{number}", 1.0)
    add(opened, "running", None, verdict=None)
    asked = ["r0", "r2", "running", "gone", *(f"x{n}" for n in range(1200))]
    assert opened.figures.heads(asked) == {
        "r0": {"verdict": "pass", "n": "r0"},
        "r2": {"verdict": "pass", "n": "r2"},
    }
