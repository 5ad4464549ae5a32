"""What a full run says, with all before it: what is written of it, and which alarms follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

from denv.gaming import FOUND, NOT_FOUND
from denv.records import Json, Kind, Side, Verdict
from denv.rollout.schedules.detecting import Counted, Detectors
from denv.rollout.schedules.drift import Change, Drift, changed_sides, floor_of, judge_drift
from denv.rollout.schedules.rerun import Beside
from denv.rollout.schedules.timing import FailAlarm

UNPROVEN = frozenset({Verdict.ERROR.value, Verdict.INCONCLUSIVE.value})
CHANGED = frozenset({Change.WORSE, Change.BETTER, Change.CHANGED})


class AlarmKind(StrEnum):
    """The alarms that schedules raise."""

    FAIL = "parity-fail"
    DRIFT = "parity-drift"
    UNPROVEN = "parity-unproven"
    MISSED = "parity-missed"
    GAMING = "parity-gaming"


@dataclass(frozen=True, slots=True)
class Looked:
    """One full run's part: the detectors after it, its alarms with their summaries, its figures.

    ``over`` are the alarms that it shows to be over.
    """

    verdict: str
    detectors: Detectors | None
    alarms: Mapping[AlarmKind, str]
    over: frozenset[AlarmKind]
    document: Mapping[str, Json] = field(default_factory=dict)


def bounds_of(beside: Beside, thresholds: Mapping[Kind, Fraction]) -> dict[str, float]:
    """Give what each detector holds to: the share of a kind that may fail, a side's noise floor."""
    bounds = {f"threshold:{kind}": float(1 - rate) for kind, rate in thresholds.items()}
    for side in Side:
        floor = floor_of([one for one in beside.sides[side] if one is not None and one.measured])
        if floor is not None:
            bounds[f"drift:{side}"] = floor.upper
    return bounds


def has_floor(bounds: Mapping[str, float]) -> bool:
    """Whether a run may be a baseline: both sides have answered, and repeated their answers."""
    return all(f"drift:{side}" in bounds for side in Side)


def look(
    head: Mapping[str, Any],
    *,
    beside: Beside,
    drift: Drift | None,
    detectors: Detectors | None,
    fail_alarm: FailAlarm,
) -> Looked:
    """Draw the consequences of a full run.

    ``head`` is its report's; ``drift`` is None for a baseline, which nothing is held against.
    """
    verdict = str(head["verdict"])
    counted = _counted(head, drift)
    crossed: tuple[str, ...] = ()
    weighed = detectors
    if detectors is not None:
        weighed, crossed = detectors.look(counted)
    alarms = {
        **_fail(head, crossed, counted, fail_alarm=fail_alarm if detectors else FailAlarm.EACH),
        **_drifted(drift, crossed),
        **_unproven(head),
        **_gamed(head),
    }
    over = {AlarmKind.FAIL, AlarmKind.UNPROVEN} if verdict == Verdict.PASS.value else set()
    if verdict == Verdict.FAIL.value:
        over.add(AlarmKind.UNPROVEN)
    if _gaming(head) == NOT_FOUND:
        over.add(AlarmKind.GAMING)
    return Looked(
        verdict=verdict,
        detectors=weighed,
        alarms=alarms,
        over=frozenset(over - set(alarms)),
        document={
            "reasons": list(head["reasons"]),
            "kinds": _rates(head),
            "drift": None if drift is None else drift.document(),
            "detectors": _evidence(detectors, weighed, counted, crossed),
            "kl": beside.kl,
            "kl_tokens": beside.kl_tokens,
            "floor": _floors(beside),
        },
    )


def drift_of(beside: Beside) -> Drift:
    """Say which side has changed."""
    return judge_drift(beside.sides)


# ---------------------------------------------------------------- what is counted


def _counted(head: Mapping[str, Any], drift: Drift | None) -> dict[str, Counted]:
    found: dict[str, Counted] = {}
    for kind, estimate in head["kinds"].items():
        counted = estimate["pass"] + estimate["fail"]
        if counted:
            found[f"threshold:{kind}"] = Counted(estimate["fail"], counted)
    for side, one in {} if drift is None else drift.sides.items():
        if one.cases:
            found[f"drift:{side}"] = Counted(one.flips, one.cases)
    return found


def _rates(head: Mapping[str, Any]) -> dict[str, Json]:
    return {
        kind: {
            "pass": estimate["pass"],
            "fail": estimate["fail"],
            "threshold": estimate["threshold"],
            "verdict": estimate["verdict"],
        }
        for kind, estimate in head["kinds"].items()
    }


def _floors(beside: Beside) -> dict[str, Json]:
    floors = {
        side: floor_of([one for one in beside.sides[side] if one is not None and one.measured])
        for side in Side
    }
    return {
        side.value: None
        if floor is None
        else {"differing": floor.differing, "repeats": floor.repeats, "upper": floor.upper}
        for side, floor in floors.items()
    }


def _evidence(
    before: Detectors | None,
    after: Detectors | None,
    counted: Mapping[str, Counted],
    crossed: Sequence[str],
) -> dict[str, Json]:
    """Show each detector; one that alarmed has begun anew, and shows what it alarmed at."""
    shown: dict[str, Json] = {}
    if before is None or after is None:
        return shown
    for name, detector in after.by_name.items():
        now = detector
        if name in crossed:
            found = counted[name]
            now = before.by_name[name].look(found.failed, counted=found.counted)
        shown[name] = {
            "bound": now.bound,
            "statistic": now.statistic,
            "alarms_at": now.threshold,
            "looks": now.looks,
            "alarm": name in crossed,
        }
    return shown


# ---------------------------------------------------------------- alarms


def _fail(
    head: Mapping[str, Any],
    crossed: Sequence[str],
    counted: Mapping[str, Counted],
    *,
    fail_alarm: FailAlarm,
) -> dict[AlarmKind, str]:
    """Alarm at once for what is no matter of rates, and for a rate when all looks decide it."""
    rates = [name for name in crossed if name.startswith("threshold:")]
    failed = head["verdict"] == Verdict.FAIL.value
    of_rates = any(one["verdict"] == Verdict.FAIL.value for one in head["kinds"].values())
    at_once = fail_alarm is FailAlarm.EACH if of_rates else _gaming(head) != FOUND
    if not rates and not (failed and at_once):
        return {}
    pooled = [
        f"{name.removeprefix('threshold:')}: more fail over all runs than the threshold allows, "
        f"{counted[name].failed} of {counted[name].counted} in the last"
        for name in rates
    ]
    return {AlarmKind.FAIL: "; ".join([*pooled, *(head["reasons"] if failed else [])])}


def _drifted(drift: Drift | None, crossed: Sequence[str]) -> dict[AlarmKind, str]:
    """Name the sides whose detectors alarm, and the other where this look shows it changed too."""
    sides = {side for side in Side if f"drift:{side}" in crossed}
    if drift is None or not sides:
        return {}
    sides |= {side for side, one in drift.sides.items() if one.change in CHANGED}
    said = "; ".join(drift.sides[side].sentence for side in Side if side in sides)
    return {AlarmKind.DRIFT: f"drift of {_WORDS[changed_sides(sides).value]}: {said}"}


_WORDS = {
    "stage": "the stage",
    "reference": "the reference",
    "both": "the stage and the reference",
}


def _gaming(head: Mapping[str, Any]) -> str | None:
    """Give what the private part shows in a word, None where the run has none."""
    found = head.get("gaming")
    return None if found is None else str(found["verdict"])


def _gamed(head: Mapping[str, Any]) -> dict[AlarmKind, str]:
    return {AlarmKind.GAMING: "; ".join(head["reasons"])} if _gaming(head) == FOUND else {}


def _unproven(head: Mapping[str, Any]) -> dict[AlarmKind, str]:
    if head["verdict"] not in UNPROVEN:
        return {}
    return {AlarmKind.UNPROVEN: f"{head['verdict']}: {'; '.join(head['reasons'])}"}
