"""Keys and URLs: read them and check them."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from denv.client.masking import Masker
from denv.errors import EndpointError, UsageError
from denv.records import Secret

_MAX_KEY_BYTES = 64 * 1024
_API_PATH = re.compile(r"(.*/v1)/(chat/completions|completions|models|responses|embeddings)")


# ---------------------------------------------------------------- keys


def read_key_env(name: str) -> Secret:
    """Read a key from an environment variable.

    Raises
    ------
    UsageError
        When it is not set, empty, or holds what no header may carry.
    """
    value = os.environ.get(name)
    if value is None:
        raise UsageError(f"the environment variable {name} is not set")
    return _checked_key(value, f"the environment variable {name}")


def read_key_file(path: Path | str) -> Secret:
    """Read a key from a regular file that only its owner may read.

    Raises
    ------
    UsageError
        When the file is missing, not the user's own, readable by others, or holds no key.
    """
    where = f"the key file {path}"
    try:
        # Not blocking, so that a pipe in the file's place cannot hang the run.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise UsageError(f"{where} cannot be read: {os.strerror(error.errno or 0)}") from None
    try:
        _check_private(os.fstat(handle), where, path)
        raw = os.read(handle, _MAX_KEY_BYTES + 1)
    finally:
        os.close(handle)
    try:
        return _checked_key(raw.decode("utf-8-sig"), where)
    except UnicodeDecodeError:
        raise UsageError(f"{where} is not text") from None


def _check_private(about: os.stat_result, where: str, path: Path | str) -> None:
    if not stat.S_ISREG(about.st_mode):
        raise UsageError(f"{where} is not a regular file")
    if about.st_uid != os.geteuid():
        raise UsageError(f"{where} belongs to another user")
    if about.st_mode & 0o177:
        raise UsageError(f"{where} is open to others: run chmod 600 {path}")


def _checked_key(value: str, where: str) -> Secret:
    key = value.strip()
    if not key:
        raise UsageError(f"{where} holds no key")
    if len(key) > _MAX_KEY_BYTES:
        raise UsageError(f"{where} holds more than {_MAX_KEY_BYTES} bytes, which no key has")
    if not all(33 <= ord(character) <= 126 for character in key):
        raise UsageError(
            f"{where} holds a space, line break or other character that no key may have"
        )
    return Secret(key)


# ---------------------------------------------------------------- URLs


def check_url(url: str, secrets: Iterable[Secret] = ()) -> str:
    """Check a base URL and give it without its trailing slash.

    URLs are shown and kept, so none of ``secrets`` may stand in the path.

    Raises
    ------
    EndpointError
        When it is not an http(s) base that ends in ``/v1``; the message names the right one
        where it can be told, and never credentials or a query.
    """
    path = url.partition("://")[2].partition("/")[2]
    if Masker(secrets).text(path) != path:
        raise EndpointError(
            "the URL's path holds the key itself, or the value of a secret header; URLs are shown "
            "and kept: leave it out of the path"
        )
    parts = _split(url.strip())
    # Errors show the URL without what may be secret in it.
    host = parts.netloc.rpartition("@")[2].lower()
    path = parts.path.rstrip("/")
    shown = f"{parts.scheme}://{host}{path}"
    if "@" in parts.netloc:
        raise EndpointError(f"{shown}: leave credentials out of the URL and give a key instead")
    if parts.query or parts.fragment:
        raise EndpointError(f"{shown}: a base URL has no query or fragment")
    if called := _API_PATH.fullmatch(path):
        base = f"{parts.scheme}://{host}{called[1]}"
        raise EndpointError(f"{shown} is one call of the API; its base is {base}")
    if not path.endswith("/v1"):
        raise EndpointError(f"{shown}: a base URL ends in /v1, is {shown}/v1 meant?")
    return shown


def _split(url: str) -> SplitResult:
    if any(character.isspace() or not character.isprintable() for character in url):
        raise EndpointError("the URL holds a space or a control character")
    # What stands before an @ or after a ? may be secret, even where the rest is no URL.
    shown = f"…{url.rpartition('@')[2].partition('?')[0]}" if "@" in url else url.partition("?")[0]
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise EndpointError(f"{shown} is not a URL") from None
    if parts.scheme not in {"http", "https"}:
        raise EndpointError(f"{shown}: a URL starts with http:// or https://")
    if not parts.hostname or port == 0:
        raise EndpointError(f"{shown}: the URL names no host and port")
    return parts


def origin(url: str) -> tuple[str, str, int]:
    """Give scheme, host and port, which must all be equal for a key to be sent."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return parts.scheme, parts.hostname or "", port
