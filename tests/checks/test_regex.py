"""Patterns, and the bounds of a search."""

from __future__ import annotations

import threading
import time

import pytest
import regex

from denv.checks import score
from denv.checks.regex import search_within
from denv.records import Regex, Score
from tests.checks.answers import said, says, search


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"\b391\b", "it is 391.", True),
        (r"\b391\b", "it is 3911", False),
        ("a", "A", False),
        ("^b", "a\nb", False),
        ("a.b", "a\nb", False),
        (r"(?m)^b", "a\nb", True),
        (r"\p{Lu}\X", "É!", True),
        ("", "", True),
        ("", "x", True),
    ],
)
def test_a_pattern_is_searched_for_without_implicit_flags(
    pattern: str, text: str, found: bool
) -> None:
    """Search, not match; case counts, a dot stops at lines, ^ is the text's beginning."""
    assert score(Regex(pattern), said(text), search=search).passed is found


def test_a_miss_says_so() -> None:
    """A pattern that is not found fails, with the cause unknown."""
    failed = score(Regex("x"), said("y"), search=search)
    assert says(failed) == (False, "unknown")
    assert failed.reason == "not found: 'x'"


def test_a_search_that_takes_too_long_is_unmeasured() -> None:
    """A time-out is neither a pass nor a failure."""

    def slow(_: str, __: str) -> bool:
        raise TimeoutError

    assert score(Regex("x"), said("y"), search=slow) == Score(None, "regex timed out")


def test_the_search_is_given_pattern_and_text() -> None:
    """The search that is handed in decides, and is given the readable text alone."""
    asked = []

    def spy(pattern: str, text: str) -> bool:
        asked.append((pattern, text))
        return True

    answer = said("<think>a</think>b", text_after_reasoning="b")
    assert score(Regex("p"), answer, search=spy).passed is True
    assert asked == [("p", "b")]


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"^(a|a)*$", "a" * 40 + "!"),
        (r"(a+)+$", "a" * 1_000_000 + "!"),
        (r"^(\w+\s?)*$", "word " * 20_000 + "!"),
        (r"^(?!.*(?:a|a)*b)", "a" * 30_000),
    ],
)
def test_a_catastrophic_pattern_ends_in_time_or_by_the_time_out(pattern: str, text: str) -> None:
    """A hostile pattern takes no more processor time than allowed, and some."""
    began = time.thread_time()
    try:
        found = search_within(pattern, text, timeout_s=0.2)
    except TimeoutError:
        found = False
    assert not found
    assert time.thread_time() - began < 1.5


def test_a_time_out_is_raised_as_such() -> None:
    """A search beyond its time raises TimeoutError, and the next one runs as ever."""
    with pytest.raises(TimeoutError):
        search_within(r"^(a|a)*$", "a" * 40 + "!", timeout_s=0.05)
    assert search_within("a", "a", timeout_s=0.05)


def test_other_threads_run_during_a_search() -> None:
    """A long search does not hold the interpreter's lock."""
    beats = 0
    done = threading.Event()

    def beat() -> None:
        nonlocal beats
        while not done.wait(0.005):
            beats += 1

    thread = threading.Thread(target=beat)
    thread.start()
    with pytest.raises(TimeoutError):
        search_within(r"^(a|a)*$", "a" * 40 + "!", timeout_s=0.3)
    done.set()
    thread.join()
    assert beats > 5


def test_a_pattern_that_is_none_is_an_error() -> None:
    """A pattern that does not compile is the caller's fault: suites are checked beforehand."""
    with pytest.raises(regex.error):
        search_within("(", "x")


class OutOfMemory:
    """A pattern that needs more memory than there is."""

    def search(self, text: str, **options: object) -> None:
        """Fail as the package does where its own bound is reached."""
        raise MemoryError


def test_a_search_out_of_memory_is_one_that_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the package's memory is used up nothing is known of the match."""
    monkeypatch.setattr("denv.checks.regex._compiled", lambda _: OutOfMemory())
    with pytest.raises(TimeoutError, match=r"\Aregex ran out of memory\Z"):
        search_within("a", "a")
    assert score(Regex("a"), said("a"), search=search_within) == Score(None, "regex timed out")
