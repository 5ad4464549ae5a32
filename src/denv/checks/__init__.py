"""The five checks: what an answer is held to, and what is said where it falls short."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from denv.checks.logprobs_close import score_logprobs
from denv.checks.regex import Search, score_regex
from denv.checks.text import score_contains, score_equals
from denv.checks.tool_call import score_tool_call
from denv.records import (
    Check,
    Contains,
    Equals,
    Json,
    LogprobsClose,
    Observation,
    Regex,
    Score,
    ToolCall,
)

__all__ = ["Search", "score"]


def score(
    check: Check,
    answer: Observation,
    *,
    reference: Observation | None = None,
    tools: Sequence[Mapping[str, Json]] = (),
    search: Search,
) -> Score:
    """Score one usable answer.

    ``reference`` is the other side's answer, which logprobs-close alone reads. ``tools`` are
    the request's, ``search`` is how a pattern is searched for within bounds.
    """
    match check:
        case Equals():
            return score_equals(check, answer)
        case Contains():
            return score_contains(check, answer)
        case Regex():
            return score_regex(check, answer, search=search)
        case ToolCall():
            return score_tool_call(check, answer, tools=tools)
        case LogprobsClose():
            return score_logprobs(check, answer, reference)
