"""Rollouts in the database."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Row, insert, select, tuple_, update

from denv.errors import ActiveRolloutError, OverrideError, StepConflictError, StoreError
from denv.records import Json
from denv.store import tables
from denv.store.alarms_sql import raise_within, resolve_within
from denv.store.database import Database
from denv.store.forms import dump
from denv.store.rollouts import (
    Decision,
    Incumbent,
    Latch,
    Override,
    RolloutRecord,
    StageRecord,
    StepCommit,
)


class SqlRolloutStore:
    """Rollouts in one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # ------------------------------------------------------------ rollouts

    def create_rollout(self, record: RolloutRecord) -> None:
        """Add a rollout; the same one again changes nothing.

        ``ActiveRolloutError`` where its stage has another that has not ended.
        """
        with self._database.change() as connection:
            found = _find(connection, record.rollout)
            if found is not None:
                _same_rollout(found, record)
                return
            active = _active(connection, record.stage)
            if active is not None and record.ended is None:
                raise ActiveRolloutError(
                    f"rollout {active.rollout} of {active.release} is under way on {record.stage}"
                )
            connection.execute(insert(tables.rollouts), _rollout_values(record))

    def get_rollout(self, rollout: str) -> RolloutRecord | None:
        """Give one rollout, or None."""
        with self._database.read() as connection:
            return _find(connection, rollout)

    def active_rollout(self, stage: str) -> RolloutRecord | None:
        """Give a stage's rollout that has not ended, or None."""
        with self._database.read() as connection:
            return _active(connection, stage)

    def list_rollouts(
        self,
        *,
        stage: str | None = None,
        active: bool | None = None,
        before: tuple[float, str] | None = None,
        most: int = 100,
    ) -> list[RolloutRecord]:
        """Give rollouts, the newest first; ``before`` is where the page before ended."""
        columns = tables.rollouts.c
        query = select(tables.rollouts).order_by(columns.started.desc(), columns.rollout.desc())
        if stage is not None:
            query = query.where(columns.stage == stage)
        if active is not None:
            ended = columns.ended
            query = query.where(ended.is_(None) if active else ended.is_not(None))
        if before is not None:
            query = query.where(tuple_(columns.started, columns.rollout) < tuple_(*before))
        with self._database.read() as connection:
            return [_rollout(row) for row in connection.execute(query.limit(most))]

    # ------------------------------------------------------------ decisions

    def commit_step(self, rollout: str, step: StepCommit) -> bool:
        """Write a decision and all that follows from it at once.

        True when it was written, False when just this decision was there already and nothing
        was changed. ``StepConflictError`` where another decision has that number, where
        earlier ones are missing, or where the rollout has ended.
        """
        with self._database.change() as connection:
            record = _find(connection, rollout)
            if record is None:
                raise StoreError(f"there is no rollout {rollout}")
            if step.decision.seq <= record.seq:
                _same_decision(connection, rollout, step.decision)
                return False
            _next_decision(record, step.decision.seq)
            _write_step(connection, record, step)
        return True

    def decisions(self, rollout: str, *, after: int = 0) -> list[Decision]:
        """Give a rollout's decisions in their order, those after a number."""
        columns = tables.decisions.c
        query = (
            select(tables.decisions)
            .where(columns.rollout == rollout)
            .where(columns.seq > after)
            .order_by(columns.seq)
        )
        with self._database.read() as connection:
            return [_decision(row) for row in connection.execute(query)]

    # ------------------------------------------------------------ latches

    def latched(self, proof: str) -> Latch | None:
        """Give the latest failure of a proof, or None; an override does not erase it."""
        with self._database.read() as connection:
            return _latched(connection, proof)

    def add_override(self, given: Override) -> None:
        """Let a latched proof be tried once.

        ``OverrideError`` where it is not latched or has an override that is not used yet.
        """
        columns = tables.overrides.c
        with self._database.change() as connection:
            if _latched(connection, given.proof) is None:
                raise OverrideError(f"{given.proof} has not failed: nothing is to be overridden")
            unused = connection.scalar(
                select(columns.by).where(columns.unused_proof == given.proof)
            )
            if unused is not None:
                raise OverrideError(f"{given.proof} has an override by {unused}, not used yet")
            connection.execute(
                insert(tables.overrides),
                {
                    "proof": given.proof,
                    "unused_proof": given.proof,
                    "by": given.by,
                    "reason": given.reason,
                    "at": given.at,
                },
            )

    def take_override(self, proof: str, *, rollout: str, at: float) -> Override | None:
        """Use up a proof's override for a rollout; None where there is none left.

        Asked again for the same rollout it gives what that rollout has used.
        """
        columns = tables.overrides.c
        mine = (columns.proof == proof) & (columns.used_by == rollout)
        with self._database.change() as connection:
            row = connection.execute(select(tables.overrides).where(mine)).one_or_none()
            if row is not None:
                return _override(row)
            connection.execute(
                update(tables.overrides)
                .where(columns.unused_proof == proof)
                .values(unused_proof=None, used_by=rollout, used_at=at)
            )
            row = connection.execute(select(tables.overrides).where(mine)).one_or_none()
            return None if row is None else _override(row)

    def overrides(self, proof: str) -> list[Override]:
        """Give all overrides of a proof, the oldest first."""
        columns = tables.overrides.c
        query = select(tables.overrides).where(columns.proof == proof).order_by(columns.number)
        with self._database.read() as connection:
            return [_override(row) for row in connection.execute(query)]

    # ------------------------------------------------------------ stages

    def get_stage(self, stage: str) -> StageRecord | None:
        """Give a stage that was ever promoted to or weighed, or None."""
        query = select(tables.stages).where(tables.stages.c.stage == stage)
        with self._database.read() as connection:
            row = connection.execute(query).one_or_none()
            return None if row is None else _stage(row)

    def list_stages(self) -> list[StageRecord]:
        """Give all stages by name."""
        query = select(tables.stages).order_by(tables.stages.c.stage)
        with self._database.read() as connection:
            return [_stage(row) for row in connection.execute(query)]

    def set_weights(self, stage: str, weights: Mapping[str, Json], *, at: float) -> None:
        """Note the traffic weights of a stage."""
        with self._database.change() as connection:
            _set_stage(connection, stage, {"weights": dump(weights), "weighed": at})


# ---------------------------------------------------------------- one step


def _write_step(connection: Connection, record: RolloutRecord, step: StepCommit) -> None:
    decision = step.decision
    connection.execute(insert(tables.decisions), _decision_values(record.rollout, decision))
    values: dict[str, Any] = {
        "seq": decision.seq,
        "phase": decision.next_phase,
        "state": dump(step.state),
    }
    if step.ended:
        values |= {"ended": decision.at, "active_stage": None}
    connection.execute(
        update(tables.rollouts).where(tables.rollouts.c.rollout == record.rollout).values(values)
    )
    if step.latch is not None:
        _add_latch(connection, step.latch)
    if step.promoted:
        _set_stage(connection, record.stage, {"incumbent": _incumbent_text(record, decision.at)})
    # An alarm that gives way to another of its identity is closed before that is opened.
    for each in step.resolved:
        resolve_within(connection, each)
    for alarm in step.raised:
        raise_within(connection, alarm)


def _next_decision(record: RolloutRecord, seq: int) -> None:
    if seq != record.seq + 1:
        raise StepConflictError(
            f"rollout {record.rollout}: decision {seq} follows {record.seq}, not {seq - 1}"
        )
    if record.ended is not None:
        raise StepConflictError(f"rollout {record.rollout} has ended: no decision {seq} any more")


def _same_decision(connection: Connection, rollout: str, given: Decision) -> None:
    """Tell a repetition from another process's decision; only the time may differ."""
    columns = tables.decisions.c
    row = connection.execute(
        select(tables.decisions).where(columns.rollout == rollout).where(columns.seq == given.seq)
    ).one_or_none()
    found = None if row is None else _decision(row)
    if found is None or _gist(found) != _gist(given):
        rule = "nothing" if found is None else found.rule
        raise StepConflictError(
            f"rollout {rollout}: decision {given.seq} is {rule}, not {given.rule}"
        )


def _gist(decision: Decision) -> tuple[str, str, str, str]:
    return (decision.phase, dump(decision.event), decision.rule, decision.next_phase)


def _same_rollout(found: RolloutRecord, given: RolloutRecord) -> None:
    same = (found.stage, found.release, found.proof, found.plan)
    if same != (given.stage, given.release, given.proof, given.plan):
        raise StoreError(f"rollout {given.rollout} is there with another plan")


def _add_latch(connection: Connection, latch: Latch) -> None:
    columns = tables.latches.c
    found = connection.scalar(
        select(columns.at)
        .where(columns.proof == latch.proof)
        .where(columns.rollout == latch.rollout)
    )
    if found is None:
        connection.execute(
            insert(tables.latches),
            {
                "proof": latch.proof,
                "rollout": latch.rollout,
                "at": latch.at,
                "kind": latch.kind,
                "run": latch.run,
            },
        )


def _latched(connection: Connection, proof: str) -> Latch | None:
    columns = tables.latches.c
    row = connection.execute(
        select(tables.latches)
        .where(columns.proof == proof)
        .order_by(columns.at.desc(), columns.rollout)
        .limit(1)
    ).one_or_none()
    return None if row is None else Latch(row.proof, row.rollout, row.at, row.kind, row.run)


def _set_stage(connection: Connection, stage: str, values: Mapping[str, Any]) -> None:
    done = connection.execute(
        update(tables.stages).where(tables.stages.c.stage == stage).values(values)
    )
    if not done.rowcount:
        connection.execute(insert(tables.stages), {"stage": stage, **values})


# ---------------------------------------------------------------- rows


def _find(connection: Connection, rollout: str) -> RolloutRecord | None:
    row = connection.execute(
        select(tables.rollouts).where(tables.rollouts.c.rollout == rollout).with_for_update()
    ).one_or_none()
    return None if row is None else _rollout(row)


def _active(connection: Connection, stage: str) -> RolloutRecord | None:
    row = connection.execute(
        select(tables.rollouts).where(tables.rollouts.c.active_stage == stage)
    ).one_or_none()
    return None if row is None else _rollout(row)


def _rollout_values(record: RolloutRecord) -> dict[str, Any]:
    return {
        "rollout": record.rollout,
        "stage": record.stage,
        "active_stage": record.stage if record.ended is None else None,
        "release": record.release,
        "proof": record.proof,
        "started": record.started,
        "ended": record.ended,
        "phase": record.phase,
        "seq": record.seq,
        "plan": dump(record.plan),
        "state": dump(record.state),
    }


def _rollout(row: Row[Any]) -> RolloutRecord:
    return RolloutRecord(
        rollout=row.rollout,
        stage=row.stage,
        release=row.release,
        proof=row.proof,
        started=row.started,
        plan=json.loads(row.plan),
        state=json.loads(row.state),
        phase=row.phase,
        seq=row.seq,
        ended=row.ended,
    )


def _decision_values(rollout: str, decision: Decision) -> dict[str, Any]:
    return {
        "rollout": rollout,
        "seq": decision.seq,
        "at": decision.at,
        "phase": decision.phase,
        "event": dump(decision.event),
        "rule": decision.rule,
        "text": decision.text,
        "next_phase": decision.next_phase,
        "actions": dump(list(decision.actions)),
        "detail": dump(decision.detail),
    }


def _decision(row: Row[Any]) -> Decision:
    return Decision(
        seq=row.seq,
        at=row.at,
        phase=row.phase,
        event=json.loads(row.event),
        rule=row.rule,
        text=row.text,
        next_phase=row.next_phase,
        actions=tuple(json.loads(row.actions)),
        detail=json.loads(row.detail),
    )


def _override(row: Row[Any]) -> Override:
    return Override(row.proof, row.by, row.reason, row.at, row.used_by, row.used_at)


def _incumbent_text(record: RolloutRecord, since: float) -> str:
    return dump(
        {
            "rollout": record.rollout,
            "release": record.release,
            "proof": record.proof,
            "plan": record.plan,
            "since": since,
        }
    )


def _stage(row: Row[Any]) -> StageRecord:
    return StageRecord(
        stage=row.stage,
        incumbent=None if row.incumbent is None else Incumbent(**json.loads(row.incumbent)),
        weights=None if row.weights is None else json.loads(row.weights),
        weighed=row.weighed,
    )
