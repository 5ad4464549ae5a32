"""How grave an alarm is, in the words that PagerDuty and most routes of Alertmanager know."""

from __future__ import annotations

TEST_KIND = "alarm-test"
"""The kind of the alarm that ``denv alarm test`` sends."""

_SEVERITIES = {
    "parity-fail": "critical",
    "rollback-incomplete": "critical",
    "health-fail": "critical",
    "golden-fail": "critical",
    "parity-gaming": "critical",
    "parity-unproven": "error",
    "parity-drift": "error",
    "parity-missed": "warning",
    TEST_KIND: "info",
}


def severity_of(kind: str) -> str:
    """Give ``critical``, ``error``, ``warning`` or ``info``."""
    return _SEVERITIES.get(kind, "error")
