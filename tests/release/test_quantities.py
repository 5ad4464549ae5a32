"""Shares, durations, rates and thresholds as people write them."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denv.errors import UsageError
from denv.records import Kind
from denv.release import parse_duration, parse_rate, parse_share, parse_thresholds


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("99%", Fraction(99, 100)),
        ("0.99", Fraction(99, 100)),
        (" 99 % ", Fraction(99, 100)),
        ("100%", Fraction(1)),
        ("1.0", Fraction(1)),
        ("0%", Fraction(0)),
        ("0", Fraction(0)),
        ("0.5%", Fraction(1, 200)),
        ("99.999999999999999999%", Fraction(99999999999999999999, 10**20)),
    ],
)
def test_shares(text, value):
    """A share is an exact fraction, whichever way it is written."""
    assert parse_share(text) == value


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("99", "write 99%"),
        ("1", "write 1% .or 100% for all"),
        ("99.5", "write 99.5%"),
        ("101%", "above 100 %"),
        ("250", "above 100 %"),
        ("-1%", "below 0 %"),
        ("", "not a share"),
        ("%", "not a share"),
        ("nan", "not a share"),
        ("1e-2", "not a share"),
        ("1/2", "not a share"),
        ("٩٩%", "not a share"),
        ("9" * 10_000, "not a share"),
    ],
)
def test_not_shares(text, what):
    """What is no share, or could be two, is refused with what to write instead."""
    with pytest.raises(UsageError, match=what) as caught:
        parse_share(text)
    assert len(str(caught.value)) < 120


@given(st.integers(0, 10**6))
def test_share_forms_agree(parts):
    """The percentage and the decimal of the same share are the same fraction."""
    decimal = f"{parts // 10**6}.{parts % 10**6:06d}"
    percent = f"{parts // 10**4}.{parts % 10**4:04d}%"
    assert parse_share(decimal) == parse_share(percent) == Fraction(parts, 10**6)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("24h", 86_400),
        ("10m", 600),
        ("30s", 30),
        ("1d", 86_400),
        ("500ms", 0.5),
        ("1.5h", 5_400),
        ("1h30m", 5_400),
        ("0s", 0),
    ],
)
def test_durations(text, seconds):
    """A duration is a number of seconds."""
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("30", "write 30s"),
        ("", "not a"),
        ("-1s", "not a"),
        ("1w", "not a"),
        ("30m1h", "larger"),
        ("1h1h", "larger"),
        ("inf", "not a"),
        ("1 h", "not a"),
        ("3654d", "longer than ten years"),
        ("99999999999d", "longer than ten years"),
    ],
)
def test_not_durations(text, what):
    """A duration without unit, below nothing, or out of order is refused."""
    with pytest.raises(UsageError, match=what):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("5/s", 5),
        ("300/m", 5),
        ("1800/h", 0.5),
        ("0.5 / s", 0.5),
    ],
)
def test_rates(text, rate):
    """A rate is a number a second."""
    assert parse_rate(text) == rate


@pytest.mark.parametrize(
    ("text", "what"), [("5", "write 5/s"), ("0/s", "above 0"), ("5/d", "not"), ("", "not")]
)
def test_not_rates(text, what):
    """A rate without unit, or of nothing, is refused."""
    with pytest.raises(UsageError, match=what):
        parse_rate(text)


def test_thresholds():
    """Thresholds come in the order in which they are written."""
    found = parse_thresholds("tool-calls=99%, exact=0.95")
    assert list(found.items()) == [
        (Kind.TOOL_CALLS, Fraction(99, 100)),
        (Kind.EXACT, Fraction(95, 100)),
    ]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "write thresholds as"),
        ("exact", "write thresholds as"),
        ("exact=99%,", "write thresholds as"),
        ("=99%", "write thresholds as"),
        ("exact=", "not a share"),
        ("exact=99", "write 99%"),
        ("exact=99%,exact=98%", "twice"),
        ("tool-call=99%", "did you mean tool-calls"),
        ("regex=99%", "did you mean exact"),
        ("quality=99%", "kinds: exact, tool-calls, logprobs"),
    ],
)
def test_not_thresholds(text, what):
    """Unknown kinds, kinds that stand twice and missing shares are refused."""
    with pytest.raises(UsageError, match=what):
        parse_thresholds(text)
