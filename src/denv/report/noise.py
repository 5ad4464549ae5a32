"""The noise floor in sentences, for every form of the report that people read."""

from __future__ import annotations

from collections.abc import Mapping

from denv.records import Json
from denv.report.model import Document
from denv.report.text import interval, percent

CONDITIONS = {
    "warm": "asked at once again, under load",
    "alone": "asked with nothing else going on",
}


def noise_lines(head: Document) -> list[str]:
    """Say how far each side agrees with itself; nothing where no case was asked twice."""
    noise = head["noise"]
    if noise is None:
        return []
    found = []
    deterministic = noise["deterministic"]
    if deterministic["finding"] is not None:
        found.append(_sentence(deterministic["finding"]))
    for side in ("reference", "stage"):
        found += [_agreement(side, kind, row) for kind, row in noise[side]["kinds"].items()]
        found += [_identical(side, name, row) for name, row in noise[side]["identical"].items()]
        if noise[side]["logprob_delta"] is not None:
            found.append(_deltas(side, noise[side]["logprob_delta"], noise["tolerances"]))
    return found


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _agreement(side: str, kind: str, row: Mapping[str, Json]) -> str:
    rate = f"{percent(row['agreement'])}, 95 % interval {interval(row['interval'])}"
    return (
        f"The {side} agrees with itself about the check in {row['agree']} of {row['cases']} "
        f"{kind} cases ({rate})."
    )


def _identical(side: str, condition: str, row: Mapping[str, int]) -> str:
    return (
        f"The {side}'s repeats, {CONDITIONS[condition]}: {row['identical']} of {row['cases']} are "
        "the first answer to the last bit."
    )


def _deltas(side: str, delta: Mapping[str, float], tolerances: list[float]) -> str:
    low, high = tolerances
    tolerance = f"{low:g}" if low == high else f"{low:g} to {high:g}"
    return (
        f"The {side}'s logprobs change between repeats by up to {delta['max']:.3g} nats (median of "
        f"the cases {delta['median']:.3g}, 99 % within {delta['p99']:.3g}); the tolerance is "
        f"{tolerance}."
    )
