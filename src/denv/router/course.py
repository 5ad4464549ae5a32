"""How far one request has come: what is measured of it, and said of it at its end."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from denv.permits import Permit
from denv.router.clients import Client
from denv.router.fleet import Replica
from denv.router.routes import Route

OTHER = "other"
"""The route, in metrics, of what is none."""


def new_request_id() -> str:
    """Make an id of the one form that replicas see."""
    return os.urandom(16).hex()


@dataclass(slots=True)
class Course:
    """One request; ``replica`` is the one whose place it has, while it has one."""

    began: float
    request_id: str = field(default_factory=new_request_id)
    route: Route | None = None
    client: Client | None = None
    entered: bool = False
    """Whether the request counts among its client's."""
    permit: Permit | None = None
    replica: Replica | None = None
    attempts: int = 0
    waited_s: float = 0.0
    """Of the time so far, what was spent on the caller's body and on a place."""
    status: int = 0
    """The status that the caller got; 0 where it went away before."""
    cut: str | None = None
    """Why the answer did not come to its end."""

    @property
    def route_name(self) -> str:
        """The route as metrics name it."""
        return OTHER if self.route is None else self.route.name

    @property
    def replica_name(self) -> str:
        """The replica as metrics name it; empty where none was reached."""
        return "" if self.replica is None else self.replica.name
