"""A schedule as its document: when it fires, its history, what its detectors know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from denv.rollout.schedules.learned import Learned
from denv.store import Firing, ScheduleRecord

if TYPE_CHECKING:
    from denv.rollout.engine.schedules import Described

SCHEMA = "denv.schedule/1"


def document_of(
    record: ScheduleRecord,
    history: Sequence[Firing],
    described: Described | None,
    *,
    missing: str | None = None,
) -> dict[str, Any]:
    """Show a schedule as strict JSON."""
    learned = Learned.of(record)
    drift = [f.document["drift"] for f in history if f.document.get("drift")]
    return {
        "schema": SCHEMA,
        "name": record.name,
        "release": record.plan["release"],
        "stage": record.plan["stage"]["url"],
        "created": stamp(record.created),
        "timing": dict(record.spec),
        "paused": record.paused,
        "baseline": record.baseline,
        "engine": None if described is None else _engine(described),
        "engine_missing": missing,
        "detectors": None if learned.detectors is None else learned.detectors.to_json(),
        "drift": drift[-1] if drift else None,
        "history": [_firing_document(firing) for firing in history],
    }


def _engine(described: Described) -> dict[str, Any]:
    shown: Mapping[str, Any] = asdict(described)
    return {**shown, "next_times": [stamp(each) for each in described.next_times]}


def _firing_document(firing: Firing) -> dict[str, Any]:
    return {
        "slot": stamp(firing.slot),
        "kind": firing.kind,
        "at": stamp(firing.at),
        "verdict": firing.verdict,
        "run": firing.run,
        **{k: v for k, v in firing.document.items() if k != "form"},
    }


def stamp(seconds: float) -> str:
    """Write a time in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
