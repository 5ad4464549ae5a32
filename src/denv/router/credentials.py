"""Keys towards replicas: one reaches only the hosts that it was given for. Pure."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

_HOST = re.compile(r"(?P<host>\[[^\]\s]+\]|[^@?#:\s]+)(?::(?P<port>[0-9]{1,5}))?")
_MOST_PORT = 65535


@dataclass(frozen=True, slots=True)
class HostRule:
    """A scheme, host and port; the host is a name, ``*.`` and a domain, or a network."""

    scheme: str
    host: str
    port: int

    def matches(self, url: str) -> bool:
        """Tell whether an URL is of such a host; names are never resolved."""
        parts = urlsplit(url)
        if (parts.scheme, _port(parts.scheme, parts.port)) != (self.scheme, self.port):
            return False
        host = parts.hostname or ""
        if self.host.startswith("*."):
            return host.endswith(self.host[1:]) and host != self.host[1:]
        if "/" in self.host:
            return _in_network(host, self.host)
        return host == self.host


def parse_host(text: str) -> HostRule:
    """Read ``http://10.0.0.8:8000``, ``https://*.pods.example.com`` or ``http://10.0.0.0/24:80``.

    Raises
    ------
    ValueError
        It is none of these.
    """
    scheme, _, rest = text.partition("://")
    found = _HOST.fullmatch(rest)
    host, port = (found["host"], int(found["port"] or 0)) if found else ("", 0)
    if scheme not in {"http", "https"} or not host or port > _MOST_PORT:
        raise ValueError("must be written as http://HOST:PORT, with *.DOMAIN or a network as HOST")
    bare = host.strip("[]").lower()
    if "/" in bare:
        try:
            ipaddress.ip_network(bare)
        except ValueError:
            raise ValueError(f"{bare} is no network, and a host has no path") from None
    elif "*" in bare.removeprefix("*.") or not bare.removeprefix("*."):
        raise ValueError("a * can only stand for the first parts of a name, as in *.example.com")
    return HostRule(scheme, bare, _port(scheme, port))


def _port(scheme: str, port: int | None) -> int:
    return port or (443 if scheme == "https" else 80)


def _in_network(host: str, network: str) -> bool:
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(network)
    except ValueError:
        return False
