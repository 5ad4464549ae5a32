"""A case written and read again is the same case."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denv.records import Case, Contains, Equals, LogprobsClose, Regex, ToolCall
from denv.suite import dump_case
from denv.suite.line import parse_line
from tests.suite.rules import TOOL, VALID

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
IDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=256)
DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | DECIMALS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
CHECKS = st.one_of(
    TEXTS.map(Equals),
    TEXTS.filter(bool).map(Contains),
    st.sampled_from(["a", r"\b391\b", "(?i)x|y"]).map(Regex),
    st.floats(0, 100).map(LogprobsClose),
    st.dictionaries(TEXTS, VALUES, max_size=4).map(lambda found: ToolCall("get_weather", found)),
)


@given(case_id=IDS, content=TEXTS, check=CHECKS, tags=st.lists(TEXTS, max_size=3))
def test_dumped_cases_read_back(case_id, content, check, tags):
    """Any case comes back from its line equal to itself, on one line."""
    fields = {"tools": [TOOL], "messages": [{"role": "user", "content": content, "x": [None]}]}
    case = Case(case_id, 0, 1, fields, check, tuple(tags))
    text = dump_case(case)
    assert "\n" not in text
    assert parse_line(text.encode(), line=1, index=0) == (case_id, case)


@pytest.mark.parametrize("value", VALID)
def test_lines_keep_their_request(value):
    """What is written for a line that was read holds the same values in the same order."""
    case = parse_line(json.dumps(value).encode(), line=1, index=0)[1]
    assert isinstance(case, Case)
    again = json.loads(dump_case(case))
    ours = {key: item for key, item in again.items() if key in case.fields}
    assert list(ours.items()) == list(case.fields.items())


def test_digits_are_kept():
    """A Decimal is written with every digit it has."""
    arguments = {"x": Decimal("12.50"), "y": Decimal("0.12345678901234567890123")}
    case = Case("a", 0, 1, {"messages": []}, ToolCall("f", arguments))
    assert '{"x": 12.50, "y": 0.12345678901234567890123}' in dump_case(case)
