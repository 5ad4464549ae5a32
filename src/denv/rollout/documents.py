"""A rollout as its document: where it stands, what it waits for, each decision."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from denv.records import Json
from denv.rollout import states
from denv.store import Decision, RolloutRecord, SqlStore

WAITS = {
    "start-replicas": "replicas to start",
    "check-health": "the health checks",
    "run-golden": "the golden prompts",
    "run-parity": "the parity run",
    "wait": "the next try",
    "set-weights": "the weights to be set and read back",
    "watch": "observed time of the bake",
    "look": "a look at parity",
    "restore-weights": "the weights to be restored",
    "prove-incumbent": "the incumbent's golden prompts",
    "stop-replicas": "replicas to stop",
}

READ_BACK = frozenset({"weights-set", "weights-restored", "replicas-started"})

PROVING = frozenset({"starting", "health", "golden", "parity", "holding"})

_FIRST = datetime(1, 1, 1, tzinfo=UTC).timestamp()
_LAST = datetime(9999, 12, 31, tzinfo=UTC).timestamp()


def document_of(store: SqlStore, rollout: str, *, now: float) -> dict[str, Json]:
    """Give all that is known of a rollout as strict JSON."""
    record = store.rollouts.get_rollout(rollout)
    if record is None:
        return {"schema": "denv.rollout/1", "rollout": rollout, "phase": "waiting"}
    state = states.state_from_json(record.state)
    decisions = store.rollouts.decisions(rollout)
    stage = store.rollouts.get_stage(record.stage)
    weights = None if stage is None else stage.weights
    alarms = [a for a in store.alarms.list_alarms(most=1000) if a.rollout == rollout]
    return {
        "schema": "denv.rollout/1",
        **summary_of(record),
        "proof": record.proof,
        "weights": None if weights is None else weights["weights"],
        "weights_confirmed": None if weights is None else _confirmed(store, weights),
        "bake": {
            "observed_s": round(state.baked_s, 1),
            "of_s": state.terms.bake_s,
            "looks": len(state.looks),
        },
        "waits_for": [] if record.ended else waits_of(state, decisions, now=now),
        "cause": None if state.cause is None else state.cause.text,
        "incomplete": state.incomplete or None,
        "override": None
        if state.override is None
        else {"by": state.override.by, "reason": state.override.reason},
        "alarms": [
            {
                "alarm": alarm.alarm,
                "kind": alarm.kind,
                "opened": iso(alarm.opened),
                "resolved": iso(alarm.resolved),
                "repeats": alarm.repeats,
            }
            for alarm in alarms
        ],
        "decisions": [_decision(decision) for decision in decisions],
    }


def _confirmed(store: SqlStore, weights: Mapping[str, Json]) -> bool:
    """Tell whether weights that were noted before they were set have been read back since."""
    rollout, _, number = str(weights.get("set_by", "")).rpartition("/")
    return any(
        decision.event["type"] in READ_BACK and str(decision.event.get("answers")) == number
        for decision in store.rollouts.decisions(rollout)
    )


def summary_of(record: RolloutRecord) -> dict[str, Json]:
    """Give a rollout's row of a list."""
    state = states.state_from_json(record.state)
    return {
        "rollout": record.rollout,
        "release": record.release,
        "stage": record.stage,
        "phase": record.phase,
        "batch": state.batch,
        "batches": [float(share) for share in state.terms.batches],
        "started": iso(record.started),
        "ended": iso(record.ended),
    }


def waits_of(
    state: states.State, decisions: Sequence[Decision], *, now: float
) -> list[dict[str, Json]]:
    """Say what a rollout waits for, and until when where that is known."""
    waits = []
    for action in state.pending:
        wait: dict[str, Json] = {"for": WAITS[action.type], "until": None}
        if isinstance(action, states.Wait):
            wait["until"] = iso(_issued(decisions, action.number, now) + action.seconds)
        if isinstance(action, states.Watch):
            left_s = max(0.0, state.terms.bake_s - state.baked_s)
            wait["for"] = f"{left_s:.0f} s more of observed time of the bake"
        waits.append(wait)
    if state.phase.value in PROVING:
        began = max((d.at for d in decisions if _starts(d, state.batch)), default=now)
        deadline = iso(began + state.terms.deadline_s)
        waits.append({"for": "a pass of parity, else it is taken back", "until": deadline})
    if state.phase is states.Phase.ROLLBACK_INCOMPLETE:
        waits.append({"for": "a person: rollback again, or a newer release", "until": None})
    return waits


def _issued(decisions: Sequence[Decision], number: int, now: float) -> float:
    found = (d.at for d in decisions for a in d.actions if a.get("number") == number)
    return next(found, now)


def _starts(decision: Decision, batch: int) -> bool:
    return any(a["type"] == "start-replicas" and a["batch"] == batch for a in decision.actions)


def _decision(decision: Decision) -> dict[str, Json]:
    return {
        "seq": decision.seq,
        "at": iso(decision.at),
        "phase": decision.phase,
        "event": decision.event["type"],
        "rule": decision.rule,
        "next_phase": decision.next_phase,
        "text": decision.text,
        "detail": dict(decision.detail),
    }


def iso(at: float | None) -> str | None:
    """Write a time in UTC to the second."""
    if at is None:
        return None
    return in_utc(at).isoformat(timespec="seconds").replace("+00:00", "Z")


def in_utc(at: float) -> datetime:
    """Give a time as a date; one that no calendar has, of a clock gone wrong, is its nearest end.

    >>> in_utc(1e15).year, in_utc(-1e15).year
    (9999, 1)
    """
    return datetime.fromtimestamp(min(_LAST, max(_FIRST, at)), UTC)


def now_document(store: SqlStore, rollout: str) -> dict[str, Json]:
    """Give the document as of now."""
    return document_of(store, rollout, now=time.time())
