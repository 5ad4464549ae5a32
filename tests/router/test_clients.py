from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from denv.records import Secret
from denv.router.clients import Bucket, Client, Clients
from denv.router.refusals import RefusedError
from denv.router.settings import Limits


def limits(**fields) -> Limits:
    return Limits.model_validate(fields)


def clients_of(*keys: str, anonymous: bool = False) -> Clients:
    known = [(Secret(key), Client(key, limits(), now=0.0)) for key in keys]
    return Clients(known, Client("anonymous", limits(), now=0.0) if anonymous else None)


@pytest.mark.parametrize(
    ("headers", "name"),
    [
        ({"Authorization": "Bearer one"}, "one"),
        ({"authorization": "bearer  two "}, "two"),
        ({"x-api-key": "two"}, "two"),
        ({}, "anonymous"),
    ],
)
def test_finds_the_client_by_its_key(headers, name):
    """A key counts in either header; without one it is nobody, where nobody may ask."""
    found = clients_of("one", "two", anonymous=True).find(CIMultiDict(headers))
    assert found.name == name


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer other"},
        {"Authorization": "Basic one"},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer " + "x" * 10_000},
        {"Authorization": "Bearer \udcff"},
        {"x-api-key": "on"},
    ],
)
def test_refuses_keys_that_nobody_has(headers):
    """A key that is wrong is refused, where nobody may ask too."""
    with pytest.raises(RefusedError) as refused:
        clients_of("one", anonymous=True).find(CIMultiDict(headers))
    assert refused.value.status == 401
    assert "other" not in str(refused.value)


def test_needs_a_key_unless_it_is_said_otherwise():
    """Without a key nobody is let in, where the settings do not name anonymous callers."""
    with pytest.raises(RefusedError, match="a key is needed"):
        clients_of("one").find(CIMultiDict())


@given(
    st.integers(1, 50),
    st.integers(1, 20),
    st.lists(st.floats(0, 0.5), min_size=1, max_size=200),
)
def test_a_bucket_holds_its_rate(rate, burst, waits):
    """From the start on there are never more than the burst and what came back since."""
    bucket = Bucket(float(rate), burst=burst, now=0.0)
    now, taken = 0.0, 0
    for wait in waits:
        now += wait
        taken += bucket.take(now) == 0
        assert taken <= burst + rate * now + 1e-6


def test_a_bucket_says_when_there_is_a_token():
    """After just the time that it names, there is one."""
    bucket = Bucket(2.0, burst=1, now=0.0)
    assert bucket.take(0.0) == 0
    wait = bucket.take(0.1)
    assert wait == pytest.approx(0.4)
    assert bucket.take(0.1 + wait) == 0


def test_as_many_run_as_may():
    """Beyond the concurrency there is a 429, until one has ended."""
    client = Client("a", limits(concurrency=2), now=0.0)
    client.enter(0.0)
    client.enter(0.0)
    with pytest.raises(RefusedError) as refused:
        client.enter(0.0)
    assert (refused.value.status, client.in_flight) == (429, 2)
    client.leave()
    client.enter(0.0)
