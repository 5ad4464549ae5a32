"""A program that we started does not outlive us, however we end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from denv.errors import DeliveryError

# Its standard input ends with this process, also by kill -9, which nothing else can act on.
GUARD = 'while read -r _; do :; done; kill -s KILL -- "-$1"'


@asynccontextmanager
async def guarded(group: int) -> AsyncIterator[None]:
    """Have a process group killed should this process end within the block.

    Raises
    ------
    DeliveryError
        Nothing can watch over it.
    """
    try:
        guard = await asyncio.create_subprocess_exec(
            *("/bin/sh", "-c", GUARD, "sh", str(group)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise DeliveryError(f"cannot be watched over: {error.strerror}") from None
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            guard.kill()
        await guard.wait()
