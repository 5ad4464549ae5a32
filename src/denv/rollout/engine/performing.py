"""What each action of the table does to the world, and the event that comes of it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from denv.errors import StoreError
from denv.rollout import states
from denv.rollout.engine.weighing import introduce, noted_table, restore, set_share
from denv.rollout.engine.work import Work, incumbent_of
from denv.rollout.plan import Plan
from denv.rollout.secrets import secrets_of
from denv.rollout.sides import PlannedReplica
from denv.rollout.steps.deploy import DeployOutcome, run_deploy
from denv.rollout.steps.golden import GoldenOutcome, GoldenState, run_golden
from denv.rollout.steps.health import WatchOutcome, check_health, watch_health
from denv.rollout.steps.weights import changed_file

LONGEST_TICK_S = 30.0
"""A watch answers at least this often, so that the observed time is stored."""

INCUMBENT_ATTEMPTS = 3
INCUMBENT_PAUSE_S = 2.0
KEPT = "rollouts"


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
    if work.plan.stage.router is not None and (why := await introduce(work)):
        return states.ReplicasFailed(answers=work.number, why=why)
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
    observed_s = earlier + seen.observed_s
    if seen.unhealthy is not None:
        return states.Unhealthy(answers=work.number, why=seen.unhealthy)
    if seen.changed is not None:
        return states.WeightsChanged(answers=work.number, observed_s=observed_s, why=seen.changed)
    return states.Watched(answers=work.number, observed_s=observed_s)


async def _watched(work: Work, wanted_s: float, *, earlier: float) -> WatchOutcome:
    """Watch so long, or until the worker is to end: what was seen by then is the outcome."""
    observed = 0.0

    def on_observed(observed_s: float) -> None:
        nonlocal observed
        observed = observed_s
        work.memory.keep(earlier + observed_s)

    table = await asyncio.to_thread(noted_table, work)

    async def beside() -> str:
        return "" if table is None else await changed_file(work.plan.rollout.weights, table)

    watching = asyncio.ensure_future(
        watch_health(
            work.plan.replicas_at(work.batch),
            work.plan.rollout.health,
            seconds=wanted_s,
            on_observed=on_observed,
            beside=beside,
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
    incumbent = incumbent_of(work)
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


_PERFORMERS: Mapping[type[Any], Callable[[Work], Awaitable[states.Event]]] = {
    states.StartReplicas: _start_replicas,
    states.StopReplicas: _stop_replicas,
    states.CheckHealth: _check_health,
    states.Watch: _watch,
    states.RunGolden: _run_golden,
    states.ProveIncumbent: _prove_incumbent,
    states.SetWeights: set_share,
    states.RestoreWeights: restore,
}
"""What does each action; a wait and a parity run are the workflow's own."""

PERFORMED = tuple(_PERFORMERS)
