"""A rollout's way into the store: its record, its first state, and what its proof has done."""

from __future__ import annotations

import json

from denv.rollout import states
from denv.rollout.engine.messages import Admitted, RolloutOrder
from denv.rollout.engine.patience import heartbeat_s
from denv.rollout.plan import Plan
from denv.store import RolloutRecord, RolloutStore
from denv.verdict import effective_rates


def admit(order: RolloutOrder, store: RolloutStore, *, at: float) -> Admitted:
    """Take a rollout up: create it, or find where it stands, or what must be taken up before it.

    Raises
    ------
    StoreError
        The data cannot be read or written.
    """
    record = store.get_rollout(order.rollout)
    if record is None:
        first = store.active_rollout(order.stage)
        if first is not None:
            return Admitted({}, [], ended=False, first=order_for(first))
        record = _created(order, store)
    events: list[states.Event] = [_begin(record, store, at=at)] if record.seq == 0 else []
    return Admitted(
        state=dict(record.state),
        events=[states.event_to_json(event) for event in events],
        ended=record.ended is not None,
    )


def order_for(record: RolloutRecord) -> RolloutOrder:
    """Make the order by which a rollout that stands in the store is taken up."""
    return RolloutOrder(
        rollout=record.rollout,
        stage=record.stage,
        release=record.release,
        proof=record.proof,
        started=record.started,
        heartbeat_s=heartbeat_s(),
    )


def _created(order: RolloutOrder, store: RolloutStore) -> RolloutRecord:
    plan = Plan.from_json(json.dumps(order.plan))
    stage = store.get_stage(order.stage)
    has_incumbent = stage is not None and stage.incumbent is not None
    record = RolloutRecord(
        rollout=order.rollout,
        stage=order.stage,
        release=order.release,
        proof=order.proof,
        started=order.started,
        plan=order.plan,
        state=states.state_to_json(states.State(terms=terms_of(plan, has_incumbent=has_incumbent))),
    )
    store.create_rollout(record)
    return record


def terms_of(plan: Plan, *, has_incumbent: bool) -> states.Terms:
    """Give what the table must know of a plan."""
    rollout = plan.rollout
    return states.Terms(
        release=plan.release,
        proof_digest=plan.proof_digest,
        batches=tuple(rollout.batches),
        thresholds=dict(effective_rates(plan.thresholds, plan.suite.kinds)),
        has_incumbent=has_incumbent,
        bake_s=rollout.bake,
        deadline_s=rollout.deadline,
        parity_every_s=rollout.look_every_s,
        first_backoff_s=rollout.backoff.first,
        most_backoff_s=rollout.backoff.most,
    )


def _begin(record: RolloutRecord, store: RolloutStore, *, at: float) -> states.Begin:
    if store.latched(record.proof) is None:
        return states.Begin()
    given = store.take_override(record.proof, rollout=record.rollout, at=at)
    override = None if given is None else states.Override(by=given.by, reason=given.reason)
    return states.Begin(latched=True, override=override)
