"""Where a redirect leads, and whether it may be followed with a key."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

from denv.client.secrets import origin
from denv.records import Exchange, Fault, FaultKind

STATUSES = frozenset({301, 302, 303, 307, 308})
_CALLS = ("/chat/completions", "/models")


def target_of(exchange: Exchange, url: str) -> str | None:
    """Give the absolute URL that a redirect names, "" where it names none, None for no redirect."""
    if exchange.status not in STATUSES:
        return None
    location = dict(exchange.headers).get("location", "")
    try:
        target = urljoin(url, location) if location else ""
        origin(target)
    except ValueError:
        return ""
    return target


def may_follow(status: int | None, target: str, url: str) -> bool:
    """Allow only what keeps the method, the scheme, the host and the port."""
    return status in {307, 308} and bool(target) and origin(target) == origin(url)


def fault_of(status: int | None, target: str) -> Fault:
    """Name the target without credentials and query, and the base URL to use instead."""
    if not target:
        return Fault(FaultKind.REDIRECT, f"a redirect ({status}) that does not say where to")
    parts = urlsplit(target)
    text = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    shown = "".join(c if c.isprintable() else "?" for c in text[:300])
    message = f"redirects ({status}) to {shown}"
    for call in _CALLS:
        base = shown.rstrip("/").removesuffix(call)
        if base.endswith("/v1"):
            message += f"; the URL to use is {base}"
            break
    return Fault(FaultKind.REDIRECT, message)
