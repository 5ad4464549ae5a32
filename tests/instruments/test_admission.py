"""What instruments make of the gates' document."""

from __future__ import annotations

import pytest

from denv.instruments.admission import gate_warnings, refusals_of
from denv.instruments.probes import SideFacts
from denv.records import Side

FACTS = {
    Side.STAGE: SideFacts("m", url="http://stage:8000/v1"),
    Side.REFERENCE: SideFacts("m", url="http://reference:8000/v1"),
}
GATES = {
    "admissible": {"tokens": True},
    "stage": {"url": "http://stage:8000/v1/", "model": "m"},
    "reference": {"url": "http://reference:8000/v1", "model": "m"},
}


def test_gates_of_the_same_sides_admit():
    """The same URLs, with or without a slash at the end, and the same models are no refusal."""
    assert refusals_of(GATES, "tokens", facts=FACTS) == []
    assert gate_warnings(GATES, "tokens", facts=FACTS) == []
    assert refusals_of(None, "tokens", facts=FACTS) == []


URL = "the gates asked another {}: its URL is {}, here it is {}"
STAGE, REFERENCE = "http://stage:8000/v1", "http://reference:8000/v1"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            {"stage": {"url": "http://old:8000/v1", "model": "m"}},
            [URL.format("stage", "http://old:8000/v1", STAGE)],
        ),
        (
            {"reference": {"url": REFERENCE, "model": "n"}},
            ["the gates asked another reference: its model is n, here it is m"],
        ),
        (
            {"stage": GATES["reference"], "reference": GATES["stage"]},
            [
                URL.format("stage", REFERENCE, STAGE),
                URL.format("reference", STAGE + "/", REFERENCE),
            ],
        ),
        ({"admissible": {"tokens": False}}, ["the gates do not admit tokens"]),
        ({"stage": {"model": None}, "reference": "?"}, []),
    ],
)
def test_gates_of_other_sides_are_refused(change, says):
    """Gates of another server, another model, or the sides swapped, say nothing of these."""
    gates = {**GATES, **change}
    assert refusals_of(gates, "tokens", facts=FACTS) == says
    warnings = gate_warnings(gates, "tokens", facts=FACTS)
    assert warnings == [f"forced although {each}" for each in says]


def test_a_long_name_in_the_file_is_clipped():
    """The file is the user's, and a reason is one bounded line."""
    gates = {**GATES, "stage": {"model": "x" * 10_000}}
    (reason,) = refusals_of(gates, "tokens", facts=FACTS)
    assert len(reason) < 400
