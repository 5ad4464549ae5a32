"""Waits are arithmetic, and hostile headers cannot break it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denv.client import retry
from tests.client.virtual_time import FixedRandom

NOW = datetime(2026, 11, 29, 21, 0, 0, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2", 2.0),
        ("1.5", 1.5),
        (" 7 ", 7.0),
        ("0", 0.0),
        ("Sun, 29 Nov 2026 21:00:30 GMT", 30.0),
        ("Sunday, 29-Nov-26 21:00:30 GMT", 30.0),
        ("Sun Nov 29 21:00:30 2026", 30.0),
        ("Sun, 29 Nov 2026 20:00:00 GMT", 0.0),
        ("-1", None),
        ("86400", 60.0),
        ("9" * 5000, 60.0),
        ("soon", None),
        ("", None),
        (None, None),
        ("2, 3", None),
        ("inf", None),
        ("1e3", None),
        ("٣", None),
        ("Sun, 99 Nov 2026 21:00:30 GMT", None),
    ],
)
def test_retry_after_is_seconds_or_a_date_and_junk_is_nothing(value, expected):
    """Each form of Retry-After gives its seconds, capped at 60; what is no wait gives None."""
    assert retry.retry_after(value, now=NOW) == expected


@given(st.text(max_size=60), st.floats(0, 4e9))
def test_no_header_value_raises(value, now):
    """Whatever a server writes, the wait is None or a number from 0 to 60."""
    wait = retry.retry_after(value, now=now)
    assert wait is None or 0 <= wait <= 60


def test_a_longer_wait_than_the_cap_is_said():
    """The note names what was asked and what is waited; within the cap there is none."""
    assert "86400" in retry.capped_note(86400.0)
    assert "60" in retry.capped_note(86400.0)
    assert retry.capped_note(60.0) == ""
    assert retry.capped_note(None) == ""


@given(st.integers(0, 5000), st.floats(0, 1, exclude_max=True))
def test_backoff_is_full_jitter_under_a_doubling_ceiling(attempt, share):
    """The wait is a uniform share of min(30, 0.5 · 2^attempt) seconds."""
    ceiling = min(30.0, 0.5 * 2 ** min(attempt, 20))
    assert retry.backoff(attempt, FixedRandom(share)) == pytest.approx(share * ceiling)
