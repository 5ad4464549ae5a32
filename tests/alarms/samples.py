"""Alarms for tests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from denv.alarms import Alarm, identity_of
from denv.store import Raise

STAGE = "http://127.0.0.1:8080/v1"
DIGEST = "denv.release/1:sha256:" + "0" * 64
OPENED = 1_790_000_000.0
"""2026-09-21T14:13:20Z."""

IDENTITY = identity_of("parity-fail", stage=STAGE, digest=DIGEST)
ALARM = Alarm(
    alarm="a1",
    identity=IDENTITY,
    kind="parity-fail",
    stage=STAGE,
    release="chat-r8",
    summary="tool-calls: 91.0 % of 100 passed, 99 % must",
    run="20260921-141320-abcdef",
    rollout="rollout-1",
    details={"batch": 1},
    opened=OPENED,
    last=OPENED,
)
RESOLVED = replace(ALARM, resolved=OPENED + 60, resolved_by="denv")


def raised(at: float = OPENED, **changes: Any) -> Raise:
    """Give the same alarm as it is raised in a store."""
    given = Raise(
        once=f"rollout-1/{at}",
        identity=IDENTITY,
        kind="parity-fail",
        stage=STAGE,
        release="chat-r8",
        summary=ALARM.summary,
        at=at,
        run=ALARM.run,
        rollout="rollout-1",
        details={"batch": 1},
    )
    return replace(given, **changes)
