"""Deploy commands: run without a shell, once for each replica, their output kept and masked."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

from denv.client import Masker
from denv.records import Secret
from denv.release import DeployCommand
from denv.rollout.sides import PlannedReplica

MAX_OUTPUT_BYTES = 64 * 1024
"""Of a longer output the first and the last half of this are kept, in whole lines."""

GRACE_S = 5.0
"""How long a command that took too long may end by itself before it is killed."""

_SECRET_NAME = re.compile(r"(?i)(key|token|secret|password|passwd|credential)")
_UNSHOWN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class DeployOutcome:
    """How a command ended; ``why`` is empty where it did what was asked.

    ``exit_code`` is None where it never ran, and negative for the signal that ended it.
    """

    replica: str
    command: str
    ok: bool
    exit_code: int | None
    output: str
    why: str = ""
    note: str = ""


async def run_deploy(
    command: DeployCommand,
    replica: PlannedReplica,
    *,
    release: str,
    folder: str,
    secrets: Iterable[Secret] = (),
    grace_s: float = GRACE_S,
) -> DeployOutcome:
    """Run one command for one replica, in the release's folder.

    Its time-out and a cancellation end its whole process group. It may be run again after the
    worker died in the middle, so it must bear that.
    """
    values = {"replica": replica.name, "url": replica.url, "release": release}
    arguments = [_filled(argument, values) for argument in command.run]
    added = {name: _filled(text, values) for name, text in command.environment.items()}
    environment = {**os.environ, **added}
    masker = Masker([*secrets, *_secrets_in(environment)])
    with tempfile.TemporaryFile() as output:
        ended = await _run(
            arguments,
            environment=environment,
            folder=folder,
            output=output,
            timeout_s=command.timeout,
            grace_s=grace_s,
        )
        kept = _kept(output, masker)
    return DeployOutcome(
        replica=replica.name,
        command=masker.text(arguments[0]),
        ok=not ended.why,
        exit_code=ended.exit_code,
        output=kept,
        why=masker.text(f"{replica.name}: {arguments[0]}: {ended.why}") if ended.why else "",
        note=ended.note,
    )


@dataclass(frozen=True, slots=True)
class _Ended:
    exit_code: int | None
    why: str = ""
    note: str = ""


async def _run(
    arguments: list[str],
    *,
    environment: Mapping[str, str],
    folder: str,
    output: IO[bytes],
    timeout_s: float,
    grace_s: float,
) -> _Ended:
    try:
        # A file takes the output: a server that is left running keeps what it writes to, where
        # a pipe would end it with the first line it writes after this.
        process = await asyncio.create_subprocess_exec(
            *arguments,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=folder,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return _Ended(None, why=f"cannot be started: {reason}")
    try:
        code = await asyncio.wait_for(process.wait(), timeout_s)
    except TimeoutError:
        code = await _end_group(process, grace_s)
        return _Ended(code, why=f"took longer than {timeout_s:g} s and was ended")
    except asyncio.CancelledError:
        await asyncio.shield(_end_group(process, grace_s))
        raise
    if code != 0:
        _signal_group(process.pid, signal.SIGKILL)
        return _Ended(code, why=f"ended by signal {-code}" if code < 0 else f"exit code {code}")
    left = _signal_group(process.pid, 0)
    return _Ended(code, note="a process of it goes on running" if left else "")


async def _end_group(process: asyncio.subprocess.Process, grace_s: float) -> int:
    """Ask the whole group to end, then kill it; also what outlives its leader."""
    _signal_group(process.pid, signal.SIGTERM)
    with suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), grace_s)
    _signal_group(process.pid, signal.SIGKILL)
    return await process.wait()


def _signal_group(group: int, number: int) -> bool:
    """Send a signal to a process group; False where nobody is left in it."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _filled(text: str, values: Mapping[str, str]) -> str:
    return re.sub(r"\{(replica|url|release)\}", lambda found: values[found[1]], text)


def _secrets_in(environment: Mapping[str, str]) -> list[Secret]:
    """Give the values of variables whose names say that they are secret."""
    return [
        Secret(value) for name, value in environment.items() if value and _SECRET_NAME.search(name)
    ]


def _kept(output: IO[bytes], masker: Masker) -> str:
    """Give the output as text, masked; what is cut is cut at a line's end, never in a secret."""
    size = output.seek(0, os.SEEK_END)
    if size <= MAX_OUTPUT_BYTES:
        output.seek(0)
        return _shown(output.read(MAX_OUTPUT_BYTES), masker)
    half = MAX_OUTPUT_BYTES // 2
    output.seek(0)
    first = output.read(half)
    output.seek(size - half)
    last = output.read(half)
    first = first[: first.rfind(b"\n") + 1]
    last = last[last.find(b"\n") + 1 :] if b"\n" in last else b""
    cut = size - len(first) - len(last)
    return f"{_shown(first, masker)}… {cut} bytes are left out …\n{_shown(last, masker)}"


def _shown(raw: bytes, masker: Masker) -> str:
    text = raw.decode("utf-8", "replace")
    return _UNSHOWN.sub("\N{REPLACEMENT CHARACTER}", masker.text(text).replace("\r\n", "\n"))
