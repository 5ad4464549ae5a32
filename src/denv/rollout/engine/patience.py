"""After how long a process that is not heard of counts as dead."""

from __future__ import annotations

import os

from denv.errors import UsageError
from denv.rollout.engine.messages import HEARTBEAT_S


def heartbeat_s() -> float:
    """Give after how long a silent process counts as dead; ``DENV_HEARTBEAT_S`` changes it."""
    written = os.environ.get("DENV_HEARTBEAT_S", "")
    try:
        value = float(written) if written else HEARTBEAT_S
    except ValueError:
        value = 0.0
    if not 0.5 <= value <= 600:
        raise UsageError("DENV_HEARTBEAT_S must be a number of seconds from 0.5 to 600")
    return value
