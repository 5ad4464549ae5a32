"""A snapshot as metrics: their names, what they mean, and their labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    Metric,
    StateSetMetricFamily,
)

from denv.records import Verdict
from denv.rollout.schedules.looking import AlarmKind as LookKind
from denv.rollout.states.actions import AlarmKind as RolloutKind
from denv.rollout.states.state import Phase
from denv.serve.metering import Snapshot, StageFigures

STAGE = ("stage", "model")
ALARM_KINDS = sorted({kind.value for kinds in (RolloutKind, LookKind) for kind in kinds})
VERDICTS = [verdict.value for verdict in Verdict]


def families(
    snapshot: Snapshot, next_times: Mapping[str, float], *, now: float
) -> Iterator[Metric]:
    """Give all metrics; ``next_times`` are those of schedules, as far as they are known."""
    yield from _verdicts(snapshot, now)
    yield from _kinds(snapshot)
    yield _self_agreement(snapshot)
    yield from _sums(snapshot)
    left_out = "Stages that are left out, since there are too many."
    yield GaugeMetricFamily("denv_parity_stages_left_out", left_out, value=snapshot.left_out)
    yield _alarms(snapshot)
    yield _phases(snapshot)
    yield from _schedules(snapshot, next_times)


# ---------------------------------------------------------------- parity


def _verdicts(snapshot: Snapshot, now: float) -> Iterator[Metric]:
    verdict = StateSetMetricFamily(
        "denv_parity_verdict", "Verdict of a stage's last full parity run.", labels=STAGE
    )
    finished = GaugeMetricFamily(
        "denv_parity_finished_timestamp_seconds", "When that run ended.", labels=STAGE
    )
    age = GaugeMetricFamily("denv_parity_age_seconds", "How long ago that run ended.", labels=STAGE)
    for label, figures in snapshot.stages.items():
        standing, labels = figures.standing, (label.url, label.model)
        if standing is None or standing.finished is None:
            continue
        verdict.add_metric(labels, {each: each == standing.verdict for each in VERDICTS})
        finished.add_metric(labels, standing.finished)
        age.add_metric(labels, max(0.0, now - standing.finished))
    yield from (verdict, finished, age)


def _kinds(snapshot: Snapshot) -> Iterator[Metric]:
    """Give what that run counted of each kind; what was not counted has no figure."""
    yield _by_kind(snapshot, "pass_rate", "Pass rate.", lambda kind: kind["pass_rate"])
    for name, text, end in (
        ("lower", "Lower limit of its 95 % interval.", 0),
        ("upper", "Upper limit of its 95 % interval.", 1),
    ):
        yield _by_kind(snapshot, f"pass_rate_{name}", text, _limit(end))
    yield _by_kind(snapshot, "threshold", "What it is held to.", lambda kind: kind["threshold"])


def _limit(end: int) -> Callable[[Mapping[str, Any]], float | None]:
    return lambda kind: None if kind["interval"] is None else kind["interval"][end]


def _by_kind(
    snapshot: Snapshot, name: str, text: str, figure: Callable[[Mapping[str, Any]], float | None]
) -> Metric:
    family = GaugeMetricFamily(f"denv_parity_{name}", text, labels=(*STAGE, "kind"))
    for label, figures in snapshot.stages.items():
        kinds: Mapping[str, Any] = figures.head.get("kinds") or {}
        for kind, counted in kinds.items():
            value = figure(counted)
            if value is not None:
                family.add_metric((label.url, label.model, kind), value)
    return family


def _self_agreement(snapshot: Snapshot) -> Metric:
    family = GaugeMetricFamily(
        "denv_parity_self_agreement",
        "Noise floor: share of cases in which a side agrees with its own repeats.",
        labels=(*STAGE, "kind", "side"),
    )
    for label, figures in snapshot.stages.items():
        for side, kind, agreement in _agreements(figures):
            family.add_metric((label.url, label.model, kind, side), agreement)
    return family


def _agreements(figures: StageFigures) -> Iterator[tuple[str, str, float]]:
    noise: Mapping[str, Any] = figures.head.get("noise") or {}
    for side in ("stage", "reference"):
        for kind, row in (noise.get(side) or {}).get("kinds", {}).items():
            if row["agreement"] is not None:
                yield side, kind, row["agreement"]


def _sums(snapshot: Snapshot) -> Iterator[Metric]:
    runs = CounterMetricFamily("denv_parity_runs", "Ends of runs.", labels=(*STAGE, "verdict"))
    tokens = CounterMetricFamily(
        "denv_parity_tokens", "Tokens that runs have spent.", labels=(*STAGE, "side", "type")
    )
    for label, figures in snapshot.stages.items():
        stage = (label.url, label.model)
        for verdict in VERDICTS:
            runs.add_metric((*stage, verdict), figures.ends.get(verdict, 0))
        for (side, what), count in sorted(figures.tokens.items()):
            tokens.add_metric((*stage, side, what), count)
    yield from (runs, tokens)


# ---------------------------------------------------------------- alarms, rollouts, schedules


def _alarms(snapshot: Snapshot) -> Metric:
    """Give open alarms, those of no kind that is open as 0, so that an alert on them can end."""
    family = GaugeMetricFamily("denv_alarms_open", "Open alarms.", labels=("stage", "kind"))
    stages = {label.url for label in snapshot.stages} | {stage for stage, _ in snapshot.alarms}
    kinds = sorted({*ALARM_KINDS, *(kind for _, kind in snapshot.alarms)})
    for stage in sorted(stages):
        for kind in kinds:
            family.add_metric((stage, kind), snapshot.alarms.get((stage, kind), 0))
    return family


def _phases(snapshot: Snapshot) -> Metric:
    family = StateSetMetricFamily(
        "denv_rollout_phase", "Phase of a stage's rollout that has not ended.", labels=("stage",)
    )
    for stage, phase in snapshot.phases.items():
        family.add_metric((stage,), {each.value: each == phase for each in Phase})
    return family


def _schedules(snapshot: Snapshot, next_times: Mapping[str, float]) -> Iterator[Metric]:
    labels: Sequence[str] = ("schedule",)
    paused = GaugeMetricFamily("denv_schedule_paused", "1 while it is paused.", labels=labels)
    last = GaugeMetricFamily(
        "denv_schedule_last_firing_timestamp_seconds", "When it last ran.", labels=labels
    )
    following = GaugeMetricFamily(
        "denv_schedule_next_timestamp_seconds", "When it runs next.", labels=labels
    )
    for name, figures in snapshot.schedules.items():
        paused.add_metric((name,), figures.paused)
        if figures.last_firing is not None:
            last.add_metric((name,), figures.last_firing)
        if name in next_times and not figures.paused:
            following.add_metric((name,), next_times[name])
    yield from (paused, last, following)
