"""A program of one's own, which is given the alarm as JSON on its standard input."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

from denv.alarms import payloads
from denv.alarms.records import Action, Alarm
from denv.errors import DeliveryError
from denv.release.alarms import AlarmCommand


@dataclass(frozen=True, slots=True)
class CommandSink:
    """Runs a program without a shell; exit code 0 means that it took the alarm."""

    key: str
    settings: AlarmCommand

    @property
    def shown(self) -> str:
        """The program's name; an argument may be a secret."""
        return f"command {self.settings.run[0]}"

    @property
    def resend_s(self) -> float | None:
        """Once is enough."""
        return None

    async def deliver(self, alarm: Alarm, action: Action) -> None:
        """Run it to its end or its time-out; its standard error goes where ours does."""
        document = json.dumps(payloads.document(alarm, action)).encode() + b"\n"
        # A file, not a pipe: a program that ends without reading it would break a pipe.
        with tempfile.TemporaryFile() as given:
            given.write(document)
            given.seek(0)
            process = await self._start(given)
        try:
            async with asyncio.timeout(self.settings.timeout):
                await process.wait()
        except TimeoutError:
            raise DeliveryError(f"still running after {self.settings.timeout:g} s") from None
        finally:
            await _end(process)
        code = process.returncode or 0
        if code:
            ended = f"signal {-code}" if code < 0 else f"exit code {code}"
            raise DeliveryError(f"ended with {ended}")

    async def _start(self, given: IO[bytes]) -> asyncio.subprocess.Process:
        try:
            return await asyncio.create_subprocess_exec(
                *self.settings.run,
                stdin=given,
                stdout=asyncio.subprocess.DEVNULL,
                env={**os.environ, **self.settings.environment},
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
