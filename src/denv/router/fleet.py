"""The replicas of the present table, and which of them is asked next."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from denv import permits
from denv.client import check_url
from denv.errors import EndpointError
from denv.rollout.weights import Table, Weight, WeightsError
from denv.router.rebuild import Target
from denv.router.shares import Share, pick

MOST_VERSION = 2**53
"""Beyond it metrics would show another number."""


class Replica:
    """A row of the table, what is known of its health, and how much it is doing."""

    __slots__ = ("failed", "healthy", "in_flight", "name", "passed", "share", "target", "weight")

    def __init__(self, row: Weight, target: Target) -> None:
        self.name = row.replica
        self.weight = row.weight
        self.share = Share(row.weight)
        self.target = target
        self.in_flight = 0
        self.healthy = True
        self.failed = 0
        """Connections or checks that failed one after the other."""
        self.passed = 0
        """Checks that passed one after the other, while it is out."""


class Fleet:
    """All replicas of one stage; a new table takes effect with the next choice.

    ``most`` is how many requests a replica is given at once.
    """

    def __init__(self, *, most: int, target: Callable[[str], Target]) -> None:
        self.most = most
        self._target = target
        self._weighted: tuple[Replica, ...] = ()
        self._named: dict[str, Replica] = {}

    @property
    def replicas(self) -> Sequence[Replica]:
        """All of the table, those of weight 0 too."""
        return tuple(self._named.values())

    def use(self, table: Table) -> None:
        """Take a checked table's rows; a replica of the same name and URL stays who it is."""
        named: dict[str, Replica] = {}
        for row in table.weights:
            known = self._named.get(row.replica)
            if known is None or known.target.url != row.url:
                known = Replica(row, self._target(row.url))
            known.weight, known.share = row.weight, Share(row.weight)
            named[row.replica] = known
        self._named = named
        self._weighted = tuple(one for one in named.values() if one.share.units)

    def named(self, name: str) -> Replica | None:
        """Give the replica of a name, or None."""
        return self._named.get(name)

    def could(self, *, only: str | None = None, avoid: Collection[Replica] = ()) -> bool:
        """Tell whether there is a healthy replica for a request, free or not."""
        if only is not None:
            named = self._named.get(only)
            return named is not None and named.healthy
        return any(one.healthy and one not in avoid for one in self._weighted)

    def choose(self, *, only: str | None = None, avoid: Collection[Replica] = ()) -> Replica | None:
        """Choose a healthy replica that has a place free, and count the request as its own."""
        if only is not None:
            chosen = self._named.get(only)
            if chosen is None or not chosen.healthy or chosen.in_flight >= self.most:
                return None
        else:
            most = self.most
            free = [
                one
                for one in self._weighted
                if one.healthy and one.in_flight < most and one not in avoid
            ]
            if not free:
                return None
            chosen = free[pick([one.share for one in free])]
        chosen.in_flight += 1
        return chosen


def check_table(table: Table) -> None:
    """Refuse a table that requests cannot be spread by.

    Raises
    ------
    WeightsError
        Its version is beyond measure; a name is none or stands twice, a weight is not from 0 to
        1, or an URL is no base.
    """
    if not 0 <= table.version <= MOST_VERSION:
        raise WeightsError(f"the version is not from 0 to {MOST_VERSION}")
    seen: set[str] = set()
    for row in table.weights:
        try:
            permits.check_name(row.replica)
        except permits.PermitError as error:
            raise WeightsError(str(error)) from None
        if row.replica in seen:
            raise WeightsError(f"the replica {row.replica!r} stands twice")
        seen.add(row.replica)
        if not 0 <= row.weight <= 1:
            raise WeightsError(f"the weight of {row.replica!r} is not from 0 to 1")
        try:
            url = check_url(row.url)
        except EndpointError as error:
            raise WeightsError(f"the replica {row.replica!r}: {error}") from None
        if url != row.url.rstrip("/"):
            raise WeightsError(f"the URL of {row.replica!r} must be written {url}")
