"""What is read of the data for metrics: one frozen snapshot, which is written out many times."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from denv.client import mask
from denv.records import Json, Verdict
from denv.report.text import line
from denv.store import AlarmRecord, RolloutRecord, RunRow, ScheduleRecord, SqlStore
from denv.store.browsing import StageRow
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
    last end: so nothing that was counted is ever taken back.
    """

    _stages: set[str] = field(default_factory=set)
    _last: dict[str, EndedRun] = field(default_factory=dict)
    _ends: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    _tokens: defaultdict[str, Counter[tuple[str, str]]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    _newest: float = 0.0

    def read(self, store: SqlStore, stages: Iterable[str]) -> None:
        """Read the runs that have ended since the last time, and all of stages that are new."""
        wanted = set(stages)
        known = wanted & self._stages
        ended = store.figures.ended(wanted - known)
        ended += store.figures.ended(known, since=self._newest - CLOCKS_APART_S)
        self._stages |= wanted
        for each in ended:
            before = self._last.get(each.run)
            if before is None or before.end != each.end:
                self._add(each, before)

    def _add(self, ended: EndedRun, before: EndedRun | None) -> None:
        """Count a run's new end; what its end ``before`` that has spent is counted already."""
        self._last[ended.run] = ended
        self._newest = max(self._newest, ended.finished)
        self._ends[ended.stage][ended.verdict] += 1
        tokens = self._tokens[ended.stage]
        for name, count in zip(SPENT, ended.spent, strict=True):
            if count is not None:
                tokens[name] += count
        if before is not None:
            tokens.subtract({n: c for n, c in zip(SPENT, before.spent, strict=True) if c})

    def sums(self, stages: Sequence[str]) -> tuple[Mapping[str, int], Tokens]:
        """Add up stages that are shown as one: the ends by verdict, and the tokens."""
        ends: Counter[str] = Counter()
        tokens: Counter[tuple[str, str]] = Counter()
        for stage in stages:
            ends.update(self._ends[stage])
            tokens.update(self._tokens[stage])
        return ends, tokens


def _stands_over(run: RunRow) -> tuple[bool, float]:
    """Order runs by whose verdict is the one to show: a cancelled run says nothing of its stage."""
    return run.verdict != Verdict.CANCELLED, run.finished or 0.0


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
    ledger.read(store, (row.stage for rows in kept.values() for row in rows))
    return Snapshot(
        stages=_stages(store, ledger, kept),
        left_out=len(shown) - len(kept),
        alarms=_alarms(store.alarms.list_alarms(only_open=True, most=MOST_ALARMS)),
        phases=_phases(store.rollouts.list_rollouts(active=True, most=MOST_ROLLOUTS)),
        schedules={
            label_of(record.name): _schedule(store, record)
            for record in store.schedules.list_schedules()[:MOST_SCHEDULES]
        },
    )


def _stages(
    store: SqlStore, ledger: Ledger, kept: Mapping[StageLabel, Sequence[StageRow]]
) -> dict[StageLabel, StageFigures]:
    standing = {
        label: max((row.standing for row in rows if row.standing), key=_stands_over, default=None)
        for label, rows in kept.items()
    }
    heads = store.figures.heads({run.run for run in standing.values() if run})
    found = {}
    for label, rows in kept.items():
        run = standing[label]
        head = {} if run is None else heads.get(run.run, {})
        ends, tokens = ledger.sums([row.stage for row in rows])
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
