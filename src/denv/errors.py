"""The exceptions that leave the package.

::

    DenvError
    ├── UsageError              exit 2: what was asked for cannot be done as asked
    │   ├── SuiteError          a suite's lines, each with file, line and field
    │   ├── ReleaseError        a release's YAML, with line and key
    │   ├── EndpointError       an URL, key or model that a side will not take
    │   ├── ResumeError         a run that cannot be continued with these settings
    │   ├── ActiveRolloutError  a stage that has a rollout already
    │   ├── OverrideError       a failed proof that cannot be overridden as asked
    │   └── ScheduleExistsError a schedule's name that is taken
    ├── HarnessError            exit 4: the harness itself could not run
    │   ├── SelfCheckError      the instruments do not read their known cases right
    │   ├── DeliveryError       an alarm that a sink did not take
    │   └── StoreError          the data folder cannot be read or written
    │       ├── DamagedError        data that can be opened, and not all of it read
    │       ├── AlteredError        a kept report that is not the one in the log of runs
    │       └── StepConflictError   a rollout's log that has another decision there
    ├── RolloutRefusedError     exit 1: a stage that must first be taken back
    ├── RolloutSupersededError  exit 130: a rollout that gave way before it began
    └── RunCancelledError       exit 130: interrupted, with what is known kept

Faults of the endpoints under test are never exceptions out of a run: they are fields of an
Exchange and an Observation.
"""

from __future__ import annotations

from collections.abc import Sequence


class DenvError(Exception):
    """Base of every error that the package raises on purpose."""

    exit_code = 4


class UsageError(DenvError):
    """The request cannot be carried out as it was made; nothing was sent."""

    exit_code = 2


class SuiteError(UsageError):
    """One or more lines of a suite are wrong.

    ``problems`` holds one ready sentence a fault, ``file:line: field: what``, 20 at the
    most; where there are more, a last one says how many.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


class ReleaseError(UsageError):
    """A release file is wrong; the message names file, line and key."""


class EndpointError(UsageError):
    """A side will not take what it was given: URL, key, model, redirect, not an API."""


class ResumeError(UsageError):
    """The run to be continued does not exist, or its suite or settings have changed."""


class ActiveRolloutError(UsageError):
    """The stage has a rollout that has not ended."""


class OverrideError(UsageError):
    """The proof has not failed, or may be tried once more already."""


class ScheduleExistsError(UsageError):
    """Another schedule has this name."""


class HarnessError(DenvError):
    """The harness itself could not run."""


class SelfCheckError(HarnessError):
    """The instruments do not read their known cases right, so no run is started."""


class DeliveryError(HarnessError):
    """A sink did not take an alarm; the message says why and holds no secret."""


class StoreError(HarnessError):
    """The data folder cannot be read or written."""


class DamagedError(StoreError):
    """The data can be opened, and some of their pages hold no data."""


class AlteredError(StoreError):
    """A run's kept report, or the log of runs, is not as it was written."""


class StepConflictError(StoreError):
    """A rollout's log has another decision at this place, lacks the one before, or is closed."""


class RolloutRefusedError(DenvError):
    """A rollout may not begin: its stage may still send traffic to a failed release."""

    exit_code = 1


class RolloutSupersededError(DenvError):
    """A rollout gave way to a newer one before it began; nothing was changed for it."""

    exit_code = 130


class RunCancelledError(DenvError):
    """The run was interrupted; what was answered is journaled."""

    exit_code = 130
