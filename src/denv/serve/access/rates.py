"""How often anybody may ask: counted in memory, for no more callers than there is room for."""

from __future__ import annotations

import ipaddress
import math
import time
from dataclasses import dataclass, field

from limits import RateLimitItem, RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import FixedWindowRateLimiter

SIGN_INS = RateLimitItemPerMinute(10, namespace="sign-in")
STRANGERS = RateLimitItemPerMinute(120, namespace="stranger")
REQUESTS = RateLimitItemPerMinute(1200, namespace="caller")

MOST_COUNTED = 10_000
_ALL_OTHERS = "others"


@dataclass
class Rates:
    """Counts what was asked in each minute."""

    most: int = MOST_COUNTED
    _storage: MemoryStorage = field(default_factory=MemoryStorage)

    def __post_init__(self) -> None:
        self._limiter = FixedWindowRateLimiter(self._storage)

    async def count(self, limit: RateLimitItem, who: str) -> int | None:
        """Count a request; where it is one too many, give the seconds to wait."""
        key = self._key(limit, who)
        if await self._limiter.hit(limit, key):
            return None
        stats = await self._limiter.get_window_stats(limit, key)
        return max(1, math.ceil(stats.reset_time - time.time()))

    def _key(self, limit: RateLimitItem, who: str) -> str:
        """Name who is counted; those for whom there is no room are counted together."""
        known = limit.key_for(who) in self._storage.storage
        return who if known or len(self._storage.storage) < self.most else _ALL_OTHERS


def who_of(client: tuple[str, int] | None) -> str:
    """Name a client by its address; of IPv6 the network, as all in it may be one's own."""
    if client is None:
        return "unknown"
    try:
        address = ipaddress.ip_address(client[0].partition("%")[0])
    except ValueError:
        return client[0][:64]
    if address.version == 4:
        return str(address)
    return str(ipaddress.ip_network((address, 64), strict=False))
