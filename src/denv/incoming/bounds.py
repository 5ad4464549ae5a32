"""How many callers may be connected, and how long a request's head may take."""

from __future__ import annotations

import resource
from dataclasses import dataclass

_EACH = 2
"""Files of a connection: the caller's, and one to whoever answers it."""

_OTHERS = 128


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of one listener; an idle connection is closed after another time."""

    connections: int
    head_s: float


def room_for(connections: int) -> int:
    """Give how many connections this process can have of as many as it may.

    Its limit of open files is raised as far as they need, and as the system allows.
    """
    needed = connections * _EACH + _OTHERS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return connections
    most = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
    return max(1, min(connections, (max(soft, most) - _OTHERS) // _EACH))
