"""The lab's Alertmanager with a webhook receiver of the test's own."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import yaml

from denv.lab import alertmanager as lab

GROUP_INTERVAL_S = 0.4


@asynccontextmanager
async def alertmanager(webhook: str) -> AsyncIterator[str]:
    """Run an Alertmanager that tells ``webhook`` of everything; gives its root URL.

    Alerts are grouped by all labels; a group is told at once, and again after a second.
    """
    program = shutil.which(lab.PROGRAM)
    if program is None:
        missing = f"{lab.PROGRAM} is missing: apt-get install {lab.PROGRAM}"
        if os.environ.get("DENV_ALL_TESTS"):
            pytest.fail(missing)
        pytest.skip(missing)
    configuration = {
        "route": {
            "receiver": "hook",
            "group_by": ["..."],
            "group_wait": "100ms",
            "group_interval": f"{GROUP_INTERVAL_S * 1000:.0f}ms",
            "repeat_interval": "1h",
        },
        "receivers": [
            {"name": "hook", "webhook_configs": [{"url": webhook, "send_resolved": True}]}
        ],
    }
    async with lab.alertmanager(program, configuration=yaml.safe_dump(configuration)) as url:
        yield url
