"""How checks decide a gate."""

import pytest

from denv.instruments.gates import Check, State
from denv.instruments.gates.model import judged, worst
from denv.records import Side

PASSES = Check("a", State.PASS, "a holds", Side.STAGE, evidence={"n": 1})
FAILS = Check("b", State.FAIL, "b differs", Side.REFERENCE)
UNKNOWN = Check("c", State.UNKNOWN, "c is not shown", Side.STAGE)
ONLY_REFERENCE = Check("d", State.UNKNOWN, "the reference does not show d", Side.REFERENCE)
NOT_NEEDED = Check("e", State.UNKNOWN, "e has no object", Side.STAGE, needed=False)


@pytest.mark.parametrize(
    ("checks", "state", "finding"),
    [
        ([PASSES], State.PASS, "all holds"),
        ([PASSES, FAILS], State.FAIL, "b differs"),
        ([FAILS, UNKNOWN], State.FAIL, "b differs"),
        ([PASSES, UNKNOWN], State.UNKNOWN, "c is not shown"),
        ([PASSES, ONLY_REFERENCE], State.PASS, "all holds; the reference does not show d"),
        ([PASSES, NOT_NEEDED], State.PASS, "all holds; e has no object"),
        (
            [ONLY_REFERENCE, NOT_NEEDED],
            State.UNKNOWN,
            "the reference does not show d; e has no object",
        ),
        ([], State.UNKNOWN, "nothing could be asked"),
    ],
)
def test_the_worst_check_decides(checks, state, finding):
    """A failure fails; want of evidence is unknown; nothing passes without a check that did."""
    gate = judged(("G9", "name"), checks, passes="all holds")
    assert (gate.state, gate.finding) == (state, finding)


def test_a_finding_names_few_and_counts_the_rest():
    """A sentence holds three findings at the most, equal ones once."""
    checks = [Check(str(n), State.FAIL, f"f{n % 5}") for n in range(10)]
    assert judged(("G9", "name"), checks, passes="").finding == "f0; f1; f2; and 2 more"


def test_the_document_holds_checks_and_the_gates_own_figures():
    """Checks stand in the evidence, with the side or null."""
    gate = judged(("G9", "name"), [PASSES], passes="all holds", evidence={"texts": 3})
    assert gate.document() == {
        "id": "G9",
        "name": "name",
        "state": "pass",
        "finding": "all holds",
        "evidence": {
            "checks": [
                {
                    "check": "a",
                    "side": "stage",
                    "state": "pass",
                    "finding": "a holds",
                    "evidence": {"n": 1},
                }
            ],
            "texts": 3,
        },
    }
    assert gate.state_of("a", Side.STAGE) is State.PASS
    assert gate.state_of("a") is State.UNKNOWN


def test_nothing_at_all_is_unknown():
    """No states are no pass."""
    assert worst([]) is State.UNKNOWN
    assert worst([State.PASS, State.UNKNOWN]) is State.UNKNOWN
    assert worst([State.UNKNOWN, State.FAIL]) is State.FAIL
