"""What ``denv parity check``, ``plan`` and ``selfcheck`` do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import click

from denv.cli.plan import (
    Sources,
    make_thresholds,
    max_tokens_of,
    private_of,
    repeats_of,
    set_options,
    sources_of,
    suite_of,
    without_gate,
)
from denv.cli.shaping import private_part
from denv.cli.sides import price_of_side
from denv.power import power_of
from denv.records import Side, Thresholds
from denv.report.text import escaped
from denv.runner import Settings
from denv.suite import Suite, Volume, advise, load_suite, volume_of
from denv.verdict import check_thresholds, effective_rates, percent

BAD_PASSES = 0.05
"""A stage well below the threshold may pass with this chance before it is said."""

BY_CHANCE = (
    "cases can fail by chance on engines whose results change with the composition of batches: "
    "rely mostly on tool-call, contains and regex cases, or measure the noise floor with "
    "--repeats 3"
)


def check_command(options: Mapping[str, Any], *, plan: bool = False) -> int:
    """Validate what a run would be given, and say what it would do; ``plan`` says it at length."""
    sources = sources_of(set_options(options))
    suite = load_suite(suite_of(sources))
    private = private_part(private_of(sources), shapes=options.get("shapes"))
    if private is not None:
        private.check(suite)
    thresholds = make_thresholds(sources)
    check_thresholds(thresholds, suite.kinds)
    Settings(max_tokens=max_tokens_of(sources), repeats=repeats_of(sources)).check()
    ungated = without_gate(thresholds, suite.kinds)
    volume = volume_of(
        suite,
        max_tokens=max_tokens_of(sources),
        repeats=repeats_of(sources),
        twins=options.get("stream") == "both",
    )
    powers = _powers(thresholds, suite)
    found = {
        "suite": {"name": suite.name, "sha256": suite.sha256, "cases": suite.cases},
        "checks": dict(suite.checks),
        "kinds": {kind.value: count for kind, count in suite.kinds.items()},
        "pass": _rates(thresholds, suite),
        "requests": {"each_side": volume.requests},
        "power": powers,
        "cost": _cost(volume, options),
        "advice": [
            *([ungated] if ungated else []),
            *(line for kind, power in powers.items() if (line := _weakness(kind, power))),
            *_determinism(sources, suite),
            *advise(suite),
        ],
    }
    if options.get("as_json"):
        click.echo(_json(found))
    else:
        _print(found, plan=plan)
    return 0


def _json(document: Mapping[str, Any]) -> str:
    return escaped(json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2))


def _rates(thresholds: Thresholds, suite: Suite) -> dict[str, str]:
    rates = effective_rates(thresholds, suite.kinds)
    return {
        kind.value: percent(rates[kind]) if kind in rates else "no threshold"
        for kind in suite.kinds
    }


def _powers(thresholds: Thresholds, suite: Suite) -> dict[str, Any]:
    rates = effective_rates(thresholds, suite.kinds)
    return {
        kind.value: power_of(count, rates[kind], confidence=thresholds.confidence)
        for kind, count in suite.kinds.items()
        if kind in rates
    }


def _weakness(kind: str, power: Mapping[str, Any]) -> str | None:
    """Say so where a number of cases is too small for its threshold."""
    sure = power["cases_for_confidence"]
    if sure is not None and power["cases"] < sure:
        return (
            f"{kind}: with {power['cases']} cases no run can pass at this confidence, not even "
            f"with every case passed: {sure} are needed"
        )
    if power["bad_pass_chance"] <= BAD_PASSES:
        return None
    needed = power["cases_needed"]
    more = f"; {needed} cases tell it from a good one" if needed else ""
    return (
        f"{kind}: {power['cases']} cases are few for {percent(Fraction(str(power['threshold'])))}: "
        f"a stage that is right in {percent(Fraction(str(power['bad'])))} of such cases would "
        f"still pass with a chance of {power['bad_pass_chance']:.0%}{more}"
    )


def _determinism(sources: Sources, suite: Suite) -> list[str]:
    """Say which cases to rely on where the engine is not declared deterministic."""
    engine = sources.release.engine if sources.release else None
    fragile = {"equals", "logprobs-close"} & set(suite.checks)
    if not fragile or (engine is not None and engine.deterministic):
        return []
    return [
        f"{' and '.join(sorted(fragile))} {BY_CHANCE}",
    ]


def _cost(volume: Volume, options: Mapping[str, Any]) -> dict[str, Any]:
    """Bound what a run asks and, where prices are given, what it costs."""
    prices = {side: price_of_side(side, options.get(f"{side}_price")) for side in Side}
    most = {
        side.value: (
            volume.prompt_tokens * price.prompt_per_million
            + volume.most_completion_tokens * price.completion_per_million
        )
        / 1e6
        for side, price in prices.items()
        if price is not None
    }
    return {
        "each_side": {
            "requests": volume.requests,
            "prompt_tokens_about": volume.prompt_tokens,
            "completion_tokens_at_most": volume.most_completion_tokens,
        },
        "price_at_most": {**most, "total": sum(most.values())} if most else None,
    }


def _print(found: Mapping[str, Any], *, plan: bool) -> None:
    suite = found["suite"]
    click.echo(f"{suite['name']}: valid, {suite['cases']} cases, sha256 {suite['sha256']}")
    for name, count in found["checks"].items():
        click.echo(f"  {name}: {count}")
    for kind, rate in found["pass"].items():
        click.echo(f"  {kind}: {found['kinds'][kind]} cases, must pass: {rate}")
        if kind in found["power"]:
            _print_power(found["power"][kind], plan=plan)
    click.echo(f"  requests to each side: {found['requests']['each_side']}, and one preflight")
    _print_cost(found["cost"], plan=plan)
    for sentence in found["advice"]:
        click.echo(f"  advice: {sentence}")


def _print_power(power: Mapping[str, Any], *, plan: bool) -> None:
    chances = ", ".join(
        f"{percent(Fraction(rate))} {chance:.0%}" for rate, chance in power["pass_chance"].items()
    )
    click.echo(f"    chance to pass of a stage that is truly right in: {chances}")
    if not plan:
        return
    least = power["least_passes"]
    needed = power["cases_needed"]
    enough = "no number of cases up to a million" if needed is None else f"{needed} cases"
    click.echo(f"    passes needed: {'more than there are' if least is None else least}")
    click.echo(
        f"    the threshold means what it says from {enough} on: right in "
        f"{percent(Fraction(str(power['bad'])))} passes in at most 5 % of runs, right in "
        f"{percent(Fraction(str(power['good'])))} in at least 80 %"
    )


def _print_cost(cost: Mapping[str, Any], *, plan: bool) -> None:
    each, price = cost["each_side"], cost["price_at_most"]
    if plan:
        click.echo(
            f"  tokens of each side: about {each['prompt_tokens_about']} in prompts, at most "
            f"{each['completion_tokens_at_most']} in answers"
        )
    if price is not None:
        parts = ", ".join(f"{side} {value:.4f}" for side, value in price.items())
        click.echo(f"  price at most: {parts}")


def selfcheck_command(*, as_json: bool, whole: bool) -> int:
    """Try every instrument on its known cases."""
    from denv.instruments.selfcheck import run_selfcheck, run_whole_selfcheck

    found = run_whole_selfcheck() if whole else run_selfcheck()
    if as_json:
        document = {
            "total": found.total,
            "passed": found.passed,
            "failures": [
                {"id": f.id, "about": f.about, "expected": f.expected, "got": f.got}
                for f in found.failures
            ],
        }
        click.echo(_json(document))
    else:
        for failure in found.failures:
            click.echo(f"{failure.id}: {failure.about}")
            click.echo(f"  right: {failure.expected}")
            click.echo(f"  got:   {failure.got}")
        click.echo(f"{found.passed}/{found.total}")
    return 0 if found.passed == found.total else 4
