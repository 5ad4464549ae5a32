"""Parity runs of a rollout: what a batch or a look asks, and the event that its report makes."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from denv.gaming import FOUND
from denv.records import Endpoint, Kind, Side, Verdict
from denv.report import Report
from denv.rollout import states
from denv.rollout.plan import Plan
from denv.runner import Settings
from denv.runner.ledger import Ledger
from denv.store import Store

MOST_NAMED = 20

Asks = states.RunParity | states.Look


def stage_of(plan: Plan, action: Asks, *, batch: int) -> Endpoint:
    """Give the replicas that are asked: a batch's own, or for a look all that serve by now."""
    if isinstance(action, states.RunParity):
        return plan.stage_at(action.batch)
    return plan.stage_over(plan.replicas_at(batch))


def settings_of(plan: Plan, action: Asks, *, rollout: str) -> Settings:
    """Give the settings of a run; a look asks cases that are drawn afresh, none of them twice."""
    if isinstance(action, states.RunParity):
        return plan.proof_settings()
    settings = plan.settings()
    count = min(plan.rollout.look_cases or plan.suite.cases, plan.suite.cases)
    # The same look draws the same cases again wherever it is carried out.
    draw = random.Random(f"{rollout}/{action.look}")  # noqa: S311 - a draw, not a secret
    return replace(settings, only=tuple(sorted(draw.sample(range(plan.suite.cases), count))))


def run_id(rollout: str, action: Asks) -> str:
    """Give the id of a run, the same however often it is begun."""
    if isinstance(action, states.RunParity) and action.again:
        return action.again
    return f"{rollout}-{action.number}"


def event_of(
    plan: Plan, action: Asks, report: Report, *, store: Store, down: Mapping[str, str]
) -> states.Event:
    """Give the event that a run's report makes."""
    head = report.head
    run, missing = str(head["run"]), "; ".join(head["reasons"])
    tallies = tuple(_tallies(head["kinds"]))
    cases = tuple(str(case["id"]) for case in report.failing(MOST_NAMED))
    if isinstance(action, states.Look):
        return _look_event(action, head, tallies=tallies, cases=cases, down=down)
    return states.ParityEnded(
        answers=action.number,
        run=run,
        verdict=Verdict(head["verdict"]),
        proof_digest=plan.proof_digest,
        tallies=tallies,
        unanswered=_unanswered(store, run, head),
        missing="" if head["verdict"] == Verdict.PASS else missing,
        cases=cases,
        gaming=_gaming(head),
    )


def _gaming(head: Mapping[str, Any]) -> str:
    found = head.get("gaming")
    return str(found["reason"]) if found is not None and found["verdict"] == FOUND else ""


def _look_event(
    action: states.Look,
    head: Mapping[str, Any],
    *,
    tallies: tuple[states.Tally, ...],
    cases: tuple[str, ...],
    down: Mapping[str, str],
) -> states.Event:
    missing = "; ".join(head["reasons"])
    stage_down = Side.STAGE.value in down and Side.REFERENCE.value not in down
    counted = () if down or head["verdict"] == Verdict.CANCELLED else tallies
    return states.LookEnded(
        answers=action.number,
        run=str(head["run"]),
        tallies=counted,
        down=stage_down and head["verdict"] == Verdict.FAIL,
        missing="" if any(tally.counted for tally in counted) else missing,
        cases=cases,
    )


def _tallies(kinds: Mapping[str, Mapping[str, Any]]) -> Iterable[states.Tally]:
    for name, counts in kinds.items():
        passed, failed = int(counts["pass"]), int(counts["fail"])
        yield states.Tally(
            kind=Kind(name),
            passed=passed,
            failed=failed,
            uncounted=max(0, int(counts["planned"]) - passed - failed),
        )


_OUTCOMES = ("pass", "fail", "reference-fail", "unmeasured", "reference-error")


def _unanswered(store: Store, run: str, head: Mapping[str, Any]) -> int:
    """Count the cases that asking again would ask: those without a result or an answer."""
    kinds = head["kinds"].values()
    planned = sum(int(counts["planned"]) for counts in kinds)
    done = sum(int(counts[outcome]) for counts in kinds for outcome in _OUTCOMES)
    record = store.get_run(run)
    if record is None:
        return planned - done
    ledger = Ledger(store, identity=record.settings["identity"], resume=run)
    ledger.find_given_up()
    return planned - done + len({key.case for key in ledger.given_up})
