from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from denv import strictjson
from denv.router.jsonform import BodyError, read_object, write_object

NUMBERS = st.one_of(
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30),
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, st.text()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def written(body: str) -> str:
    return write_object(read_object(body.encode())).decode()


def plain(value: object) -> str:
    """Write a value as JSON, decimals digit by digit."""
    match value:
        case Decimal():
            return str(value)
        case dict():
            return "{" + ",".join(f"{json.dumps(k)}: {plain(v)}" for k, v in value.items()) + "}"
        case list():
            return "[" + " ,".join(map(plain, value)) + "]"
        case _:
            return json.dumps(value)


@given(st.dictionaries(st.text(), VALUES, max_size=5))
@example({"a": 2**70, "b": Decimal("0.1234567890123456789012345"), "c": 1e300, "d": "\ud800"})
@example({"a": Decimal("1e400"), "b": Decimal("-0.0"), "c": Decimal("5e-324")})
def test_means_what_it_meant(fields):
    """Keys, their order, texts and the value of every number are the same after rewriting."""
    body = plain(fields).encode()
    again = write_object(read_object(body))
    assert strictjson.loads(again, exact=True) == strictjson.loads(body, exact=True)
    assert list(json.loads(again)) == list(json.loads(body))


@given(st.dictionaries(st.text(), VALUES, max_size=5))
def test_is_one_form(fields):
    """What was rewritten once is not changed by rewriting it again."""
    once = write_object(read_object(plain(fields).encode()))
    assert write_object(read_object(once)) == once


@pytest.mark.parametrize(
    ("body", "form"),
    [
        ('{ "b" : 1 ,\n "a" : [ ] }', '{"b":1,"a":[]}'),
        ('{"t": 0.70}', '{"t":0.7}'),
        ('{"t": 7e-1}', '{"t":0.7}'),
        ('{"t": 1.0}', '{"t":1.0}'),
        ('{"t": 1}', '{"t":1}'),
        ('{"n": 123456789012345678901234567890}', '{"n":123456789012345678901234567890}'),
        ('{"n": 0.12345678901234567890}', '{"n":1.234567890123456789e-1}'),
        ('{"n": 0.123456789012345678900}', '{"n":1.234567890123456789e-1}'),
        ('{"s": "\\u00e9\\/"}', '{"s":"é/"}'),
        ('{"s": "é/"}', '{"s":"é/"}'),
        ('{"s": "\\ud83d\\ude00"}', '{"s":"😀"}'),
        ('{"s": "\\ud83d"}', '{"s":"\\ud83d"}'),
    ],
)
def test_writes_one_text_for_one_value(body, form):
    """Spaces, escapes and ways to write a number do not survive; what they mean does."""
    assert written(body) == form


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"null", b'{"a":1,"a":2}', b'{"a":{"b":1,"b":1}}', b'{"a":NaN}', b"{", b"\xff{}"],
)
def test_refuses_what_is_no_strict_object(body):
    """Half JSON, other values than objects, NaN and keys that stand twice are refused."""
    with pytest.raises(BodyError):
        read_object(body)


@pytest.mark.parametrize("depth", [200, 400, 200_000])
def test_deep_nesting_is_written_or_refused(depth):
    """Depth is written while it can be, and refused beyond; it never breaks the process."""
    body = b'{"a":' + b"[" * depth + b"]" * depth + b"}"
    if depth <= 400:
        assert write_object(read_object(body)) == body
    else:
        with pytest.raises(BodyError):
            write_object(read_object(body))
