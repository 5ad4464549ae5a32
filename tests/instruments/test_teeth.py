"""The self-check has teeth: a fault in an instrument never leaves all known cases right."""

from __future__ import annotations

import pytest

from denv.instruments.known import load_answers, load_known
from denv.instruments.selfcheck import run_selfcheck
from tests.instruments.faults import FAULTS

KNOWN = (*load_known(), *load_answers())


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_found(monkeypatch, name):
    """A deliberate fault fails the known cases that are about it."""
    patch, instruments, named = FAULTS[name]
    tried = [known for known in KNOWN if known.instrument in instruments]
    patch(monkeypatch)
    found = run_selfcheck(tried)
    failed = {failure.id for failure in found.failures}
    assert set(named.split()) <= failed
    assert found.passed == found.total - len(failed) < found.total


def test_there_are_many_faults():
    """At least 25 faults are tried, and every instrument has one."""
    assert len(FAULTS) >= 25
    tried = {instrument for _, instruments, _ in FAULTS.values() for instrument in instruments}
    assert tried == {known.instrument for known in KNOWN}
