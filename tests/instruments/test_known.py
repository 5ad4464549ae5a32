"""The known cases themselves: well formed, many, and refused where they are not."""

from __future__ import annotations

import json
from collections import Counter
from importlib.resources import files

import pytest
from jsonschema import Draft202012Validator

from denv.errors import HarnessError
from denv.instruments.known import ANSWERS, FORMS, load_answers, load_known
from denv.instruments.trials import TRIALS
from denv.instruments.trials_answers import ANSWER_TRIALS
from denv.schemas import schema

DATA = files("denv.instruments") / "data"
ALL = (*load_known(), *load_answers())
GOOD = {
    "id": "a",
    "about": "A number is itself.",
    "instrument": "number",
    "texts": ["1", "1"],
    "right": {"same": True},
}


def packaged_lines():
    """Give every packaged line with its place."""
    items = [*DATA.iterdir(), *(DATA / ANSWERS).iterdir()]
    for item in sorted((one for one in items if one.is_file()), key=lambda one: one.name):
        for number, line in enumerate(item.read_text("utf-8").split("\n"), 1):
            if line:
                yield f"{item.name}:{number}", json.loads(line)


def test_schema_is_valid():
    """The schema of the known cases is itself a valid schema."""
    Draft202012Validator.check_schema(schema("selfcheck-1"))


def test_lines_fit_the_schema():
    """Each packaged line is as the schema of the known cases has it."""
    validator = Draft202012Validator(schema("selfcheck-1"))
    wrong = [
        (place, error.message)
        for place, line in packaged_lines()
        for error in validator.iter_errors(line)
    ]
    assert wrong == []


def test_schema_names_the_same_instruments():
    """The schema, the loader and the trials know the same instruments."""
    named = set(schema("selfcheck-1")["properties"]["instrument"]["enum"])
    assert named == FORMS.keys() == TRIALS.keys() | ANSWER_TRIALS.keys()


def test_there_are_many_of_each():
    """There are over 150 known cases, and at least eight of each instrument."""
    counts = Counter(known.instrument for known in ALL)
    assert sum(counts.values()) >= 150
    assert counts.keys() == FORMS.keys()
    assert min(counts.values()) >= 8


def test_every_outcome_and_check_is_known():
    """Each check, each outcome, and each cause that one pair shows has known cases."""
    outcomes = [known for known in load_known() if known.instrument == "outcome"]
    checks = Counter(
        next(iter(known.given["case"]["expect"]))
        for known in outcomes
        if not isinstance(known.given["case"], str)
    )
    assert len(checks) == 5
    assert min(checks.values()) >= 8
    assert {known.right["outcome"] for known in outcomes} == {
        "pass", "fail", "reference-fail", "unmeasured", "reference-error",
    }  # fmt: skip
    assert {known.right["cause"] for known in outcomes} >= {
        "template", "parser", "limit", "engine", "contract", "availability", "unstable", "unknown",
    }  # fmt: skip


def test_no_finding_is_right_everywhere():
    """No instrument could meet most of its cases by always finding the same."""
    for instrument in FORMS:
        rights = [json.dumps(k.right, default=str) for k in ALL if k.instrument == instrument]
        most = Counter(rights).most_common(1)[0][1]
        assert most <= 0.7 * len(rights), instrument


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"instrument": "telescope"}, "telescope"),
        ({"instrument": None}, "instrument"),
        ({"texts": None, "text": "1"}, "text"),
        ({"note": "x"}, "note"),
        ({"right": {"equal": True}}, "equal"),
        ({"right": {}}, "right"),
        ({"right": None}, "right"),
        ({"id": ""}, "id"),
        ({"about": 7}, "about"),
    ],
)
def test_faulty_line(tmp_path, change, named):
    """A line with an unknown instrument or field, or without one, is an error that names it."""
    line = {key: value for key, value in {**GOOD, **change}.items() if value is not None}
    (tmp_path / "x.jsonl").write_text(json.dumps(line))
    with pytest.raises(HarnessError, match=rf"^x\.jsonl:1: .*{named}"):
        load_known(tmp_path)


def test_repeated_id(tmp_path):
    """An id that stands twice, be it in two files, is an error that names both places."""
    (tmp_path / "x.jsonl").write_text(json.dumps(GOOD))
    (tmp_path / "y.jsonl").write_text("\n" + json.dumps(GOOD))
    with pytest.raises(HarnessError, match=r"y\.jsonl:2: the id 'a' stands at x\.jsonl:1 too"):
        load_known(tmp_path)


@pytest.mark.parametrize("text", ["{", "[]", '{"id": NaN}', '{"id": "a", "id": "a"}'])
def test_line_that_is_no_object(tmp_path, text):
    """A line that is no strict JSON object is an error."""
    (tmp_path / "x.jsonl").write_text(text)
    with pytest.raises(HarnessError, match=r"x\.jsonl:1"):
        load_known(tmp_path)


def test_no_cases(tmp_path):
    """A package whose data are missing checks nothing, which is an error and no success."""
    with pytest.raises(HarnessError, match="no known cases"):
        load_known(tmp_path)
    with pytest.raises(HarnessError, match="cannot be read"):
        load_known(tmp_path / "none")


def test_not_utf8(tmp_path):
    """Data that are no UTF-8 cannot be read."""
    (tmp_path / "x.jsonl").write_bytes(b"\xff")
    with pytest.raises(HarnessError, match="cannot be read"):
        load_known(tmp_path)
