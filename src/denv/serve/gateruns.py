"""Gates that are started over HTTP: each is a ``denv gate``, a process of its own."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from denv.errors import DenvError, StoreError
from denv.release import Release, load_release
from denv.report.gate import RUNNING, broken, opened
from denv.runner.gates import GATE_ID, GateFolder, now

COMMAND = (sys.executable, "-m", "denv")
MOST_RUNNING = 4
ENDING_S = 20.0
"""A gate that is asked to end writes its cancelled document; after so long it is killed."""


class RefusedError(DenvError):
    """A request that is not carried out: an HTTP status of 400 to 499, and why."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass
class GateRuns:
    """Starts gates of the releases in one folder, and knows how those ended that are kept."""

    releases: Path
    data: Path
    command: Sequence[str] = COMMAND
    _started: dict[str, dict[str, Any]] = field(default_factory=dict)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def release(self, name: str) -> Release:
        """Load a release by the name of its file; nothing else of a path is taken from callers.

        Raises
        ------
        RefusedError
            404 where there is none, 422 where it cannot be read.
        """
        path = self.releases / f"{name}.yaml"
        if not GATE_ID.fullmatch(name) or not path.is_file():
            raise RefusedError(404, f"there is no release {name[:128]!r}")
        try:
            return load_release(path)
        except DenvError as error:
            raise RefusedError(422, str(error)) from None

    def get(self, gate: str) -> Mapping[str, Any] | None:
        """Give a gate's document, or None."""
        return GateFolder(self.data).get(gate) or self._started.get(gate)

    def latest(self, release: Release) -> Mapping[str, Any] | None:
        """Give the gate of just this release that was started last, or None."""
        wanted = {"name": release.name, "digest": release.digest}
        kept = GateFolder(self.data).of_release(release.name)
        found = {each["gate"]: each for each in [*self._started.values(), *kept]}
        same = [each for each in found.values() if each["release"] == wanted]
        return max(same, key=lambda each: str(each["started"]), default=None)

    async def start(self, name: str, gate: str) -> Mapping[str, Any]:
        """Start a gate; with the id of an earlier one of the same release that is given instead.

        Raises
        ------
        RefusedError
            409 where the id is another release's or the release is asked already, 429 where
            too many are running.
        """
        release = self.release(name)
        earlier = self.get(gate)
        if earlier is not None:
            if (earlier["release"] or {}).get("name") != release.name:
                raise RefusedError(409, f"the gate {gate!r} is another release's")
            return earlier
        self._check_free(release)
        about = {"name": release.name, "digest": release.digest}
        document = self._started[gate] = opened(gate, release=about, started=now())
        task = asyncio.ensure_future(self._run(release.path, document))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return document

    async def close(self) -> None:
        """End the gates that run; their documents say that they were cancelled."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _check_free(self, release: Release) -> None:
        # A process that has kept its document may still be ending.
        running = [each for gate in self._started if (each := self.get(gate)) and _runs(each)]
        for each in running:
            if each["release"]["name"] == release.name:
                raise RefusedError(409, f"the gate {each['gate']} of {release.name} is running")
        if len(running) >= MOST_RUNNING:
            raise RefusedError(429, f"{MOST_RUNNING} gates are running: ask again later")

    async def _run(self, path: Path, document: dict[str, Any]) -> None:
        gate = document["gate"]
        try:
            ended = await self._process(path, gate)
            kept = GateFolder(self.data).get(gate)
            if kept is None or _runs(kept):
                reason = f"denv gate {ended} and left no document"
                document = broken(document, reason, exit_code=4, finished=now())
                GateFolder(self.data).keep(document)
        except StoreError as error:
            # Not kept, but told to who asks as long as this process is there.
            self._started[gate] = broken(document, str(error), exit_code=4, finished=now())
            return
        del self._started[gate]

    async def _process(self, path: Path, gate: str) -> str:
        """Run the gate to its end; say how it ended."""
        arguments = ("gate", str(path), "--id", gate, "--store", str(self.data), "--quiet")
        try:
            process = await asyncio.create_subprocess_exec(
                *self.command,
                *arguments,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
            )
        except OSError as error:
            return f"could not be started ({error.strerror})"
        try:
            return f"ended with exit code {await process.wait()}"
        finally:
            await _end(process)


def _runs(document: Mapping[str, Any]) -> bool:
    return bool(document["state"] == RUNNING)


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):  # it has ended meanwhile
        process.terminate()
    try:
        async with asyncio.timeout(ENDING_S):
            await process.wait()
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
