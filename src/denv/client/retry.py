"""When to ask again: pure arithmetic of waits.

Retry libraries give each call its own loop. Here a server's ``Retry-After`` must hold back every
worker of the endpoint, a refused field is asked again without counting, and each attempt is
recorded with what was waited: the loop is the endpoint's, and only the waits are here.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Protocol

BASE_S = 0.5
MAX_BACKOFF_S = 30.0
MAX_RETRY_AFTER_S = 60.0

_SECONDS = re.compile(r"[0-9]+(\.[0-9]+)?")


class Rng(Protocol):
    """A source of uniform numbers in [0, 1)."""

    def random(self) -> float:
        """Give the next one."""
        ...


def backoff(attempt: int, rng: Rng) -> float:
    """Give the seconds to wait after try number ``attempt`` (from 0): full jitter, capped."""
    ceiling = MAX_BACKOFF_S if attempt > 10 else min(MAX_BACKOFF_S, BASE_S * 2.0**attempt)
    return rng.random() * ceiling


def asked_wait(value: str | None, *, now: float) -> float | None:
    """Read a ``Retry-After`` header: seconds from ``now`` (Unix time), None where it says nothing.

    RFC 9110 (10.2.3) allows whole seconds or an HTTP date; fractions are sent as well. A past
    date is 0, a negative number or junk is None.
    """
    text = (value or "").strip()
    if _SECONDS.fullmatch(text):
        return float(text)
    if not text or text.startswith("-"):
        return None
    try:
        then = parsedate_to_datetime(text)
        if then.tzinfo is None:
            then = then.replace(tzinfo=UTC)
        return max(0.0, (then - datetime.fromtimestamp(now, UTC)).total_seconds())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def retry_after(value: str | None, *, now: float) -> float | None:
    """Give the seconds that a ``Retry-After`` header asks for, capped at 60; None is backoff."""
    asked = asked_wait(value, now=now)
    return None if asked is None else min(asked, MAX_RETRY_AFTER_S)


def capped_note(asked_s: float | None) -> str:
    """Say that a server asked for more than is waited, "" where it did not."""
    if asked_s is None or asked_s <= MAX_RETRY_AFTER_S:
        return ""
    return f" (asked to wait {asked_s:.0f} s, waited {MAX_RETRY_AFTER_S:.0f} s)"
