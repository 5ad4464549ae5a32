"""What the commands of ``denv parity schedule`` do, apart from their options."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from denv.cli import loop
from denv.cli.outputs import check_targets
from denv.cli.scheduleview import lines_of, row_of
from denv.cli.sides import read
from denv.cli.temporal import found_connection
from denv.errors import HarnessError, ScheduleExistsError, UsageError
from denv.release import load_release, parse_duration
from denv.report.output import opened
from denv.report.text import escaped, line
from denv.rollout.plan import Plan, freeze, recipe_of
from denv.rollout.schedules.documents import document_of
from denv.rollout.schedules.sentinel import glance_of
from denv.rollout.schedules.timing import FailAlarm, Overlap, Timing, check_name
from denv.store import ScheduleRecord, SqlStore, data_folder, open_store

if TYPE_CHECKING:
    from denv.rollout.engine.connection import Client

MOST_DRAWN = 100_000

Options = Mapping[str, Any]


def add_command(options: Options) -> int:
    """Fix what is run, give the engine the schedule, and begin it."""
    name, timing = check_name(options["name"]), timing_of(options)
    folder = data_folder(options["store"])
    release = load_release(options["release"])

    async def add(client: Client, store: SqlStore, queue: str) -> ScheduleRecord:
        if store.schedules.get_schedule(name) is not None:
            raise ScheduleExistsError(f"there is a schedule named {name}")
        plan = freeze(release, recipe_of(release), data_folder=folder)
        if timing.sentinel_every_s is not None:
            glance_of(plan, memory={}, tokens=timing.sentinel_tokens)
        return await _begin(client, store, name=name, timing=timing, plan=plan, queue=queue)

    record = _with_engine(options, add)
    if options["as_json"]:
        _echo_json(document_of(record, (), None))
    else:
        click.echo(line(f"schedule {name} of {record.plan['release']}: {timing.said}"))
        click.echo("its first full run is the baseline; denv parity schedule show tells when")
    return 0


async def _begin(
    client: Client, store: SqlStore, *, name: str, timing: Timing, plan: Plan, queue: str
) -> ScheduleRecord:
    from denv.rollout.engine import schedules

    now = datetime.now(UTC)
    await schedules.create(client, name, timing, queue=queue, now=now)
    try:
        cadence_s = await schedules.mean_cadence_s(client, name, now=now)
        record = ScheduleRecord(
            name=name,
            created=time.time(),
            spec=replace(timing, cadence_s=cadence_s).to_json(),
            plan=json.loads(plan.to_json()),
        )
        store.schedules.add_schedule(record)
    except BaseException:
        await schedules.delete(client, name)
        raise
    await schedules.resume(client, name, note="begun")
    return record


def timing_of(options: Options) -> Timing:
    """Read when a schedule fires from the options.

    Raises
    ------
    UsageError
        Names the option.
    """

    def seconds(option: str) -> float | None:
        text = options[option[2:].replace("-", "_")]
        return None if text is None else read(option, parse_duration, text)

    timing = Timing(
        cron=options["cron"],
        timezone=options["timezone"] or "UTC",
        every_s=seconds("--every"),
        jitter_s=seconds("--jitter") or 0.0,
        overlap=Overlap(options["overlap"]),
        catch_up_s=seconds("--catch-up") or 0.0,
        sentinel_every_s=seconds("--sentinel-every"),
        sentinel_tokens=options["sentinel_tokens"],
        false_alarm_every_s=seconds("--false-alarm-every") or 0.0,
        fail_alarm=FailAlarm(options["fail_alarm"]),
    )
    timing.check()
    return timing


def list_command(*, as_json: bool, store: Path | None) -> int:
    """List the schedules of a data folder."""
    with closing(open_store(data_folder(store))) as data:
        found = [
            (record, data.schedules.history(record.name, most=1))
            for record in data.schedules.list_schedules()
        ]
    if as_json:
        listed = [document_of(record, history, None) for record, history in found]
        _echo_json({"schema": "denv.schedules/1", "schedules": listed})
        return 0
    for record, history in found:
        click.echo(row_of(record, history))
    if not found:
        click.echo("no schedule")
    return 0


def show_command(options: Options) -> int:
    """Show one schedule; while no engine runs, all but its next times."""
    name, picture = options["name"], options["picture"]
    check_targets({"--picture": picture})
    folder = data_folder(options["store"])
    with closing(open_store(folder)) as store:
        record = _find(store, name)
        history = store.schedules.history(name, most=options["most"])
        drawn = store.schedules.history(name, most=MOST_DRAWN) if picture else []
    described, missing = _described(options, folder, name)
    if picture:
        _draw(picture, record, drawn)
    if options["as_json"]:
        _echo_json(document_of(record, history, described, missing=missing))
        return 0
    for shown in lines_of(record, history, described, missing=missing):
        click.echo(shown)
    return 0


def _described(options: Options, folder: Path, name: str) -> tuple[Any, str | None]:
    """Ask the engine; where it cannot be asked, say why."""
    try:
        connection, _ = found_connection(options, folder)
        from denv.rollout.engine import schedules
        from denv.rollout.engine.connection import connect

        async def ask() -> Any:
            return await schedules.describe(await connect(connection), name)

        return loop.run(ask()), None
    except (HarnessError, UsageError) as error:
        if options["temporal"]:
            raise
        return None, str(error)


def _draw(target: Path, record: ScheduleRecord, history: Any) -> None:
    from denv.report.schedule_pictures import Point, write_history

    points = [
        Point(firing.slot, firing.verdict, firing.document)
        for firing in history
        if firing.kind == "full"
    ]
    if not points:
        raise UsageError(f"--picture: schedule {record.name} has no full run yet")
    title = f"{record.name}: {record.plan['release']}"
    try:
        with opened(target) as stream:
            stream.write(write_history(points, title=title).decode())
    except OSError as error:
        raise UsageError(f"--picture: {target}: {error.strerror}") from None


def pause_command(options: Options) -> int:
    """Let it rest."""
    from denv.rollout.engine import schedule_orders

    try:
        note = schedule_orders.check_note(options["note"])
    except UsageError as error:
        raise UsageError(f"--note: {error}") from None

    async def pause(client: Client, store: SqlStore, queue: str) -> None:
        _find(store, options["name"])
        await schedule_orders.pause(client, store, options["name"], note=note)

    _with_engine(options, pause)
    click.echo(line(f"{options['name']}: paused: {note}"))
    return 0


def resume_command(options: Options) -> int:
    """Let it go on."""
    name = options["name"]

    async def resume(client: Client, store: SqlStore, queue: str) -> None:
        from denv.rollout.engine import schedule_orders

        _find(store, name)
        await schedule_orders.resume(client, store, name, now=time.time())

    _with_engine(options, resume)
    click.echo(line(f"{name}: goes on with its next slot"))
    return 0


def trigger_command(options: Options) -> int:
    """Ask for a full run now."""
    name = options["name"]

    async def trigger(client: Client, store: SqlStore, queue: str) -> str:
        from denv.rollout.engine import schedule_orders

        _find(store, name)
        return await schedule_orders.trigger(
            client,
            store,
            name,
            queue=queue,
            rebase=options["new_baseline"],
            now=datetime.now(UTC),
        )

    found = _with_engine(options, trigger)
    click.echo(line(f"{name}: a full run was asked for ({found})"))
    return 0


def remove_command(options: Options) -> int:
    """Remove it from the engine and the data; its history stays."""
    name = options["name"]

    async def remove(client: Client, store: SqlStore, queue: str) -> None:
        from denv.rollout.engine import schedules

        known = store.schedules.get_schedule(name) is not None
        there = await schedules.delete(client, name)
        store.schedules.remove_schedule(name)
        if not known and not there:
            raise UsageError(f"there is no schedule {name!r}")

    _with_engine(options, remove)
    click.echo(line(f"{name}: removed; its runs and history stay"))
    return 0


def _find(store: SqlStore, name: str) -> ScheduleRecord:
    record = store.schedules.get_schedule(name)
    if record is None:
        known = ", ".join(each.name for each in store.schedules.list_schedules()) or "none"
        raise UsageError(f"there is no schedule {name!r}; there are: {known}")
    return record


def _with_engine(options: Options, work: Callable[[Client, SqlStore, str], Awaitable[Any]]) -> Any:
    """Do something with the engine and the data at hand."""
    folder = data_folder(options["store"])
    connection, queue = found_connection(options, folder)
    from denv.rollout.engine.connection import connect

    async def go() -> Any:
        return await work(await connect(connection), store, queue)

    with closing(open_store(folder)) as store:
        return loop.run(go())


def _echo_json(document: Mapping[str, Any]) -> None:
    click.echo(escaped(json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)))
