"""What the commands of ``denv rollout`` do, apart from their options."""

from __future__ import annotations

import getpass
import json
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from denv.cli import following, loop
from denv.cli.outputs import check_outputs
from denv.cli.rolllist import list_of
from denv.cli.temporal import found_connection
from denv.errors import UsageError
from denv.release import Release, load_release
from denv.report.output import opened
from denv.rollout.documents import now_document, summary_of
from denv.store import Override, RolloutRecord, SqlStore, data_folder, open_store

INTERRUPTED = 130


def start_command(options: Mapping[str, Any]) -> int:
    """Freeze the plan, hand it to the engine, and follow it where that is wanted."""
    console = Console(stderr=True)
    check_outputs(options)
    folder = data_folder(options["store"])
    release = load_release(options["release"])
    _check(release, folder)
    connection, queue = found_connection(options, folder)
    from denv.cli.starting import start

    with closing(open_store(folder)) as store:
        given: list[bool] = []
        try:
            rollout = loop.run(
                start(
                    release,
                    store,
                    connection=connection,
                    folder=folder,
                    queue=queue,
                    say=_sayer(console),
                    on_given=lambda: given.append(True),
                )
            )
        except KeyboardInterrupt:
            if not given:
                raise  # nothing was begun
            return _goes_on(console)
        code = _began(store, rollout, console, wait=options["wait"])
        if options["json_file"]:
            _write(options["json_file"], store, rollout)
        return code


def _began(store: SqlStore, rollout: str, console: Console, *, wait: bool) -> int:
    """Follow a rollout, or say how it can be followed; one that was not begun says why."""
    record = find(store, rollout)
    if wait:
        return _followed(store, rollout, console)
    if record.ended is None:
        _sayer(console)(f"denv rollout status {rollout} --follow shows the way")
        return 0
    for decision in store.rollouts.decisions(rollout):
        _sayer(console)(f"[{decision.rule}] {decision.text}")
    return following.exit_code(store, record)


def _check(release: Release, folder: Path) -> None:
    """Find out what is wrong here before an engine is looked for, and long before the proof ends.

    Raises
    ------
    UsageError
        The release lacks something, or its weights could never be written.
    """
    from denv.rollout.plan import freeze, recipe_of
    from denv.rollout.steps.weights import check_file

    plan = freeze(release, recipe_of(release), data_folder=folder)
    weights = plan.rollout.weights
    if weights is not None and weights.file is not None:
        wrong = check_file(Path(weights.file), stage=plan.stage.url)
        if wrong:
            raise UsageError(f"{release.path}: rollout.weights.file: {wrong}")


def _followed(store: SqlStore, rollout: str, console: Console) -> int:
    try:
        return following.follow(store, rollout, console=console)
    except KeyboardInterrupt:
        return _goes_on(console, rollout)


def _goes_on(console: Console, rollout: str = "") -> int:
    """Say that only the looking was ended."""
    name = f" {rollout}" if rollout else ""
    command = f"denv rollout status{name} --follow"
    _sayer(console)(f"interrupted: the rollout{name} goes on ({command} shows the way)")
    return INTERRUPTED


def _write(target: str, store: SqlStore, rollout: str) -> None:
    text = json.dumps(now_document(store, rollout), indent=2, allow_nan=False) + "\n"
    if target == "-":
        click.echo(text, nl=False)
        return
    with opened(target) as stream:
        stream.write(text)


def status_command(rollout: str | None, *, follow: bool, as_json: bool, store: Path | None) -> int:
    """Show a rollout out of the store."""
    console = Console(stderr=as_json)
    with closing(open_store(data_folder(store))) as opened_store:
        record = find(opened_store, rollout)
        if follow:
            code = _followed(opened_store, record.rollout, Console(stderr=True))
            if as_json:
                _print_json(now_document(opened_store, record.rollout))
            return code
        if as_json:
            _print_json(now_document(opened_store, record.rollout))
        else:
            following.show(opened_store, record.rollout, console=console)
        return following.exit_code(opened_store, find(opened_store, record.rollout))


def list_command(*, stage: str | None, active: bool, as_json: bool, store: Path | None) -> int:
    """List rollouts."""
    with closing(open_store(data_folder(store))) as opened_store:
        found = opened_store.rollouts.list_rollouts(stage=stage, active=True if active else None)
        rows = [summary_of(record) for record in found]
    if as_json:
        _print_json({"schema": "denv.rollouts/1", "rollouts": rows})
        return 0
    console = Console()
    console.print(list_of(rows, width=console.width))
    return 0


def word_command(what: str, options: Mapping[str, Any]) -> int:
    """Say a word about a rollout to the engine."""
    folder = data_folder(options["store"])
    with closing(open_store(folder)) as store:
        record = find(store, options["rollout"], active=True)
        if record.ended is not None:
            raise UsageError(f"rollout {record.rollout} has ended ({record.phase})")
    connection, _ = found_connection(options, folder)
    from denv.rollout.engine.connection import connect
    from denv.rollout.engine.messages import Word
    from denv.rollout.engine.orders import say

    word = Word(record.rollout, by=_by(options), reason=options.get("reason") or "")

    async def go() -> None:
        await say(await connect(connection), record, what, word)

    loop.run(go())
    _sayer(Console(stderr=True))(
        f"{what}: told rollout {record.rollout}; its log says what follows"
    )
    return 0


def override_command(options: Mapping[str, Any]) -> int:
    """Record that a latched proof may be tried once more."""
    with closing(open_store(data_folder(options["store"]))) as store:
        record = find(store, options["rollout"])
        by = _by(options)
        store.rollouts.add_override(Override(record.proof, by, options["reason"], time.time()))
    line = f"the next rollout of {record.release} with these digests may begin, by {by}'s word"
    _sayer(Console(stderr=True))(line)
    return 0


def find(store: SqlStore, rollout: str | None, *, active: bool = False) -> RolloutRecord:
    """Give a rollout by its id, else the only active one, else the latest.

    Raises
    ------
    UsageError
        There is none, or it is not plain which one is meant.
    """
    if rollout is not None:
        record = store.rollouts.get_rollout(rollout)
        if record is None:
            raise UsageError(f"there is no rollout {rollout!r}")
        return record
    running = store.rollouts.list_rollouts(active=True)
    if len(running) > 1 and active:
        names = ", ".join(record.rollout for record in running)
        raise UsageError(f"several rollouts are under way, name one: {names}")
    found = running or ([] if active else store.rollouts.list_rollouts(most=1))
    if not found:
        raise UsageError("no rollout is under way" if active else "there is no rollout yet")
    return found[0]


def _by(options: Mapping[str, Any]) -> str:
    by = options.get("by") or getpass.getuser()
    if not by.strip() or not by.isprintable():
        raise UsageError("--by takes a name of one line")
    return str(by)


def _sayer(console: Console) -> Any:
    def say(line: str) -> None:
        console.print(line, markup=False, highlight=False, soft_wrap=True)

    return say


def _print_json(document: Mapping[str, Any]) -> None:
    click.echo(json.dumps(document, indent=2, allow_nan=False))
