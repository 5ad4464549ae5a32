"""What the report shows of a case beside its outcome: warnings, and figures for the tally."""

from __future__ import annotations

from collections.abc import Sequence

from denv.checks.tool_schema import classify
from denv.evidence.answer import Answer, oddities_view
from denv.evidence.pair import Pair, word
from denv.evidence.steadiness import steadiness
from denv.records import SIDES, Json, Kind, ProblemKind, Side


def warnings_beside(pair: Pair) -> list[str]:
    """Say what is worth knowing of a case whatever its outcome."""
    found: list[str] = []
    if pair.kind is not Kind.LOGPROBS:
        found += [
            f"the {side} samples in spite of temperature 0: repeats are advised"
            for side in SIDES
            if side in pair.sampled
        ]
    found += [note for side in SIDES if (note := _lost_repeats(pair, side))]
    first = pair.first(Side.REFERENCE)
    if pair.kind is Kind.TOOL_CALLS and first and first.observation.problem:
        found.append(f"the reference gave no usable answer: {first.observation.problem.message}")
    return found + _pair_warnings(pair)


def _lost_repeats(pair: Pair, side: Side) -> str | None:
    later = pair.answers[side][1:]
    lost = sum(not answer.usable for answer in later)
    if lost == 0:
        return None
    return f"ignored: {lost} of {len(later)} repeats of the {side} gave no usable answer"


def _pair_warnings(pair: Pair) -> list[str]:
    stage, reference = pair.usable(Side.STAGE), pair.usable(Side.REFERENCE)
    if stage is None or reference is None:
        return []
    found = []
    lengths = pair.prompt_lengths
    if lengths is not None and lengths[0] != lengths[1]:
        found.append(f"prompt tokens differ: stage {lengths[0]}, reference {lengths[1]}")
    calls = [len(answer.observation.calls) for answer in (stage, reference)]
    if pair.tools and calls[0] != calls[1]:
        found.append(f"the stage makes {_calls(calls[0])}, the reference {calls[1] or 'none'}")
    if stage.reasons != reference.reasons:
        who = "stage" if stage.reasons else "reference"
        found.append(f"thinking mode differs: only the {who} reasons")
    if reference.truncated and not stage.truncated:
        found.append(f"the reference was truncated at max_tokens {reference.max_tokens}")
    if pair.reference_loop:
        found.append(f"{pair.stage_loop}; the reference loops too")
    return found


def _calls(number: int) -> str:
    return f"{number or 'no'} call{'' if number < 2 else 's'}"


def figures(pair: Pair) -> dict[str, Json]:
    """Show what both sides' requests took, and how their tool calls fit the tools offered."""
    detail: dict[str, Json] = {
        "exchanges": {side.value: _exchanges(pair, side) for side in SIDES},
    }
    stage, reference = pair.usable(Side.STAGE), pair.usable(Side.REFERENCE)
    if (steady := steadiness(pair)) is not None:
        detail["steadiness"] = steady
    if pair.kind is Kind.TOOL_CALLS:
        detail["reference"] = _reference_word(pair)
    elif pair.kind is Kind.EXACT and stage and _reference_fails(pair):
        detail["stage"] = word(pair.scores[Side.STAGE][0])
    if pair.prompt_lengths is not None:
        detail["prompt"] = {
            "stage": pair.prompt_lengths[0],
            "reference": pair.prompt_lengths[1],
            "system": _has_system_message(pair),
            "tools": bool(pair.tools),
        }
    if unanswered := [side.value for side in SIDES if _went_unanswered(pair, side)]:
        detail["unanswered"] = unanswered
    if pair.tools and (stage or reference):
        detail["tools"] = {
            "stage_called": None if stage is None else bool(stage.observation.calls),
            "reference_called": None if reference is None else bool(reference.observation.calls),
            "stage_calls": _classes(pair, stage),
            "reference_calls": _classes(pair, reference),
        }
    if stage and reference:
        ends = (stage.observation.finish_reason, reference.observation.finish_reason)
        if ends[0] != ends[1]:
            detail["finish_reasons"] = {"stage": ends[0], "reference": ends[1]}
    return detail


def _has_system_message(pair: Pair) -> bool:
    messages = pair.case.fields["messages"]
    return any(message["role"] in {"system", "developer"} for message in messages)


def _went_unanswered(pair: Pair, side: Side) -> bool:
    """Whether some answer never came, though not for a fault that the stage is held to."""
    problems = [answer.observation.problem for answer in _all_answers(pair, side)]
    return any(
        problem is not None and (side is Side.REFERENCE or problem.kind is ProblemKind.RATE_LIMITED)
        for problem in problems
    )


def _all_answers(pair: Pair, side: Side) -> list[Answer]:
    twin = pair.streamed.get(side)
    return [*pair.answers[side], *([twin] if twin is not None else [])]


def _reference_fails(pair: Pair) -> bool:
    return bool(pair.scores[Side.REFERENCE]) and pair.scores[Side.REFERENCE][0].passed is False


def _reference_word(pair: Pair) -> str:
    """How the reference did in a case that the stage alone decides."""
    first = pair.first(Side.REFERENCE)
    if first is None:
        return "none"
    return word(pair.scores[Side.REFERENCE][0]) if first.usable else "error"


def _classes(pair: Pair, answer: Answer | None) -> dict[str, int] | None:
    """Count an answer's calls by how they fit the tools offered; None where nothing came."""
    if answer is None:
        return None
    counts = {"valid": 0, "invalid-json": 0, "unknown-name": 0, "schema-mismatch": 0}
    for call in answer.observation.calls:
        counts[classify(call, pair.tools)] += 1
    return counts


def _exchanges(pair: Pair, side: Side) -> dict[str, Json]:
    """Sum what a side's requests for this case took; tokens and times of those sent only."""
    answers = _all_answers(pair, side)
    sent = [answer for answer in answers if not answer.cached]
    return {
        "requests": len(answers),
        "retried": sum(answer.retries > 0 for answer in answers),
        "rate_limited": sum(answer.rate_limits > 0 for answer in answers),
        "cached": len(answers) - len(sent),
        "prompt_tokens": _known_sum([answer.prompt_tokens for answer in sent]),
        "completion_tokens": _known_sum([answer.completion_tokens for answer in sent]),
        "elapsed_s": [
            answer.observation.elapsed_s
            for answer in sent
            if answer.usable and answer.observation.elapsed_s is not None
        ],
        "later_oddities": [odd for a in answers[1:] for odd in oddities_view(a.observation)],
    }


def _known_sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
