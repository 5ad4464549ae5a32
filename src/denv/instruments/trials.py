"""One trial an instrument: what it finds in a known case, beside what is right.

A trial compares only what ``right`` names. A text that ``right`` gives for a reason, a warning or
a message is a part of the one that is found; all else must be the same, type by type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from denv.checks.degenerate import find_loop
from denv.checks.numerals import same_number
from denv.checks.regex import TIMEOUT_S, search_within
from denv.checks.tool_schema import classify
from denv.encode import adapt
from denv.instruments.exchanges import answer_of, as_json, exchange_of
from denv.instruments.known import OBSERVED, Known
from denv.instruments.rates import find_interval, find_verdict
from denv.observe import observe
from denv.observe.arguments import read_arguments
from denv.observe.sse import SseDecoder, SseEvent
from denv.outcome import decide
from denv.records import (
    Call,
    Case,
    CaseResult,
    Dialect,
    Json,
    Observation,
    Problem,
    Side,
    TokenLogprob,
)
from denv.strictjson import StrictJsonError, loads
from denv.suite.line import parse_line

Found = Mapping[str, Json]
"""What an instrument found, under the names that ``right`` uses."""


def find(known: Known) -> Found:
    """Let the instrument of a known case look at it."""
    if known.instrument in TRIALS:
        return TRIALS[known.instrument](known.given)
    from denv.instruments.trials_answers import ANSWER_TRIALS  # noqa: PLC0415 - imports SymPy

    return ANSWER_TRIALS[known.instrument](known.given)


# ---------------------------------------------------------------- end to end


def _outcome(given: Mapping[str, Json]) -> Found:
    case = _case(given["case"])
    timeout_s = float(given.get("timeout_s", TIMEOUT_S))
    result = decide(
        case,
        stage=[answer_of(one, case) for one in given["stage"]],
        reference=[answer_of(one, case) for one in given["reference"]],
        search=partial(search_within, timeout_s=timeout_s),
        sampled=frozenset(map(Side, given.get("sampled", ()))),
        streamed={
            Side(side): answer_of(one, case) for side, one in given.get("streamed", {}).items()
        },
    )
    return {
        "outcome": result.outcome.value,
        "cause": None if result.cause is None else result.cause.value,
        "reason": result.reason,
        "warnings": list(result.warnings),
        "oddities": _stage_oddities(result),
        "detail": result.detail,
    }


def _case(line: Json) -> Case:
    """Read a suite's line, given as an object or, where its spelling matters, as text."""
    text = line if isinstance(line, str) else as_json({"id": "known", **line})
    _, case = parse_line(text.encode(), line=1, index=0)
    if not isinstance(case, Case):
        raise TypeError(f"not a line of a suite: {case}")
    return case


def _stage_oddities(result: CaseResult) -> list[str]:
    return [odd["code"] for odd in (result.stage or {}).get("oddities", ())]


# ---------------------------------------------------------------- normalising


def _observation(given: Mapping[str, Json]) -> Found:
    seen = observe(exchange_of(given["exchange"]))
    return {
        **{name: getattr(seen, name) for name in OBSERVED},
        "problem": None if seen.problem is None else _problem(seen.problem),
        "calls": list(map(_call, seen.calls)),
        "logprobs": None if seen.logprobs is None else list(map(_token, seen.logprobs)),
        "usage": _usage(seen),
        "oddities": [odd.code for odd in seen.oddities],
    }


def _problem(problem: Problem) -> Json:
    return {
        "kind": problem.kind.value,
        "cause": problem.cause.value,
        "retry": problem.retry,
        "message": problem.message,
    }


def _call(call: Call) -> Json:
    return {
        "name": call.name,
        "arguments": call.arguments,
        "error": call.error,
        "unwrapped": call.unwrapped,
        "id": call.id,
    }


def _token(token: TokenLogprob) -> Json:
    raw = None if token.bytes is None else token.bytes.hex()
    return [token.token, token.logprob, raw, token.id]


def _usage(seen: Observation) -> Json:
    usage = seen.usage
    if usage is None:
        return None
    return [usage.prompt_tokens, usage.completion_tokens, usage.reasoning_tokens]


def _events(given: Mapping[str, Json]) -> Found:
    decoder = SseDecoder()
    found: list[SseEvent] = []
    for chunk in given["chunks"]:
        raw = chunk.encode() if isinstance(chunk, str) else bytes.fromhex(chunk["hex"])
        found += decoder.feed(raw)
    found += decoder.close()
    return {"events": [[event.type, event.data] for event in found]}


def _strict(given: Mapping[str, Json]) -> Found:
    try:
        return {"value": loads(_joined(given["text"]), exact=True), "refused": None}
    except StrictJsonError as error:
        return {"value": None, "refused": str(error)}


# ---------------------------------------------------------------- single instruments


def _loop(given: Mapping[str, Json]) -> Found:
    loop = find_loop(_joined(given["text"]))
    return {"loop": loop is not None, "unit": None if loop is None else len(loop.unit)}


def _joined(text: Json) -> str:
    """Give a text that may be written as pieces, each a text or a text and how often it comes."""
    if isinstance(text, str):
        return text
    return "".join(one if isinstance(one, str) else one[0] * one[1] for one in text)


def _schema(given: Mapping[str, Json]) -> Found:
    call = given["call"]
    read = read_arguments(call["arguments"], [])
    return {"class": classify(Call(call["name"], read.value, read.raw), given["tools"])}


def _number(given: Mapping[str, Json]) -> Found:
    left, right = given["texts"]
    return {"same": same_number(left, right)}


def _refused(given: Mapping[str, Json]) -> Found:
    already = given.get("already", {})
    before = Dialect(
        frozenset(already.get("dropped", ())),
        already.get("top_logprobs", Dialect().top_logprobs),
        already.get("max_tokens_field", Dialect().max_tokens_field),
    )
    after = adapt(before, status=given["status"], body=str(given["body"]).encode())
    shown = before if after is None else after
    return {
        "adapted": after is not None,
        "dropped": sorted(shown.dropped),
        "top_logprobs": shown.top_logprobs,
        "max_tokens_field": shown.max_tokens_field,
    }


TRIALS: Mapping[str, Callable[[Mapping[str, Json]], Found]] = {
    "outcome": _outcome,
    "observe": _observation,
    "loop": _loop,
    "tool-schema": _schema,
    "number": _number,
    "strict-json": _strict,
    "events": _events,
    "refused-field": _refused,
    "interval": find_interval,
    "verdict": find_verdict,
}
