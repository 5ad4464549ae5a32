"""Releases: what is rolled out and held to which parity, from YAML to frozen settings.

``load_release`` reads a file; the ``parse_…`` functions read the quantities that releases and
command lines share.
"""

from denv.release.loading import load_release, load_settings
from denv.release.quantities import parse_duration, parse_rate, parse_share, parse_thresholds
from denv.release.settings import (
    CARRIES_A_KEY,
    HEADER_NAME,
    Engine,
    Line,
    Parity,
    Rates,
    Reference,
    Release,
    ReleaseSettings,
    Section,
    Stage,
    release_schema,
)

__all__ = [
    "CARRIES_A_KEY",
    "HEADER_NAME",
    "Engine",
    "Line",
    "Parity",
    "Rates",
    "Reference",
    "Release",
    "ReleaseSettings",
    "Section",
    "Stage",
    "load_release",
    "load_settings",
    "parse_duration",
    "parse_rate",
    "parse_share",
    "parse_thresholds",
    "release_schema",
]
