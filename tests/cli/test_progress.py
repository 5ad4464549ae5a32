"""What is shown while a run goes on, on a terminal and elsewhere."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from denv.cli.progress import facts, watching
from denv.records import Side
from denv.runner import Progress
from denv.runner.progress import held_line


def progress(done: int = 0, **changes) -> Progress:
    """Give a run of 10 cases."""
    values = {
        "planned": 10,
        "done": done,
        "resumed": 0,
        "failures": 0,
        "not_counted": 0,
        "tokens": 0,
        "cost": None,
        "elapsed_s": 0.0,
    }
    return Progress(**values | changes)


def waiting(seconds: float, waits: int = 1, done: int = 0) -> Progress:
    """Give a run whose stage asks to wait."""
    line = held_line(Side.STAGE, seconds=seconds, why="429")
    return progress(done, held={Side.STAGE: line}, waits=waits)


@pytest.mark.parametrize(
    ("why", "line"),
    [
        ("429", "stage asks to wait 58 s (429)"),
        ("503", "stage asks to wait 58 s (503)"),
        ("connection", "stage is asked again in 58 s (connection)"),
    ],
)
def test_a_wait_says_how_long_and_why(why, line):
    """A status is what the server asks for; a broken connection asks for nothing."""
    assert held_line(Side.STAGE, seconds=58.2, why=why) == line


def test_facts_begin_with_what_is_waited_for():
    """A wait comes first, as it says why nothing else moves."""
    assert facts(waiting(58)).startswith("stage asks to wait 58 s (429) · 0.0/s")
    assert "wait" not in facts(progress())


def test_lines_tell_each_wait_once_and_at_once():
    """Without a terminal a wait is one line however often it is told; the next wait another."""
    stream = io.StringIO()
    with watching(Console(file=stream, width=200)) as watch:
        assert watch is not None
        watch(progress())
        for left in (58, 57, 56):
            watch(waiting(left))
        watch(progress(done=1, waits=1))
        for left in (30, 29):
            watch(waiting(left, waits=2, done=1))
    lines = stream.getvalue().splitlines()
    assert [line.split(" · ")[0] for line in lines] == [
        "0/10 cases, stage asks to wait 58 s (429)",
        "1/10 cases, stage asks to wait 30 s (429)",
    ]


def test_the_bar_shows_a_wait():
    """On a terminal the wait stands beside the bar."""
    stream = io.StringIO()
    console = Console(file=stream, width=160, force_terminal=True, legacy_windows=False)
    with watching(console) as watch:
        assert watch is not None
        watch(waiting(58))
    assert "stage asks to wait 58 s (429)" in stream.getvalue()
