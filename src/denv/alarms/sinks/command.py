"""A program of one's own, which is given the alarm as JSON on its standard input."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

from denv.alarms import payloads
from denv.alarms.guarding import guarded
from denv.alarms.records import Action, Alarm
from denv.client import Masker
from denv.errors import DeliveryError
from denv.records import Secret
from denv.release.alarms import AlarmCommand

MAX_SAID_BYTES = 4096
"""So much of the end of a program's standard error is looked at for why it failed."""

MAX_WHY = 160
"""How many characters of it are told."""

_PLAIN = re.compile(
    r"COLUMNS|DENV_HOME|HOME|HOSTNAME|LANG|LANGUAGE|LC_\w+|LINES|LOGNAME|OLDPWD|PATH|PWD|"
    r"PYTHON(PATH|HOME)|SHELL|SHLVL|TERM|TMPDIR|TZ|USER|VIRTUAL_ENV"
)
"""The variables that hold no secret. Any other may: which ones a release names is not known."""

_UNSHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class CommandSink:
    """Runs a program without a shell; exit code 0 means that it took the alarm.

    ``hidden`` are secrets beside those of the environment that no reason may show.
    """

    key: str
    settings: AlarmCommand
    hidden: tuple[Secret, ...] = ()

    @property
    def shown(self) -> str:
        """The program's name; an argument may be a secret."""
        return f"command {self.settings.run[0]}"

    @property
    def resend_s(self) -> float | None:
        """Once is enough."""
        return None

    async def deliver(self, alarm: Alarm, action: Action) -> None:
        """Run it to its end or its time-out; the end of its standard error is why it failed."""
        document = json.dumps(payloads.document(alarm, action)).encode() + b"\n"
        # A file, not a pipe: a program that ends without reading it would break a pipe.
        environment = {**os.environ, **self.settings.environment}
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as said:
            given.write(document)
            given.seek(0)
            process = await self._start(given, said, environment=environment)
            ended = await self._ended(process)
            why = _why(said, [*self.hidden, *_secrets(environment)]) if ended else ""
        if ended:
            raise DeliveryError(f"{ended}: {why}" if why else ended)

    async def _ended(self, process: asyncio.subprocess.Process) -> str:
        """Wait for its end, and end it where that is late; say what was wrong with it."""
        try:
            async with asyncio.timeout(self.settings.timeout), guarded(process.pid):
                await process.wait()
        except TimeoutError:
            return f"still running after {self.settings.timeout:g} s"
        finally:
            await _end(process)
        code = process.returncode or 0
        if code:
            return f"ended with signal {-code}" if code < 0 else f"ended with exit code {code}"
        return ""

    async def _start(
        self, given: IO[bytes], said: IO[bytes], *, environment: Mapping[str, str]
    ) -> asyncio.subprocess.Process:
        try:
            return await asyncio.create_subprocess_exec(
                *self.settings.run,
                stdin=given,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=said,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            raise DeliveryError(f"cannot be started: {error.strerror}") from None


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the program and all that it started, where it is still there."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def _why(said: IO[bytes], secrets: Iterable[Secret]) -> str:
    """Give the last line of what a program said, masked, on one line."""
    size = said.seek(0, os.SEEK_END)
    said.seek(max(0, size - MAX_SAID_BYTES))
    raw = said.read(MAX_SAID_BYTES)
    if size > MAX_SAID_BYTES:
        # Cut at a line's end: half of a secret would not be known again.
        raw = raw.partition(b"\n")[2]
    text = Masker(secrets).text(raw.decode("utf-8", "replace"))
    lines = [line for line in text.splitlines() if line.strip()]
    line = _UNSHOWN.sub("\N{REPLACEMENT CHARACTER}", lines[-1].strip()) if lines else ""
    return line if len(line) <= MAX_WHY else f"{line[: MAX_WHY - 1]}…"


def _secrets(environment: Mapping[str, str]) -> Iterator[Secret]:
    """Give all that may be secret, each line of a value too: a key may span several."""
    for name, value in environment.items():
        if not _PLAIN.fullmatch(name):
            yield from map(Secret, {value, value.strip(), *value.splitlines()})
