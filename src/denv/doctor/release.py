"""A release as it would be used: its files, its keys, its servers, its commands, its alarms."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from denv.alarms.posting import secret_headers, secret_of
from denv.doctor.finding import Finding, fault, note, ok, softened
from denv.doctor.reaching import Address, examine_address
from denv.errors import DeliveryError, SuiteError, UsageError
from denv.recipes import finding as recipes
from denv.records import Secret
from denv.release import (
    AlarmCommand,
    Alertmanager,
    Apprise,
    CloudEvents,
    PagerDuty,
    Release,
    Sink,
    load_release,
)
from denv.rollout.sides import KeyName, PlannedSide, replicas_of, side_of
from denv.suite import load_suite

SET = "set the variable where denv runs"


@dataclass(frozen=True, slots=True)
class Read:
    """A release that could be read, or why it could not be."""

    release: Release | None
    finding: Finding


def read_release(path: Path) -> Read:
    """Read a release's file."""
    try:
        release = load_release(path)
    except UsageError as error:
        return Read(None, fault("release", str(error), "correct the lines that are named"))
    return Read(release, ok("release", f"{release.name}, {path}"))


def variables_of(release: Release) -> frozenset[str]:
    """Name all variables that a release takes a secret from."""
    stage = side_of(release, release.stage)
    keys = [*stage.keys, *(replica.key for replica in replicas_of(release, stage))]
    if release.parity.reference is not None:
        keys += side_of(release, release.parity.reference).keys
    weights = release.rollout.weights
    sections = [*release.alarms, weights.webhook if weights else None]
    named = {key.env for key in keys if key.env}
    for section in sections:
        for field in ("secret_env", "routing_key_env", "url_env"):
            named.add(getattr(section, field, None) or "")
        named.update(getattr(section, "headers_env", {}).values())
    return frozenset(named - {""})


def secrets_of(release: Release) -> tuple[Secret, ...]:
    """Give all that nothing may show: what the named variables and key files hold."""
    values = [Secret(os.environ[name]) for name in variables_of(release) if os.environ.get(name)]
    for _, key in _keys(release):
        try:
            secret = key.read()
        except UsageError:
            continue  # told as a fault of its own
        if secret is not None:
            values.append(secret)
    return tuple(values)


async def examine_release(release: Release) -> AsyncIterator[Finding]:
    """Look at all that a release names; nothing is sent but requests for lists of models."""
    for finding in _files(release):
        yield finding
    for name, key in _keys(release):
        yield _key(name, key)
    for address, late in _addresses(release):
        async for finding in examine_address(address):
            yield softened(finding) if late else finding
    for finding in _commands(release):
        yield finding
    for number, sink in enumerate(release.alarms, 1):
        yield _sink(f"alarm {number} ({sink.kind})", sink)


# ---------------------------------------------------------------- files


def _files(release: Release) -> Iterator[Finding]:
    suites = {"suite": release.suite, "private part": release.private}
    if release.rollout.golden is not None:
        suites["golden prompts"] = release.resolve(release.rollout.golden)
    for name, path in suites.items():
        if path is not None:
            yield _suite(name, path)
    if release.recipe is not None:
        yield _recipe(release, release.recipe)
    elif release.suite is None:
        yield fault("suite", "neither a suite nor a recipe is named", "name one in the release")


def _suite(name: str, path: Path) -> Finding:
    try:
        suite = load_suite(path)
    except (SuiteError, UsageError) as error:
        return fault(name, str(error), "correct what is named; denv parity check tells all of it")
    return ok(name, f"{suite.cases:,} cases in {path}")


def _recipe(release: Release, written: str) -> Finding:
    try:
        recipe = recipes.load(written, beside=release.path.parent)
    except UsageError as error:
        return fault("recipe", str(error), "denv recipe list names those that there are")
    return ok("recipe", f"{recipe.name} is known")


# ---------------------------------------------------------------- keys and servers


def _keys(release: Release) -> list[tuple[str, KeyName]]:
    stage = side_of(release, release.stage)
    keys = [("stage's key", stage.key)]
    if stage.router is not None:
        keys.append(("router's permits", stage.router))
    if release.parity.reference is not None:
        keys.append(("reference's key", side_of(release, release.parity.reference).key))
    known = {key for _, key in keys}
    keys += [
        (f"replica {replica.name}'s key", replica.key)
        for replica in replicas_of(release, stage)
        if replica.key not in known
    ]
    return [(name, key) for name, key in keys if key != KeyName()]


def _key(name: str, key: KeyName) -> Finding:
    where = f"${key.env}" if key.env else key.file
    try:
        key.read()
    except UsageError as error:
        return fault(name, str(error), SET if key.env else "a file of its owner's alone, mode 600")
    return ok(name, f"{where} holds one")


def _addresses(release: Release) -> list[tuple[Address, bool]]:
    """Give each server, and whether it may well be down now, since the rollout starts it."""
    stage = side_of(release, release.stage)
    found = [(_address("stage", stage), False)]
    if release.parity.reference is not None:
        found.append((_address("reference", side_of(release, release.parity.reference)), False))
    started = release.rollout.deploy is not None
    for replica in replicas_of(release, stage) if release.rollout.replicas else ():
        address = Address(
            f"replica {replica.name}", replica.url, _readable(replica.key), model=stage.model
        )
        found.append((address, started or replica.batch > 1))
    return found


def _address(name: str, side: PlannedSide) -> Address:
    return Address(name, side.url, _readable(side.key), side.headers, side.model)


def _readable(key: KeyName) -> Secret | None:
    try:
        return key.read()
    except UsageError:
        return None  # told as a fault of its own


# ---------------------------------------------------------------- commands and alarms


def _commands(release: Release) -> Iterator[Finding]:
    deploy = release.rollout.deploy
    for name in ("start", "stop") if deploy is not None else ():
        yield _program(f"deploy {name}", getattr(deploy, name).run[0], release.path.parent)


def _program(name: str, program: str, folder: Path) -> Finding:
    """Find a program as a rollout does, which runs it in the release's folder."""
    path = str(folder / program) if os.sep in program else program
    found = shutil.which(path)
    if found is None:
        advice = "install it, or write its whole path; what holds a placeholder is not looked for"
        if "{" in program:
            return note(name, f"{program} is known when it is run", advice)
        return fault(name, f"there is no program {program}", advice)
    return ok(name, found)


def _sink(name: str, sink: Sink) -> Finding:
    """See that all is there that a sink needs; nothing is sent to it."""
    try:
        match sink:
            case Alertmanager():
                secret_headers(sink.headers_env)
            case PagerDuty():
                secret_of(sink.routing_key_env)
            case CloudEvents():
                secret_of(sink.secret_env)
                secret_headers(sink.headers_env)
            case Apprise():
                secret_of(sink.url_env)
                if find_spec("apprise") is None:
                    advice = "pip install 'denv-parity[alarms]'"
                    return fault(name, "apprise is not installed", advice)
            case AlarmCommand():
                return _program(name, sink.run[0], Path())
    except DeliveryError as error:
        return fault(name, str(error), SET)
    return ok(name, "complete; denv alarm test sends it a marked test")
