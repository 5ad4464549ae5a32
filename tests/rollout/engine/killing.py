"""Workers and servers that kill themselves with SIGKILL at their n-th crossing of the journal.

A crossing is just before, or just after, something is written to the store: a decision, answers,
weights, what a sink was told. ``python -m tests.rollout.engine.killing`` loads everything once,
then forks a process for each line of JSON on standard input, and says when each began and ended.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from denv.rollout.engine.connection import Connection, connect
from denv.rollout.engine.worker import WorkerSettings, work
from denv.serve.app import PageSettings
from denv.serve.engine import serve_with_engine
from denv.serve.settings import ServeSettings
from denv.store import open_store
from denv.store.alarms_sql import SqlAlarmStore
from denv.store.rollouts_sql import SqlRolloutStore
from denv.store.sql import SqlStore

BOUNDARIES = (
    (SqlRolloutStore, "create_rollout"),
    (SqlRolloutStore, "commit_step"),
    (SqlRolloutStore, "set_weights"),
    (SqlStore, "append"),
    (SqlStore, "update_run"),
    (SqlAlarmStore, "note_delivery"),
)


class Fuse:
    """Counts crossings, and blows at one of them, or at each so-many-th."""

    def __init__(
        self, at: int, blow: Callable[[], None], notes: Path, every: int | None = None
    ) -> None:
        self._left, self._blow, self._notes, self._every = at, blow, notes, every

    def crossed(self, where: str) -> None:
        """Count one crossing."""
        self._left -= 1
        if self._left == 0:
            with self._notes.open("a") as notes:
                notes.write(f"{where}\n")
                notes.flush()
            self._left = self._every or 0
            self._blow()

    def lay(self) -> None:
        """Put it at every boundary."""
        for owner, name in BOUNDARIES:
            self._wrap(owner, name)

    def _wrap(self, owner: type[Any], name: str) -> None:
        written = getattr(owner, name)

        def crossing(*given: Any, **named: Any) -> Any:
            self.crossed(f"before {name}")
            result = written(*given, **named)
            self.crossed(f"after {name}")
            return result

        setattr(owner, name, crossing)


def kill_self() -> None:
    """End this process as nothing can prevent."""
    os.kill(os.getpid(), signal.SIGKILL)


def kill_temporal(folder: Path) -> None:
    """End Temporal's server of a folder so."""
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except (OSError, ValueError):
            continue
        if words[0].endswith(b"/temporal") and str(folder / "temporal.sqlite3").encode() in words:
            os.kill(int(entry.name), signal.SIGKILL)


async def be_worker(task: dict[str, Any]) -> None:
    """Work until told to end."""
    connection = Connection(task["temporal"])
    stop = _stopped_by_sigterm()
    store = open_store(Path(task["folder"]))
    settings = WorkerSettings(Path(task["folder"]), task["queue"], drain_s=1.0)
    await work(await connect(connection), store, settings, stop=stop)


async def be_serve(task: dict[str, Any]) -> None:
    """Serve until told to end."""
    folder = Path(task["folder"])
    pages = PageSettings(host="127.0.0.1", port=0)
    settings = ServeSettings(folder, pages, queue=task["queue"])
    await serve_with_engine(settings, stop=_stopped_by_sigterm(), on_ready=lambda _: None)


def _stopped_by_sigterm() -> asyncio.Event:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    return stop


def be(task: dict[str, Any]) -> None:
    """Be what the task says, with its fuse laid."""
    os.setsid()
    folder = Path(task["folder"])
    blow = (lambda: kill_temporal(folder)) if task["kills"] == "temporal" else kill_self
    Fuse(task["at"], blow, Path(task["notes"]), task.get("every")).lay()
    asyncio.run(be_worker(task) if task["kills"] == "worker" else be_serve(task))


def main() -> None:
    """Fork a process for each line, one after the other."""
    for line in sys.stdin:
        task = json.loads(line)
        began = time.time()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                be(task)
                code = 0
            finally:
                os._exit(code)
        _say({"pid": pid, "began": began})
        _, status = os.waitpid(pid, 0)
        _say({"ended": time.time(), "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0})


def _say(document: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(document) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
