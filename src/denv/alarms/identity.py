"""Who an alarm is, over all its repeats: kind, stage and release, and never a run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from denv.store.alarming import AlarmRecord

REOPENED_WITHIN_S = 600.0
"""An alarm raised again this soon after its resolve is the earlier one, gone on."""

_DIGITS = 32


def identity_of(kind: str, *, stage: str, digest: str) -> str:
    """Give the identity of all alarms of a kind about a release (by its digest) on a stage.

    >>> identity_of("parity-fail", stage="http://127.0.0.1:8080/v1", digest="d")
    'denv-parity-fail-bf049e3e3d8d0a41c3a83e92fe568e53'
    """
    # The lengths keep the parts apart whatever they hold.
    parts = "".join(f"{len(part)}:{part}" for part in (kind, stage, digest))
    return f"denv-{kind}-{hashlib.sha256(parts.encode()).hexdigest()[:_DIGITS]}"


def first_opened(
    alarm: AlarmRecord,
    earlier: Iterable[AlarmRecord],
    *,
    within_s: float = REOPENED_WITHIN_S,
) -> float:
    """Give when an alarm began, in Unix seconds: where it was reopened, when it first opened.

    ``earlier`` are other alarms, of this identity or not, in any order.
    """
    same = [each for each in earlier if _ended_before(each, alarm)]
    opened = alarm.opened
    for each in sorted(same, key=lambda each: each.resolved or 0.0, reverse=True):
        if each.resolved is not None and opened - each.resolved <= within_s:
            opened = min(opened, each.opened)
    return opened


def _ended_before(each: AlarmRecord, alarm: AlarmRecord) -> bool:
    return (
        each.identity == alarm.identity
        and each.alarm != alarm.alarm
        and each.resolved is not None
        and each.resolved <= alarm.opened
    )
