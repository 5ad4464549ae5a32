"""Command line, release and recipe → what a run is to do. Flags win over the release."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from denv.cli.shaping import private_part
from denv.cli.sides import endpoint, read
from denv.errors import UsageError
from denv.recipes import Recipe, is_path
from denv.recipes import load as load_recipe
from denv.records import Endpoint, Kind, Side, Thresholds
from denv.release import (
    Release,
    SideSection,
    load_release,
    parse_duration,
    parse_share,
    parse_thresholds,
)
from denv.runner import Settings
from denv.verdict import effective_rates

NEVER_STORED = frozenset({"stage_header", "reference_header"})
"""Header values may be secrets: a resumed run must be given them again."""

NOT_A_SETTING = frozenset(
    {
        "resume",
        "json_file",
        "html_file",
        "junit_file",
        "markdown_file",
        "step_summary",
        "quiet",
        "store",
    }
)


@dataclass(frozen=True, slots=True)
class Plan:
    """A suite's path, both sides, and the settings of a run."""

    suite: Path
    stage: Endpoint
    reference: Endpoint
    settings: Settings


@dataclass(frozen=True, slots=True)
class Sources:
    """The options that hold, and what they name."""

    given: Mapping[str, Any]
    release: Release | None
    recipe: Recipe | None


def make_plan(
    given: Mapping[str, Any], *, stored: Mapping[str, Any] | None = None, offline: bool = False
) -> Plan:
    """Build a run's plan.

    ``given`` are the command line's options by their names; ``stored`` those of the run that is
    resumed, which hold where nothing else is given.

    Raises
    ------
    UsageError
        Names the option, or the release's line and key.
    """
    options = {**(stored or {}), **set_options(given)}
    # A stored run of a recipe holds the suite's path too.
    sources = sources_of(options, resumed=stored is not None)
    stage = endpoint(Side.STAGE, _router_options(sources) | _side_options(Side.STAGE, sources))
    reference = endpoint(Side.REFERENCE, _side_options(Side.REFERENCE, sources))
    return Plan(
        suite=suite_of(sources),
        stage=stage,
        reference=reference,
        settings=_settings(sources, offline=offline),
    )


def both_sides(given: Mapping[str, Any]) -> dict[Side, Endpoint]:
    """Build both sides alone, for what needs no suite; flags win over a release.

    Raises
    ------
    UsageError
        Names the option, or the release's line and key.
    """
    options = set_options(given)
    release = load_release(options["release"]) if options.get("release") else None
    sources = Sources(options, release, None)
    return {side: endpoint(side, _side_options(side, sources)) for side in Side}


def set_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Give the options that were set; a flag means nothing as false, 0 is a value."""
    return {
        name: value
        for name, value in given.items()
        if value is not None and value is not False and value != ()
    }


def storable(given: Mapping[str, Any], plan_suite: Path) -> dict[str, Any]:
    """Give the options that a resumed run may take over: no secrets, and strict JSON."""
    kept = {
        name: str(Path(value).absolute()) if isinstance(value, Path) else value
        for name, value in set_options(given).items()
        if name not in NEVER_STORED | NOT_A_SETTING
    }
    kept["suite"] = str(plan_suite.absolute())
    if is_path(kept.get("recipe", "")):
        kept["recipe"] = str(Path(kept["recipe"]).expanduser().absolute())
    return kept


def sources_of(options: Mapping[str, Any], *, resumed: bool = False) -> Sources:
    """Load the release and the recipe that the options name.

    Raises
    ------
    UsageError
        For a suite and a recipe at once, and for files that are wrong.
    """
    if options.get("suite") and options.get("recipe") and not resumed:
        raise UsageError("--suite and --recipe exclude each other")
    release = load_release(options["release"]) if options.get("release") else None
    name = options.get("recipe") or (release.recipe if release else None)
    # A release may name a recipe for its adapter alone, and bring its own suite.
    needed = options.get("recipe") or not (
        options.get("suite") or (release is not None and release.suite)
    )
    # A path in a release begins at its folder, as all its paths do.
    beside = None if options.get("recipe") or release is None else release.path.parent
    recipe = load_recipe(name, beside=beside) if name and needed else None
    return Sources(options, release, recipe)


def suite_of(sources: Sources) -> Path:
    """Give the suite's file: the options' (a suite or a recipe), the release's, its recipe's."""
    if sources.given.get("suite"):
        return Path(sources.given["suite"])
    if sources.given.get("recipe") and sources.recipe is not None:
        return sources.recipe.suite
    if sources.release is not None and sources.release.suite is not None:
        return sources.release.suite
    if sources.recipe is not None:
        return sources.recipe.suite
    raise UsageError("--suite FILE is missing (or --recipe NAME, or a release that names one)")


def private_of(sources: Sources) -> Path | None:
    """Give the file of the private part, if there is one: the option's or the release's."""
    if sources.given.get("private"):
        return Path(sources.given["private"])
    return sources.release.private if sources.release is not None else None


def inputs_of(options: Mapping[str, Any]) -> list[tuple[str, Path]]:
    """Give the files that a run reads, each with the option that names it."""
    sources = sources_of(options, resumed=True)
    keys = {side: _side_options(side, sources).get(f"{side}_key_file") for side in Side}
    permits = (_router_options(sources) | dict(options)).get("stage_permit_file")
    named = {
        "--suite": suite_of(sources),
        "--private": private_of(sources),
        "--release": options.get("release"),
        "--stage-permit-file": permits,
        **{f"--{side}-key-file": path for side, path in keys.items()},
    }
    return [(option, Path(path)) for option, path in named.items() if path]


def without_gate(thresholds: Thresholds, kinds: Collection[Kind]) -> str | None:
    """Say so where no kind has a threshold: such a run can only be inconclusive."""
    if effective_rates(thresholds, kinds):
        return None
    rates = ",".join(f"{kind}=95%" for kind in kinds)
    return f"no kind has a threshold: give --pass {rates} (else the verdict is inconclusive)"


def _side_options(side: Side, sources: Sources) -> dict[str, Any]:
    """Layer what the release says of a side under the command line's options."""
    release = sources.release
    section: SideSection | None = None
    if release is not None:
        section = release.stage if side is Side.STAGE else release.parity.reference
    layered: dict[str, Any] = {}
    if section is not None and release is not None:
        layered = {
            f"{side}_url": section.url,
            f"{side}_model": section.model,
            f"{side}_key_env": section.key_env,
            f"{side}_key_file": release.resolve(section.key_file) if section.key_file else None,
            f"{side}_header": tuple(f"{k}: {v}" for k, v in section.headers.items()),
            f"{side}_extra": json.dumps(section.extra) if section.extra else None,
        }
    given = sources.given
    if given.get(f"{side}_key_env") or given.get(f"{side}_key_file"):
        layered |= {f"{side}_key_env": None, f"{side}_key_file": None}
    return {**layered, **given}


def _router_options(sources: Sources) -> dict[str, Any]:
    """Give what a release says of the router before the stage, and of the replicas behind it."""
    release, given = sources.release, sources.given
    router = release.stage.router if release is not None else None
    if release is None or router is None or given.get("stage_url"):
        return {}  # another stage than the release's is not behind its router
    names = tuple(replica.name for replica in release.rollout.replicas)
    if given.get("stage_permit_env") or given.get("stage_permit_file"):
        return {"stage_replica": names}
    file = router.permit_file
    return {
        "stage_replica": names,
        "stage_permit_env": router.permit_env,
        "stage_permit_file": release.resolve(file) if file else None,
    }


def _settings(sources: Sources, *, offline: bool) -> Settings:
    given, release = sources.given, sources.release
    reference = release.parity.reference if release else None
    max_age = given.get("reference_max_age")
    engine = release.engine if release else None
    earlier = reference.max_age if reference else None
    return Settings(
        thresholds=make_thresholds(sources),
        max_tokens=max_tokens_of(sources),
        repeats=repeats_of(sources),
        stream=given.get("stream") or "no",
        fail_fast=bool(given.get("fail_fast")),
        max_age_s=read("--reference-max-age", parse_duration, max_age) if max_age else earlier,
        offline=offline or bool(given.get("offline")),
        release=release.name if release else None,
        engine=engine.model_dump(mode="json") if engine else None,
        recipe=_recipe_label(sources),
        private=private_part(private_of(sources), shapes=given.get("shapes")),
    )


def _recipe_label(sources: Sources) -> str | None:
    """Name the recipe with its digest; one that lends no suite by its name alone."""
    if sources.recipe is not None:
        return sources.recipe.label
    return sources.release.recipe if sources.release is not None else None


def max_tokens_of(sources: Sources) -> int:
    """Give the limit of cases that name none: the flag's, the recipe's, or the default."""
    recipe = sources.recipe
    given: int | None = sources.given.get("max_tokens") or (recipe.max_tokens if recipe else None)
    return given or Settings().max_tokens


def repeats_of(sources: Sources) -> int:
    """Give how often each case is asked: the flag wins over the release."""
    release = sources.release
    given: int | None = sources.given.get("repeats")
    return given or (release.parity.repeats if release else 1)


def make_thresholds(sources: Sources) -> Thresholds:
    """Give the thresholds that hold; flags win over the release, it over the recipe.

    A recipe's confidence is that of its own rates, and holds where they do.
    """
    given, release = sources.given, sources.release
    base = release.parity.thresholds if release else Thresholds()
    rates, sure = base.rates, base.confidence
    if given.get("pass_rates"):
        rates = read("--pass", parse_thresholds, given["pass_rates"])
    elif not rates and sources.recipe is not None:
        rates, sure = sources.recipe.thresholds, sure or sources.recipe.confidence
    confidence = given.get("confidence")
    return Thresholds(
        rates=rates,
        coverage=_share("--coverage", given.get("coverage"), base.coverage),
        max_retried=_share("--max-retried", given.get("max_retried"), base.max_retried),
        confidence=read("--confidence", parse_share, confidence) if confidence else sure,
    )


def _share(option: str, text: str | None, default: Fraction) -> Fraction:
    return read(option, parse_share, text) if text else default
