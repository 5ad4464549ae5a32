"""What is read of the data for metrics: one frozen snapshot, which is written out many times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from denv.client import mask
from denv.records import Json
from denv.report.text import line
from denv.store import AlarmRecord, RolloutRecord, ScheduleRecord, SqlStore
from denv.store.browsing import StageRow
from denv.store.figures import EndedRun

SEEN_WITHIN_S = 30 * 86_400.0
"""A stage that no run has asked for so long leaves, so that series do not pile up."""

MOST_STAGES = 200
MOST_SCHEDULES = 200
MOST_ALARMS = 1000
MOST_ROLLOUTS = 200
LONGEST_LABEL = 200

CLOCKS_APART_S = 86_400.0
"""Runs of several machines end by several clocks: one may be noted with an earlier end."""

FIRED = frozenset({"full", "sentinel"})
"""What became of a slot that was carried out; others were missed or skipped."""

Tokens = Mapping[tuple[str, str], int]
"""By side and by ``prompt`` or ``completion``."""


@dataclass(frozen=True, slots=True, order=True)
class StageLabel:
    """A stage as it is shown: its URL without anything secret, and its model."""

    url: str
    model: str

    @classmethod
    def of(cls, url: str, model: str | None) -> StageLabel:
        """Clean what servers and people wrote."""
        return cls(label_of(url), label_of(model or ""))


def label_of(text: str) -> str:
    """Give a bounded label without secrets, line breaks or what a terminal obeys."""
    return line(mask(text), LONGEST_LABEL)


@dataclass(frozen=True, slots=True)
class StageFigures:
    """One stage: its newest verdict with what it rests on, and sums over its runs."""

    latest: EndedRun | None
    head: Mapping[str, Json]
    ends: Mapping[str, int]
    tokens: Tokens


@dataclass(frozen=True, slots=True)
class ScheduleFigures:
    """One schedule; times are Unix seconds, None where there is none."""

    paused: bool
    last_firing: float | None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that metrics tell, as of one moment."""

    stages: Mapping[StageLabel, StageFigures]
    left_out: int
    alarms: Mapping[tuple[str, str], int]
    phases: Mapping[str, str]
    schedules: Mapping[str, ScheduleFigures]


@dataclass
class Ledger:
    """What ended runs add up to; each is read once, and stays counted when it is pruned.

    A run that was cancelled and gone on with has ended twice, and its tokens are those of its
    last end: so nothing that was counted is ever taken back.
    """

    _ends: dict[str, dict[tuple[str, str, float], None]] = field(default_factory=dict)
    _tokens: dict[str, dict[str, Tokens]] = field(default_factory=dict)
    _heads: dict[str, tuple[EndedRun, Mapping[str, Json]]] = field(default_factory=dict)
    _newest: float = 0.0

    def read(self, store: SqlStore, stages: Iterable[str]) -> None:
        """Read the runs that have ended since the last time, and all of stages that are new."""
        wanted = set(stages)
        known = wanted & self._ends.keys()
        ended = store.figures.ended(wanted - known)
        ended += store.figures.ended(known, since=self._newest - CLOCKS_APART_S)
        fresh = [each for each in ended if _end(each) not in self._ends.get(each.stage, {})]
        for first in range(0, len(fresh), _PAGE):
            page = fresh[first : first + _PAGE]
            heads = store.figures.heads([each.run for each in page])
            for each in page:
                self._add(each, heads.get(each.run, {}))

    def _add(self, ended: EndedRun, head: Mapping[str, Json]) -> None:
        self._newest = max(self._newest, ended.finished)
        self._ends.setdefault(ended.stage, {})[_end(ended)] = None
        self._tokens.setdefault(ended.stage, {})[ended.run] = _tokens_of(head)
        standing = self._heads.get(ended.stage)
        if standing is None or _stands_over(ended, standing[0]):
            self._heads[ended.stage] = (ended, _figures_of(head))

    def figures(self, stages: Sequence[str]) -> StageFigures:
        """Sum up stages that are shown as one."""
        standing: tuple[EndedRun, Mapping[str, Json]] | None = None
        ends: Counter[str] = Counter()
        tokens: Counter[tuple[str, str]] = Counter()
        for stage in stages:
            ends.update(verdict for _, verdict, _ in self._ends.get(stage, {}))
            for spent in self._tokens.get(stage, {}).values():
                tokens.update(spent)
            found = self._heads.get(stage)
            if found and (standing is None or _stands_over(found[0], standing[0])):
                standing = found
        latest, head = standing or (None, {})
        return StageFigures(latest, head, ends, tokens)


_PAGE = 100


def _end(ended: EndedRun) -> tuple[str, str, float]:
    return ended.run, ended.verdict, ended.finished


def _stands_over(one: EndedRun, other: EndedRun) -> bool:
    """Whether a run's verdict is the one to show: a cancelled run says nothing of its stage."""
    return (one.verdict != "cancelled", one.finished) >= (
        other.verdict != "cancelled",
        other.finished,
    )


def _figures_of(head: Mapping[str, Json]) -> dict[str, Json]:
    return {name: head.get(name) for name in ("kinds", "noise")}


def _tokens_of(head: Mapping[str, Any]) -> Tokens:
    spent = {}
    for side in ("stage", "reference"):
        usage = (head.get(side) or {}).get("usage") or {}
        for what in ("prompt", "completion"):
            count = usage.get(f"{what}_tokens")
            if isinstance(count, int):
                spent[side, what] = count
    return spent


def read_snapshot(store: SqlStore, ledger: Ledger, *, now: float) -> Snapshot:
    """Read all that metrics tell.

    Raises
    ------
    StoreError
        The data cannot be read.
    """
    seen = [row for row in store.browsing.stages() if row.latest.started >= now - SEEN_WITHIN_S]
    shown = _grouped(seen)
    kept = dict(list(shown.items())[:MOST_STAGES])
    ledger.read(store, (stage for stages in kept.values() for stage in stages))
    return Snapshot(
        stages={label: ledger.figures(stages) for label, stages in kept.items()},
        left_out=len(shown) - len(kept),
        alarms=_alarms(store.alarms.list_alarms(only_open=True, most=MOST_ALARMS)),
        phases=_phases(store.rollouts.list_rollouts(active=True, most=MOST_ROLLOUTS)),
        schedules={
            label_of(record.name): _schedule(store, record)
            for record in store.schedules.list_schedules()[:MOST_SCHEDULES]
        },
    )


def _grouped(rows: Iterable[StageRow]) -> dict[StageLabel, list[str]]:
    """Put stages together that are shown alike: one that was named without its model, say."""
    grouped: dict[StageLabel, list[str]] = {}
    for row in rows:
        grouped.setdefault(StageLabel.of(row.url, row.model), []).append(row.stage)
    return grouped


def _alarms(alarms: Iterable[AlarmRecord]) -> dict[tuple[str, str], int]:
    return dict(Counter((label_of(alarm.stage), label_of(alarm.kind)) for alarm in alarms))


def _phases(rollouts: Iterable[RolloutRecord]) -> dict[str, str]:
    return {label_of(rollout.stage): rollout.phase for rollout in rollouts}


def _schedule(store: SqlStore, record: ScheduleRecord) -> ScheduleFigures:
    fired = [
        each.at for each in store.schedules.history(record.name, most=20) if each.kind in FIRED
    ]
    return ScheduleFigures(record.paused is not None, max(fired, default=None))
