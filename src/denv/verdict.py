"""From estimates and thresholds to a verdict, on exact fractions.

Nothing but counted cases makes a pass: whatever is missing, unmeasured or unasked leaves the
verdict at best inconclusive.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from denv.errors import UsageError
from denv.records import Estimate, Kind, Outcome, Thresholds, Verdict
from denv.stats.contingency import exact_test
from denv.stats.proportions import clopper_pearson_lower, clopper_pearson_upper

MIN_RETRIED = 3
"""Fewer retried requests than this never fail a run that allows any, however small it is."""

REPLICA_LEVEL = 0.01
"""The level of the test that the replicas of a stage share one pass rate."""

DEFAULT_RATES: Mapping[Kind, Fraction] = {Kind.EXACT: Fraction(1), Kind.TOOL_CALLS: Fraction(1)}

_SEVERITY = (
    Verdict.UNGATED,
    Verdict.PASS,
    Verdict.INCONCLUSIVE,
    Verdict.ERROR,
    Verdict.FAIL,
    Verdict.CANCELLED,
)

_NEEDS_REFERENCE = (Kind.EXACT, Kind.LOGPROBS)


@dataclass(frozen=True, slots=True)
class Judgement:
    """A run's verdict, what decided it (worst first), and each kind's estimate with its own."""

    verdict: Verdict
    reasons: tuple[str, ...]
    kinds: Mapping[Kind, Estimate]


def effective_rates(
    thresholds: Thresholds, kinds_present: Collection[Kind]
) -> Mapping[Kind, Fraction]:
    """Give the thresholds that hold: the user's, or 100 % of exact and tool-calls where present."""
    if thresholds.rates:
        return thresholds.rates
    return {kind: rate for kind, rate in DEFAULT_RATES.items() if kind in kinds_present}


def check_thresholds(thresholds: Thresholds, kinds_present: Collection[Kind]) -> None:
    """Refuse thresholds that no run of this suite could meet or miss.

    Raises
    ------
    UsageError
        For a kind that the suite lacks, a rate that is not above 0 and at most 1, shares out of
        range, and a confidence together with a threshold of 100 %, which no number of passes
        can prove.
    """
    rates = effective_rates(thresholds, kinds_present)
    for kind, rate in rates.items():
        if kind not in kinds_present:
            raise UsageError(f"a threshold for {kind}, but the suite has no such case")
        if not 0 < rate <= 1:
            raise UsageError(f"the threshold of {kind} must be above 0 % and at most 100 %")
    for name, share in (("coverage", thresholds.coverage), ("max-retried", thresholds.max_retried)):
        if not 0 <= share <= 1:
            raise UsageError(f"{name} must be between 0 % and 100 %")
    if thresholds.confidence is None:
        return
    if not 0 < thresholds.confidence < 1:
        raise UsageError("confidence must be between 0 % and 100 %")
    certain = [kind for kind, rate in rates.items() if rate == 1]
    if certain:
        raise UsageError(
            f"no run can show with confidence that 100 % of {certain[0]} pass: "
            "lower the threshold or leave the confidence out"
        )


def judge(
    estimates: Mapping[Kind, Estimate],
    *,
    thresholds: Thresholds,
    stage_requests: int = 0,
    stage_retried: int = 0,
    replicas: Mapping[str, tuple[int, int]] | None = None,
    floor: Mapping[Kind, tuple[int, int]] | None = None,
    cancelled: bool = False,
    errors: Sequence[str] = (),
    failures: Sequence[str] = (),
    undecided: Sequence[str] = (),
) -> Judgement:
    """Give a run's verdict.

    ``stage_retried`` counts the stage's requests that were retried for anything but a rate
    limit; ``replicas`` gives (passed, failed) of each of the stage's replicas; ``floor`` gives,
    for each kind that was asked more than once, in how many of how many cases the reference
    agrees with itself; ``errors`` say why the harness or the reference as a whole could not run,
    ``failures`` why the stage could not, or fails whatever its rates are; ``undecided`` say what
    else a pass would need.
    """
    present = {kind: e for kind, e in estimates.items() if e.planned > 0}
    rates = effective_rates(thresholds, present)
    kinds = {k: _judge_kind(k, e, rates.get(k), thresholds) for k, e in estimates.items()}
    for kind, (agree, cases) in (floor or {}).items():
        if kind in rates and kind in kinds:
            kinds[kind] = _held_to_floor(kinds[kind], rates[kind], agree=agree, cases=cases)
    found = [(Verdict.CANCELLED, "the run was cancelled")] if cancelled else []
    found += [(Verdict.ERROR, error) for error in errors]
    found += [(Verdict.FAIL, failure) for failure in failures]
    found += [(Verdict.INCONCLUSIVE, why) for why in undecided]
    found += [(_verdict_of(e), e.reason) for k, e in kinds.items() if k in rates and k in present]
    found += _gaps(present, rates)
    found += _retries(stage_requests, stage_retried, thresholds.max_retried)
    found += _replicas(replicas or {})
    found.sort(key=lambda item: _SEVERITY.index(item[0]), reverse=True)
    verdict = found[0][0]
    reasons = [reason for each, reason in found if each is not Verdict.PASS or verdict is each]
    return Judgement(verdict, tuple(reasons), kinds)


def _verdict_of(estimate: Estimate) -> Verdict:
    return estimate.verdict or Verdict.UNGATED


def _judge_kind(
    kind: Kind, estimate: Estimate, threshold: Fraction | None, thresholds: Thresholds
) -> Estimate:
    if threshold is None:
        verdict, reason = Verdict.UNGATED, f"{kind}: no threshold"
    else:
        verdict, reason = _against(estimate, threshold, thresholds)
        reason = f"{kind}: {reason}{_set_aside(estimate)}"
    shown = None if threshold is None else float(threshold)
    return replace(estimate, threshold=shown, verdict=verdict, reason=reason)


def _against(
    estimate: Estimate, threshold: Fraction, thresholds: Thresholds
) -> tuple[Verdict, str]:
    passed = estimate.counts.get(Outcome.PASS, 0)
    counted = passed + estimate.counts.get(Outcome.FAIL, 0)
    if counted == 0:
        return Verdict.INCONCLUSIVE, f"none of {estimate.planned} cases could be counted"
    rate = Fraction(passed, counted)
    seen = f"{passed} of {counted} pass ({percent(rate, apart_from=threshold)})"
    if rate < threshold:
        return Verdict.FAIL, f"{seen}, below the threshold of {exact_percent(threshold)}"
    fair = estimate.planned - estimate.counts.get(Outcome.REFERENCE_FAIL, 0)
    if counted < thresholds.coverage * fair:
        short = f"only {counted} of {fair} cases could be counted"
        return Verdict.INCONCLUSIVE, f"{short}, {exact_percent(thresholds.coverage)} are needed"
    if _missing(estimate) > 0:
        return (
            Verdict.INCONCLUSIVE,
            f"{seen}, but {_missing(estimate)} of {estimate.planned} have no result",
        )
    if thresholds.confidence is not None:
        sure = thresholds.confidence
        low = clopper_pearson_lower(passed, counted, confidence=float(sure)).low
        if low < float(threshold):
            shown = percent(Fraction(low), apart_from=threshold)
            bound = f"with {exact_percent(sure)} confidence only {shown} are shown"
            return Verdict.INCONCLUSIVE, f"{seen}; {bound}, {exact_percent(threshold)} are needed"
    return Verdict.PASS, f"{seen}, the threshold is {exact_percent(threshold)}"


def _held_to_floor(judged: Estimate, threshold: Fraction, *, agree: int, cases: int) -> Estimate:
    """Refuse a threshold that the reference itself would miss: no stage can be held to it.

    A pass then proves nothing, and a failure only where the stage passes so rarely that the
    reference's own changes do not explain it.
    """
    most = clopper_pearson_upper(agree, cases).high
    if most >= threshold:
        return judged
    shown = percent(Fraction(most), apart_from=threshold)
    refused = (
        f"the threshold of {exact_percent(threshold)} is refused: the reference agrees with itself "
        f"in {agree} of {cases} cases, at most in {shown}"
    )
    reason = f"{judged.reason}; {refused}"
    if judged.verdict is Verdict.FAIL and _is_below(judged, agree=agree, cases=cases):
        return replace(judged, reason=f"{reason}, which does not explain so few passes")
    return replace(judged, verdict=Verdict.INCONCLUSIVE, reason=reason)


def _is_below(judged: Estimate, *, agree: int, cases: int) -> bool:
    """Whether the stage's upper limit is below the lower limit of the reference's agreement."""
    passed, failed = (judged.counts.get(o, 0) for o in (Outcome.PASS, Outcome.FAIL))
    if passed + failed == 0:
        return False
    least = clopper_pearson_lower(agree, cases).low
    return clopper_pearson_upper(passed, passed + failed).high < least


def _set_aside(estimate: Estimate) -> str:
    """Say how many cases the reference itself fails: a rate of the rest may mean little."""
    number = estimate.counts.get(Outcome.REFERENCE_FAIL, 0)
    return f"; {number} of {estimate.planned} fail on the reference" if number else ""


def _missing(estimate: Estimate) -> int:
    return estimate.planned - sum(estimate.counts.values())


def _gaps(
    present: Mapping[Kind, Estimate], rates: Mapping[Kind, Fraction]
) -> list[tuple[Verdict, str]]:
    """Find what was not run at all; a pass needs every case to have a result."""
    if not present:
        return [(Verdict.INCONCLUSIVE, "no case was planned")]
    found = []
    if not rates:
        found.append((Verdict.INCONCLUSIVE, "no kind has a threshold"))
    absent = [kind for kind in rates if kind not in present]
    found += [(Verdict.INCONCLUSIVE, f"{kind}: no case was planned") for kind in absent]
    # Gated kinds say so themselves.
    found += [
        (Verdict.INCONCLUSIVE, f"{kind}: {gap} of {e.planned} have no result")
        for kind, e in present.items()
        if kind not in rates and (gap := _missing(e)) > 0
    ]
    needing = [present[kind] for kind in _NEEDS_REFERENCE if kind in present]
    unanswered = sum(e.counts.get(Outcome.REFERENCE_ERROR, 0) for e in needing)
    if needing and unanswered == sum(e.planned for e in needing):
        found.append((Verdict.ERROR, f"the reference answered none of its {unanswered} cases"))
    return found


def _retries(requests: int, retried: int, most: Fraction) -> list[tuple[Verdict, str]]:
    """Too many retries are a failure of availability, though every case was answered in the end.

    With 0 % a single one is too many; otherwise a few in a small run say nothing.
    """
    if retried < (MIN_RETRIED if most > 0 else 1) or retried <= most * requests:
        return []
    reason = f"availability: {retried} of the stage's {requests} requests had to be retried"
    return [(Verdict.FAIL, f"{reason}, {exact_percent(most)} may be")]


def _replicas(replicas: Mapping[str, tuple[int, int]]) -> list[tuple[Verdict, str]]:
    p_value = exact_test(list(replicas.values())).p_value
    if p_value > REPLICA_LEVEL:
        return []
    counted = {name: row for name, row in replicas.items() if sum(row) > 0}
    by_rate = sorted(counted, key=lambda name: Fraction(counted[name][0], sum(counted[name])))
    ends = " and ".join(
        f"{counted[n][0]} of {sum(counted[n])} on {n}" for n in (by_rate[0], by_rate[-1])
    )
    return [
        (
            Verdict.FAIL,
            f"the stage's {len(counted)} replicas differ: {ends} pass (p = {p_value:.2g})",
        )
    ]


def percent(share: Fraction, *, apart_from: Fraction | None = None) -> str:
    """Write a share as a percentage, with a decimal where needed.

    What is not all is never written as 100 %, nor what is not nothing as 0 %, nor a share like
    the other one, ``apart_from``, that it differs from; nine decimals are the most.
    """
    others = {Fraction(0), Fraction(1), apart_from} - {share, None}
    texts = [f"{float(share * 100):.{digits}f}" for digits in range(1, 10)]
    text = next((text for text in texts if Fraction(text) / 100 not in others), texts[-1])
    return f"{text.rstrip('0').rstrip('.')} %"


def exact_percent(share: Fraction) -> str:
    """Write a setting as a percentage, without rounding."""
    return f"{float(share * 100):.10g} %"
