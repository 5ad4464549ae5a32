"""The golden prompts: a small suite that must pass whole on each replica."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

from denv.records import Endpoint, Thresholds
from denv.report import Report
from denv.rollout.plan import Plan
from denv.rollout.sides import PlannedReplica
from denv.runner import Settings, close_shards, open_shards, run_shard
from denv.store import Purpose, Store
from denv.store.purposes import OPTION
from denv.suite import Suite

MAX_NAMED = 20
NO_GOLDEN = "no golden prompts are named, by the release or its recipe: none were asked"


class GoldenState(StrEnum):
    """What the golden prompts show."""

    PASSED = "passed"
    FAILED = "failed"
    UNPROVEN = "unproven"


@dataclass(frozen=True, slots=True)
class GoldenOutcome:
    """The outcome over all replicas, the worst of each.

    ``runs`` are the replicas' run ids, ``cases`` the failed ones as ``replica: case``, and
    ``note`` says why where that is not plain.
    """

    state: GoldenState
    runs: Mapping[str, str]
    cases: tuple[str, ...] = ()
    note: str = ""


async def run_golden(
    plan: Plan,
    replicas: Sequence[PlannedReplica],
    *,
    store: Store,
    run_key: str | None = None,
    stop: asyncio.Event | None = None,
    clock: Callable[[], float] = time.time,
) -> GoldenOutcome:
    """Ask each replica all golden prompts, one replica after another.

    The reference is asked once for all of them. The runs are named ``run_key`` and the replica's
    place, so that the step done again with its key asks only what was not answered.

    Raises
    ------
    UsageError
        A key cannot be read, or a side is not what its URL, key or model say.
    HarnessError
        The harness itself could not run.
    """
    if plan.golden is None:
        return GoldenOutcome(GoldenState.PASSED, runs={}, note=NO_GOLDEN)
    suite = plan.golden.load()
    stop = stop or asyncio.Event()
    began = clock()
    found: list[_One] = []
    for place, replica in enumerate(replicas):
        report = await _run(
            suite,
            sides=(_at(plan, replica), plan.reference.endpoint()),
            settings=_settings(plan, suite, since_s=clock() - began + 1.0 if found else None),
            store=store,
            run_id=None if run_key is None else f"{run_key}-{place}",
            stop=stop,
        )
        found.append(_outcome(replica.name, report))
    return _worst(found)


async def _run(
    suite: Suite,
    *,
    sides: tuple[Endpoint, Endpoint],
    settings: Settings,
    store: Store,
    run_id: str | None,
    stop: asyncio.Event,
) -> Report:
    """Ask one replica, in one shard: a run that another process began is continued."""
    stage, reference = sides
    shards = await open_shards(
        suite,
        stage=stage,
        reference=reference,
        settings=settings,
        store=store,
        shards=1,
        run_id=run_id,
    )
    for shard in shards.to_ask:
        await run_shard(
            suite,
            plan=shards,
            shard=shard,
            stage=stage,
            reference=reference,
            settings=settings,
            store=store,
            stop=stop,
        )
    return await close_shards(
        suite,
        plan=shards,
        stage=stage,
        reference=reference,
        settings=settings,
        store=store,
        cancelled=stop.is_set(),
    )


@dataclass(frozen=True, slots=True)
class _One:
    replica: str
    run: str
    state: GoldenState
    cases: tuple[str, ...]
    note: str


def _at(plan: Plan, replica: PlannedReplica) -> Endpoint:
    # Named as the stage is: which replica it was stands with the outcome.
    return replace(plan.endpoint_of(replica), name=None)


def _settings(plan: Plan, suite: Suite, *, since_s: float | None) -> Settings:
    """Hold every kind to all of its cases; ``since_s`` takes the answers of this step again."""
    base = plan.settings()
    ages = [age for age in (base.max_age_s, since_s) if age is not None]
    return replace(
        base,
        thresholds=Thresholds(
            rates=dict.fromkeys(suite.kinds, Fraction(1)),
            coverage=Fraction(1),
            max_retried=plan.thresholds.max_retried,
        ),
        repeats=1,
        max_age_s=max(ages, default=None),
        options={**base.options, OPTION: Purpose.GOLDEN.value},
    )


def _outcome(replica: str, report: Report) -> _One:
    head = report.head
    run, verdict = str(head["run"]), str(head["verdict"])
    reason = "; ".join(head["reasons"])
    if verdict == "fail":
        cases = tuple(str(case["id"]) for case in report.failing(MAX_NAMED))
        return _One(replica, run, GoldenState.FAILED, cases, "" if cases else reason)
    short = _not_passed(report)
    if verdict == "pass" and not short:
        return _One(replica, run, GoldenState.PASSED, (), "")
    why = f"{verdict}: {reason}" if verdict != "pass" else f"not every case was counted: {short}"
    return _One(replica, run, GoldenState.UNPROVEN, (), why)


def _not_passed(report: Report) -> str:
    """Name cases that did not pass, with their outcome: a whole pass has none."""
    if all(kind["pass"] == kind["planned"] for kind in report.head["kinds"].values()):
        return ""
    others = [f"{c['id']} ({c['outcome']})" for c in report.cases() if c["outcome"] != "pass"]
    return ", ".join(others[:MAX_NAMED])


def _worst(found: Sequence[_One]) -> GoldenOutcome:
    states = {one.state for one in found}
    worst = next(
        state
        for state in (GoldenState.FAILED, GoldenState.UNPROVEN, GoldenState.PASSED)
        if state in states or state is GoldenState.PASSED
    )
    return GoldenOutcome(
        state=worst,
        runs={one.replica: one.run for one in found},
        cases=tuple(f"{one.replica}: {case}" for one in found for case in one.cases),
        note="; ".join(f"{one.replica}: {one.note}" for one in found if one.note),
    )
