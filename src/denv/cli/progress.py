"""The live display of a run: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar

from denv.runner import Progress, Watch

_LINE_EVERY_S = 15.0
_DRAW_EVERY_S = 0.1


@contextmanager
def watching(console: Console, *, quiet: bool = False) -> Iterator[Watch | None]:
    """Give a callback that shows the progress it is given until the block ends."""
    if quiet:
        yield None
    elif console.is_terminal:
        with _bar(console) as watch:
            yield watch
    else:
        yield _lines(console)


@contextmanager
def _bar(console: Console) -> Iterator[Watch]:
    bar = Bar(
        TextColumn("[bold]{task.description}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("{task.fields[facts]}"),
        console=console,
        transient=True,
    )
    drawn = 0.0
    with bar:
        task = bar.add_task("parity", total=None, facts="")

        def watch(progress: Progress) -> None:
            nonlocal drawn
            now = time.monotonic()
            if now - drawn < _DRAW_EVERY_S and progress.done < progress.planned:
                return
            drawn = now
            bar.update(task, total=progress.planned, completed=progress.done, facts=facts(progress))

        yield watch


def _lines(console: Console) -> Watch:
    shown, done, waits = time.monotonic(), 0, 0

    def watch(progress: Progress) -> None:
        nonlocal shown, done, waits
        now = time.monotonic()
        waiting = bool(progress.held) and progress.waits > waits
        going_on = progress.done > done and now - shown >= _LINE_EVERY_S
        if not (waiting or going_on):
            return
        shown, done, waits = now, progress.done, progress.waits
        console.print(
            f"{progress.done}/{progress.planned} cases, {facts(progress)}",
            markup=False,
            highlight=False,
        )

    return watch


def facts(progress: Progress) -> str:
    """Say rate, tokens, cost, failures and time left in one line."""
    parts = [
        *progress.held.values(),
        f"{progress.cases_per_s:.1f}/s",
        f"{progress.tokens:,} tokens",
    ]
    if progress.cost is not None:
        parts.append(f"cost {progress.cost:.4f}")
    parts.append(f"{progress.failures} failed")
    if progress.not_counted:
        parts.append(f"{progress.not_counted} not counted")
    if progress.left_s is not None and progress.done < progress.planned:
        parts.append(f"{_duration(progress.left_s)} left")
    return " · ".join(parts)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
