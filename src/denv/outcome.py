"""What became of one case: the rules, in the order in which they decide.

Each rule looks at the evidence and gives a finding or leaves the case to the next one. The first
answer of a side decides; its repeats and its streamed twin only explain, with one exception that
is stated at :func:`_streaming`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from denv.checks import Search
from denv.evidence.answer import Answer, side_view
from denv.evidence.pair import Pair, word
from denv.evidence.remarks import figures, warnings_beside
from denv.records import (
    Case,
    CaseResult,
    Cause,
    Json,
    Kind,
    Outcome,
    Problem,
    ProblemKind,
    Score,
    Side,
)

__all__ = ["Answer", "decide", "side_view"]

_CUT_CAUSES = frozenset({Cause.ENGINE, Cause.LIMIT, Cause.TEMPLATE})
"""Causes with evidence of their own, which a difference between the two ways does not replace."""

NO_ANSWER = "no usable answer"
RATE_LIMITED = "rate-limited"


@dataclass(frozen=True, slots=True)
class Finding:
    """What the rules say of a case so far."""

    outcome: Outcome
    cause: Cause | None = None
    reason: str = ""
    warnings: tuple[str, ...] = ()
    detail: Mapping[str, Json] = field(default_factory=dict)

    def warn(self, *warnings: str) -> Finding:
        """Give the same finding with more warnings."""
        return replace(self, warnings=(*self.warnings, *warnings))


def decide(
    case: Case,
    *,
    stage: Sequence[Answer],
    reference: Sequence[Answer],
    search: Search,
    sampled: frozenset[Side] = frozenset(),
    streamed: Mapping[Side, Answer] | None = None,
) -> CaseResult:
    """Decide a case from both sides' answers.

    The first answer of each side decides and the others are its repeats; a side that was not
    asked has none. ``sampled`` names the sides whose answers are drawn at random although
    temperature 0 was asked for; ``streamed`` holds the streamed twin of a side's first answer.
    """
    answers = {Side.STAGE: tuple(stage), Side.REFERENCE: tuple(reference)}
    pair = Pair(case, answers, search=search, sampled=sampled, streamed=streamed or {})
    finding = next(found for rule in _RULES if (found := rule(pair)) is not None)
    finding = _streaming(pair, _repeats(pair, finding))
    tokens = case.check.kind is Kind.LOGPROBS
    shown = {side: side_view(given[0], tokens=tokens) for side, given in answers.items() if given}
    return CaseResult(
        id=case.id,
        index=case.index,
        check=case.check.name,
        kind=case.check.kind,
        outcome=finding.outcome,
        cause=finding.cause,
        reason=finding.reason,
        warnings=(*finding.warnings, *warnings_beside(pair)),
        stage=shown.get(Side.STAGE),
        reference=shown.get(Side.REFERENCE),
        detail={**finding.detail, **figures(pair)},
        tags=case.tags,
    )


# ---------------------------------------------------------------- the rules


def _no_reference(pair: Pair) -> Finding | None:
    """Rule 1: all checks but tool-call need a usable answer of the reference."""
    if pair.kind is Kind.TOOL_CALLS:
        return None
    first = pair.first(Side.REFERENCE)
    if first is None:
        return Finding(Outcome.REFERENCE_ERROR, reason="the reference was not asked")
    problem = first.observation.problem
    return None if problem is None else Finding(Outcome.REFERENCE_ERROR, reason=problem.message)


def _reference_fails(pair: Pair) -> Finding | None:
    """Rule 2: what the reference itself fails is not held against the stage, whatever it did."""
    if pair.kind is not Kind.EXACT:
        return None
    first = pair.scores[Side.REFERENCE][0]
    if first.passed is not False:
        return None
    if pair.disagrees(Side.REFERENCE):
        return _unsteady_reference()
    return Finding(Outcome.REFERENCE_FAIL, reason=f"the reference fails: {first.reason}")


def _no_stage(pair: Pair) -> Finding | None:
    """Rule 3: no usable answer of the stage fails, unless it was rate limits alone."""
    first = pair.first(Side.STAGE)
    if first is None:
        return Finding(Outcome.UNMEASURED, reason="the stage was not asked")
    problem = first.observation.problem
    return None if problem is None else _unanswered(first, problem)


def _unanswered(answer: Answer, problem: Problem) -> Finding:
    if answer.rate_limited_alone:
        return Finding(Outcome.UNMEASURED, reason=f"rate-limited: {problem.message}")
    return Finding(Outcome.FAIL, _cause_of_problem(problem), problem.message)


def _cause_of_problem(problem: Problem) -> Cause:
    if problem.kind is ProblemKind.CONTRACT:
        return Cause.CONTRACT
    shown = problem.cause in {Cause.TEMPLATE, Cause.LIMIT, Cause.CONTRACT}
    # A template that raises is a 500 on some servers: their body shows it all the same.
    refused = problem.kind is ProblemKind.REFUSED
    if refused or (shown and problem.kind is ProblemKind.SERVER_ERROR):
        return problem.cause
    return Cause.AVAILABILITY


def _unmeasurable(pair: Pair) -> Finding | None:
    """Rule 4: what cannot be measured is neither passed nor failed."""
    if pair.kind is Kind.LOGPROBS and pair.sampled:
        sides = " and ".join(f"the {side}" for side in Side if side in pair.sampled)
        return Finding(Outcome.UNMEASURED, reason=f"{sides} samples in spite of temperature 0")
    if pair.kind is Kind.EXACT:
        first = pair.scores[Side.REFERENCE][0]
        if first.passed is None:
            return Finding(Outcome.UNMEASURED, reason=f"on the reference: {first.reason}")
    if pair.disagrees(Side.REFERENCE):
        return _unsteady_reference()
    score_ = pair.scores[Side.STAGE][0]
    if score_.passed is None:
        return Finding(
            Outcome.UNMEASURED,
            reason=score_.reason,
            warnings=score_.warnings,
            detail=score_.detail,
        )
    return None


def _unsteady_reference() -> Finding:
    return Finding(Outcome.UNMEASURED, reason="the reference's repeats disagree about the check")


def _degenerate(pair: Pair) -> Finding | None:
    """Rule 6, ahead of 5: a loop is the engine's, unless the model loops at the reference too."""
    _, score_ = _stage_evidence(pair)
    loop = pair.stage_loop
    # For tool-call the stage alone decides, so the reference excuses nothing there.
    excused = pair.kind is not Kind.TOOL_CALLS and pair.reference_loop is not None
    if loop is None or excused:
        return None
    return Finding(Outcome.FAIL, Cause.ENGINE, str(loop), score_.warnings, score_.detail)


def _truncated(pair: Pair) -> Finding | None:
    """Rule 5: a cut inside reasoning or below what was allowed fails; else the check decides."""
    stage, score_ = _stage_evidence(pair)
    if not stage.truncated:
        return None
    cut = _early_cut(stage)
    if cut is not None:
        return Finding(Outcome.FAIL, Cause.LIMIT, cut, score_.warnings, score_.detail)
    note = f"truncated at max_tokens {stage.max_tokens}"
    decided = Finding(Outcome.PASS, None, score_.reason, score_.warnings, score_.detail)
    if score_.passed:
        return decided.warn(f"{note}: the answer is unfinished")
    # On purpose not unmeasured where both are cut, as nearly every such case is: only tokens
    # that both sides gave are compared, so a cut explains no difference between them.
    if pair.kind is Kind.LOGPROBS:
        return _failed(pair, score_).warn(note)
    reference = pair.usable(Side.REFERENCE)
    if reference is not None and reference.truncated:
        reason = f"both sides {note}: {score_.reason}"
        return replace(decided, outcome=Outcome.UNMEASURED, reason=reason)
    reason = f"{note}: {score_.reason}"
    return replace(decided, outcome=Outcome.FAIL, cause=Cause.LIMIT, reason=reason)


def _early_cut(stage: Answer) -> str | None:
    used, sent = stage.completion_tokens, stage.max_tokens
    if used is not None and used < sent:
        where = " inside reasoning" if stage.ends_in_reasoning else ""
        return f"cut{where} at {used} tokens, below the max_tokens sent ({sent}): the server's cap"
    if stage.ends_in_reasoning:
        return f"cut inside reasoning, before any answer: raise max_tokens above {sent}"
    return None


def _check_decides(pair: Pair) -> Finding:
    """Rule 6: otherwise the check decides."""
    _, score_ = _stage_evidence(pair)
    if score_.passed:
        return Finding(Outcome.PASS, None, score_.reason, score_.warnings, score_.detail)
    return _failed(pair, score_)


def _failed(pair: Pair, score_: Score) -> Finding:
    """Name the cause that one pair of answers can show, else what the check itself says."""
    reason, cause = score_.reason, score_.cause or Cause.UNKNOWN
    if pair.tools_missing and pair.prompt_lengths:
        stage, reference = pair.prompt_lengths
        cause = Cause.TEMPLATE
        reason += f"; tools not rendered: prompt of {stage} tokens, reference {reference}"
    elif cause is Cause.UNKNOWN and _stops_early(pair):
        cause = Cause.LIMIT
        reason += "; the text breaks off within the reference's"
    return Finding(Outcome.FAIL, cause, reason, score_.warnings, score_.detail)


def _stops_early(pair: Pair) -> bool:
    """Whether the stage's text is the beginning of the reference's, in fewer tokens."""
    stage, reference = pair.usable(Side.STAGE), pair.usable(Side.REFERENCE)
    if pair.kind is not Kind.EXACT or stage is None or reference is None:
        return False
    short, whole = stage.observation.text, reference.observation.text
    if not short or not whole or short == whole or not whole.startswith(short):
        return False
    used, needed = stage.completion_tokens, reference.completion_tokens
    return used is None or needed is None or used < needed


def _stage_evidence(pair: Pair) -> tuple[Answer, Score]:
    """Give the deciding answer of a stage that the earlier rules found to be usable."""
    return pair.answers[Side.STAGE][0], pair.scores[Side.STAGE][0]


_RULES: tuple[Callable[[Pair], Finding | None], ...] = (
    _no_reference,
    _reference_fails,
    _no_stage,
    _unmeasurable,
    _degenerate,
    _truncated,
    _check_decides,
)


# ---------------------------------------------------------------- what the other answers add


def _measured(pair: Pair, finding: Finding) -> bool:
    counted = finding.outcome in {Outcome.PASS, Outcome.FAIL}
    return counted and pair.usable(Side.STAGE) is not None


def _repeats(pair: Pair, finding: Finding) -> Finding:
    """Say so where the stage's repeats disagree about the check; the outcome stays."""
    if not _measured(pair, finding) or not pair.disagrees(Side.STAGE):
        return finding
    scores = pair.scores[Side.STAGE]
    note = f"{sum(s.passed is True for s in scores)} of {len(scores)} repeats pass the check"
    if finding.outcome is Outcome.PASS:
        return finding.warn(f"unstable: {note}")
    return replace(finding, cause=Cause.UNSTABLE, reason=f"{finding.reason}; {note}")


def _streaming(pair: Pair, finding: Finding) -> Finding:
    """Compare with the streamed twin: tool calls that come only one way are the parser's fault.

    A streamed twin without a usable answer fails the case too, whatever the check, rate limits
    apart: clients that stream get nothing. Both are only a warning where the reference does the
    same, where the stage is known to vary, and for logprobs, which streams often lack.
    """
    twin = pair.streamed.get(Side.STAGE)
    if twin is None or not _measured(pair, finding):
        return finding
    ways = _ways(pair, Side.STAGE)
    if len(set(ways)) < 2:
        return finding
    problem = twin.observation.problem
    note = f"not streamed: {ways[0]}; streamed: {ways[1]}"
    if problem is not None:
        note += f" ({problem.message})"
    known = finding.cause in _CUT_CAUSES or (finding.outcome is Outcome.FAIL and problem)
    if known or _is_excused(pair, ways):
        return finding.warn(note)
    cause = _cause_of_twin(twin, ways) if problem is None else _cause_of_problem(problem)
    return replace(finding, outcome=Outcome.FAIL, cause=cause, reason=note)


def _cause_of_twin(twin: Answer, ways: tuple[str, ...]) -> Cause:
    return Cause.LIMIT if ways[1] == "fail" and twin.truncated else Cause.PARSER


def _ways(pair: Pair, side: Side) -> tuple[str, ...]:
    """Name what became of a side's plain and of its streamed answer, where both exist."""
    plain, twin = pair.usable(side), pair.streamed.get(side)
    if plain is None or twin is None or not pair.scores[side]:
        return ()
    first = word(pair.scores[side][0])
    if not twin.usable:
        return first, RATE_LIMITED if twin.rate_limited_alone else NO_ANSWER
    # The streamed logprobs are not compared: streams often lack them.
    return first, first if pair.kind is Kind.LOGPROBS else word(pair.score(twin.observation))


def _is_excused(pair: Pair, ways: tuple[str, ...]) -> bool:
    if pair.kind is Kind.LOGPROBS or ways[1] in {RATE_LIMITED, "unmeasured"}:
        return True
    reference = _ways(pair, Side.REFERENCE)
    if ways[1] == NO_ANSWER:
        return reference[1:] == ways[1:]
    varies = Side.STAGE in pair.sampled or pair.disagrees(Side.STAGE)
    return varies or pair.kind is Kind.EXACT or reference == ways
