"""``--private`` and ``--shapes``: the private part, and the shapes that its cases take on."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from denv.errors import UsageError
from denv.runner import PrivatePart
from denv.runner.drawing import Shapes
from denv.suite import load_suite

MAX_BYTES = 4 * 1024 * 1024
TIMEOUT_S = 10.0


def private_part(path: Path | None, *, shapes: str | None) -> PrivatePart | None:
    """Load the private part that the options name, None where they name none.

    Raises
    ------
    UsageError
        A file is wrong, or there are shapes and no case to take them on.
    """
    if path is not None:
        return PrivatePart(load_suite(path), read_shapes(shapes) if shapes else None)
    if shapes:
        raise UsageError("--shapes needs --private: private cases alone take shapes on")
    return None


def read_shapes(given: str) -> Shapes:
    """Read a table of shapes: the text of one, an http(s) URL, or else a file.

    Raises
    ------
    UsageError
        It cannot be read, or is no such table.
    """
    if given.lstrip().startswith("{"):
        return Shapes.from_json(given)
    try:
        text = _fetched(given) if given.startswith(("http://", "https://")) else _file(given)
        return Shapes.from_json(text)
    except UsageError as error:
        raise UsageError(f"--shapes {given}: {error}") from None


def _file(name: str) -> str:
    try:
        with Path(name).open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(os.strerror(error.errno or 0)) from None
    return _text(raw)


def _fetched(url: str) -> str:
    import aiohttp

    async def get() -> bytes:
        timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
        async with (
            aiohttp.ClientSession(timeout=timeout, trust_env=False) as session,
            session.get(url, allow_redirects=False) as answer,
        ):
            if answer.status != 200:
                raise UsageError(f"status {answer.status}")
            return await answer.content.read(MAX_BYTES + 1)

    try:
        return _text(asyncio.run(get()))
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise UsageError(f"cannot be asked: {error}") from None
    except TimeoutError:
        raise UsageError(f"no answer within {TIMEOUT_S:g} s") from None


def _text(raw: bytes) -> str:
    if len(raw) > MAX_BYTES:
        raise UsageError(f"it is larger than {MAX_BYTES} bytes")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError("it is no text") from None
