"""What ``denv serve`` is asked for, and what it says when it is ready."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from denv.serve.app import PageSettings

if TYPE_CHECKING:  # pages alone are served without Temporal's client
    from denv.rollout.engine.connection import Connection


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """What is served; without ``temporal`` Temporal's own server is started beside the data.

    ``invites`` makes an address to sign in at once.
    """

    folder: Path
    pages: PageSettings
    temporal: Connection | None = None
    temporal_port: int = 0
    queue: str = "denv"
    invites: bool = False


@dataclass(frozen=True, slots=True)
class Ready:
    """What is served: the pages' address, Temporal's, and where whoever asks first signs in."""

    url: str
    temporal: str | None
    sign_in: str | None


OnReady = Callable[[Ready], None]
