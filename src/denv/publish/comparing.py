"""Two runs side by side: which cases changed, and whether that is more than chance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from denv.errors import UsageError
from denv.report.model import Document
from denv.stats.paired import PairedCounts, mcnemar, newcombe_10
from denv.stats.proportions import wilson

SCHEMA = "denv.parity.compare/1"
LEVEL = 0.05

Pair = tuple[Document, Document]


def compare(a: Document, b: Document, *, common: bool = False) -> dict[str, Any]:
    """Compare two report documents; with ``common`` the cases that different suites share.

    Raises
    ------
    UsageError
        The suites differ and ``common`` was not asked for, or no case is in both.
    """
    same = a["suite"]["sha256"] == b["suite"]["sha256"]
    if not same and not common:
        raise UsageError(
            f"the runs asked different suites, {a['suite']['name']} and {b['suite']['name']} "
            f"({a['suite']['sha256'][:12]}… and {b['suite']['sha256'][:12]}…): --common compares "
            "the cases of the same id"
        )
    ours, theirs = _by_id(a), _by_id(b)
    shared = [(case, theirs[name]) for name, case in ours.items() if name in theirs]
    pairs = [pair for pair in shared if _same_case(pair)]
    if not pairs:
        raise UsageError("no case is in both runs: there is nothing to compare")
    kinds = dict.fromkeys(one["kind"] for one, _ in pairs)
    everything = _row(pairs)
    return {
        "schema": SCHEMA,
        "a": _run(a),
        "b": _run(b),
        "same_suite": same,
        "cases": len(pairs),
        "only_in_a": len(ours) - len(shared),
        "only_in_b": len(theirs) - len(shared),
        "different": len(shared) - len(pairs),
        "says": _says(everything),
        "kinds": {kind: _row(p for p in pairs if p[0]["kind"] == kind) for kind in kinds},
        "all": everything,
        "changed": [_changed(pair) for pair in pairs if pair[0]["outcome"] != pair[1]["outcome"]],
    }


def _by_id(document: Document) -> Mapping[str, Document]:
    return {case["id"]: case for case in document["cases"]}


def _same_case(pair: Pair) -> bool:
    """Tell whether both asked and checked the same, as far as both say what they asked."""
    one, other = pair
    return one["check"] == other["check"] and (
        "asked" not in one or "asked" not in other or one["asked"] == other["asked"]
    )


def _run(document: Document) -> dict[str, Any]:
    names = ("run", "verdict", "finished")
    suite = {"suite": document["suite"]["sha256"], "cases": len(document["cases"])}
    return {**{name: document[name] for name in names}, **suite}


def _row(pairs: Iterable[Pair]) -> dict[str, Any]:
    """Count the cases that both runs counted, and test their difference."""
    cells = {(x, y): 0 for x in ("pass", "fail") for y in ("pass", "fail")}
    for one, other in pairs:
        key = (one["outcome"], other["outcome"])
        if key in cells:
            cells[key] += 1
    both, only_a = cells["pass", "pass"], cells["pass", "fail"]
    only_b, neither = cells["fail", "pass"], cells["fail", "fail"]
    total = both + only_a + only_b + neither
    counts = {"pairs": total, "both": both, "only_a": only_a, "only_b": only_b, "neither": neither}
    sides = {"a": _rate(both + only_a, total), "b": _rate(both + only_b, total)}
    if not total:
        return {**counts, **sides, "difference": None, "p_value": None}
    between = newcombe_10(PairedCounts(both, only_a, only_b, neither))
    return {
        **counts,
        **sides,
        "difference": {"value": between.difference, "interval": [between.low, between.high]},
        "p_value": mcnemar(only_a, only_b).exact_p,
    }


def _rate(passed: int, total: int) -> dict[str, Any]:
    if not total:
        return {"pass_rate": None, "interval": None}
    limits = wilson(passed, total)
    return {"pass_rate": passed / total, "interval": [limits.low, limits.high]}


def _says(row: Mapping[str, Any]) -> str:
    if not row["pairs"]:
        return "No case was counted in both runs: this says nothing of a difference."
    if row["p_value"] >= LEVEL:
        return (
            f"The runs do not differ by more than chance explains (p = {row['p_value']:.3g}); that "
            "is no proof that they are alike."
        )
    worse = "B" if row["only_a"] > row["only_b"] else "A"
    return f"{worse} passes fewer cases than chance explains (p = {row['p_value']:.3g})."


def _changed(pair: Pair) -> dict[str, Any]:
    """Tell what became of a case; cause and reason are those of B, or of A where B passes."""
    one, other = pair
    told = one if other["outcome"] == "pass" else other
    return {
        "id": one["id"],
        "check": one["check"],
        "kind": one["kind"],
        "a": one["outcome"],
        "b": other["outcome"],
        "cause": told["cause"],
        "reason": told["reason"],
    }
