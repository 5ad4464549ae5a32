"""How a schedule is shown as lines for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from denv.report.schedule_pictures import Point
from denv.report.text import line
from denv.rollout.schedules.documents import stamp
from denv.rollout.schedules.learned import Learned
from denv.rollout.schedules.timing import Timing, duration
from denv.store import Firing, ScheduleRecord

if TYPE_CHECKING:
    from denv.rollout.engine.schedules import Described

NEXT_SHOWN = 5


def row_of(record: ScheduleRecord, history: Sequence[Firing]) -> str:
    """Show a schedule in one line."""
    said = "no run yet"
    if history:
        last = history[-1]
        said = f"last {stamp(last.slot)} {last.kind} {last.verdict or ''}".rstrip()
    parts = [record.name, record.plan["release"], Timing.from_json(record.spec).said, said]
    if record.paused:
        parts.append(f"paused: {record.paused}")
    return line("  ".join(parts))


def lines_of(
    record: ScheduleRecord,
    history: Sequence[Firing],
    described: Described | None,
    *,
    missing: str | None,
) -> Iterator[str]:
    """Show a schedule at length."""
    timing = Timing.from_json(record.spec)
    yield line(f"{record.name}: {record.plan['release']} on {record.plan['stage']['url']}")
    yield line(f"  {timing.said}, {_patience(timing)}")
    yield line(f"  baseline: {record.baseline or 'the next full run'}")
    if record.paused:
        yield line(f"  paused: {record.paused}")
    yield from _next_lines(described, timing, missing)
    yield from _detector_lines(Learned.of(record), timing)
    yield from _drift_lines(history)
    yield "  history:" if history else "  no run yet"
    for firing in history:
        yield line(f"    {_firing_line(firing)}")


def _patience(timing: Timing) -> str:
    parts = [f"overlap {timing.overlap.value}", f"catch-up {duration(timing.catch_up_s)}"]
    if timing.jitter_s:
        parts.append(f"jitter up to {duration(timing.jitter_s)}")
    if timing.sentinel_every_s:
        parts.append(f"sentinel every {duration(timing.sentinel_every_s)}")
    return ", ".join(parts)


def _next_lines(described: Described | None, timing: Timing, missing: str | None) -> Iterator[str]:
    if described is None:
        yield line(f"  next times are not known: {missing}")
        return
    if not described.paused:
        shown = ", ".join(map(stamp, described.next_times[:NEXT_SHOWN]))
        yield line(f"  next: {shown or 'never'}")
    if described.running:
        yield "  a run is going on"


def _detector_lines(learned: Learned, timing: Timing) -> Iterator[str]:
    detectors = learned.detectors
    if detectors is None:
        return
    yield line(
        f"  detectors: a false alarm every {duration(timing.false_alarm_every_s)} on average, "
        f"{detectors.between:.4g} looks"
    )
    for name, one in detectors.by_name.items():
        yield line(
            f"    {name}: {one.statistic:.3g} of {one.threshold:.4g} after {one.looks} looks; "
            f"up to {one.bound:.1%} is no alarm"
        )


def _drift_lines(history: Sequence[Firing]) -> Iterator[str]:
    found = [f.document["drift"] for f in history if f.document.get("drift")]
    if found:
        yield line(f"  drift in the last run: {found[-1]['verdict']}")
        for sentence in found[-1]["sentences"]:
            yield line(f"    {sentence}")


def _firing_line(firing: Firing) -> str:
    parts = [stamp(firing.slot), firing.kind, firing.verdict or ""]
    document = firing.document
    if firing.kind == "full":
        rate = Point(firing.slot, firing.verdict, document).pass_rate
        parts.append("" if rate is None else f"{rate:.1%} passed")
        drift = document.get("drift")
        parts.append(f"drift {drift['verdict']}" if drift else "")
        parts.append("baseline" if document.get("baseline") else "")
        parts += [f"alarm {kind}" for kind in document.get("alarms") or ()]
    if firing.kind == "missed":
        parts.append(f"{document['count']} slots")
    why = "; ".join(document.get("why") or ())
    if firing.kind == "skipped" and document.get("note"):
        why = f"resumed after: {document['note']}"
    parts += [firing.run or "", f"({why})" if why else ""]
    return "  ".join(part for part in parts if part)
