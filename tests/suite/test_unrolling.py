"""Patterns that grow when they are compiled."""

from __future__ import annotations

import pytest

from denv.suite.expect import pattern_fault
from denv.suite.unrolling import unrolled


@pytest.mark.parametrize(
    ("pattern", "steps"),
    [
        ("(?:a{1000}){100000}", 10**8),
        ("(?:(?:(?:(?:a{1000}){1000}){1000}){1000})", 10**12),
        ("(?:a{1000}){1000,}?", 10**6),
        ("(?>a{1000}+){1000}", 10**6),
        ("(?x: (?: a { 1 000 } # ((\n ){1000} )", 10**6),
        ("(?=a{1000000})", 10**6),
        ("(?:a{0,1000}){1000}", 1000),
        ("(?:a{,1000}){,1000}", 1),
        (r"[a{9}]{3}\{99999999}", 13),
        ("(?:ab){e<=1}", 2),
        (r"\d{1,3}(,\d{3}){0,5}", 5),
    ],
)
def test_least_counts_are_written_out(pattern, steps):
    """Repeats multiply by their least counts, in whatever way the dialect writes them."""
    assert unrolled(pattern) == steps


@pytest.mark.parametrize("pattern", ["(?:a{1000}){100000}", "a(?x) (b { 200 000 })"])
def test_what_grows_too_large_is_refused(pattern):
    """It is refused before it is compiled, which would take gigabytes."""
    fault = pattern_fault(pattern)
    assert fault is not None
    assert "100000 steps" in fault


@pytest.mark.parametrize("pattern", [r"\d{1,3}(,\d{3}){0,5}", ".{0,60000}x", "(?:ab){2000}"])
def test_ordinary_counts_are_taken(pattern):
    """Counts as suites have them are no fault."""
    assert pattern_fault(pattern) is None
