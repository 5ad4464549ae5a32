"""How activities are tried again: as long as it takes, or until the work counts as not done."""

from __future__ import annotations

from datetime import timedelta

from temporalio.common import RetryPolicy

PATIENT = RetryPolicy(
    initial_interval=timedelta(seconds=0.5), maximum_interval=timedelta(seconds=15)
)
FIRM = RetryPolicy(
    initial_interval=timedelta(seconds=1),
    maximum_interval=timedelta(seconds=15),
    maximum_attempts=8,
)
