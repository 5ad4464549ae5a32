"""What is shown of a recipe, as strict JSON values and as lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from importlib.metadata import metadata
from typing import Any

from denv.recipes import Recipe
from denv.records import Json
from denv.runner.recipes import RecipeCheck, powers_of
from denv.suite import load_suite
from denv.verdict import exact_percent, percent

_PACKAGE = "denv-parity"


def row_of(recipe: Recipe) -> dict[str, Json]:
    """Give a recipe's line in the list."""
    return {
        "name": recipe.name,
        "description": recipe.description,
        "models": list(recipe.models),
        "cases": load_suite(recipe.suite).cases,
        "golden": load_suite(recipe.golden).cases if recipe.golden else 0,
        "extra": _extra(recipe),
        "origin": recipe.origin,
    }


def view_of(recipe: Recipe) -> dict[str, Json]:
    """Give all of a recipe, with the power of its thresholds."""
    suite = load_suite(recipe.suite)
    return {
        **row_of(recipe),
        "version": recipe.version,
        "sha256": recipe.sha256,
        "suite": {"path": str(recipe.suite), "sha256": suite.sha256, "checks": dict(suite.checks)},
        "kinds": {kind.value: count for kind, count in suite.kinds.items()},
        "tags": dict(sorted(suite.tags.items())),
        "sampling": dict(recipe.sampling),
        "max_tokens": recipe.max_tokens,
        "pass": {kind.value: exact_percent(rate) for kind, rate in recipe.thresholds.items()},
        "confidence": None if recipe.confidence is None else exact_percent(recipe.confidence),
        "power": {kind.value: dict(power) for kind, power in powers_of(recipe, suite).items()},
        "adapter": _adapter(recipe),
        "engines": dict(recipe.engines),
        "limits": list(recipe.limits),
    }


def check_view(found: RecipeCheck) -> dict[str, Json]:
    """Give what a check found."""
    return {
        "recipe": found.recipe.label,
        "passed": found.passed,
        "cases": found.cases,
        "golden": found.golden,
        "problems": list(found.problems),
        "answers": [
            {
                "id": each.id,
                "right": each.right.outcome.value,
                "wrong": each.wrong.outcome.value,
                "cause": each.failure,
            }
            for each in found.rehearsed
        ],
    }


def _extra(recipe: Recipe) -> str | None:
    """Name the package's extra that the recipe's adapter needs."""
    extras = metadata(_PACKAGE).get_all("Provides-Extra") or ()
    name = recipe.adapter.name if recipe.adapter else None
    return name if name in extras else None


def _adapter(recipe: Recipe) -> Json:
    if recipe.adapter is None:
        return None
    return {"name": recipe.adapter.name, **recipe.adapter.settings}


def lines_of(view: Mapping[str, Any]) -> Iterator[str]:
    """Write a recipe out for a terminal."""
    yield f"{view['name']} ({view['origin']}, sha256 {view['sha256']})"
    yield f"  {view['description']}"
    yield from _listed("for models", view["models"])
    yield f"  suite: {view['cases']} cases: {_pairs(view['suite']['checks'])}"
    yield f"  golden prompts: {view['golden']}"
    yield from _named("adapter", view["adapter"])
    if view["extra"]:
        yield f"  extra: {view['extra']}"
    yield from _named("sampling for customers", view["sampling"])
    yield f"  max_tokens of cases that name none: {view['max_tokens'] or 'the default'}"
    yield from _power(view)
    for name, note in view["engines"].items():
        yield f"  engine {name}: {note}"
    for limit in view["limits"]:
        yield f"  known limit: {limit}"


def _power(view: Mapping[str, Any]) -> Iterator[str]:
    sure = f" at {view['confidence']} confidence" if view["confidence"] else ""
    for kind, power in view["power"].items():
        threshold = view["pass"].get(kind, "100%")
        yield f"  {kind}: {view['kinds'][kind]} cases, must pass: {threshold}{sure}"
        least = power["least_passes"]
        yield f"    passes needed: {'more than there are' if least is None else least}"
        chances = ", ".join(
            f"{percent(Fraction(rate))} {chance:.0%}"
            for rate, chance in power["pass_chance"].items()
        )
        yield f"    chance to pass of a stage that is truly right in: {chances}"


def _listed(what: str, names: list[str]) -> Iterator[str]:
    if names:
        yield f"  {what}: {', '.join(names)}"


def _named(what: str, values: Mapping[str, Any] | None) -> Iterator[str]:
    if values:
        yield f"  {what}: {_pairs(values)}"


def _pairs(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())
