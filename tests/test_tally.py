"""Counting case results: every figure of the report that is a sum, rate or quantile."""

import json
import tracemalloc
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denv.records import (
    CaseResult,
    Cause,
    Estimate,
    Kind,
    Outcome,
    Price,
    Side,
    Thresholds,
    Verdict,
)
from denv.stats.proportions import wilson
from denv.tally import Tally, estimate_document, trigger_f1
from denv.verdict import judge

KINDS = {
    "equals": Kind.EXACT,
    "contains": Kind.EXACT,
    "regex": Kind.EXACT,
    "tool-call": Kind.TOOL_CALLS,
    "logprobs-close": Kind.LOGPROBS,
}


def result(outcome="pass", *, check="equals", cause=None, stage=None, reference=None, detail=None):
    return CaseResult(
        id="c",
        index=0,
        check=check,
        kind=KINDS[check],
        outcome=Outcome(outcome),
        cause=cause,
        reason="",
        warnings=(),
        stage=stage,
        reference=reference,
        detail=detail or {},
    )


def took(side="stage", **figures):
    return {"exchanges": {side: figures}}


def tallied(*results, planned=None, prices=None):
    tally = Tally(planned or dict.fromkeys(KINDS, 50), prices=prices)
    for each in results:
        tally.add(each)
    return tally


# ---------------------------------------------------------------- cases


def test_checks_and_kinds():
    """Each outcome is counted under its check, and its check under its kind."""
    tally = tallied(
        result("pass"),
        result("fail"),
        result("reference-fail", check="contains"),
        result("pass", check="regex"),
        result("pass", check="regex"),
        result("unmeasured", check="regex"),
        result("reference-error", check="logprobs-close"),
        planned={"equals": 3, "contains": 2, "regex": 4, "logprobs-close": 1, "tool-call": 0},
    )
    checks, kinds = tally.checks(), tally.kinds()
    assert list(checks) == ["equals", "contains", "regex", "logprobs-close"]
    assert list(kinds) == [Kind.EXACT, Kind.LOGPROBS]
    regex, exact = checks["regex"], kinds[Kind.EXACT]
    assert (regex.planned, regex.pass_rate) == (4, 1.0)
    assert (exact.planned, exact.pass_rate) == (9, 0.75)
    limits = wilson(3, 4)
    assert exact.interval == (limits.low, limits.high)
    assert exact.counts == {
        Outcome.PASS: 3,
        Outcome.FAIL: 1,
        Outcome.REFERENCE_FAIL: 1,
        Outcome.UNMEASURED: 1,
        Outcome.REFERENCE_ERROR: 0,
    }
    assert (tally.planned, tally.done) == (10, 7)


def test_nothing_counted_has_no_rate():
    """A kind of which nothing passed or failed has neither rate nor interval."""
    estimate = tallied(result("unmeasured")).kinds()[Kind.EXACT]
    assert (estimate.pass_rate, estimate.interval) == (None, None)
    assert (estimate.verdict, estimate.reason) == (None, "")


def test_thresholds_stand_beside_the_estimates():
    """The threshold that holds is shown: the user's, or 100 % where none was named."""
    tally = tallied(result())
    default = tally.kinds()
    assert [default[kind].threshold for kind in Kind] == [1.0, 1.0, None]
    mine = tally.kinds(Thresholds(rates={Kind.LOGPROBS: Fraction(3, 4)}))
    assert [mine[kind].threshold for kind in Kind] == [None, None, 0.75]


def test_causes():
    """Causes are counted over failed cases alone, the most frequent first; none is unknown."""
    tally = tallied(
        result("fail", cause=Cause.LIMIT),
        result("fail", cause=Cause.TEMPLATE),
        result("fail", cause=Cause.TEMPLATE),
        result("fail"),
        result("unmeasured", cause=Cause.ENGINE),
    )
    assert tally.causes == {Cause.TEMPLATE: 2, Cause.LIMIT: 1, Cause.UNKNOWN: 1}
    assert next(iter(tally.causes)) is Cause.TEMPLATE


def test_unplanned_checks_are_refused():
    """A result of a check that was not planned is a fault of the harness."""
    tally = Tally({"equals": 1})
    with pytest.raises(ValueError, match=r"^c: no regex case was planned$"):
        tally.add(result(check="regex"))
    with pytest.raises(ValueError, match=r"^no such check: similar, vibes$"):
        Tally({"vibes": 1, "similar": 2, "equals": 3})


@given(st.lists(st.tuples(st.sampled_from(list(KINDS)), st.sampled_from(list(Outcome)))))
def test_every_case_is_counted_once(cases):
    """Outcomes add up to the results given, over checks and over kinds."""
    planned = dict.fromkeys(KINDS, len(cases) + 1)
    tally = tallied(*(result(o, check=c) for c, o in cases), planned=planned)
    for estimates in (tally.checks(), tally.kinds()):
        assert sum(sum(e.counts.values()) for e in estimates.values()) == len(cases)
        assert sum(e.planned for e in estimates.values()) == tally.planned
    assert tally.done == len(cases)


# ---------------------------------------------------------------- one side


def test_requests_add_up():
    """Requests, retries, rate limits and cached answers are summed for each side apart."""
    tally = tallied(
        result(detail=took(requests=2, retried=1, rate_limited=1, cached=0)),
        result(detail=took(requests=3, retried=0, rate_limited=2, cached=1)),
        result(detail=took("reference", requests=1, retried=1, rate_limited=0, cached=1)),
    )
    stage, reference = tally.side(Side.STAGE), tally.side(Side.REFERENCE)
    names = ("requests", "retried", "rate_limited", "cached")
    assert [stage[name] for name in names] == [5, 1, 3, 1]
    assert [reference[name] for name in names] == [1, 1, 0, 1]
    assert tally.requests(Side.STAGE) == (5, 1)
    assert tally.requests(Side.REFERENCE) == (1, 1)


def test_empty_side():
    """A side that was not asked shows zeros, and null where there is nothing to show."""
    assert tallied().side(Side.STAGE) == {
        "requests": 0,
        "retried": 0,
        "rate_limited": 0,
        "cached": 0,
        "usage": None,
        "cost": None,
        "latency_s": None,
        "warnings": [],
        "groups": [],
    }


def test_usage_and_cost():
    """Known token counts are summed; the cost is their price for a million."""
    price = Price(prompt_per_million=2.0, completion_per_million=10.0)
    tally = tallied(
        result(detail=took(requests=1, prompt_tokens=1000, completion_tokens=50)),
        result(detail=took(requests=1, prompt_tokens=None, completion_tokens=None)),
        result(detail=took(requests=1, prompt_tokens=500, completion_tokens=0)),
        prices={Side.STAGE: price},
    )
    stage = tally.side(Side.STAGE)
    assert stage["usage"] == {"prompt_tokens": 1500, "completion_tokens": 50}
    # 1500 · 2 / 10⁶ + 50 · 10 / 10⁶
    assert stage["cost"] == pytest.approx(0.0035, rel=1e-12)
    assert tally.side(Side.REFERENCE)["cost"] is None


def test_sums_over_both_sides():
    """Tokens and costs so far are those of both sides; no price is no cost."""
    took_both = {
        "stage": {"requests": 1, "prompt_tokens": 10, "completion_tokens": 5},
        "reference": {"requests": 1, "prompt_tokens": 20, "completion_tokens": 7},
    }
    both = result(detail={"exchanges": took_both})
    priced = {Side.STAGE: Price(1.0, 2.0), Side.REFERENCE: Price(10.0, 0.0)}
    assert tallied(both).tokens == 42
    assert tallied(both).cost is None
    # (10 · 1 + 5 · 2 + 20 · 10) / 10⁶
    assert tallied(both, prices=priced).cost == pytest.approx(220e-6)


def test_cost_without_usage():
    """A priced side that reports no usage has no known cost; one read from the cache costs 0."""
    prices = {Side.STAGE: Price(1.0, 1.0)}
    unknown = tallied(result(detail=took(requests=2, cached=1)), prices=prices)
    assert unknown.side(Side.STAGE)["cost"] is None
    cached = tallied(result(detail=took(requests=1, cached=1)), prices=prices)
    assert cached.side(Side.STAGE)["cost"] == 0


def test_partial_usage():
    """A count that no answer reported stays unknown beside the one that is known."""
    prices = {Side.STAGE: Price(1.0, 3.0)}
    tally = tallied(result(detail=took(requests=1, completion_tokens=7)), prices=prices)
    stage = tally.side(Side.STAGE)
    assert stage["usage"] == {"prompt_tokens": None, "completion_tokens": 7}
    assert stage["cost"] == pytest.approx(21e-6)
    prompt = tallied(result(detail=took(requests=1, prompt_tokens=7)), prices=prices)
    assert prompt.side(Side.STAGE)["cost"] == pytest.approx(7e-6)


def test_latency():
    """Times of all answers give a median and a 95 % quantile by nearest rank, within 1.2 %."""
    times = [float(n) for n in range(1, 21)]
    tally = tallied(
        result(detail=took(elapsed_s=times[:7])), result(detail=took(elapsed_s=times[7:]))
    )
    latency = tally.side(Side.STAGE)["latency_s"]
    assert latency == {"median": pytest.approx(10, rel=0.012), "p95": pytest.approx(19, rel=0.012)}


def test_oddities():
    """Oddities are counted by code, the most frequent first, with their first sentence."""
    odd = {"code": "arguments-object", "detail": "arguments come as an object"}
    other = {"code": "no-id", "detail": "a call has no id"}
    tally = tallied(
        result(stage={"oddities": [other, odd]}, reference={"oddities": [other]}),
        result(stage={"oddities": [{**odd, "detail": "again"}]}, detail=took(later_oddities=[odd])),
    )
    assert tally.side(Side.STAGE)["warnings"] == [
        {**odd, "count": 3},
        {**other, "count": 1},
    ]
    assert tally.side(Side.REFERENCE)["warnings"] == [{**other, "count": 1}]


def test_groups():
    """Rates are broken down by backend where a side showed more than one."""
    tally = tallied(
        result("pass", stage={"provider": "fp8", "replica": "r1", "system_fingerprint": None}),
        result("fail", stage={"provider": "bf16", "replica": "r1"}),
        result("pass", stage={"provider": "bf16", "replica": None}),
        result("unmeasured", stage={"provider": "int4"}),
        result("pass", reference={"provider": "only"}),
    )
    groups = tally.side(Side.STAGE)["groups"]
    assert [(g["by"], g["value"], g["pass"], g["fail"], g["pass_rate"]) for g in groups] == [
        ("provider", "fp8", 1, 0, 1.0),
        ("provider", "bf16", 1, 1, 0.5),
        ("provider", "int4", 0, 0, None),
    ]
    limits = wilson(1, 2)
    assert groups[1]["interval"] == [limits.low, limits.high]
    assert groups[2]["interval"] is None
    assert tally.side(Side.REFERENCE)["groups"] == []


@pytest.mark.parametrize("by", ["system_fingerprint", "provider", "replica"])
def test_each_grouping(by):
    """Fingerprint, provider and replica each make groups."""
    tally = tallied(result(stage={by: "a"}), result(stage={by: "b"}))
    assert [(g["by"], g["value"]) for g in tally.side(Side.STAGE)["groups"]] == [
        (by, "a"),
        (by, "b"),
    ]


def test_groups_are_bounded():
    """The 51st value and all later ones share one group, those before keep their own."""
    values = [f"f{n}" for n in range(53)] + ["f0"]
    tally = tallied(*(result(stage={"replica": value}) for value in values))
    groups = {g["value"]: g["pass"] for g in tally.side(Side.STAGE)["groups"]}
    assert len(groups) == 51
    assert (groups["f0"], groups["f49"], groups["(other)"]) == (2, 1, 3)


def test_replicas():
    """The stage's replicas are given with their passed and failed cases."""
    tally = tallied(
        result("pass", stage={"replica": "a"}, reference={"replica": "x"}),
        result("fail", stage={"replica": "a"}),
        result("fail", stage={"replica": "a"}),
        result("unmeasured", stage={"replica": "b"}),
    )
    assert tally.replicas() == {"a": (1, 2), "b": (0, 0)}


# ---------------------------------------------------------------- tools


def tools(stage=None, reference=None, *, stage_calls=None, reference_calls=None):
    detail = {
        "stage_called": stage,
        "reference_called": reference,
        "stage_calls": stage_calls,
        "reference_calls": reference_calls,
    }
    return result(check="tool-call", detail={"tools": detail})


def test_no_tools():
    """Without a case with tools there is nothing to show."""
    assert tallied(result()).tools() is None


def test_trigger():
    """Who called is tabled where both sides answered; a side that did not made no choice."""
    pairs = [(True, True)] * 4 + [(True, False)] + [(False, True)] * 2 + [(False, False)] * 3
    shown = tallied(*(tools(*pair) for pair in [*pairs, (None, True), (True, None)])).tools()
    assert shown["cases"] == 10
    assert shown["trigger"] == {"both": 4, "stage_only": 1, "reference_only": 2, "neither": 3}
    # 2·4 / (2·4 + 1 + 2)
    assert shown["trigger_f1"] == pytest.approx(8 / 11)
    limits = wilson(4, 7)
    ends = [2 * p / (1 + p) for p in (limits.low, limits.high)]
    assert shown["trigger_f1_interval"] == pytest.approx(ends)


def test_nobody_calls():
    """Where neither side ever calls, F1 is undefined: null, neither 0 nor 1."""
    shown = tallied(tools(False, False)).tools()
    assert (shown["trigger_f1"], shown["trigger_f1_interval"]) == (None, None)
    assert shown["trigger"]["neither"] == 1


@given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 300))
def test_f1_law(both, stage_only, reference_only):
    """F1 is 2·TP / (2·TP + FP + FN) and lies within its interval."""
    f1, interval = trigger_f1(both, stage_only + reference_only)
    if f1 is None or interval is None:
        assert (f1, interval) == (None, None)
        assert both + stage_only + reference_only == 0
        return
    assert f1 == pytest.approx(2 * both / (2 * both + stage_only + reference_only))
    assert 0 <= interval[0] <= f1 + 1e-12
    assert f1 - 1e-12 <= interval[1] <= 1


def test_schema_accuracy():
    """Calls are told apart by how they fit the tools offered; the accuracy is valid by all."""
    ok = {"valid": 3, "invalid-json": 0, "unknown-name": 0, "schema-mismatch": 0}
    bad = {"valid": 0, "invalid-json": 1, "unknown-name": 2, "schema-mismatch": 4}
    shown = tallied(
        tools(True, None, stage_calls=ok),
        tools(True, True, stage_calls=bad, reference_calls={"valid": 2}),
    ).tools()
    limits = wilson(3, 10)
    assert shown["stage"] == {
        "calls": 10,
        "valid": 3,
        "invalid_json": 1,
        "unknown_name": 2,
        "schema_mismatch": 4,
        "schema_accuracy": 0.3,
        "interval": [limits.low, limits.high],
    }
    assert shown["reference"]["schema_accuracy"] == 1.0
    assert shown["schema_accuracy"] == 0.3


def test_no_calls_have_no_accuracy():
    """Without a call there is no schema accuracy."""
    shown = tallied(tools(False, False, stage_calls={"valid": 0})).tools()
    assert shown["schema_accuracy"] is None
    assert shown["stage"]["calls"] == 0
    assert (shown["stage"]["schema_accuracy"], shown["stage"]["interval"]) == (None, None)


# ---------------------------------------------------------------- the document


def test_estimate_document_of_nothing():
    """Outcomes without a count are shown as none, and there is no rate."""
    shown = estimate_document(Estimate(2, {}, None, None))
    zeros: dict[str, int] = dict.fromkeys(Outcome, 0)
    assert shown == {"planned": 2, **zeros, "pass_rate": None, "interval": None}


def test_estimate_document():
    """A kind shows its counts, rate, interval, threshold and verdict; a check no verdict."""
    tally = tallied(*[result("pass")] * 3, result("fail"), planned={"equals": 5})
    limits = wilson(3, 4)
    counts = {
        "planned": 5,
        "pass": 3,
        "fail": 1,
        "reference-fail": 0,
        "unmeasured": 0,
        "reference-error": 0,
        "pass_rate": 0.75,
        "interval": [limits.low, limits.high],
    }
    assert estimate_document(tally.checks()["equals"]) == counts
    judgement = judge(tally.kinds(), thresholds=Thresholds())
    assert estimate_document(judgement.kinds[Kind.EXACT], judged=True) == {
        **counts,
        "threshold": 1.0,
        "verdict": "fail",
        "reason": "exact: 3 of 4 pass (75 %), below the threshold of 100 %",
    }
    unjudged = estimate_document(tally.kinds()[Kind.EXACT], judged=True)
    assert (unjudged["verdict"], unjudged["threshold"]) == (None, 1.0)


def test_document():
    """The counted parts are strict JSON values under the report's names."""
    tally = tallied(
        result("pass", stage={"replica": "a"}),
        result("fail", cause=Cause.ENGINE, detail=took(requests=1, elapsed_s=[0.5])),
        tools(True, True, stage_calls={"valid": 1}),
        planned={"equals": 2, "tool-call": 1},
    )
    judgement = judge(tally.kinds(), thresholds=Thresholds())
    document = tally.document(judgement)
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    names = ["stage", "reference", "kinds", "checks", "causes", "tools", "hints"]
    assert list(document) == names
    assert document["stage"] == tally.side(Side.STAGE)
    assert document["reference"] == tally.side(Side.REFERENCE)
    assert document["causes"] == {"engine": 1}
    assert list(document["kinds"]) == ["exact", "tool-calls"]
    assert document["kinds"]["exact"]["verdict"] == "fail"
    assert document["checks"]["equals"] == estimate_document(tally.checks()["equals"])
    assert document["tools"] == tally.tools()
    assert judgement.verdict is Verdict.FAIL


def test_unfinished_runs():
    """Cases without a result are planned and nothing else, and keep a run from passing."""
    tally = tallied(*[result("pass")] * 99, planned={"equals": 100})
    assert (tally.planned, tally.done) == (100, 99)
    judgement = judge(tally.kinds(), thresholds=Thresholds())
    assert judgement.verdict is Verdict.INCONCLUSIVE


def test_memory_does_not_grow():
    """Thousands of results with ever new backends leave a tally of the same size."""
    tally = Tally({"equals": 6_000})
    tracemalloc.start()
    held = []
    for n in range(6_000):
        times = took(requests=1, elapsed_s=[1 + n % 1000 / 100])
        tally.add(result(stage={"system_fingerprint": f"f{n}"}, detail=times))
        if n in {1_999, 5_999}:
            held.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert held[1] - held[0] < 20_000
