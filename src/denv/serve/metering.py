"""What is read of the data for metrics: one frozen snapshot, which is written out many times."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from denv.client import mask
from denv.records import Json
from denv.report.text import line
from denv.store import AlarmRecord, RolloutRecord, RunRow, ScheduleRecord, SqlStore
from denv.store.browsing import AHEAD_S, SILENT, StageRow
from denv.store.figures import SPENT, EndedRun

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
    """One stage: the verdict that stands with what it rests on, and sums over its runs."""

    standing: RunRow | None
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
    last end. An end is counted for the label that its stage has when it is read, and stays there
    when the stage leaves or is shown as another: so nothing that was counted is ever taken back.
    """

    _stages: set[str] = field(default_factory=set)
    _last: dict[str, EndedRun] = field(default_factory=dict)
    _ends: defaultdict[StageLabel, Counter[str]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    _tokens: defaultdict[StageLabel, Counter[tuple[str, str]]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    _newest: float = 0.0

    def read(self, store: SqlStore, stages: Mapping[str, StageLabel], *, now: float) -> None:
        """Read the runs that have ended since the last time, and all of stages that are new.

        A clock that ran ahead has noted an end to come, which no later end is measured by.
        """
        wanted = set(stages)
        known = wanted & self._stages
        ended = store.figures.ended(wanted - known)
        ended += store.figures.ended(known, since=min(self._newest, now) - CLOCKS_APART_S)
        self._stages = wanted  # one that was out of sight is read as a new one is
        for each in ended:
            before = self._last.get(each.run)
            if before is None or before.end != each.end:
                self._add(stages[each.stage], each, before)

    def _add(self, label: StageLabel, ended: EndedRun, before: EndedRun | None) -> None:
        """Count a run's new end; what its end ``before`` that has spent is counted already."""
        self._last[ended.run] = ended
        self._newest = max(self._newest, ended.finished)
        self._ends[label][ended.verdict] += 1
        spent_before = [None] * len(SPENT) if before is None else before.spent
        for name, count, counted in zip(SPENT, ended.spent, spent_before, strict=True):
            if count is not None:
                self._tokens[label][name] += max(0, count - (counted or 0))

    def sums(self, label: StageLabel) -> tuple[Mapping[str, int], Tokens]:
        """Give copies of what a label adds up to: the ends by verdict, and the tokens."""
        return Counter(self._ends[label]), Counter(self._tokens[label])


def _stands_over(run: RunRow, now: float) -> tuple[bool, bool, float]:
    """Order runs by whose verdict is the one to show, as the store does within one stage."""
    finished = run.finished or 0.0
    return run.verdict not in SILENT, finished <= now + AHEAD_S, finished


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
    labels = {row.stage: label for label, rows in kept.items() for row in rows}
    ledger.read(store, labels, now=now)
    return Snapshot(
        stages=_stages(store, ledger, kept, now),
        left_out=len(shown) - len(kept),
        alarms=_alarms(store.alarms.list_alarms(only_open=True, most=MOST_ALARMS)),
        phases=_phases(store.rollouts.list_rollouts(active=True, most=MOST_ROLLOUTS)),
        schedules={
            label_of(record.name): _schedule(store, record)
            for record in store.schedules.list_schedules()[:MOST_SCHEDULES]
        },
    )


def _stages(
    store: SqlStore,
    ledger: Ledger,
    kept: Mapping[StageLabel, Sequence[StageRow]],
    now: float,
) -> dict[StageLabel, StageFigures]:
    standing = {
        label: max(
            (row.standing for row in rows if row.standing),
            key=lambda run: _stands_over(run, now),
            default=None,
        )
        for label, rows in kept.items()
    }
    heads = store.figures.heads({run.run for run in standing.values() if run})
    found = {}
    for label, run in standing.items():
        head = {} if run is None else heads.get(run.run, {})
        ends, tokens = ledger.sums(label)
        found[label] = StageFigures(run, head, ends, tokens)
    return found


def _grouped(rows: Iterable[StageRow]) -> dict[StageLabel, list[StageRow]]:
    """Put stages together that are shown alike: one that was named without its model, say."""
    grouped: dict[StageLabel, list[StageRow]] = {}
    for row in rows:
        grouped.setdefault(StageLabel.of(row.url, row.model), []).append(row)
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
