"""A finished run's figures → the report's head, all of it strict JSON without secrets."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from importlib.metadata import version
from typing import Any

from denv.power import pass_chances
from denv.records import Endpoint, Json, Kind, Outcome, Side, Verdict
from denv.report.model import SCHEMA
from denv.runner.notes import dialect_from_note
from denv.runner.settings import Settings
from denv.runner.sides import Sides
from denv.suite import Suite
from denv.tally import OTHER_GROUP, Tally
from denv.verdict import Judgement, effective_rates, exact_percent

LIMITS = (
    "It covers the prompts of this suite, not every prompt.",
    "The reference can change, and it can be wrong.",
    "A provider can serve other requests differently from these.",
)
NOT_DETERMINISTIC = (
    "Engines whose results change with the composition of batches can fail text and logprobs "
    "cases by chance; this run did not measure how often (--repeats does). Until then rely mostly "
    "on tool-call, contains and regex cases."
)
UNSTEADY = (
    "{} of {} repeated answers changed: equals and logprobs-close cases fail by chance here; rely "
    "mostly on tool-call, contains and regex cases."
)
UNTRIED = (
    "The engine is declared deterministic; this run did not hold it to that (--repeats 3 does)."
)
MIXED = (
    "The {} answered from mixed backends ({} values of {}): the rates of each stand with the "
    "endpoint, and another mix can give another verdict."
)
SAMPLED = "The {} samples in spite of temperature 0: ask it several times with --repeats."
SAMPLED_AT = (
    "In thinking mode the {} samples at temperature {:.1f} in spite of temperature 0: ask it "
    "several times with --repeats, or ask it without thinking."
)
DRAWN = "It asked {} drawn cases of the suite's {}: it is no proof of the whole suite."
UNASKED = "No case of this run was asked of the stage's replica {}."
WEAK = (
    "{}: {} counted, needs {}: a stage that is right in 90 % of such cases would still pass with a "
    "chance of {:.0%}."
)
WEAK_FROM = 0.05
"""A chance that is smaller is not worth a sentence."""


def timestamp(seconds: float) -> str:
    """Write a time as ISO 8601 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def head(
    *,
    run: str,
    started: float,
    finished: float,
    suite: Suite,
    sides: Sides,
    settings: Settings,
    tally: Tally,
    judgement: Judgement,
) -> dict[str, Any]:
    """Build the report without its cases."""
    counted = tally.document(judgement)
    for kind, power in _power(settings, judgement).items():
        counted["kinds"][kind]["power"] = power
    counted["noise"] = tally.noise.document(deterministic=_declared(settings))
    sampled = sides.sampled()
    for side, endpoint in sides.endpoints.items():
        counted[side.value] |= _side(endpoint, sides.notes[side.value], sampled=side in sampled)
    return {
        "schema": SCHEMA,
        "run": run,
        "verdict": judgement.verdict.value,
        "reasons": list(judgement.reasons),
        "started": timestamp(started),
        "finished": timestamp(finished),
        "path": "direct" if sides.endpoints[Side.STAGE].permits is None else "router",
        "denv": {"version": version("denv-parity"), "python": platform.python_version()},
        "suite": _suite(suite, settings),
        "release": settings.release,
        "engine": None if settings.engine is None else dict(settings.engine),
        "recipe": settings.recipe,
        "settings": _settings(settings, sides.endpoints),
        **counted,
        **_gaming(settings, tally),
        "unanswered": _unanswered(sides, settings, tally, judgement),
        "limits": [
            *_coverage(suite, settings, sides, tally),
            *_limits(settings, counted),
            *_sampling(sides),
        ],
    }


def _suite(suite: Suite, settings: Settings) -> dict[str, Any]:
    shown: dict[str, Any] = {"name": suite.name, "sha256": suite.sha256, "cases": suite.cases}
    if settings.only is not None:
        shown["drawn"] = len(settings.only)
    return shown


def _gaming(settings: Settings, tally: Tally) -> dict[str, Json]:
    """Show the private part as counts, where there is one."""
    if tally.gaming is None:
        return {}
    return {"gaming": tally.gaming.document(settings.thresholds.coverage)}


def _declared(settings: Settings) -> bool | None:
    """Give what the release says of the engine's determinism, None where it names no engine."""
    return None if settings.engine is None else bool(settings.engine.get("deterministic"))


def _unanswered(sides: Sides, settings: Settings, tally: Tally, judgement: Judgement) -> int:
    """Count the cases that the run would ask if it were resumed."""
    missing = tally.planned - tally.done
    cut_short = sides.down or judgement.verdict is Verdict.CANCELLED
    if missing and settings.fail_fast and not cut_short:
        return 0  # it ended because no further case could save it
    return missing or tally.unanswered


def _side(endpoint: Endpoint, notes: Mapping[str, Json], *, sampled: bool) -> dict[str, Any]:
    dialect = dialect_from_note(notes.get("dialect"))
    return {
        "url": endpoint.url,
        "name": endpoint.name,
        "replicas": [replica.name for replica in endpoint.replicas],
        "model": notes.get("model"),
        "served_models": list(notes.get("served_models") or ()),
        "engine": notes.get("engine"),
        "dropped_fields": sorted(dialect.dropped),
        "top_logprobs": dialect.top_logprobs,
        "max_tokens_field": dialect.max_tokens_field,
        "sampled": sampled,
        "note": notes.get("warning"),
    }


def _settings(settings: Settings, endpoints: Mapping[Side, Endpoint]) -> dict[str, Any]:
    thresholds = settings.thresholds
    sure = thresholds.confidence
    shown: dict[str, Any] = {
        "pass": {kind.value: exact_percent(rate) for kind, rate in thresholds.rates.items()},
        "coverage": exact_percent(thresholds.coverage),
        "max_retried": exact_percent(thresholds.max_retried),
        "confidence": None if sure is None else exact_percent(sure),
        "repeats": settings.repeats,
        "max_tokens": settings.max_tokens,
        "stream": settings.stream,
        "fail_fast": settings.fail_fast,
        "offline": settings.offline,
        "reference_max_age_s": settings.max_age_s,
        "temperature": 0,
        "seed": 0,
    }
    for side, endpoint in endpoints.items():
        shown[side.value] = {
            "concurrency": endpoint.concurrency,
            "rate_per_s": endpoint.rate,
            "pace": endpoint.pacing.value,
            "retries": endpoint.retries,
            "timeout_s": endpoint.timeouts.total_s,
            "extra": sorted(endpoint.extra),
            "headers": sorted(endpoint.headers),
        }
    return shown


def _mixed(side: Side, shown: Mapping[str, Json]) -> list[str]:
    """Say by what a side's answers show that several backends gave them, undeclared ones."""
    several = Counter(group["by"] for group in shown["groups"])
    if shown["replicas"]:
        del several["replica"]
    return [MIXED.format(side, number, by) for by, number in several.items()]


def _determinism(settings: Settings, counted: Mapping[str, Any]) -> list[str]:
    """Say how far text and logprobs cases can be relied on, from repeats where there are any."""
    if not any(kind in counted["kinds"] for kind in (Kind.EXACT.value, Kind.LOGPROBS.value)):
        return []
    noise = counted["noise"]
    if noise is None:
        return [UNTRIED if _declared(settings) else NOT_DETERMINISTIC]
    counts = [c for side in Side for c in noise[side.value]["identical"].values()]
    total = sum(c["cases"] for c in counts)
    changed = total - sum(c["identical"] for c in counts)
    return [UNSTEADY.format(changed, total)] if changed else []


def _coverage(suite: Suite, settings: Settings, sides: Sides, tally: Tally) -> list[str]:
    """Say which cases and which replicas of the stage the run leaves out."""
    found = []
    if settings.only is not None:
        found.append(DRAWN.format(len(settings.only), suite.cases))
    asked = tally.replicas()
    if tally.done and OTHER_GROUP not in asked:
        replicas = sides.endpoints[Side.STAGE].replicas
        found += [UNASKED.format(each.name) for each in replicas if each.name not in asked]
    return found


def _sampling(sides: Sides) -> Sequence[str]:
    """Say of each side that samples that it does, and at which temperature where it has told it."""
    told = {side: sides.sampled_at(side) for side in Side if side in sides.sampled()}
    return [
        SAMPLED.format(side) if at is None else SAMPLED_AT.format(side, at)
        for side, at in told.items()
    ]


def _limits(settings: Settings, counted: Mapping[str, Any]) -> Sequence[str]:
    limits = list(LIMITS)
    limits += _determinism(settings, counted)
    limits += [note for side in Side for note in _mixed(side, counted[side.value])]
    for kind, estimate in counted["kinds"].items():
        power = estimate["power"]
        if power is not None and power["0.9"] > WEAK_FROM:
            n, needs = estimate["pass"] + estimate["fail"], Fraction(str(estimate["threshold"]))
            limits.append(WEAK.format(kind, n, exact_percent(needs), power["0.9"]))
    return limits


def _power(settings: Settings, judgement: Judgement) -> dict[str, dict[str, float] | None]:
    """Give, for each kind, the chance that stages of given true rates pass so many cases."""
    thresholds = settings.thresholds
    rates = effective_rates(thresholds, judgement.kinds)
    found: dict[str, dict[str, float] | None] = {}
    for kind, estimate in judgement.kinds.items():
        counted = sum(estimate.counts.get(o, 0) for o in (Outcome.PASS, Outcome.FAIL))
        gated = kind in rates and counted > 0
        found[kind.value] = (
            pass_chances(counted, rates[kind], confidence=thresholds.confidence) if gated else None
        )
    return found
