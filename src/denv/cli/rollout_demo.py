"""What ``denv rollout demo`` does: one good release, and two that must not be promoted."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from denv.cli.running import stopped_by_signals
from denv.errors import HarnessError, RunCancelledError
from denv.lab.alertmanager import alertmanager, alerts, find_alertmanager
from denv.lab.cache import cache_dir
from denv.lab.releases import (
    GOOD,
    ROUNDED,
    SPOILED,
    TURNING,
    ReleaseServers,
    release_servers,
    write_release,
)

ADDRESS = "serve.json"
"""What ``denv serve`` writes into the data folder once it is up."""

START_TIMEOUT_S = 60.0
BAKING_TIMEOUT_S = 600.0
ALARM_TIMEOUT_S = 30.0
POLL_S = 1.0

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Ending:
    """How one release of the demo ended, and whether that is right."""

    name: str
    said: str
    right: bool


class Shell:
    """Runs the commands that a person would type, in a data folder of the demo's own."""

    def __init__(self, folder: Path, say: Say) -> None:
        self.folder = folder
        self.say = say
        self._environment = {**os.environ, "DENV_HOME": str(folder / "data")}

    async def run(self, *arguments: str, shown: bool = True) -> tuple[int, str]:
        """Run a command to its end; give its exit code and what it printed."""
        if shown:
            self.say(f"\n$ denv {' '.join(arguments)}")
        process = await self._start(*arguments, output=asyncio.subprocess.PIPE)
        try:
            printed, _ = await process.communicate()
        except asyncio.CancelledError:
            process.terminate()
            await process.wait()
            raise
        return process.returncode or 0, printed.decode("utf-8", "replace")

    async def status(self) -> dict[str, Any]:
        """Give where the latest rollout stands."""
        _, printed = await self.run("rollout", "status", "--json", shown=False)
        found: dict[str, Any] = json.loads(printed or "{}")
        return found

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Keep ``denv serve`` up for the length of the block."""
        self.say("\n$ denv serve --port 0 &")
        process = await self._start("serve", "--port", "0", output=asyncio.subprocess.DEVNULL)
        try:
            await self._until_served(process)
            yield
        finally:
            if process.returncode is None:
                process.send_signal(signal.SIGTERM)
            await process.wait()

    async def _until_served(self, process: asyncio.subprocess.Process) -> None:
        deadline = asyncio.get_running_loop().time() + START_TIMEOUT_S
        while not (self.folder / "data" / ADDRESS).exists():
            if process.returncode is not None:
                raise HarnessError(f"denv serve ended with status {process.returncode}")
            if asyncio.get_running_loop().time() > deadline:
                raise HarnessError(f"denv serve was not up within {START_TIMEOUT_S:g} s")
            await asyncio.sleep(0.1)

    async def _start(self, *arguments: str, output: int) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "denv",
            *arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            env=self._environment,
        )


def rollout_demo_command(out: Path, *, wheel: Path | None) -> int:
    """Roll out three releases to one stage, and say what became of each."""
    console = Console(stderr=True)

    def say(line: str) -> None:
        console.print(line, markup=False, highlight=False, soft_wrap=True)

    folder = (out / "rollout").absolute()
    _begin_anew(folder)
    endings = asyncio.run(_until_stopped(folder, wheel=wheel, say=say))
    say("")
    for ending in endings:
        say(f"{ending.name}: {ending.said}{'' if ending.right else '  (this is not right)'}")
    say(f"\nreleases, weights and data: {folder}")
    return 0 if all(ending.right for ending in endings) else 4


def _begin_anew(folder: Path) -> None:
    """Forget an earlier demo, whose servers are gone and whose failures are latched."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder / "data", ignore_errors=True)
    (folder / "weights.json").unlink(missing_ok=True)


async def _until_stopped(folder: Path, *, wheel: Path | None, say: Say) -> list[Ending]:
    stop = asyncio.Event()
    with stopped_by_signals(stop):
        working = asyncio.create_task(_demo(folder, wheel=wheel, say=say))
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if working.done():
            return working.result()
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        raise RunCancelledError("the demo was interrupted; its servers are stopped")


async def _demo(folder: Path, *, wheel: Path | None, say: Say) -> list[Ending]:
    program = await find_alertmanager(say)
    shell = Shell(folder, say)
    async with (
        alertmanager(program) as sink,
        release_servers(cache_dir(), say, wheel=wheel) as servers,
        shell.serving(),
    ):
        return [
            await _good(shell, servers, sink),
            await _rounded(shell, servers, sink),
            await _turning(shell, servers, sink),
        ]


async def _good(shell: Shell, servers: ReleaseServers, sink: str) -> Ending:
    """Promote a faithful release through three batches."""
    file = _write(GOOD, shell, servers, sink, batches=["10%", "50%", "100%"], bake="5s")
    code, _ = await shell.run("rollout", "start", file, "--wait")
    found = await shell.status()
    weights = json.loads((shell.folder / "weights.json").read_text("utf-8"))["weights"]
    right = code == 0 and found["phase"] == "promoted" and found["batch"] == 3
    return Ending(GOOD, f"{found['phase']} after {found['batch']} batches, {_of(weights)}", right)


async def _rounded(shell: Shell, servers: ReleaseServers, sink: str) -> Ending:
    """Take a release with rounded weights back at its first batch, and see its alarm arrive."""
    file = _write(ROUNDED, shell, servers, sink, batches=["10%", "100%"], bake="5s")
    code, _ = await shell.run("rollout", "start", file, "--wait")
    found = await shell.status()
    alarm = await _alert(sink, ROUNDED)
    right = code == 1 and found["phase"] == "rolled-back" and found["batch"] == 1
    arrived = f"Alertmanager holds {alarm}" if alarm else "no alarm reached Alertmanager"
    said = f"{found['phase']} at batch {found['batch']}; {arrived}"
    return Ending(ROUNDED, said, right and alarm == "parity-fail")


async def _turning(shell: Shell, servers: ReleaseServers, sink: str) -> Ending:
    """Take a release back that turns bad while it bakes, and see that it stays refused."""
    file = _write(TURNING, shell, servers, sink, batches=["10%", "100%"], bake="10m")
    await shell.run("rollout", "start", file)
    if not await _baking(shell):
        found = await shell.status()
        return Ending(TURNING, f"{found['phase']} before it could turn bad", right=False)
    await shell.run("lab", "spoil", servers.turning, "--faults", json.dumps(SPOILED))
    code, _ = await shell.run("rollout", "status", "--follow")
    found = await shell.status()
    again, _ = await shell.run("rollout", "start", file, "--wait")
    refused = await shell.status()
    right = code == 1 and found["phase"] == "rolled-back" and again == 1
    said = f"{found['phase']} while it baked; started again: {refused['phase']}"
    return Ending(TURNING, said, right and refused["phase"] == "refused")


def _write(
    name: str, shell: Shell, servers: ReleaseServers, sink: str, *, batches: list[str], bake: str
) -> str:
    path = write_release(
        name, servers, folder=shell.folder, batches=batches, bake=bake, alertmanager=sink
    )
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


async def _baking(shell: Shell) -> bool:
    deadline = asyncio.get_running_loop().time() + BAKING_TIMEOUT_S
    while asyncio.get_running_loop().time() < deadline:
        found = await shell.status()
        if found.get("phase") == "baking":
            return True
        if found.get("ended"):
            return False
        await asyncio.sleep(POLL_S)
    return False


async def _alert(sink: str, release: str) -> str | None:
    """Wait for the release's alarm and give its kind."""
    deadline = asyncio.get_running_loop().time() + ALARM_TIMEOUT_S
    while asyncio.get_running_loop().time() < deadline:
        for alert in await alerts(sink):
            if alert["labels"].get("release") == release:
                return str(alert["labels"].get("alertname") or alert["labels"].get("kind"))
        await asyncio.sleep(0.2)
    return None


def _of(weights: list[dict[str, Any]]) -> str:
    return ", ".join(f"{one['replica']} has {one['weight']:.0%} of the traffic" for one in weights)
