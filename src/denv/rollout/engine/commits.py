"""A step of the table as the store's one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from denv.alarms import identity_of, sinks_of
from denv.records import Json
from denv.rollout import states
from denv.rollout.engine.messages import Plain
from denv.rollout.plan import Plan
from denv.store import AlarmRecord, Decision, Latch, Raise, Resolve, RolloutRecord, StepCommit


def commit_of(
    record: RolloutRecord,
    plan: Plan,
    *,
    step: states.Step,
    phase: str,
    event: Plain,
    ended: bool,
    at: float,
    open_alarms: Sequence[AlarmRecord] = (),
) -> StepCommit:
    """Give all that a decision changes."""
    actions = step.actions
    return StepCommit(
        decision=Decision(
            seq=step.state.steps,
            at=at,
            phase=phase,
            event=event,
            rule=step.rule,
            text=step.text,
            next_phase=step.state.phase.value,
            actions=[states.action_to_json(action) for action in actions],
            detail=_detail(event),
        ),
        state=states.state_to_json(step.state),
        raised=[
            _raised(record, plan, action, at=at)
            for action in actions
            if isinstance(action, states.RaiseAlarm)
        ],
        resolved=list(_resolved(record, actions, open_alarms, at=at)),
        latch=next(
            (
                Latch(a.proof_digest, record.rollout, at, states.AlarmKind.PARITY_FAIL, a.run)
                for a in actions
                if isinstance(a, states.Latch)
            ),
            None,
        ),
        promoted=any(isinstance(action, states.MarkPromoted) for action in actions),
        ended=ended,
    )


def _detail(event: Plain) -> dict[str, Json]:
    return {name: event[name] for name in ("tallies", "cases", "run") if event.get(name)}


def _raised(record: RolloutRecord, plan: Plan, action: states.RaiseAlarm, *, at: float) -> Raise:
    return Raise(
        once=f"{record.rollout}/{action.number}",
        identity=identity_of(action.kind, stage=record.stage, digest=plan.release_digest),
        kind=action.kind.value,
        stage=record.stage,
        release=record.release,
        summary=action.summary,
        at=at,
        run=action.run,
        rollout=record.rollout,
        sinks=sinks_of(plan.sinks),
    )


def _resolved(
    record: RolloutRecord,
    actions: Sequence[states.Action],
    open_alarms: Sequence[AlarmRecord],
    *,
    at: float,
) -> Iterable[Resolve]:
    for action in actions:
        if isinstance(action, states.ResolveAlarms):
            for alarm in open_alarms:
                if alarm.stage == record.stage and (
                    not action.kinds or alarm.kind in {kind.value for kind in action.kinds}
                ):
                    yield Resolve(alarm.identity, at, by=f"rollout {record.rollout}")
