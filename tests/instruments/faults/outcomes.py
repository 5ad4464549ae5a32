"""Faults in loops, truncation, the order of the rules, streams and the small instruments."""

from __future__ import annotations

import json
from dataclasses import replace

from denv import outcome
from denv.checks import (
    degenerate,
)
from denv.evidence.answer import Answer
from denv.evidence.pair import Pair
from denv.observe import finish, reasoning
from denv.observe.problems import ErrorText
from denv.observe.sse import SseDecoder, SseEvent
from denv.observe.stream import _Fold
from denv.records import Outcome, Side
from tests.instruments.faults.seams import ALL, OUT, TRIALS, setting


def never_sampled(begin):
    """Forget which sides sample."""

    def begun(self, *given, **named):
        begin(self, *given, **{**named, "sampled": frozenset()})

    return begun


def answers(name, value):
    """Let each answer say the same of itself."""
    return setting(Answer, name, property(lambda _self: value))


def without_rule(name):
    """Leave out a rule of the outcome."""

    def patch(m):
        kept = tuple(rule for rule in outcome._RULES if rule.__name__ != name)
        assert len(kept) == len(outcome._RULES) - 1
        m.setattr(outcome, "_RULES", kept)

    return patch


def rule_first(name):
    """Ask a rule ahead of all others."""

    def patch(m):
        first = [rule for rule in outcome._RULES if rule.__name__ == name]
        assert first
        m.setattr(outcome, "_RULES", (*first, *outcome._RULES))

    return patch


def best_of(m):
    """Let any repeat that passes pass the case."""

    def best(pair, finding):
        lucky = any(score.passed for score in pair.scores[Side.STAGE])
        return replace(finding, outcome=Outcome.PASS, cause=None) if lucky else finding

    m.setattr(outcome, "_repeats", best)


def steady_reference(m):
    """Take every reference for one that agrees with itself."""
    real = Pair.disagrees
    m.setattr(Pair, "disagrees", lambda pair, side: side is Side.STAGE and real(pair, side))


def finish_default_stop(m):
    """Take a missing finish reason for stop."""
    real = finish.read_finish

    def read(choice, notes):
        return real({**choice, "finish_reason": choice.get("finish_reason") or "stop"}, notes)

    m.setattr("denv.observe.answer.read_finish", read)


def lines_as_str_splits(m):
    """Split a stream's lines where str.splitlines does."""

    def feed(self, chunk):
        del self
        lines = chunk.decode(errors="replace").splitlines()
        return [SseEvent("", ln.removeprefix("data:").strip()) for ln in lines if ln[:5] == "data:"]

    m.setattr(SseDecoder, "feed", feed)


def cut_stream_is_an_answer(m):
    """Take a stream without an end for a whole one."""
    real = _Fold.completion

    def completion(self, *, done, surrogates):
        self._finish = self._finish or "stop"
        return real(self, done=done, surrogates=surrogates)

    m.setattr(_Fold, "completion", completion)


def number_without_commas(left, right):
    """Take every comma out."""
    bare = lambda given: given.replace(",", "")  # noqa: E731
    try:
        return float(bare(left)) == float(bare(right))
    except ValueError:
        return False


def reasoning_field_unknown(m):
    """Know one name of the reasoning alone."""
    m.setattr(reasoning, "_FIELDS", ("reasoning_content",))


FAULTS = {
    "loops are not looked for": (
        lambda m: m.setattr("denv.evidence.pair.find_loop", lambda _text: None), OUT,
        "loop-in-text loop-in-reasoning-passing loop-in-newlines",
    ),
    "loops are seen everywhere": (
        lambda m: (
            m.setattr(degenerate, "MIN_LENGTH", 16),
            m.setattr(degenerate, "MIN_LENGTH_WITHOUT_LETTERS", 16),
        ),
        ("loop",), "loop-short loop-rule-at-the-end",
    ),
    "only long loops are seen": (
        setting(degenerate, "MIN_LENGTH", 100_000), ("loop",), "loop-token loop-good-start",
    ),
    "truncation is ignored": (
        answers("truncated", False), OUT,
        "truncated-passes truncated-fails truncated-both truncated-both-call",
    ),
    "every failure at the limit is the limit's": (
        answers("truncated", True), OUT, "truncated-stop-at-limit tool-malformed-arguments",
    ),
    "a cap of the server is ignored": (
        lambda m: m.setattr("denv.outcome._early_cut", lambda _stage: None), OUT,
        "truncated-below truncated-below-default truncated-both-below",
    ),
    "the limit goes ahead of loops": (rule_first("_truncated"), OUT, "loop-in-cut-text"),
    "a failing reference is ignored": (
        without_rule("_reference_fails"), OUT, "both-fail reference-fails-alone",
    ),
    "the stage is looked at first": (
        rule_first("_no_stage"), OUT, "both-down reference-fails-stage-down",
    ),
    "a rate limit is a failure": (
        answers("rate_limited_alone", False), OUT, "stage-429 error-in-200-429",
    ),
    "retries hide behind a rate limit": (answers("retries", 0), OUT, "stage-429-after-500"),
    "a refusal has no cause": (
        setting(ErrorText, "cause", lambda _self, *, default: default), ALL,
        "refused-context refused-template template-500 observe-problem-context",
    ),
    "an error inside 200 is an answer": (
        lambda m: m.setattr("denv.observe.answer.raise_error", lambda _error: None), ALL,
        "error-beside-choices error-in-200-429",
    ),
    "a failed finish is an answer": (
        lambda m: m.setattr("denv.observe.answer.is_failure", lambda _word: False), ALL,
        "finish-error finish-abort",
    ),
    "a missing finish reason is stop": (
        finish_default_stop, ALL, "finish-null observe-finish-missing",
    ),
    "a cut stream is an answer": (
        cut_stream_is_an_answer, ALL, "observe-stream-half observe-stream-only-done",
    ),
    "lines are split as text": (
        lines_as_str_splits, ("outcome", "events"), "equals-line-separator events-line-separator",
    ),
    "reasoning has one name": (
        reasoning_field_unknown, ALL, "observe-reasoning-reasoning observe-reasoning-thinking",
    ),
    "the best repeat counts": (best_of, OUT, "repeats-fail-first repeats-of-reference"),
    "repeats are ignored": (
        lambda m: m.setattr("denv.outcome._repeats", lambda _pair, finding: finding), OUT,
        "repeats-fail-first repeats-pass-first",
    ),
    "an unsteady reference is ignored": (
        steady_reference, OUT, "repeats-of-reference repeats-of-reference-call",
    ),
    "the streamed twin is ignored": (
        lambda m: m.setattr("denv.outcome._streaming", lambda _pair, finding: finding), OUT,
        "twin-loses-call twin-down",
    ),
    "sampling is ignored": (
        lambda m: m.setattr("denv.evidence.pair.Pair.__init__", never_sampled(Pair.__init__)), OUT,
        "logprobs-sampled logprobs-sampled-reference sampled-text",
    ),
    "every call fits its tool": (
        lambda m: m.setattr(f"{TRIALS}.classify", lambda _call, _tools: "valid"),
        ("tool-schema",), "schema-missing schema-unknown-name schema-invalid-json",
    ),
    "numbers lose their commas": (
        lambda m: m.setattr(f"{TRIALS}.same_number", number_without_commas), ("number",),
        "number-short-group number-shifted-group number-exact number-huge",
    ),
    "JSON as lenient parsers have it": (
        lambda m: m.setattr(f"{TRIALS}.loads", lambda given, **_: json.loads(given)),
        ("strict-json",), "json-nan json-repeated-key json-deep",
    ),
    "any refused field is dropped": (
        lambda m: m.setattr(
            f"{TRIALS}.adapt",
            lambda before, **_: replace(before, dropped=before.dropped | {"tools"}),
        ),
        ("refused-field",), "field-tools field-server-error",
    ),
}  # fmt: skip
