"""What the numbers of cases can show of their thresholds, in sentences."""

from __future__ import annotations

from denv.report.model import Document
from denv.report.text import threshold


def power_lines(head: Document) -> list[str]:
    """Say for each gated kind how likely stages of given true rates are to pass."""
    found = []
    for name, kind in head["kinds"].items():
        if kind["power"] is None:
            continue
        chances = ", ".join(
            f"{threshold(float(rate))} passes with a chance of {chance:.0%}"
            for rate, chance in kind["power"].items()
        )
        counted = kind["pass"] + kind["fail"]
        needs = threshold(kind["threshold"])
        found.append(
            f"{name}, {counted} counted, needs {needs}: a stage that is truly right in {chances}."
        )
    return found
