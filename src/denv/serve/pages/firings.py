"""What a schedule's pages show: when it fires, what became of its slots, what it has learned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from denv.records import Json
from denv.report.schedule_pictures import Point
from denv.rollout.schedules.learned import Learned
from denv.rollout.schedules.timing import Timing, duration
from denv.store import Firing, ScheduleRecord

if TYPE_CHECKING:
    from denv.rollout.engine.schedules import Described

KINDS: Mapping[str, str] = {
    "full": "full run",
    "sentinel": "sentinel's look",
    "missed": "missed",
    "skipped": "pause ended",
}
TONES = {"calm": "pass", "escalate": "inconclusive"}
NEXT_SHOWN = 5
MEASURED_BY = "sentinel"
"""The kind of firing whose run is a measurement."""


@dataclass(frozen=True, slots=True)
class Fired:
    """One slot: ``rate`` is the share of counted cases that passed, ``notes`` what else is said."""

    slot: float
    kind: str
    verdict: str | None
    rate: float | None
    run: str | None
    is_measure: bool
    notes: Sequence[str] = ()

    @property
    def tone(self) -> str:
        """The colour of its verdict, by the verdicts of runs; a sentinel has words of its own."""
        return TONES.get(self.verdict or "", self.verdict or "ungated")


@dataclass(frozen=True, slots=True)
class Detector:
    """How near a detector is to an alarm: at ``statistic`` of ``threshold`` it raises one."""

    name: str
    looks: int
    statistic: float
    threshold: float
    bound: float


@dataclass(frozen=True, slots=True)
class Rhythm:
    """When a schedule fires, and what the engine says of it; ``missing`` is why it says nothing."""

    said: str
    patience: Sequence[str]
    next_times: Sequence[float] = ()
    running: int = 0
    missing: str | None = None


@dataclass(frozen=True, slots=True)
class Learning:
    """What the detectors know, and the last drift in sentences."""

    detectors: Sequence[Detector] = ()
    between: str = ""
    drift: str | None = None
    sentences: Sequence[str] = field(default=())


def rhythm_of(
    record: ScheduleRecord, described: Described | None, missing: str | None = None
) -> Rhythm:
    """Say when a schedule fires."""
    timing = Timing.from_json(record.spec)
    known = described is not None and not described.paused
    return Rhythm(
        said=timing.said,
        patience=list(_patience(timing)),
        next_times=described.next_times[:NEXT_SHOWN] if described and known else (),
        running=described.running if described else 0,
        missing=missing,
    )


def _patience(timing: Timing) -> Iterator[str]:
    yield f"while a run goes on, a slot will {OVERLAPS[timing.overlap.value]}"
    yield f"a slot may begin up to {duration(timing.catch_up_s)} late"
    if timing.jitter_s:
        yield f"it begins up to {duration(timing.jitter_s)} later at random"
    if timing.sentinel_every_s:
        yield f"a sentinel looks every {duration(timing.sentinel_every_s)}"


OVERLAPS: Mapping[str, str] = {
    "skip": "be skipped",
    "buffer-one": "wait, one of them",
    "buffer-all": "wait",
    "cancel-other": "end that run",
}


def learning_of(record: ScheduleRecord, history: Sequence[Firing]) -> Learning:
    """Say what a schedule has learned.

    Raises
    ------
    StoreError
        What is kept is of another form.
    """
    found = Learned.of(record).detectors
    drift = next((d for f in reversed(history) if (d := f.document.get("drift"))), None)
    shown = () if found is None else found.by_name.items()
    between_s = Timing.from_json(record.spec).false_alarm_every_s
    return Learning(
        detectors=[
            Detector(_watched(name), one.looks, one.statistic, one.threshold, one.bound)
            for name, one in shown
        ],
        between="" if found is None else duration(between_s),
        drift=None if drift is None else drift["verdict"],
        sentences=() if drift is None else drift["sentences"],
    )


def _watched(name: str) -> str:
    """Name what a detector watches: ``threshold:exact``, ``drift:stage``."""
    what, _, of = name.partition(":")
    return f"{of} against its threshold" if what == "threshold" else f"drift of the {of}"


def fired_of(firing: Firing) -> Fired:
    """Show what became of a slot."""
    full = firing.kind == "full"
    return Fired(
        slot=firing.slot,
        kind=KINDS.get(firing.kind, firing.kind),
        verdict=firing.verdict,
        rate=Point(firing.slot, firing.verdict, firing.document).pass_rate if full else None,
        run=firing.run,
        is_measure=firing.kind == MEASURED_BY,
        notes=list(_notes(firing, firing.document)),
    )


def _notes(firing: Firing, document: Mapping[str, Json]) -> Iterator[str]:
    if document.get("baseline"):
        yield "the baseline from now on"
    if drift := document.get("drift"):
        yield f"drift: {drift['verdict']}"
    yield from (f"alarm {kind}" for kind in document.get("alarms") or ())
    if firing.kind == "missed":
        yield f"{document['count']} slots, made up for by one run"
    if firing.kind == "skipped" and document.get("note"):
        yield f"resumed after: {document['note']}"
    yield from document.get("why") or ()


def points_of(history: Sequence[Firing]) -> list[Point]:
    """Give the full runs of a history, to be drawn."""
    return [Point(f.slot, f.verdict, f.document) for f in history if f.kind == "full"]


def chart_says(points: Sequence[Point]) -> str:
    """Say what the picture of a history shows, for those who cannot see it."""
    rates = [rate for point in points if (rate := point.pass_rate) is not None]
    alarms = sum(point.alarmed for point in points)
    if not rates:
        return f"History of {len(points)} full runs, of which none counted a case."
    return (
        f"History of {len(points)} full runs: the pass rate is {rates[-1]:.1%} at the last, "
        f"{min(rates):.1%} at the lowest and {max(rates):.1%} at the highest; "
        f"{alarms} raised an alarm. The table below has each run."
    )
