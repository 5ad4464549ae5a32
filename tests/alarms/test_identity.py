"""An alarm's identity is its kind, stage and release, over all runs, repeats and reopenings."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from denv.alarms import identity_of
from denv.alarms.identity import first_opened
from tests.alarms.samples import ALARM, DIGEST, STAGE


def test_it_is_a_fixed_function():
    """The identity does not change between versions: sinks hold open alarms by it."""
    found = identity_of("parity-fail", stage="http://127.0.0.1:8080/v1", digest="d")
    # printf '11:parity-fail24:http://127.0.0.1:8080/v11:d' | sha256sum
    assert found == "denv-parity-fail-bf049e3e3d8d0a41c3a83e92fe568e53"


@given(st.lists(st.text(), min_size=3, max_size=3), st.lists(st.text(), min_size=3, max_size=3))
def test_different_parts_are_different_alarms(one, other):
    """Two alarms have one identity exactly when kind, stage and release are the same."""
    first, second = (identity_of(k, stage=s, digest=d) for k, s, d in (one, other))
    assert (first == second) == (one == other)


def test_it_fits_every_sink():
    """PagerDuty's dedup keys have 255 characters at the most, whatever the stage's length."""
    assert len(identity_of("rollback-incomplete", stage="x" * 5000, digest=DIGEST)) <= 255
    assert STAGE not in ALARM.identity


def again(opened, *, name="a2"):
    return replace(ALARM, alarm=name, opened=opened)


def ended(opened, resolved, *, name="a1"):
    return replace(ALARM, alarm=name, opened=opened, resolved=resolved)


def test_reopened_soon_goes_on_from_the_first():
    """Raised again within ten minutes of its resolve, an alarm began when it first opened."""
    assert first_opened(again(1600.0), [ended(500.0, 1000.0)]) == 500.0


def test_reopened_later_is_new():
    """Raised again after more than ten minutes it began when it was raised."""
    assert first_opened(again(1600.1), [ended(500.0, 1000.0)]) == 1600.1


def test_reopenings_chain():
    """An alarm that was reopened twice began when the first of the three did."""
    earlier = [ended(100.0, 200.0, name="a0"), ended(300.0, 400.0)]
    assert first_opened(again(500.0), earlier) == 100.0
    assert first_opened(again(500.0), earlier[::-1]) == 100.0


def test_others_do_not_count():
    """Another identity, an open alarm, itself, and what was resolved after it change nothing."""
    others = [
        replace(ended(1.0, 2.0), identity="another"),
        replace(ALARM, alarm="open", opened=1.0),
        again(10.0),
        ended(1.0, 11.0),
    ]
    assert first_opened(again(10.0), others) == 10.0
