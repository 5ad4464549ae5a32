"""Counts case results as they come, in memory that does not grow with their number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from denv.gaming import Gaming
from denv.hints import Hints
from denv.noise import Noise
from denv.records import (
    SIDES,
    CaseResult,
    Cause,
    Contains,
    Equals,
    Estimate,
    Json,
    Kind,
    LogprobsClose,
    Outcome,
    Price,
    Regex,
    Side,
    Thresholds,
    ToolCall,
)
from denv.stats.proportions import wilson
from denv.stats.quantiles import LogHistogram
from denv.verdict import Judgement, effective_rates

KIND_OF: Mapping[str, Kind] = {
    check.name: check.kind for check in (Equals, Contains, Regex, ToolCall, LogprobsClose)
}

MAX_GROUPS = 50
"""Values of a kind of group that are kept apart; all later ones are counted as one."""

OTHER_GROUP = "(other)"
GROUPED_BY = ("system_fingerprint", "provider", "replica")
CALL_CLASSES = ("valid", "invalid-json", "unknown-name", "schema-mismatch")
_MILLION = 1_000_000


class Tally:
    """What is known of a run so far.

    ``planned`` says how many cases of each check the suite holds; a case without a result is
    counted there alone. ``prices`` gives the sides whose cost is to be shown. ``private`` cases
    are asked besides: they count in what requests took and in ``gaming``, and nowhere else.
    """

    def __init__(
        self,
        planned: Mapping[str, int],
        *,
        prices: Mapping[Side, Price] | None = None,
        private: int = 0,
    ) -> None:
        unknown = planned.keys() - KIND_OF.keys()
        if unknown:
            raise ValueError(f"no such check: {', '.join(sorted(unknown))}")
        self._planned = dict(planned)
        self._counts: dict[str, Counter[Outcome]] = {name: Counter() for name in planned}
        self._causes: Counter[Cause] = Counter()
        self._tools = _Tools()
        self._hints = Hints()
        self.noise = Noise()
        self._private, self._private_done = private, 0
        self.gaming = Gaming(public=sum(planned.values()), private=private) if private else None
        self._unanswered = 0
        prices = prices or {}
        self._sides = {side: _SideTally(prices.get(side)) for side in Side}

    def add(self, result: CaseResult) -> None:
        """Count one case.

        Raises
        ------
        ValueError
            For a check of which no case was planned.
        """
        if result.check not in self._counts:
            raise ValueError(f"{result.id}: no {result.check} case was planned")
        self._counts[result.check][result.outcome] += 1
        if result.outcome is Outcome.FAIL:
            self._causes[result.cause or Cause.UNKNOWN] += 1
        self._tools.add(result.detail.get("tools"))
        self._hints.add(result)
        self.noise.add(result)
        if self.gaming is not None:
            self.gaming.add(result, private=False)
        self._add_requests(result, {Side.STAGE: result.stage, Side.REFERENCE: result.reference})

    def add_private(self, result: CaseResult) -> None:
        """Count one private case.

        Raises
        ------
        ValueError
            No private case was planned.
        """
        if self.gaming is None:
            raise ValueError("no private case was planned")
        self._private_done += 1
        self.gaming.add(result, private=True)
        self._add_requests(result, {})

    def _add_requests(
        self, result: CaseResult, views: Mapping[Side, Mapping[str, Json] | None]
    ) -> None:
        if result.outcome in {Outcome.REFERENCE_ERROR, Outcome.UNMEASURED}:
            self._unanswered += bool(result.detail.get("unanswered"))
        for side in SIDES:
            took = result.detail.get("exchanges", {}).get(side.value, {})
            if not views:  # what is odd about a private answer is not shown
                took = {**took, "later_oddities": ()}
            self._sides[side].add(result.outcome, views.get(side), took)

    @property
    def planned(self) -> int:
        """Cases that are to be asked, private ones among them."""
        return sum(self._planned.values()) + self._private

    @property
    def done(self) -> int:
        """Cases that have a result."""
        return sum(counts.total() for counts in self._counts.values()) + self._private_done

    @property
    def causes(self) -> dict[Cause, int]:
        """Failed cases by cause, the most frequent first."""
        return dict(self._causes.most_common())

    def checks(self) -> dict[str, Estimate]:
        """Estimate each check of which cases were planned."""
        return {
            name: _estimate(planned, self._counts[name])
            for name, planned in self._planned.items()
            if planned > 0
        }

    def kinds(self, thresholds: Thresholds | None = None) -> dict[Kind, Estimate]:
        """Estimate each kind of which cases were planned, beside the threshold that holds."""
        planned: Counter[Kind] = Counter()
        counts: dict[Kind, Counter[Outcome]] = {kind: Counter() for kind in Kind}
        for name, number in self._planned.items():
            planned[KIND_OF[name]] += number
            counts[KIND_OF[name]] += self._counts[name]
        present = [kind for kind in Kind if planned[kind] > 0]
        rates = effective_rates(thresholds or Thresholds(), present)
        return {
            kind: _estimate(
                planned[kind],
                counts[kind],
                threshold=float(rates[kind]) if kind in rates else None,
            )
            for kind in present
        }

    @property
    def tokens(self) -> int:
        """Tokens of both sides, as far as the servers report them."""
        return sum(sum(figures.tokens.values()) for figures in self._sides.values())

    @property
    def cost(self) -> float | None:
        """What both sides cost so far, None where no price was given."""
        costs = [cost for figures in self._sides.values() if (cost := figures.cost) is not None]
        return sum(costs) if costs else None

    @property
    def unanswered(self) -> int:
        """Cases not counted since the reference, or the stage for rate limits, gave no answer."""
        return self._unanswered

    def requests(self, side: Side) -> tuple[int, int]:
        """Give a side's requests, and how many of them were retried, rate limits apart."""
        figures = self._sides[side]
        return figures.requests, figures.retried

    def replicas(self) -> dict[str, tuple[int, int]]:
        """Give the passed and failed cases of each of the stage's replicas."""
        groups = self._sides[Side.STAGE].groups["replica"]
        return {value: (c[Outcome.PASS], c[Outcome.FAIL]) for value, c in groups.items()}

    def tools(self) -> dict[str, Json] | None:
        """Show how both sides use tools, None where no case with tools was answered."""
        return self._tools.document()

    def side(self, side: Side) -> dict[str, Json]:
        """Show what a side's requests took, and what is odd about its answers."""
        return self._sides[side].document()

    def document(self, judgement: Judgement) -> dict[str, Json]:
        """Give the parts of the report that are counted, as strict JSON values."""
        return {
            "stage": self.side(Side.STAGE),
            "reference": self.side(Side.REFERENCE),
            "kinds": {
                kind.value: estimate_document(estimate, judged=True)
                for kind, estimate in judgement.kinds.items()
            },
            "checks": {name: estimate_document(e) for name, e in self.checks().items()},
            "causes": {cause.value: count for cause, count in self.causes.items()},
            "tools": self.tools(),
            "hints": self._hints.sentences(
                judgement, requests={side: self.requests(side) for side in Side}
            ),
        }


def estimate_document(estimate: Estimate, *, judged: bool = False) -> dict[str, Json]:
    """Show an estimate as strict JSON values; ``judged`` adds its threshold and verdict."""
    shown: dict[str, Json] = {"planned": estimate.planned}
    shown |= {outcome.value: estimate.counts.get(outcome, 0) for outcome in Outcome}
    shown["pass_rate"] = estimate.pass_rate
    shown["interval"] = None if estimate.interval is None else list(estimate.interval)
    if judged:
        shown["threshold"] = estimate.threshold
        shown["verdict"] = None if estimate.verdict is None else estimate.verdict.value
        shown["reason"] = estimate.reason
    return shown


def _estimate(
    planned: int, counts: Mapping[Outcome, int], *, threshold: float | None = None
) -> Estimate:
    counted = {outcome: counts.get(outcome, 0) for outcome in Outcome}
    rate, interval = _rate(counted[Outcome.PASS], counted[Outcome.FAIL])
    return Estimate(planned, counted, rate, interval, threshold)


def _rate(hits: int, misses: int) -> tuple[float | None, tuple[float, float] | None]:
    """Give a share and its 95 % Wilson interval, or nothing where nothing was counted."""
    total = hits + misses
    if total == 0:
        return None, None
    limits = wilson(hits, total)
    return hits / total, (limits.low, limits.high)


def _interval_list(interval: tuple[float, float] | None) -> list[float] | None:
    return None if interval is None else list(interval)


# ---------------------------------------------------------------- one side


@dataclass
class _SideTally:
    """One side's requests, tokens, times, oddities, and the backends that answered."""

    price: Price | None
    requests: int = 0
    retried: int = 0
    rate_limited: int = 0
    cached: int = 0
    tokens: dict[str, int] = field(default_factory=dict)
    latency: LogHistogram = field(default_factory=LogHistogram)
    oddities: Counter[str] = field(default_factory=Counter)
    details: dict[str, str] = field(default_factory=dict)
    groups: dict[str, dict[str, Counter[Outcome]]] = field(
        default_factory=lambda: {by: {} for by in GROUPED_BY}
    )

    def add(
        self, outcome: Outcome, view: Mapping[str, Json] | None, took: Mapping[str, Json]
    ) -> None:
        self.requests += took.get("requests", 0)
        self.retried += took.get("retried", 0)
        self.rate_limited += took.get("rate_limited", 0)
        self.cached += took.get("cached", 0)
        for name in ("prompt_tokens", "completion_tokens"):
            if took.get(name) is not None:
                self.tokens[name] = self.tokens.get(name, 0) + took[name]
        for elapsed_s in took.get("elapsed_s", ()):
            self.latency.add(elapsed_s)
        for odd in took.get("later_oddities", ()):
            self._add_oddity(odd)
        if view is not None:
            self._add_view(outcome, view)

    def _add_view(self, outcome: Outcome, view: Mapping[str, Json]) -> None:
        for odd in view.get("oddities", ()):
            self._add_oddity(odd)
        for by, groups in self.groups.items():
            value = view.get(by)
            if value is None:
                continue
            if value not in groups and len(groups) >= MAX_GROUPS:
                value = OTHER_GROUP
            groups.setdefault(value, Counter())[outcome] += 1

    def _add_oddity(self, odd: Mapping[str, str]) -> None:
        self.oddities[odd["code"]] += 1
        self.details.setdefault(odd["code"], odd["detail"])

    def document(self) -> dict[str, Json]:
        return {
            "requests": self.requests,
            "retried": self.retried,
            "rate_limited": self.rate_limited,
            "cached": self.cached,
            "usage": self._usage(),
            "cost": self.cost,
            "latency_s": self._latency(),
            "warnings": [
                {"code": code, "detail": self.details[code], "count": count}
                for code, count in self.oddities.most_common()
            ],
            "groups": [
                _group_document(by, value, counts)
                for by, groups in self.groups.items()
                if len(groups) > 1
                for value, counts in groups.items()
            ],
        }

    def _usage(self) -> dict[str, int | None] | None:
        if not self.tokens:
            return None
        return {name: self.tokens.get(name) for name in ("prompt_tokens", "completion_tokens")}

    @property
    def cost(self) -> float | None:
        """Price what was sent; cached answers cost nothing, an unreported usage is unknown."""
        if self.price is None or (not self.tokens and self.requests > self.cached):
            return None
        prompt = self.tokens.get("prompt_tokens", 0) * self.price.prompt_per_million
        completion = self.tokens.get("completion_tokens", 0) * self.price.completion_per_million
        return (prompt + completion) / _MILLION

    def _latency(self) -> dict[str, float] | None:
        if len(self.latency) == 0:
            return None
        return {"median": self.latency.quantile(0.5), "p95": self.latency.quantile(0.95)}


def _group_document(by: str, value: str, counts: Mapping[Outcome, int]) -> dict[str, Json]:
    passed, failed = counts[Outcome.PASS], counts[Outcome.FAIL]
    rate, interval = _rate(passed, failed)
    return {
        "by": by,
        "value": value,
        "pass": passed,
        "fail": failed,
        "pass_rate": rate,
        "interval": _interval_list(interval),
    }


# ---------------------------------------------------------------- tools


@dataclass
class _Tools:
    """Who called a tool where, and how the calls fit the tools offered.

    A side without a usable answer made no choice, so its case counts in no trigger cell.
    """

    seen: bool = False
    trigger: Counter[tuple[bool, bool]] = field(default_factory=Counter)
    calls: dict[str, Counter[str]] = field(
        default_factory=lambda: {side.value: Counter() for side in Side}
    )

    def add(self, detail: Mapping[str, Json] | None) -> None:
        if detail is None:
            return
        self.seen = True
        stage, reference = detail["stage_called"], detail["reference_called"]
        if stage is not None and reference is not None:
            self.trigger[stage, reference] += 1
        for side in Side:
            self.calls[side.value].update(detail[f"{side}_calls"] or {})

    def document(self) -> dict[str, Json] | None:
        if not self.seen:
            return None
        both, stage_only = self.trigger[True, True], self.trigger[True, False]
        reference_only, neither = self.trigger[False, True], self.trigger[False, False]
        f1, interval = trigger_f1(both, stage_only + reference_only)
        stage = _calls_document(self.calls[Side.STAGE.value])
        return {
            "cases": self.trigger.total(),
            "trigger": {
                "both": both,
                "stage_only": stage_only,
                "reference_only": reference_only,
                "neither": neither,
            },
            "trigger_f1": f1,
            "trigger_f1_interval": _interval_list(interval),
            "stage": stage,
            "reference": _calls_document(self.calls[Side.REFERENCE.value]),
            "schema_accuracy": stage["schema_accuracy"],
        }


def trigger_f1(both: int, one_only: int) -> tuple[float | None, tuple[float, float] | None]:
    """Give F1 of calling a tool where the reference does, and its 95 % interval.

    F1 = 2·TP / (2·TP + FP + FN). With the share p = TP / (TP + FP + FN), which is a proportion
    of the cases where either side called, F1 = 2p / (1 + p). Its derivative 2 / (1 + p)² is
    positive, so F1 rises with p and the ends of p's Wilson interval map to the ends of F1's.
    """
    share, interval = _rate(both, one_only)
    if share is None or interval is None:
        return None, None
    return _f1(share), (_f1(interval[0]), _f1(interval[1]))


def _f1(share: float) -> float:
    return 2 * share / (1 + share)


def _calls_document(counts: Mapping[str, int]) -> dict[str, Json]:
    by_class = {name: counts.get(name, 0) for name in CALL_CLASSES}
    calls, valid = sum(by_class.values()), by_class["valid"]
    accuracy, interval = _rate(valid, calls - valid)
    shown: dict[str, Json] = {"calls": calls}
    shown |= {name.replace("-", "_"): count for name, count in by_class.items()}
    shown["schema_accuracy"] = accuracy
    shown["interval"] = _interval_list(interval)
    return shown
