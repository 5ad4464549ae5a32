"""Python, denv itself, and its extras: which are there, in which versions, and what is missing."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from denv.doctor.finding import Finding, fault, note, ok, warning
from denv.errors import UsageError
from denv.rollout.engine.extra import server_program

OWN = "denv-parity"

EXTRAS = {
    "alarms": "alarms to what apprise reaches (Slack, mail, Teams and more)",
    "deepseek": "DeepSeek's own encoding in denv adapter",
    "durable": "denv serve, rollouts, schedules and alarms",
    "export": "denv db export",
    "imports": "suites from other tools' packed logs",
    "lab": "the demo and denv lab",
    "postgres": "data in PostgreSQL",
    "serve": "the pages and the API of denv serve",
    "tracing": "traces of denv router",
}
"""What a user may want an extra for; those that only work on denv itself needs are left out."""


@dataclass(frozen=True, slots=True)
class Part:
    """A package that is needed: ``found`` is its version, None where it is missing."""

    name: str
    found: str | None
    fits: bool

    def __str__(self) -> str:
        return self.name if self.found is None else f"{self.name} {self.found}"


def examine_installed() -> Iterator[Finding]:
    """Look at what is installed."""
    yield ok("python", f"{platform.python_version()} ({platform.system()} {platform.machine()})")
    yield _own()
    for extra in EXTRAS:
        yield _extra(extra)


def _own() -> Finding:
    parts = _parts(requirements_of(None))
    told = f"denv-parity {version(OWN)}"
    if wrong := [part for part in parts if not part.fits]:
        return fault("denv", f"{told}: {_wrong(wrong)}", f"pip install --upgrade {OWN}")
    return ok("denv", f"{told}, its {len(parts)} packages are there")


def _extra(extra: str) -> Finding:
    name, install = f"extra {extra}", f"pip install '{OWN}[{extra}]'"
    requirements = requirements_of(extra)
    parts = _parts(requirements)
    if not parts:
        return ok(name, "needs nothing more with this Python")
    wrong = [part for part in parts if not part.fits]
    there = [part for part in parts if part.found is not None]
    if not there:
        return note(name, f"not installed: {', '.join(map(str, parts))}", _for(install, extra))
    if wrong:
        return warning(name, f"not whole: {_wrong(wrong)}", _for(install, extra))
    told = ", ".join(map(str, parts))
    if extra == "durable":
        try:
            told += f", Temporal's server at {server_program()}"
        except UsageError as error:
            return warning(name, str(error), _for(install, extra))
    return ok(name, told)


def _for(install: str, extra: str) -> str:
    return f"{install}, for {EXTRAS[extra]}"


def _wrong(parts: Sequence[Part]) -> str:
    missing = [part.name for part in parts if part.found is None]
    other = [str(part) for part in parts if part.found is not None]
    told = [f"missing: {', '.join(missing)}"] if missing else []
    if other:
        told.append(f"of a version that does not fit: {', '.join(other)}")
    return "; ".join(told)


def requirements_of(extra: str | None) -> list[Requirement]:
    """Give what denv needs with this Python: at all, or only for an extra.

    Extras that name others of denv stand for what these need.
    """
    found = []
    for requirement in map(Requirement, requires(OWN) or ()):
        marker = requirement.marker
        at_all = marker is None or marker.evaluate({"extra": ""})
        wanted = at_all if extra is None else not at_all and _needs(requirement, extra)
        if wanted and canonicalize_name(requirement.name) == OWN:
            found += [each for name in requirement.extras for each in requirements_of(name)]
        elif wanted:
            found.append(requirement)
    return found


def _needs(requirement: Requirement, extra: str) -> bool:
    return requirement.marker is not None and requirement.marker.evaluate({"extra": extra})


def _parts(requirements: Sequence[Requirement]) -> list[Part]:
    return [_part(requirement) for requirement in requirements]


def _part(requirement: Requirement) -> Part:
    try:
        found = version(requirement.name)
    except PackageNotFoundError:
        return Part(requirement.name, None, fits=False)
    fits = requirement.specifier.contains(found, prereleases=True)
    return Part(requirement.name, found, fits=fits)
