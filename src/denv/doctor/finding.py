"""What was looked at, how it is, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum


class Level(StrEnum):
    """How a thing is, from well to what stops work."""

    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    FAULT = "fault"


class Area(StrEnum):
    """What kind of thing was looked at, in the order in which one depends on the other."""

    INSTALLED = "installed"
    MACHINE = "machine"
    DATA = "data"
    ENGINE = "engine"
    RELEASE = "release"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing; ``advice`` is what to do, which each warning and each fault has."""

    name: str
    level: Level
    text: str
    advice: str | None = None


def ok(name: str, text: str) -> Finding:
    """Say that a thing is well."""
    return Finding(name, Level.OK, text)


def note(name: str, text: str, advice: str | None = None) -> Finding:
    """Say what is good to know, and wrong for nobody."""
    return Finding(name, Level.NOTE, text, advice)


def warning(name: str, text: str, advice: str) -> Finding:
    """Say what will be in the way of some."""
    return Finding(name, Level.WARNING, text, advice)


def fault(name: str, text: str, advice: str) -> Finding:
    """Say what does not work."""
    return Finding(name, Level.FAULT, text, advice)


def softened(finding: Finding) -> Finding:
    """Make a fault a note: here it may well be so."""
    return replace(finding, level=Level.NOTE) if finding.level is Level.FAULT else finding
