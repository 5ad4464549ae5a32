"""Commands that a release names: argument lists, never a shell's line."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Annotated

from pydantic import AfterValidator, Field

from denv.release.fields import Section, SomeTime

PLACEHOLDERS = ("replica", "url", "release")
"""What ``{…}`` in an argument or in the environment stands for when replicas are deployed."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_SECRET = re.compile(r"(?i)(^|_)(key|token|secret|password|passwd)$")
_BRACED = re.compile(r"\{([A-Za-z_-]{1,20})\}")


def _arguments(value: tuple[str, ...]) -> tuple[str, ...]:
    if not value or not value[0].strip():
        raise ValueError("must be a list that begins with a program: [systemctl, start, llm]")
    if any("\0" in argument for argument in value):
        raise ValueError("must not hold a NUL character")
    return value


def _variables(value: dict[str, str]) -> dict[str, str]:
    for name, content in value.items():
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name[:40]!r} is no name of an environment variable")
        if _SECRET.search(name):
            raise ValueError(
                f"{name} looks like a secret, which has no place in a file: set it where denv "
                "runs, and the command inherits it"
            )
        if "\0" in content:
            raise ValueError(f"{name} holds a NUL character")
    return value


def _placeholders(value: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse what looks like a slip of a placeholder; other braces stay what they are."""
    for written in (name for argument in value for name in _BRACED.findall(argument)):
        near = get_close_matches(written.lower(), PLACEHOLDERS, n=1, cutoff=0.75)
        if near and written != near[0]:
            raise ValueError(f"{{{written}}} is not replaced; is {{{near[0]}}} meant?")
    return value


Arguments = Annotated[
    tuple[str, ...], Field(strict=False, min_length=1), AfterValidator(_arguments)
]
Variables = Annotated[dict[str, str], AfterValidator(_variables)]


class Command(Section):
    """A program with its arguments, what is added to its environment, and how long it may take."""

    run: Arguments
    environment: Variables = Field(default_factory=dict)
    timeout: SomeTime = 30.0


class DeployCommand(Section):
    """A command that is run once for each replica, its placeholders filled in."""

    run: Annotated[Arguments, AfterValidator(_placeholders)]
    environment: Variables = Field(default_factory=dict)
    timeout: SomeTime = 300.0
