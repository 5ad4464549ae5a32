"""The files of a public report, from a folder, from one file of it, or from an URL."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import aiohttp

from denv.errors import HarnessError, UsageError
from denv.publish.folder import BADGE, ENVELOPE, PAGE, REPORT, SUITE

NAMES = (ENVELOPE, REPORT, PAGE, BADGE, SUITE)
MOST_BYTES = 256 * 1024**2
"""Of one file: a report of a hundred thousand cases is smaller."""

MOST_OTHERS = 20
"""How many names that belong to no report are told."""

TIMEOUT_S = 60.0
MOST_REDIRECTS = 5
_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class Gathered:
    """The files by their names; ``whole`` where all that belong to the report should be there.

    ``unread`` has the files that were left alone, with the reason; ``others`` the first names in
    the folder that no report has, which an URL cannot tell.
    """

    files: Mapping[str, bytes]
    whole: bool
    unread: Mapping[str, str] = field(default_factory=dict)
    others: tuple[str, ...] = ()


def gather(place: str, *, timeout_s: float = TIMEOUT_S, most_bytes: int = MOST_BYTES) -> Gathered:
    """Read what is at a place.

    Raises
    ------
    UsageError
        There is no such file or folder, or it cannot be read.
    HarnessError
        An URL cannot be fetched, is too large, or leads to another host.
    """
    if place.startswith(("http://", "https://")):
        return Gathered(asyncio.run(_fetch_all(place, timeout_s, most_bytes)), whole=True)
    path = Path(place)
    if path.is_dir():
        files, unread = _read({name: path / name for name in NAMES}, most_bytes)
        return Gathered(files, whole=True, unread=unread, others=_others(path))
    if not path.is_file():
        raise UsageError(f"{place}: there is no such file or folder")
    envelope = path.name.endswith(".intoto.json")
    pair = {
        ENVELOPE: path if envelope else path.with_name(ENVELOPE),
        REPORT: path.with_name(REPORT) if envelope else path,
    }
    files, unread = _read(pair, most_bytes)
    return Gathered(files, whole=False, unread=unread)


def _read(files: Mapping[str, Path], most_bytes: int) -> tuple[dict[str, bytes], dict[str, str]]:
    """Give what the files hold, and why some were left alone."""
    found, unread = {}, {}
    for name, path in files.items():
        if not path.is_file():
            continue
        try:
            with path.open("rb") as file:
                content = file.read(most_bytes + 1)
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror}") from None
        if len(content) > most_bytes:
            unread[name] = _too_large(most_bytes)
        else:
            found[name] = content
    return found, unread


def _others(folder: Path) -> tuple[str, ...]:
    """Name what lies in a folder beside a report's files; a folder stands for all within it.

    Letters beyond ASCII are told as codes, since some look like those of a report's own names.
    """
    try:
        with os.scandir(folder) as entries:
            strange = (entry for entry in entries if entry.name not in NAMES)
            return tuple(sorted(map(_listed, islice(strange, MOST_OTHERS))))
    except OSError as error:
        raise UsageError(f"{folder}: {error.strerror}") from None


def _listed(entry: os.DirEntry[str]) -> str:
    name = entry.name.encode("unicode_escape").decode("ascii")
    return f"{name}/" if entry.is_dir(follow_symlinks=False) else name


def _too_large(most_bytes: int) -> str:
    return f"is larger than {most_bytes:,} bytes: it is not read"


async def _fetch_all(url: str, timeout_s: float, most_bytes: int) -> dict[str, bytes]:
    base = _base(url)
    found = {}
    try:
        async with (
            asyncio.timeout(timeout_s),
            aiohttp.ClientSession(
                headers={"Accept-Encoding": "identity"}, auto_decompress=False
            ) as session,
        ):
            for name in NAMES:
                content = await _fetch(session, urljoin(base, name), most_bytes)
                if content is not None:
                    found[name] = content
    except TimeoutError:
        raise HarnessError(f"{_shown(base)} did not answer in {timeout_s:g} s") from None
    except (aiohttp.ClientError, ValueError) as error:
        raise HarnessError(f"{_shown(base)} cannot be fetched: {error}") from None
    return found


def _base(url: str) -> str:
    """Give the folder of an URL, which may name a file of it."""
    url = url.partition("#")[0].partition("?")[0]
    last = url.rpartition("/")[2]
    return url.removesuffix(last) if last in NAMES or not last else f"{url}/"


async def _fetch(session: aiohttp.ClientSession, url: str, most_bytes: int) -> bytes | None:
    """Fetch one file; None where the host says that it has none."""
    for _ in range(MOST_REDIRECTS + 1):
        async with session.get(url, allow_redirects=False) as response:
            if response.status in {404, 410}:
                return None
            if response.status in {301, 302, 303, 307, 308}:
                url = _redirected(url, response.headers.get("Location", ""))
                continue
            if response.status != 200:
                raise HarnessError(f"{_shown(url)} answers HTTP {response.status}")
            content = bytearray()
            async for block in response.content.iter_chunked(_BLOCK):
                content += block
                if len(content) > most_bytes:
                    raise HarnessError(f"{_shown(url)} {_too_large(most_bytes)}")
            return bytes(content)
    raise HarnessError(f"{_shown(url)} redirects more than {MOST_REDIRECTS} times")


def _redirected(url: str, location: str) -> str:
    target = urljoin(url, location)
    old, new = urlsplit(url), urlsplit(target)
    if (new.scheme, new.netloc) != (old.scheme, old.netloc):
        raise HarnessError(
            f"{_shown(url)} redirects to another host: name that one if you trust it"
        )
    return target


def _shown(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
