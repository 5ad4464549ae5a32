"""By which names callers may reach pages that ask for no token.

A web page of anybody's can have its own name resolve to 127.0.0.1, and its visitor's browser then
sends requests here as if to that page. Such a request bears the page's name in ``Host``.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

HOST_AND_PORT = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s:@/\[\]]+)(:[0-9]*)?")

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address that is listened on."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def allowed_hosts(host: str, more: Iterable[str] = (), *, open_to_all: bool) -> frozenset[str]:
    """Give the names that ``Host`` may have; none where any may.

    ``host`` is the address that is listened on and ``more`` are names besides. ``open_to_all``
    says that callers must show a token, so that their name matters only where ``more`` is given.
    """
    named = {_plain(each) for each in more}
    if open_to_all and not named:
        return frozenset()
    return LOOPBACK | {_plain(host)} | named


def host_of(header: str) -> str:
    """Give the name in a ``Host`` header, without its port; none where it is no host and port."""
    found = HOST_AND_PORT.fullmatch(header.strip())
    return "" if found is None else _plain(found["host"])


def _plain(name: str) -> str:
    return name.strip().strip("[]").rstrip(".").lower()
