"""Schedules as Temporal keeps them: made, shown, paused, fired by hand, removed.

A schedule of ours is one of Temporal's for its full runs, and another for its sentinel.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from google.protobuf.timestamp_pb2 import Timestamp
from temporalio.api.workflowservice.v1 import ListScheduleMatchingTimesRequest
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleCalendarSpec,
    ScheduleHandle,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleRange,
    ScheduleSpec,
    ScheduleState,
)
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from denv.errors import HarnessError, UsageError
from denv.rollout.engine.schedule_messages import ScheduleOrder
from denv.rollout.engine.schedule_workflow import ScheduleWorkflow
from denv.rollout.schedules.gaps import slots_in_gaps
from denv.rollout.schedules.timing import Overlap, Timing

WORKFLOWS: tuple[type, ...] = (ScheduleWorkflow,)

POLICIES = {
    Overlap.SKIP: ScheduleOverlapPolicy.SKIP,
    Overlap.BUFFER_ONE: ScheduleOverlapPolicy.BUFFER_ONE,
    Overlap.BUFFER_ALL: ScheduleOverlapPolicy.BUFFER_ALL,
    Overlap.CANCEL_OTHER: ScheduleOverlapPolicy.CANCEL_OTHER,
}
MOST_PAGES = 50
YEAR = timedelta(days=365)
SHORT_CATCH_UP = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Described:
    """A schedule as the server has it; times are Unix seconds.

    ``lost`` counts slots that came too late to be caught up with, ``overlapped`` those that fell
    into the run before.
    """

    next_times: tuple[float, ...]
    paused: bool
    note: str | None
    running: int
    lost: int
    overlapped: int


def full_id(name: str) -> str:
    """Give the id of a schedule's full runs."""
    return f"denv-schedule-{name}"


def sentinel_id(name: str) -> str:
    """Give the id of its sentinel."""
    return f"denv-sentinel-{name}"


async def create(client: Client, name: str, timing: Timing, *, queue: str, now: datetime) -> None:
    """Make a schedule, paused until :func:`resume` begins it.

    Raises
    ------
    UsageError
        The server does not take it, or has one of this name.
    HarnessError
        The server does not answer.
    """
    spec = spec_of(timing, now)
    await _make(client, full_id(name), ScheduleOrder(name), timing=timing, spec=spec, queue=queue)
    if timing.sentinel_every_s is None:
        return
    every = timedelta(seconds=timing.sentinel_every_s)
    spec = ScheduleSpec(intervals=[ScheduleIntervalSpec(every=every)])
    order = ScheduleOrder(name, kind="sentinel")
    try:
        await _make(client, sentinel_id(name), order, timing=timing, spec=spec, queue=queue)
    except Exception:  # whatever it was: half of a schedule must not go on firing
        await _delete_one(client, full_id(name))
        raise


async def _make(
    client: Client,
    id_: str,
    order: ScheduleOrder,
    *,
    timing: Timing,
    spec: ScheduleSpec,
    queue: str,
) -> None:
    sentinel = order.kind == "sentinel"
    schedule = Schedule(
        action=ScheduleActionStartWorkflow("schedule", order, id=id_, task_queue=queue),
        spec=spec,
        policy=SchedulePolicy(
            overlap=ScheduleOverlapPolicy.SKIP if sentinel else POLICIES[timing.overlap],
            catchup_window=SHORT_CATCH_UP if sentinel else timedelta(seconds=timing.catch_up_s),
        ),
        state=ScheduleState(paused=True, note="not begun yet"),
    )
    with _said(order.schedule):
        try:
            await client.create_schedule(id_, schedule)
        except ScheduleAlreadyRunningError:
            raise UsageError(f"the server has a schedule {order.schedule!r} already") from None


def spec_of(timing: Timing, now: datetime) -> ScheduleSpec:
    """Write when a schedule fires, as the server takes it.

    Raises
    ------
    UsageError
        The time zone or the cron cannot be read.
    """
    jitter = timedelta(seconds=timing.jitter_s) if timing.jitter_s else None
    if timing.every_s is not None:
        every = timedelta(seconds=timing.every_s)
        return ScheduleSpec(intervals=[ScheduleIntervalSpec(every=every)], jitter=jitter)
    cron = str(timing.cron)
    try:
        zone = ZoneInfo(timing.timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise UsageError(f"--timezone {timing.timezone!r}: there is no such time zone") from None
    try:
        made_up = slots_in_gaps(cron, zone, start=now)
    except ValueError as error:
        raise UsageError(f"--cron {cron!r}: {error}") from None
    return ScheduleSpec(
        cron_expressions=[cron],
        calendars=[_at(moment) for moment in made_up],
        time_zone_name=timing.timezone,
        jitter=jitter,
    )


def _at(moment: datetime) -> ScheduleCalendarSpec:
    """Name one minute of one day."""
    return ScheduleCalendarSpec(
        year=[ScheduleRange(moment.year)],
        month=[ScheduleRange(moment.month)],
        day_of_month=[ScheduleRange(moment.day)],
        hour=[ScheduleRange(moment.hour)],
        minute=[ScheduleRange(moment.minute)],
    )


async def matching_times(client: Client, id_: str, *, after: float, to: float) -> list[float]:
    """Give a schedule's slots after one moment and up to another, by the server's calculation.

    Raises
    ------
    UsageError
        There is no such schedule.
    HarnessError
        The server does not answer.
    """
    found: list[float] = []
    for _ in range(MOST_PAGES):
        since = found[-1] if found else after
        with _said(id_):
            page = await client.workflow_service.list_schedule_matching_times(
                ListScheduleMatchingTimesRequest(
                    namespace=client.namespace,
                    schedule_id=id_,
                    start_time=_stamp(since),
                    end_time=_stamp(to),
                )
            )
        times = [each.ToNanoseconds() / 1e9 for each in page.start_time]
        fresh = [each for each in times if since < each <= to]
        found += fresh
        if not fresh:
            break
    return found


def _stamp(seconds: float) -> Timestamp:
    stamp = Timestamp()
    stamp.FromNanoseconds(round(seconds * 1e9))
    return stamp


async def mean_cadence_s(client: Client, name: str, *, now: datetime) -> float:
    """Give the mean time between two slots of the year to come, in seconds.

    Raises
    ------
    UsageError
        It does not fire twice in a year.
    """
    slots = await matching_times(
        client, full_id(name), after=now.timestamp(), to=(now + YEAR).timestamp()
    )
    if len(slots) < 2:
        raise UsageError(f"schedule {name} fires less than twice in the year to come")
    return (slots[-1] - slots[0]) / (len(slots) - 1)


async def describe(client: Client, name: str) -> Described:
    """Show a schedule.

    Raises
    ------
    UsageError
        The server has none of this name.
    HarnessError
        The server does not answer.
    """
    with _said(name):
        found = await client.get_schedule_handle(full_id(name)).describe()
    info = found.info
    return Described(
        next_times=tuple(each.timestamp() for each in info.next_action_times),
        paused=found.schedule.state.paused,
        note=found.schedule.state.note,
        running=len(info.running_actions),
        lost=info.num_actions_missed_catchup_window,
        overlapped=info.num_actions_skipped_overlap,
    )


async def pause(client: Client, name: str, *, note: str) -> None:
    """Let it fire no more until it is resumed."""
    await _both(client, name, lambda handle: handle.pause(note=note))


async def resume(client: Client, name: str, *, note: str = "resumed") -> None:
    """Let it fire."""
    await _both(client, name, lambda handle: handle.unpause(note=note))


async def _both(
    client: Client, name: str, change: Callable[[ScheduleHandle], Awaitable[None]]
) -> None:
    """Change the full runs' schedule, and the sentinel's where there is one."""
    with _said(name):
        await change(client.get_schedule_handle(full_id(name)))
        try:
            await change(client.get_schedule_handle(sentinel_id(name)))
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                raise


async def trigger(client: Client, name: str, *, queue: str, rebase: bool, now: datetime) -> str:
    """Start a full run by hand, and give its workflow's id."""
    id_ = f"{full_id(name)}-by-hand-{now:%Y%m%dT%H%M%S}"
    order = ScheduleOrder(name, rebase=rebase)
    with _said(name):
        try:
            await client.start_workflow("schedule", order, id=id_, task_queue=queue)
        except WorkflowAlreadyStartedError:
            raise UsageError("a run was asked for by hand this very second") from None
    return id_


async def delete(client: Client, name: str) -> bool:
    """Remove it from the server; False where it was not there."""
    found = await _delete_one(client, full_id(name))
    await _delete_one(client, sentinel_id(name))
    return found


async def _delete_one(client: Client, id_: str) -> bool:
    with _said(id_):
        try:
            await client.get_schedule_handle(id_).delete()
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                raise
            return False
    return True


@contextmanager
def _said(name: str) -> Iterator[None]:
    """Turn what the server says into one line."""
    try:
        yield
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            raise UsageError(f"the server has no schedule {name!r}") from None
        if error.status == RPCStatusCode.INVALID_ARGUMENT:
            raise UsageError(f"the server does not take the schedule {name!r}: {error}") from None
        raise HarnessError(f"the Temporal server does not answer: {error}") from None
