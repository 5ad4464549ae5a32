"""What a run was asked for: a verdict about its stage, or a part of what a rollout asks."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

OPTION = "purpose"
"""The option of a run that says it where what is asked does not."""


class Purpose(StrEnum):
    """What a run was asked for."""

    PARITY = "parity"
    """All of a suite: its verdict is one about the stage."""
    LOOK = "look"
    """Some cases that were drawn, as while a release bakes."""
    GOLDEN = "golden"
    """The golden prompts, of one replica."""


def purpose_of(settings: Mapping[str, Any]) -> Purpose:
    """Tell what a run is asked for by its settings."""
    if (settings.get("options") or {}).get(OPTION) == Purpose.GOLDEN:
        return Purpose.GOLDEN
    return Purpose.LOOK if "only" in (settings.get("identity") or {}) else Purpose.PARITY
