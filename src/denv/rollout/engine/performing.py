"""What each action of the table does to the world, and the event that comes of it."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

from denv.errors import StoreError
from denv.rollout import states
from denv.rollout.plan import Plan, secrets_of
from denv.rollout.sides import PlannedReplica
from denv.rollout.steps.deploy import DeployOutcome, run_deploy
from denv.rollout.steps.golden import GoldenOutcome, GoldenState, run_golden
from denv.rollout.steps.health import WatchOutcome, check_health, watch_health
from denv.rollout.steps.weights import set_weights
from denv.rollout.weights import Table, table_of
from denv.store import RolloutRecord, SqlStore

LONGEST_TICK_S = 30.0
"""A watch answers at least this often, so that the observed time is stored."""

INCUMBENT_ATTEMPTS = 3
INCUMBENT_PAUSE_S = 2.0
KEPT = "rollouts"


class Memory(Protocol):
    """What a try leaves for the next one, should its process die."""

    @property
    def earlier(self) -> Any:
        """What the last try has left, or None."""

    def keep(self, value: Any) -> None:
        """Leave a JSON value."""


@dataclass(frozen=True, slots=True)
class Work:
    """One action with all that it needs; ``folder`` is that of the data."""

    record: RolloutRecord
    plan: Plan
    action: Any
    store: SqlStore
    folder: Path
    memory: Memory
    stop: asyncio.Event

    @property
    def number(self) -> int:
        """The number that the event answers."""
        number: int = self.action.number
        return number

    @property
    def batch(self) -> int:
        """The batch that the rollout is in."""
        return states.state_from_json(self.record.state).batch


async def perform(work: Work) -> states.Event:
    """Do what the action asks for.

    Raises
    ------
    DenvError
        It could not be done at all; what was wrong with the release is an event.
    """
    return await _PERFORMERS[type(work.action)](work)


# ---------------------------------------------------------------- replicas


async def _start_replicas(work: Work) -> states.Event:
    deploy = work.plan.rollout.deploy
    fresh = work.plan.new_at(work.action.batch) if deploy else ()
    for replica in fresh:
        outcome = await _deploy(work, replica, what="start")
        if not outcome.ok:
            return states.ReplicasFailed(answers=work.number, why=outcome.why)
    return states.ReplicasStarted(answers=work.number)


async def _stop_replicas(work: Work) -> states.Event:
    deploy = work.plan.rollout.deploy
    started = work.plan.replicas_at(work.batch) if deploy else ()
    outcomes = [await _deploy(work, replica, what="stop") for replica in started]
    why = "; ".join(outcome.why for outcome in outcomes if not outcome.ok)
    return states.ReplicasStopped(answers=work.number, why=why)


async def _deploy(work: Work, replica: PlannedReplica, *, what: str) -> DeployOutcome:
    deploy = work.plan.rollout.deploy
    if deploy is None:
        raise StoreError("the plan names no deploy commands")
    outcome = await run_deploy(
        deploy.start if what == "start" else deploy.stop,
        replica,
        release=work.plan.release,
        folder=work.plan.folder,
        secrets=secrets_of(work.plan),
    )
    name = f"{work.number}-{what}-{replica.name}.log"
    await asyncio.to_thread(_keep_output, work.folder / KEPT / work.record.rollout, name, outcome)
    return outcome


def _keep_output(folder: Path, name: str, outcome: DeployOutcome) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(outcome.output)
            file.write(f"[exit code {outcome.exit_code}] {outcome.why or outcome.note}".rstrip())
            file.write("\n")
    except OSError as error:
        raise StoreError(f"{folder / name}: {error.strerror}") from error


# ---------------------------------------------------------------- health


async def _check_health(work: Work) -> states.Event:
    replicas = work.plan.proven_at(work.action.batch)
    health = work.plan.rollout.health
    outcomes = await asyncio.gather(*(check_health(replica, health) for replica in replicas))
    sick = [outcome.saw for outcome in outcomes if not outcome.healthy]
    if sick:
        return states.Unhealthy(answers=work.number, why="; ".join(sick))
    return states.Healthy(answers=work.number)


async def _watch(work: Work) -> states.Event:
    """Watch for one tick; what an earlier try has observed counts, what nobody saw does not."""
    earlier = float(work.memory.earlier or 0.0)
    wanted = min(work.action.seconds, LONGEST_TICK_S) - earlier
    if wanted <= 0:
        return states.Watched(answers=work.number, observed_s=earlier)
    seen = await _watched(work, wanted, earlier=earlier)
    if seen.unhealthy is not None:
        return states.Unhealthy(answers=work.number, why=seen.unhealthy)
    return states.Watched(answers=work.number, observed_s=earlier + seen.observed_s)


async def _watched(work: Work, wanted_s: float, *, earlier: float) -> WatchOutcome:
    """Watch so long, or until the worker is to end: what was seen by then is the outcome."""
    observed = 0.0

    def on_observed(observed_s: float) -> None:
        nonlocal observed
        observed = observed_s
        work.memory.keep(earlier + observed_s)

    watching = asyncio.ensure_future(
        watch_health(
            work.plan.replicas_at(work.batch),
            work.plan.rollout.health,
            seconds=wanted_s,
            on_observed=on_observed,
        )
    )
    stopping = asyncio.ensure_future(work.stop.wait())
    try:
        await asyncio.wait({watching, stopping}, return_when=asyncio.FIRST_COMPLETED)
        return watching.result() if watching.done() else WatchOutcome(observed)
    finally:
        for task in (watching, stopping):
            task.cancel()
        await asyncio.gather(watching, stopping, return_exceptions=True)


# ---------------------------------------------------------------- golden prompts


async def _run_golden(work: Work) -> states.Event:
    outcome = await _golden(work, work.plan, work.plan.proven_at(work.action.batch))
    run = next(iter(outcome.runs.values()), "")
    match outcome.state:
        case GoldenState.PASSED:
            return states.GoldenPassed(answers=work.number, run=run)
        case GoldenState.FAILED:
            cases = outcome.cases or (outcome.note,)
            return states.GoldenFailed(answers=work.number, run=run, cases=cases)
        case _:
            return states.GoldenUnproven(answers=work.number, why=outcome.note)


async def _golden(
    work: Work, plan: Plan, replicas: Sequence[PlannedReplica], *, attempt: int = 0
) -> GoldenOutcome:
    key = f"{work.record.rollout}-{work.number}" + (f"-{attempt}" if attempt else "")
    return await run_golden(plan, replicas, store=work.store, run_key=key, stop=work.stop)


async def _prove_incumbent(work: Work) -> states.Event:
    incumbent = _incumbent(work)
    if incumbent is None:
        return states.IncumbentNotProven(answers=work.number, why="there is no incumbent any more")
    outcome = await _golden(work, incumbent, incumbent.replicas)
    for attempt in range(1, INCUMBENT_ATTEMPTS):
        if outcome.state is not GoldenState.UNPROVEN or work.stop.is_set():
            break
        await asyncio.sleep(INCUMBENT_PAUSE_S * attempt)
        outcome = await _golden(work, incumbent, incumbent.replicas, attempt=attempt)
    if outcome.state is GoldenState.PASSED:
        return states.IncumbentProven(answers=work.number)
    why = f"{outcome.state}: {', '.join(outcome.cases) or outcome.note}"
    return states.IncumbentNotProven(answers=work.number, why=why)


def _incumbent(work: Work) -> Plan | None:
    stage = work.store.rollouts.get_stage(work.record.stage)
    if stage is None or stage.incumbent is None:
        return None
    return Plan.from_json(json.dumps(stage.incumbent.plan))


# ---------------------------------------------------------------- weights


async def _set_weights(work: Work) -> states.Event:
    outcome = await set_weights(
        work.plan.rollout.weights, await asyncio.to_thread(_table, work, work.action.share)
    )
    if outcome.held:
        return states.WeightsSet(answers=work.number)
    return states.WeightsNotSet(answers=work.number, why=outcome.why)


async def _restore_weights(work: Work) -> states.Event:
    outcome = await set_weights(
        work.plan.rollout.weights, await asyncio.to_thread(_table, work, Fraction(0))
    )
    if outcome.held:
        return states.WeightsRestored(answers=work.number)
    return states.WeightsNotRestored(answers=work.number, why=outcome.why)


def _table(work: Work, share: Fraction) -> Table:
    """Give the table of this action, under a version that is noted before anyone sees it.

    Done again, the action finds its own version there: the same table is the same.
    """
    store, stage = work.store.rollouts, work.record.stage
    key = f"{work.record.rollout}/{work.number}"
    found = store.get_stage(stage)
    noted: Mapping[str, Any] = (found.weights if found else None) or {}
    incumbent = _incumbent(work)
    ours = noted.get("set_by") == key
    table = table_of(
        stage,
        share=share,
        newcomer=work.plan.party(work.batch),
        incumbent=None if incumbent is None else incumbent.party(),
        # Above whatever a carrier may hold of an earlier data folder.
        version=noted["version"] if ours else max(noted.get("version", 0) + 1, int(time.time())),
    )
    if not ours:
        plain = {**json.loads(table.to_json()), "set_by": key}
        store.set_weights(stage, plain, at=time.time())
    return table


_PERFORMERS: Mapping[type[Any], Callable[[Work], Awaitable[states.Event]]] = {
    states.StartReplicas: _start_replicas,
    states.StopReplicas: _stop_replicas,
    states.CheckHealth: _check_health,
    states.Watch: _watch,
    states.RunGolden: _run_golden,
    states.ProveIncumbent: _prove_incumbent,
    states.SetWeights: _set_weights,
    states.RestoreWeights: _restore_weights,
}
"""What does each action; a wait and a parity run are the workflow's own."""

PERFORMED = tuple(_PERFORMERS)
