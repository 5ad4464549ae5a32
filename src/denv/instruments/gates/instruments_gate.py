"""G1: whether the instruments themselves read every known case right."""

from __future__ import annotations

from denv.instruments.gates.model import Check, Gate, State, judged
from denv.instruments.selfcheck import SelfCheck
from denv.records import Json

GATE = ("G1", "instruments")
_SHOWN = 5


def instruments_gate(selfcheck: SelfCheck | None) -> Gate:
    """Decide by the self-check; without its result nothing is known."""
    if selfcheck is None or not selfcheck.total:
        said = "the self-check was not made"
        return judged(GATE, [Check("selfcheck", State.UNKNOWN, said)], passes="")
    right = f"{selfcheck.passed}/{selfcheck.total}"
    failures: list[Json] = [
        {"id": one.id, "about": one.about} for one in selfcheck.failures[:_SHOWN]
    ]
    evidence = {"passed": selfcheck.passed, "total": selfcheck.total, "failures": failures}
    if selfcheck.passed < selfcheck.total:
        first = f"; first failing: {failures[0]['id']}" if failures else ""
        said = f"the self-check reads {right} known cases right{first}"
        check = Check("selfcheck", State.FAIL, said, evidence=evidence)
    else:
        said = f"the self-check reads {right} known cases right"
        check = Check("selfcheck", State.PASS, said, evidence=evidence)
    return judged(GATE, [check], passes=said)
