"""The seam: one call in, one exchange out; HTTP, a replay cache and tests stand behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from denv.records import Exchange, Timeouts

MAX_BYTES = 32 * 1024 * 1024
"""The most bytes of a body, after decompression, that are read."""


@dataclass(frozen=True, slots=True)
class HttpCall:
    """One HTTP request as it goes out. Headers carry the key, so ``repr`` leaves them out."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)
    timeouts: Timeouts = field(default_factory=Timeouts)
    streamed: bool = False
    max_bytes: int = MAX_BYTES


class Transport(Protocol):
    """Sends a call. Faults are fields of the exchange; only cancellation is raised."""

    async def send(self, call: HttpCall) -> Exchange:
        """Send one call, once, and give what came of it. Redirects are not followed."""
        ...

    async def close(self) -> None:
        """Give connections back; safe to call twice."""
        ...
