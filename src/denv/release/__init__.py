"""Releases: what is rolled out and held to which parity, from YAML to frozen settings.

``load_release`` reads a file; the ``parse_…`` functions read the quantities that releases and
command lines share.
"""

from denv.release.alarms import (
    AlarmCommand,
    AlarmEntry,
    Alertmanager,
    Apprise,
    CloudEvents,
    PagerDuty,
    Sink,
)
from denv.release.commands import Command, DeployCommand
from denv.release.fields import (
    HEADER_NAME,
    Duration,
    EnvironmentName,
    Line,
    Rates,
    Section,
    Share,
    SomeTime,
    carries_a_key,
)
from denv.release.loading import load_release, load_settings
from denv.release.quantities import parse_duration, parse_rate, parse_share, parse_thresholds
from denv.release.rollout import (
    Backoff,
    Deploy,
    Health,
    Rollout,
    RolloutReplica,
    Webhook,
    Weights,
)
from denv.release.settings import (
    Engine,
    Parity,
    Reference,
    Release,
    ReleaseSettings,
    Router,
    SideSection,
    Stage,
    release_schema,
)
from denv.release.texts import NOT_REGULAR, is_special, read_text

__all__ = [
    "HEADER_NAME",
    "NOT_REGULAR",
    "AlarmCommand",
    "AlarmEntry",
    "Alertmanager",
    "Apprise",
    "Backoff",
    "CloudEvents",
    "Command",
    "Deploy",
    "DeployCommand",
    "Duration",
    "Engine",
    "EnvironmentName",
    "Health",
    "Line",
    "PagerDuty",
    "Parity",
    "Rates",
    "Reference",
    "Release",
    "ReleaseSettings",
    "Rollout",
    "RolloutReplica",
    "Router",
    "Section",
    "Share",
    "SideSection",
    "Sink",
    "SomeTime",
    "Stage",
    "Webhook",
    "Weights",
    "carries_a_key",
    "is_special",
    "load_release",
    "load_settings",
    "parse_duration",
    "parse_rate",
    "parse_share",
    "parse_thresholds",
    "read_text",
    "release_schema",
]
