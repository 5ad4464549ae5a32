"""Searches in a process that can be killed."""

from __future__ import annotations

import threading
import time

import pytest

from denv.runner.searching import KillableSearch

HOSTILE = r"(a|aa)+$"


@pytest.fixture
def search():
    searching = KillableSearch()
    yield searching
    searching.close()


def test_plain_searches_need_no_process(search):
    """A quick search of a short text is done at once."""
    assert search(r"\b391\b", "it is 391.")
    assert not search(r"\b391\b", "it is 3910")
    assert search._child is None


def test_long_texts_are_searched_in_the_child(search):
    """A text of a megabyte is searched as a short one is."""
    text = "a" * 1_000_000 + "391"
    assert search("391$", text)
    assert not search("392$", text)
    assert search._child is not None


def test_hostile_pattern_ends_within_its_time(search):
    """Exponential backtracking is ended after a second, and the next search works."""
    started = time.monotonic()
    with pytest.raises(TimeoutError):
        search(HOSTILE, "a" * 60 + "b")
    assert time.monotonic() - started < 15
    assert search("b$", "ab" * 100_000)


def test_hostile_pattern_on_a_huge_text_ends_too(search):
    """Ten megabytes do not stretch the second."""
    with pytest.raises(TimeoutError):
        search(HOSTILE, "a" * 10_000_000 + "b")


def test_dead_child_is_replaced(search):
    """A child that was killed by somebody else costs one search, not the run."""
    text = "a" * 100_000
    assert search("a$", text)
    search._child.kill()
    search._child.wait()
    with pytest.raises(TimeoutError):
        search("a$", text)
    assert search("a$", text)


def test_threads_share_one_child(search):
    """Searches from many threads all get their own answers."""
    found = {}

    def one(n):
        found[n] = search(f"x{n}$", "a" * 70_000 + f"x{n % 2}")

    threads = [threading.Thread(target=one, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: n in (0, 1) for n in range(8)}
