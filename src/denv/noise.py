"""The noise floor of a run: how far each side agrees with itself, counted as cases come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from denv.records import CaseResult, Json, Kind, Side
from denv.stats.proportions import clopper_pearson_upper, wilson
from denv.stats.quantiles import LogHistogram

MAX_NAMED = 10


@dataclass(slots=True)
class _SideNoise:
    """One side against itself."""

    agree: dict[Kind, Counter[bool]] = field(
        default_factory=lambda: {kind: Counter() for kind in Kind}
    )
    identical: dict[str, Counter[bool]] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)
    deltas: LogHistogram = field(default_factory=LogHistogram)
    largest_delta: float | None = None

    def add(self, result: CaseResult, steady: Mapping[str, Any]) -> None:
        if steady["agree"] is not None:
            self.agree[result.kind][steady["agree"]] += 1
        for condition, same in steady["identical"].items():
            self.identical.setdefault(condition, Counter())[same] += 1
        if not all(steady["identical"].values()) and len(self.changed) < MAX_NAMED:
            self.changed.append(result.id)
        delta = steady["logprob_delta"]
        if delta is not None:
            self.deltas.add(delta)
            self.largest_delta = max(delta, self.largest_delta or 0.0)

    def agreement(self, kind: Kind) -> tuple[int, int]:
        counts = self.agree[kind]
        return counts[True], counts.total()

    def document(self) -> dict[str, Json]:
        kinds = {k.value: _agreement(*self.agreement(k)) for k in Kind if self.agree[k].total()}
        return {
            "kinds": kinds,
            "identical": {
                condition: {"cases": counts.total(), "identical": counts[True]}
                for condition, counts in self.identical.items()
            },
            "changed": list(self.changed),
            "logprob_delta": self._deltas(),
        }

    def _deltas(self) -> dict[str, Json] | None:
        if self.largest_delta is None:
            return None
        if self.largest_delta == 0.0:
            return {"median": 0.0, "p99": 0.0, "max": 0.0}
        quantiles = {"median": self.deltas.quantile(0.5), "p99": self.deltas.quantile(0.99)}
        return {**quantiles, "max": self.largest_delta}


class Noise:
    """What is known so far of how both sides agree with themselves.

    Cases that were asked once say nothing of it and are passed over.
    """

    def __init__(self) -> None:
        self._sides = {side: _SideNoise() for side in Side}
        self._cases = 0
        self._tolerances: tuple[float, float] | None = None

    def add(self, result: CaseResult) -> None:
        """Count one case."""
        steady = result.detail.get("steadiness")
        if steady is None:
            return
        self._cases += 1
        for side in Side:
            if steady[side.value] is not None:
                self._sides[side].add(result, steady[side.value])
        tolerance = steady.get("tolerance")
        if tolerance is not None:
            low, high = self._tolerances or (tolerance, tolerance)
            self._tolerances = (min(low, tolerance), max(high, tolerance))

    def agreement(self) -> dict[Kind, tuple[int, int]]:
        """Give, for each kind, in how many of how many cases the reference agrees with itself."""
        reference = self._sides[Side.REFERENCE]
        return {k: (a, n) for k in Kind for a, n in [reference.agreement(k)] if n}

    def document(self, *, deterministic: bool | None) -> dict[str, Json] | None:
        """Show it as strict JSON values, None where nothing was asked twice.

        ``deterministic`` is what the release declares of the stage's engine, None where it
        declares nothing.
        """
        if not self._cases:
            return None
        tolerances = self._tolerances
        return {
            "cases": self._cases,
            **{side.value: self._sides[side].document() for side in Side},
            "tolerances": None if tolerances is None else list(tolerances),
            "deterministic": self._deterministic(declared=deterministic),
        }

    def _deterministic(self, *, declared: bool | None) -> dict[str, Json]:
        stage = self._sides[Side.STAGE]
        total = sum(counts.total() for counts in stage.identical.values())
        changed = sum(counts[False] for counts in stage.identical.values())
        held = None if total == 0 else changed == 0
        return {
            "declared": declared,
            "held": held,
            "finding": _finding(stage, declared=declared, total=total, changed=changed),
        }


def _finding(stage: _SideNoise, *, declared: bool | None, total: int, changed: int) -> str | None:
    if total == 0:
        return None
    if changed == 0:
        beyond = clopper_pearson_upper(0, total).high
        return (
            f"the stage repeats itself to the last bit in {total} of {total} comparisons: "
            f"at most {beyond:.2%} of such answers change, with 95 % confidence"
        )
    named = ", ".join(stage.changed[:3])
    kept = f"{changed} of {total} repeated answers of the stage changed (first: {named})"
    return f"the engine is declared deterministic, but {kept}" if declared else kept


def _agreement(agree: int, cases: int) -> dict[str, Json]:
    interval = wilson(agree, cases)
    return {
        "cases": cases,
        "agree": agree,
        "agreement": agree / cases,
        "interval": [interval.low, interval.high],
        "upper": clopper_pearson_upper(agree, cases).high,
    }
