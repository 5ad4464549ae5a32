"""The verdict of a run: each rule with its boundary, and the laws that no input may break."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denv.errors import UsageError
from denv.records import Estimate, Kind, Outcome, Thresholds, Verdict
from denv.verdict import (
    Judgement,
    check_thresholds,
    effective_rates,
    exact_percent,
    judge,
    percent,
)

P95 = Thresholds(rates={Kind.EXACT: Fraction(95, 100)})
UNPROVABLE = "no run can show with confidence that 100 % of"
ADVICE = "lower the threshold or leave the confidence out"
RANK = [Verdict.PASS, Verdict.INCONCLUSIVE, Verdict.ERROR, Verdict.FAIL, Verdict.CANCELLED]


def estimate(passed=0, failed=0, *, reference_fail=0, unmeasured=0, reference_error=0, missing=0):
    counts = {
        Outcome.PASS: passed,
        Outcome.FAIL: failed,
        Outcome.REFERENCE_FAIL: reference_fail,
        Outcome.UNMEASURED: unmeasured,
        Outcome.REFERENCE_ERROR: reference_error,
    }
    return Estimate(sum(counts.values()) + missing, counts, None, None)


def judged(*, thresholds=P95, run=None, **counts):
    return judge({Kind.EXACT: estimate(**counts)}, thresholds=thresholds, **(run or {}))


# ---------------------------------------------------------------- one kind


@pytest.mark.parametrize(
    ("counts", "verdict", "reason"),
    [
        ({"passed": 95, "failed": 5}, "pass", "95 of 100 pass (95 %), the threshold is 95 %"),
        (
            {"passed": 75, "failed": 5},
            "fail",
            "75 of 80 pass (93.8 %), below the threshold of 95 %",
        ),
        (
            {"passed": 94999, "failed": 5001},
            "fail",
            "94999 of 100000 pass (94.999 %), below the threshold of 95 %",
        ),
        ({"unmeasured": 3}, "inconclusive", "none of 3 cases could be counted"),
        (
            {"reference_fail": 3},
            "inconclusive",
            "none of 3 cases could be counted; 3 of 3 fail on the reference",
        ),
        # 90 % of (20 - 0) are 18.
        (
            {"passed": 18, "unmeasured": 2},
            "pass",
            "18 of 18 pass (100 %), the threshold is 95 %",
        ),
        (
            {"passed": 17, "unmeasured": 3},
            "inconclusive",
            "only 17 of 20 cases could be counted, 90 % are needed",
        ),
        # What the reference fails is not asked of the stage: 90 % of (30 - 10) are 18.
        (
            {"passed": 18, "reference_fail": 10, "unmeasured": 2},
            "pass",
            "18 of 18 pass (100 %), the threshold is 95 %; 10 of 30 fail on the reference",
        ),
        (
            {"passed": 17, "reference_fail": 10, "unmeasured": 2, "reference_error": 1},
            "inconclusive",
            "only 17 of 20 cases could be counted, 90 % are needed; 10 of 30 fail on the reference",
        ),
        # A failure stays one, however little was counted.
        (
            {"failed": 1, "unmeasured": 99},
            "fail",
            "0 of 1 pass (0 %), below the threshold of 95 %",
        ),
        (
            {"passed": 95, "missing": 1},
            "inconclusive",
            "95 of 95 pass (100 %), but 1 of 96 have no result",
        ),
    ],
)
def test_one_kind(counts, verdict, reason):
    """Below the threshold fails; too little counted or any missing result is inconclusive."""
    judgement = judged(**counts)
    assert judgement.verdict == verdict
    assert judgement.reasons == (f"exact: {reason}",)
    shown = judgement.kinds[Kind.EXACT]
    assert (shown.verdict, shown.reason, shown.threshold) == (verdict, f"exact: {reason}", 0.95)


def test_counts_that_are_not_there():
    """An outcome without a count has happened to no case."""
    nothing = judge({Kind.EXACT: Estimate(2, {}, None, None)}, thresholds=P95)
    assert nothing.kinds[Kind.EXACT].reason == "exact: none of 2 cases could be counted"
    one = judge({Kind.EXACT: Estimate(1, {Outcome.PASS: 1}, None, None)}, thresholds=P95)
    assert one.reasons == ("exact: 1 of 1 pass (100 %), the threshold is 95 %",)
    counts = {Outcome.PASS: 8, Outcome.UNMEASURED: 2}
    few = judge({Kind.EXACT: Estimate(10, counts, None, None)}, thresholds=P95)
    assert few.reasons == ("exact: only 8 of 10 cases could be counted, 90 % are needed",)


def test_fractions_are_exact():
    """7 of 10 meets a threshold of exactly 0.7, which binary numbers would miss."""
    third = Thresholds(rates={Kind.EXACT: Fraction(1, 3)})
    assert judged(thresholds=third, passed=1, failed=2).verdict is Verdict.PASS
    tenths = Thresholds(rates={Kind.EXACT: Fraction(7, 10)})
    assert judged(thresholds=tenths, passed=7, failed=3).verdict is Verdict.PASS
    above = Thresholds(rates={Kind.EXACT: Fraction(7, 10) + Fraction(1, 10**20)})
    assert judged(thresholds=above, passed=7, failed=3).verdict is Verdict.FAIL


def test_coverage_is_a_setting():
    """A coverage of 50 % asks for half of the cases."""
    half = replace(P95, coverage=Fraction(1, 2))
    assert judged(thresholds=half, passed=5, unmeasured=5).verdict is Verdict.PASS
    assert judged(thresholds=half, passed=5, unmeasured=6).verdict is Verdict.INCONCLUSIVE


# ---------------------------------------------------------------- confidence


@pytest.mark.parametrize(
    ("passed", "failed", "verdict"),
    [
        # 0.05^(1/58) = 0.94966 and 0.05^(1/59) = 0.95050
        (58, 0, Verdict.INCONCLUSIVE),
        (59, 0, Verdict.PASS),
        (95, 5, Verdict.INCONCLUSIVE),
        (94, 6, Verdict.FAIL),
        # The bound of 198 of 200 is 0.96886.
        (198, 2, Verdict.PASS),
    ],
)
def test_confidence(passed, failed, verdict):
    """A pass needs the lower bound to reach the threshold; a failure stays a failure."""
    sure = replace(P95, confidence=Fraction(95, 100))
    assert judged(thresholds=sure, passed=passed, failed=failed).verdict is verdict


@pytest.mark.parametrize(
    ("passed", "verdict"),
    # 0.5^(1/13) = 0.94808 and 0.5^(1/14) = 0.95170
    [(13, Verdict.INCONCLUSIVE), (14, Verdict.PASS)],
)
def test_confidence_is_a_setting(passed, verdict):
    """Less confidence is shown by fewer passes."""
    half = replace(P95, confidence=Fraction(1, 2))
    assert judged(thresholds=half, passed=passed).verdict is verdict


def test_bound_at_the_threshold():
    """A lower bound that just reaches the threshold is enough: 0.5^(1/1) is 0.5."""
    even = Thresholds(rates={Kind.EXACT: Fraction(1, 2)}, confidence=Fraction(1, 2))
    assert judged(thresholds=even, passed=1).verdict is Verdict.PASS


@pytest.mark.parametrize(("passed", "shown"), [(20, "86.1 %"), (58, "94.97 %")])
def test_confidence_reason(passed, shown):
    """The reason names the bound that was reached and the one that is needed, told apart."""
    sure = replace(P95, confidence=Fraction(95, 100))
    seen = f"exact: {passed} of {passed} pass (100 %)"
    bound = f"with 95 % confidence only {shown} are shown, 95 % are needed"
    assert judged(thresholds=sure, passed=passed).reasons == (f"{seen}; {bound}",)


# ---------------------------------------------------------------- thresholds


def test_default_thresholds():
    """Without thresholds all of exact and of tool-calls must pass where present, and no other."""
    everything = effective_rates(Thresholds(), list(Kind))
    assert everything == {Kind.EXACT: 1, Kind.TOOL_CALLS: 1}
    assert effective_rates(Thresholds(), [Kind.TOOL_CALLS]) == {Kind.TOOL_CALLS: 1}
    assert effective_rates(P95, list(Kind)) == P95.rates


def test_default_run():
    """One failure among a hundred fails a run without thresholds; logprobs are shown ungated."""
    estimates = {Kind.EXACT: estimate(99, 1), Kind.LOGPROBS: estimate(0, 5)}
    judgement = judge(estimates, thresholds=Thresholds())
    assert judgement.verdict is Verdict.FAIL
    assert judgement.reasons == ("exact: 99 of 100 pass (99 %), below the threshold of 100 %",)
    logprobs = judgement.kinds[Kind.LOGPROBS]
    assert (logprobs.verdict, logprobs.threshold) == (Verdict.UNGATED, None)
    assert logprobs.reason == "logprobs: no threshold"


def test_ungated_kinds_do_not_decide():
    """A kind without threshold fails nothing."""
    estimates = {Kind.EXACT: estimate(20), Kind.TOOL_CALLS: estimate(0, 9)}
    judgement = judge(estimates, thresholds=P95)
    assert judgement.verdict is Verdict.PASS
    assert judgement.kinds[Kind.TOOL_CALLS].verdict is Verdict.UNGATED


def test_nothing_gated_is_inconclusive():
    """A run in which no kind has a threshold proves nothing."""
    judgement = judge({Kind.LOGPROBS: estimate(50)}, thresholds=Thresholds())
    assert judgement.verdict is Verdict.INCONCLUSIVE
    assert judgement.reasons == ("no kind has a threshold",)


@pytest.mark.parametrize(
    ("thresholds", "words"),
    [
        (
            Thresholds(rates={Kind.LOGPROBS: Fraction(1, 2)}),
            "a threshold for logprobs, but the suite has no such case",
        ),
        (
            Thresholds(rates={Kind.EXACT: Fraction(1), Kind.LOGPROBS: Fraction(1)}),
            "a threshold for logprobs, but the suite has no such case",
        ),
        (
            Thresholds(rates={Kind.EXACT: Fraction(0)}),
            "the threshold of exact must be above 0 % and at most 100 %",
        ),
        (
            Thresholds(rates={Kind.EXACT: Fraction(101, 100)}),
            "the threshold of exact must be above 0 % and at most 100 %",
        ),
        (replace(P95, coverage=Fraction(-1, 100)), "coverage must be between 0 % and 100 %"),
        (replace(P95, coverage=Fraction(101, 100)), "coverage must be between 0 % and 100 %"),
        (replace(P95, max_retried=Fraction(-1, 100)), "max-retried must be between 0 % and 100 %"),
        (replace(P95, max_retried=Fraction(101, 100)), "max-retried must be between 0 % and 100 %"),
        (replace(P95, confidence=Fraction(0)), "confidence must be between 0 % and 100 %"),
        (replace(P95, confidence=Fraction(1)), "confidence must be between 0 % and 100 %"),
        (Thresholds(confidence=Fraction(19, 20)), f"{UNPROVABLE} exact pass: {ADVICE}"),
        (
            Thresholds(rates={Kind.EXACT: Fraction(1)}, confidence=Fraction(19, 20)),
            f"{UNPROVABLE} exact pass: {ADVICE}",
        ),
    ],
)
def test_refused_thresholds(thresholds, words):
    """Thresholds that no run of the suite could meet or miss are a usage error."""
    with pytest.raises(UsageError) as refused:
        check_thresholds(thresholds, [Kind.EXACT, Kind.TOOL_CALLS])
    assert str(refused.value) == words


@pytest.mark.parametrize(
    "thresholds",
    [
        Thresholds(),
        P95,
        replace(P95, confidence=Fraction(19, 20)),
        replace(P95, coverage=Fraction(0), max_retried=Fraction(0)),
        replace(P95, coverage=Fraction(1), max_retried=Fraction(1)),
        Thresholds(rates={Kind.EXACT: Fraction(1)}),
    ],
)
def test_accepted_thresholds(thresholds):
    """The ends of each range are allowed."""
    check_thresholds(thresholds, {Kind.EXACT})


# ---------------------------------------------------------------- the run as a whole


def test_empty_suite():
    """A run without cases is inconclusive, whatever the thresholds."""
    for estimates in ({}, {Kind.EXACT: estimate()}):
        for thresholds in (Thresholds(), P95):
            judgement = judge(estimates, thresholds=thresholds)
            assert judgement.verdict is Verdict.INCONCLUSIVE
            assert judgement.reasons == ("no case was planned",)


def test_gated_kind_that_is_absent():
    """A threshold for a kind without cases is never met."""
    both = Thresholds(rates={Kind.EXACT: Fraction(1), Kind.LOGPROBS: Fraction(1)})
    judgement = judge({Kind.EXACT: estimate(9)}, thresholds=both)
    assert judgement.verdict is Verdict.INCONCLUSIVE
    assert judgement.reasons == ("logprobs: no case was planned",)


def test_missing_results_of_an_ungated_kind():
    """An incomplete run is inconclusive at best, whichever kind lacks results."""
    estimates = {Kind.EXACT: estimate(9), Kind.LOGPROBS: estimate(2, missing=2)}
    judgement = judge(estimates, thresholds=Thresholds())
    assert judgement.verdict is Verdict.INCONCLUSIVE
    assert judgement.reasons == ("logprobs: 2 of 4 have no result",)
    estimates[Kind.LOGPROBS] = estimate(3, missing=1)
    assert judge(estimates, thresholds=Thresholds()).verdict is Verdict.INCONCLUSIVE


def test_reference_that_answered_nothing():
    """A reference without one answer could not run as a whole: that is an error, not doubt."""
    estimates = {
        Kind.EXACT: estimate(reference_error=4),
        Kind.LOGPROBS: estimate(reference_error=2),
        Kind.TOOL_CALLS: estimate(3),
    }
    judgement = judge(estimates, thresholds=Thresholds())
    assert judgement.verdict is Verdict.ERROR
    assert judgement.reasons == (
        "the reference answered none of its 6 cases",
        "exact: none of 4 cases could be counted",
    )
    one_answer = {**estimates, Kind.LOGPROBS: estimate(unmeasured=1, reference_error=1)}
    assert judge(one_answer, thresholds=Thresholds()).verdict is Verdict.INCONCLUSIVE


def test_tool_calls_alone_need_no_reference():
    """A suite of tool-call cases passes without the reference."""
    judgement = judge({Kind.TOOL_CALLS: estimate(3)}, thresholds=Thresholds())
    assert judgement == Judgement(
        Verdict.PASS,
        ("tool-calls: 3 of 3 pass (100 %), the threshold is 100 %",),
        judgement.kinds,
    )


@pytest.mark.parametrize(
    ("requests", "retried", "most", "verdict"),
    [
        (10, 2, Fraction(1, 50), Verdict.PASS),
        (10, 3, Fraction(1, 50), Verdict.FAIL),
        (150, 3, Fraction(1, 50), Verdict.PASS),
        (149, 3, Fraction(1, 50), Verdict.FAIL),
        (200, 4, Fraction(1, 50), Verdict.PASS),
        (200, 5, Fraction(1, 50), Verdict.FAIL),
        (200, 5, Fraction(1, 10), Verdict.PASS),
        (1000, 1, Fraction(0), Verdict.FAIL),
        (1000, 0, Fraction(0), Verdict.PASS),
        (1000, 2, Fraction(1, 10**6), Verdict.PASS),
    ],
)
def test_retries(requests, retried, most, verdict):
    """Three retries or more, and more than the share allowed, fail; with 0 % a single one does."""
    run = {"stage_requests": requests, "stage_retried": retried}
    thresholds = replace(P95, max_retried=most)
    assert judged(thresholds=thresholds, passed=20, run=run).verdict is verdict


def test_retries_reason():
    """The reason names availability, the counts and the share that is allowed."""
    run = {"stage_requests": 100, "stage_retried": 3}
    assert judged(passed=20, run=run).reasons == (
        "availability: 3 of the stage's 100 requests had to be retried, 2 % may be",
    )


@pytest.mark.parametrize(
    ("replicas", "verdict"),
    [
        ({}, Verdict.PASS),
        ({"a": (0, 9)}, Verdict.PASS),
        ({"a": (10, 0), "b": (10, 0)}, Verdict.PASS),
        # Fisher, two-sided: 2·C(5,5)/C(10,5) = 2/252 = 0.0079; 2·C(8,4)⁻¹ = 2/70 = 0.029
        ({"a": (5, 0), "b": (0, 5)}, Verdict.FAIL),
        ({"a": (4, 0), "b": (0, 4)}, Verdict.PASS),
        # The one failure falls on the replica with one case of 101 (of 99) by 1/101 (1/99).
        ({"a": (100, 0), "b": (0, 1)}, Verdict.FAIL),
        ({"a": (99, 0), "b": (0, 1)}, Verdict.FAIL),
        ({"a": (98, 0), "b": (0, 1)}, Verdict.PASS),
    ],
)
def test_replicas(replicas, verdict):
    """Replicas whose rates an exact test tells apart at 1 % fail the run."""
    assert judged(passed=20, run={"replicas": replicas}).verdict is verdict


def test_replicas_reason():
    """The reason names the worst and the best replica; those without counts are left out."""
    replicas = {"b": (30, 0), "a": (20, 10), "idle": (0, 0), "c": (29, 1)}
    judgement = judged(passed=20, run={"replicas": replicas})
    assert judgement.verdict is Verdict.FAIL
    # The sum over all tables with the same margins that are no likelier, in whole numbers.
    assert judgement.reasons[0] == (
        "the stage's 3 replicas differ: 20 of 30 on a and 30 of 30 on b pass (p = 0.00013)"
    )


@pytest.mark.parametrize(
    ("replicas", "ends"),
    [
        ({"a": (40, 40), "b": (20, 0)}, "40 of 80 on a and 20 of 20 on b"),
        ({"a": (100, 0), "b": (0, 1)}, "0 of 1 on b and 100 of 100 on a"),
    ],
)
def test_replicas_are_ordered_by_rate(replicas, ends):
    """The worst replica is the one of the lowest rate, not of the fewest passes."""
    reason = judged(passed=20, run={"replicas": replicas}).reasons[0]
    assert reason.startswith(f"the stage's 2 replicas differ: {ends} pass")


@pytest.mark.parametrize(
    ("counts", "run", "verdict"),
    [
        ({"passed": 20}, {"errors": ["the journal cannot be written"]}, Verdict.ERROR),
        ({"unmeasured": 20}, {"errors": ["no reference"]}, Verdict.ERROR),
        ({"failed": 20}, {"errors": ["no reference"]}, Verdict.FAIL),
        ({"passed": 20}, {"failures": ["the stage refused"]}, Verdict.FAIL),
        ({"missing": 20}, {"errors": ["x"], "failures": ["y"]}, Verdict.FAIL),
        ({"passed": 20}, {"cancelled": True}, Verdict.CANCELLED),
        ({"failed": 20}, {"cancelled": True, "errors": ["x"]}, Verdict.CANCELLED),
        ({"unmeasured": 20}, {"stage_requests": 3, "stage_retried": 3}, Verdict.FAIL),
    ],
)
def test_the_worst_decides(counts, run, verdict):
    """Cancelled stands over fail over error over inconclusive over pass."""
    assert judged(run=run, **counts).verdict is verdict


def test_reasons_are_ordered():
    """The reasons that decide come first, and passes are not among those of a worse verdict."""
    both = Thresholds(rates={Kind.EXACT: Fraction(1), Kind.TOOL_CALLS: Fraction(1)})
    estimates = {
        Kind.EXACT: estimate(unmeasured=2),
        Kind.TOOL_CALLS: estimate(3),
        Kind.LOGPROBS: estimate(1),
    }
    judgement = judge(
        estimates,
        thresholds=both,
        stage_requests=3,
        stage_retried=3,
        cancelled=True,
        errors=["no disk"],
    )
    assert judgement.reasons == (
        "the run was cancelled",
        "availability: 3 of the stage's 3 requests had to be retried, 2 % may be",
        "no disk",
        "exact: none of 2 cases could be counted",
    )


def test_every_pass_is_named():
    """A passing run names what each kind reached."""
    estimates = {Kind.EXACT: estimate(4), Kind.TOOL_CALLS: estimate(3)}
    assert judge(estimates, thresholds=Thresholds()).reasons == (
        "exact: 4 of 4 pass (100 %), the threshold is 100 %",
        "tool-calls: 3 of 3 pass (100 %), the threshold is 100 %",
    )


# ---------------------------------------------------------------- laws

few = st.integers(0, 6)
shapes = st.fixed_dictionaries(
    {
        "passed": few,
        "failed": few,
        "reference_fail": few,
        "unmeasured": few,
        "reference_error": few,
        "missing": few,
    }
)
rates = st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), Fraction(99, 100)])
limits = st.builds(
    Thresholds,
    rates=st.dictionaries(st.sampled_from(list(Kind)), rates),
    confidence=st.sampled_from([None, None, Fraction(1, 2), Fraction(19, 20)]),
)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(list(Kind)), shapes), limits)
def test_a_pass_is_earned(kinds, thresholds):
    """A run passes only where every case has a result and each gated kind counted enough."""
    estimates = {kind: estimate(**shape) for kind, shape in kinds.items()}
    if judge(estimates, thresholds=thresholds).verdict is not Verdict.PASS:
        return
    gated = effective_rates(thresholds, [k for k, e in estimates.items() if e.planned])
    assert gated
    assert not any(shape["missing"] for shape in kinds.values())
    for kind, rate in gated.items():
        shape = kinds[kind]
        counted = shape["passed"] + shape["failed"]
        assert counted > 0
        assert Fraction(shape["passed"], counted) >= rate
        fair = estimates[kind].planned - shape["reference_fail"]
        assert 10 * counted >= 9 * fair


@settings(deadline=None)
@given(shapes.filter(lambda shape: shape["failed"] > 0), limits)
def test_a_better_answer_never_worsens(shape, thresholds):
    """Turning a failed case into a passed one never makes the verdict worse."""
    better = {**shape, "passed": shape["passed"] + 1, "failed": shape["failed"] - 1}
    before = judge({Kind.EXACT: estimate(**shape)}, thresholds=thresholds).verdict
    after = judge({Kind.EXACT: estimate(**better)}, thresholds=thresholds).verdict
    assert RANK.index(after) <= RANK.index(before)


@settings(deadline=None)
@given(shapes, limits, st.integers(0, 9), st.booleans(), st.booleans())
def test_trouble_never_helps(shape, thresholds, retried, cancelled, broken):
    """Retries, errors and cancelling never make the verdict better."""
    estimates = {Kind.EXACT: estimate(**shape)}
    calm = judge(estimates, thresholds=thresholds).verdict
    troubled = judge(
        estimates,
        thresholds=thresholds,
        stage_requests=20,
        stage_retried=retried,
        cancelled=cancelled,
        errors=["broken"] if broken else [],
    ).verdict
    assert RANK.index(troubled) >= RANK.index(calm)


@settings(deadline=None)
@given(shapes, limits)
def test_confidence_only_doubts(shape, thresholds):
    """Asking for confidence can turn a pass into doubt, and changes nothing else."""
    estimates = {Kind.EXACT: estimate(**shape)}
    plain = judge(estimates, thresholds=replace(thresholds, confidence=None)).verdict
    sure = judge(estimates, thresholds=thresholds).verdict
    assert sure == plain or (plain, sure) == (Verdict.PASS, Verdict.INCONCLUSIVE)


# ---------------------------------------------------------------- percentages


@pytest.mark.parametrize(
    ("share", "other", "text"),
    [
        (Fraction(1), None, "100 %"),
        (Fraction(0), None, "0 %"),
        (Fraction(75, 80), None, "93.8 %"),
        (Fraction(1, 2), Fraction(1, 2), "50 %"),
        (Fraction(99999, 100000), None, "99.999 %"),
        (Fraction(1, 10000), None, "0.01 %"),
        (Fraction(9496, 10000), Fraction(95, 100), "94.96 %"),
        (Fraction(2, 3), Fraction(95, 100), "66.7 %"),
        (Fraction(1, 10), None, "10 %"),
        (1 - Fraction(1, 10**9), None, "99.9999999 %"),
        # Nine decimals are the most.
        (1 - Fraction(3, 10**12), None, "100 %"),
    ],
)
def test_percent(share, other, text):
    """A share is never shown as 100 %, 0 % or the other share unless it is that."""
    assert percent(share, apart_from=other) == text


def test_exact_percent():
    """Settings are shown without rounding."""
    assert exact_percent(Fraction(9975, 10000)) == "99.75 %"
    assert exact_percent(Fraction(1)) == "100 %"


# ---------------------------------------------------------------- the noise floor


@pytest.mark.parametrize(
    ("counts", "floor", "verdict"),
    [
        # The upper limit of 40 of 40 is 100 %: nothing is refused.
        ({"passed": 100}, (40, 40), "pass"),
        # Of 90 in 100 it is 94.5 %, below 95 %: a pass proves nothing …
        ({"passed": 100}, (90, 100), "inconclusive"),
        # … and 88 of 100 (at most 92.8 %) are explained by an agreement that may be 83.6 %,
        ({"passed": 88, "failed": 12}, (90, 100), "inconclusive"),
        # … while 50 of 100 (at most 58.6 %) are not.
        ({"passed": 50, "failed": 50}, (90, 100), "fail"),
        # Of 91 in 100 it is 95.2 %: the threshold stands.
        ({"passed": 94, "failed": 6}, (91, 100), "fail"),
        ({"passed": 100}, (91, 100), "pass"),
        ({"unmeasured": 5}, (90, 100), "inconclusive"),
    ],
)
def test_a_threshold_above_the_reference_s_own_agreement_is_refused(counts, floor, verdict):
    """No stage can be held to what the reference would miss; R: binom.test(…, "less")$conf.int."""
    found = judged(**counts, run={"floor": {Kind.EXACT: floor}})
    assert found.verdict == verdict
    refused = f"agrees with itself in {floor[0]} of {floor[1]} cases, at most in"
    assert (refused in found.kinds[Kind.EXACT].reason) is (floor == (90, 100))


def test_the_floor_of_an_ungated_kind_decides_nothing():
    """Where no threshold stands there is none to refuse."""
    found = judged(passed=100, run={"floor": {Kind.LOGPROBS: (1, 100)}})
    assert found.verdict == "pass"
