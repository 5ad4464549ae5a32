"""Which one comes next, so that each gets its share of every stretch of choices. Pure.

The rule is Tijdeman's for the chairman assignment problem (Discrete Mathematics 32, 1980, 323-330):
of those that are not yet ahead of their share, the one comes next that would be behind it first.
After any number of choices among the same ``n``, each has been chosen as often as its exact share
says, but for ``1 - 1 / (2n - 2)`` at the most.
"""

from __future__ import annotations

from collections.abc import Sequence

UNITS = 10**9
"""A weight of 1; finer differences are not told apart."""


class Share:
    """One that can be chosen: its weight in units, and how far it is behind its share."""

    __slots__ = ("behind", "units")

    def __init__(self, weight: float) -> None:
        self.units = round(weight * UNITS)
        self.behind = 0.0
        """In choices; below 0 where it is ahead."""


def pick(shares: Sequence[Share]) -> int:
    """Choose one of some, each of a weight above 0, and note it; give its place."""
    if len(shares) == 1:
        return 0
    total = sum(share.units for share in shares)
    least = 1 / (2 * len(shares) - 2)
    chosen, soonest = -1, float("inf")
    for place, share in enumerate(shares):
        share.behind += share.units / total
        if share.behind >= least:
            due = (1 - least - share.behind) / share.units
            if due < soonest:
                chosen, soonest = place, due
    if chosen < 0:
        # Those that were left out for a while have all the rest: whoever is behind most.
        chosen = max(range(len(shares)), key=lambda place: shares[place].behind)
    shares[chosen].behind -= 1.0
    return chosen
