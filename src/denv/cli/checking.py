"""What ``denv parity check`` and ``denv parity selfcheck`` do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click

from denv.cli.plan import make_thresholds, sources_of, suite_of, without_gate
from denv.records import Thresholds
from denv.report.text import escaped
from denv.suite import Suite, advise, load_suite
from denv.verdict import check_thresholds, effective_rates, percent


def check_command(options: Mapping[str, Any]) -> int:
    """Validate what a run would be given, and say what it would do."""
    sources = sources_of(options)
    suite = load_suite(suite_of(sources))
    thresholds = make_thresholds(sources)
    check_thresholds(thresholds, suite.kinds)
    repeats = options.get("repeats") or 1
    twins = suite.checks.get("tool-call", 0) if options.get("stream") == "both" else 0
    ungated = without_gate(thresholds, suite.kinds)
    found = {
        "suite": {"name": suite.name, "sha256": suite.sha256, "cases": suite.cases},
        "checks": dict(suite.checks),
        "kinds": {kind.value: count for kind, count in suite.kinds.items()},
        "pass": _rates(thresholds, suite),
        "requests": {"each_side": suite.cases * repeats + twins},
        "advice": [*([ungated] if ungated else []), *advise(suite)],
    }
    if options.get("as_json"):
        click.echo(_json(found))
    else:
        _print(found)
    return 0


def _json(document: Mapping[str, Any]) -> str:
    return escaped(json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2))


def _rates(thresholds: Thresholds, suite: Suite) -> dict[str, str]:
    rates = effective_rates(thresholds, suite.kinds)
    return {
        kind.value: percent(rates[kind]) if kind in rates else "no threshold"
        for kind in suite.kinds
    }


def _print(found: Mapping[str, Any]) -> None:
    suite = found["suite"]
    click.echo(f"{suite['name']}: valid, {suite['cases']} cases, sha256 {suite['sha256']}")
    for name, count in found["checks"].items():
        click.echo(f"  {name}: {count}")
    for kind, rate in found["pass"].items():
        click.echo(f"  {kind}: {found['kinds'][kind]} cases, must pass: {rate}")
    click.echo(f"  requests to each side: {found['requests']['each_side']}, and one preflight")
    for sentence in found["advice"]:
        click.echo(f"  advice: {sentence}")


def selfcheck_command(*, as_json: bool) -> int:
    """Try every instrument on its known cases."""
    from denv.instruments.selfcheck import run_selfcheck

    found = run_selfcheck()
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
