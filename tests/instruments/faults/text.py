"""Faults in how texts and reasoning are read and compared."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

from denv.checks.numerals import same_number
from denv.checks.regex import search_within
from denv.checks.text import score_contains, score_equals
from denv.records import Equals, Observation, Score
from tests.instruments.faults.seams import ALL, OUT, TRIALS, observing


def equals_on(change):
    """Compare texts after a change of both."""

    def patch(m):
        def scored(check, answer):
            changed = None if answer.text is None else change(answer.text)
            return score_equals(Equals(change(check.text)), replace(answer, text=changed))

        m.setattr("denv.checks.score_equals", scored)

    return patch


def without_fence(given: str) -> str:
    """Strip a code fence."""
    return given.removeprefix("```").removesuffix("```").strip()


def numbers_compared(m):
    """Compare numbers by value."""

    def scored(check, answer):
        same = answer.text is not None and same_number(check.text, answer.text)
        return Score(True) if same else score_equals(check, answer)

    m.setattr("denv.checks.score_equals", scored)


def contains_on(change):
    """Search a changed answer."""

    def patch(m):
        scored = lambda check, answer: score_contains(check, change(answer))  # noqa: E731
        m.setattr("denv.checks.score_contains", scored)

    return patch


def with_reasoning(answer: Observation) -> Observation:
    """Put the reasoning ahead of the text."""
    return replace(answer, text=f"{answer.reasoning or ''}{answer.text or ''}")


def inline_stripped(seen: Observation) -> Observation:
    """Hide reasoning that was left in the content."""
    if seen.text_after_reasoning is None:
        return seen
    return replace(seen, text=seen.text_after_reasoning, text_after_reasoning=None)


def error_as_empty_text(seen: Observation) -> Observation:
    """Take an error for an empty answer."""
    if seen.problem is None:
        return seen
    return Observation(text="", finish_reason="stop", attempts=seen.attempts)


def text_for_none(seen: Observation) -> Observation:
    """Take an absent text for an empty one."""
    usable = seen.problem is None and seen.text is None and not seen.logprobs
    return replace(seen, text="") if usable else seen


def searching(change):
    """Search otherwise."""

    def patch(m):
        m.setattr(f"{TRIALS}.search_within", change)

    return patch


def timeout_as_no_match(pattern, given, **options):
    """Take a search that timed out for one that found nothing."""
    try:
        return search_within(pattern, given, **options)
    except TimeoutError:
        return False


FAULTS = {
    "equals strips": (equals_on(str.strip), OUT, "equals-trailing-newline equals-leading-blank"),
    "equals folds case": (equals_on(str.casefold), OUT, "equals-case"),
    "equals normalises": (
        equals_on(lambda t: unicodedata.normalize("NFC", t)), OUT,
        "equals-nfd equals-nfc-for-nfd equals-hangul-jamo",
    ),
    "equals takes out separators": (
        equals_on(lambda t: t.replace(",", "")), OUT, "equals-thousands",
    ),
    "equals takes off code fences": (equals_on(without_fence), OUT, "equals-code-fence"),
    "equals reads lines universally": (
        equals_on(lambda t: t.replace("\r\n", "\n").replace("\r", "\n")), OUT,
        "equals-crlf equals-cr",
    ),
    "equals drops invisible characters": (
        equals_on(lambda t: "".join(c for c in t if unicodedata.category(c) != "Cf")), OUT,
        "equals-zero-width equals-zero-width-inside equals-bom-in-text equals-rtl-mark",
    ),
    "equals on compatible characters": (
        equals_on(lambda t: unicodedata.normalize("NFKC", t)), OUT,
        "equals-fullwidth equals-compatibility-ligature equals-no-break-space",
    ),
    "equals compares numbers": (
        numbers_compared, OUT, "equals-decimal-zero equals-boxed equals-minus-sign",
    ),
    "contains searches the reasoning": (
        contains_on(with_reasoning), OUT,
        "contains-only-in-reasoning contains-only-in-thinking contains-only-in-details",
    ),
    "contains searches inline reasoning": (
        contains_on(lambda a: replace(a, text_after_reasoning=None, reasoning_open=False)), OUT,
        "contains-only-in-inline-think contains-harmony-channels",
    ),
    "contains searches a refusal": (
        contains_on(lambda a: replace(a, text=a.text or a.refusal)), OUT,
        "contains-only-in-refusal",
    ),
    "regex ignores case": (
        searching(lambda p, t, **o: search_within(f"(?i){p}", t, **o)), OUT, "regex-no-ignorecase",
    ),
    "regex with all flags": (
        searching(lambda p, t, **o: search_within(f"(?ms){p}", t, **o)), OUT,
        "regex-no-dotall regex-no-multiline",
    ),
    "regex must match from the start": (
        searching(lambda p, t, **o: search_within(f"^(?:{p})", t, **o)), OUT, "regex-word",
    ),
    "a time-out is no match": (
        searching(timeout_as_no_match), OUT, "regex-times-out regex-times-out-on-reference",
    ),
    "no text is an empty text": (
        observing(text_for_none), ALL, "equals-empty-without-text regex-without-text",
    ),
    "an error is an empty answer": (
        observing(error_as_empty_text), ALL,
        "stage-500 stage-429 reference-500 tool-stage-500 contract-html refused-context",
    ),
    "inline reasoning is stripped": (
        observing(inline_stripped), ALL, "equals-inline-think observe-inline-think",
    ),
}  # fmt: skip
