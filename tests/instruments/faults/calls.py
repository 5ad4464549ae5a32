"""Faults in how tool calls are read and compared."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal

from denv.checks import tool_call, values
from denv.checks.tool_call import score_tool_call
from denv.observe import arguments
from denv.observe.deltas import CallFold
from denv.records import Observation, Score
from denv.strictjson import StrictJsonError
from tests.instruments.faults.seams import ALL, OUT


def loading(load):
    """Parse arguments otherwise."""

    def patch(m):
        m.setattr(arguments, "_load", lambda given, _notes: load(given))

    return patch


def lenient(given):
    """Parse as the standard library does, but exactly."""
    return json.loads(given, parse_float=Decimal)


def repaired(given):
    """Close what stands open."""
    for tail in ("", "}", '"}', "]}"):
        try:
            return lenient(given + tail)
        except ValueError:
            continue
    raise StrictJsonError("beyond repair")


def python_literal(given):
    """Read single quotes as double ones."""
    return lenient(given.replace("'", '"'))


def through_float(given):
    """Parse every number as a float."""
    return json.loads(given, parse_float=float, parse_int=float)


def first_object(given):
    """Ignore what stands behind the first value."""
    return json.JSONDecoder(parse_float=Decimal).raw_decode(given)[0]


def unwrapped(m):
    """Take what a double-encoded string hides."""
    real = arguments.read_arguments

    def read(given, notes):
        found = real(given, notes)
        if found.unwrapped is None:
            return found
        return arguments.Arguments(found.raw, found.unwrapped)

    m.setattr("denv.observe.calls.read_arguments", read)


def booleans_as_numbers(m):
    """Let True be 1."""
    real = values.type_name
    name = lambda value: "number" if isinstance(value, bool) else real(value)  # noqa: E731
    m.setattr(values, "type_name", name)


def differing(keep):
    """Overlook some differences of arguments."""

    def patch(m):
        real = values.differences
        kept = lambda want, got: iter([d for d in real(want, got) if keep(d)])  # noqa: E731
        m.setattr(tool_call, "differences", kept)

    return patch


def floated(value):
    """Round every number of a JSON value to a float."""
    return json.loads(json.dumps(value, default=float), parse_int=float)


def compared_as_floats(m):
    """Compare arguments after rounding both sides."""
    real = values.differences
    m.setattr(tool_call, "differences", lambda want, got: real(floated(want), floated(got)))


def calling(change):
    """Score the calls of a changed answer."""

    def patch(m):
        def scored(check, answer, *, tools=()):
            return score_tool_call(check, change(answer), tools=tools)

        m.setattr("denv.checks.score_tool_call", scored)

    return patch


def calls_by_finish(answer: Observation) -> Observation:
    """Believe the finish reason about calls."""
    return answer if answer.finish_reason == "tool_calls" else replace(answer, calls=())


def leaked_call_counts(m):
    """Count a call that stands as text."""

    def scored(check, answer, *, tools=()):
        if answer.calls_in_text and check.tool in (answer.text or ""):
            return Score(True)
        return score_tool_call(check, answer, tools=tools)

    m.setattr("denv.checks.score_tool_call", scored)


def calls_by_index(m):
    """Fold streamed calls by their index alone, a missing one being 0."""

    def continued(self, _call_id, index, _name):
        return self._by_index.get(index or 0) or (self._calls[0] if self._calls else None)

    m.setattr(CallFold, "_continued", continued)


FAULTS = {
    "numbers through float": (
        loading(through_float), OUT,
        "tool-arguments-big-integer-same tool-arguments-big-integer-as-float",
    ),
    "numbers are compared as floats": (
        compared_as_floats, OUT,
        "tool-arguments-big-integer tool-arguments-hundred-digits tool-arguments-decimal-exact",
    ),
    "arguments are repaired": (loading(repaired), OUT, "tool-arguments-broken-cut"),
    "arguments as Python literals": (
        loading(python_literal), OUT, "tool-arguments-broken-single-quotes",
    ),
    "NaN and repeated keys are accepted": (
        loading(lenient), ("tool-schema", "outcome"),
        "schema-nan tool-arguments-broken-repeated-key",
    ),
    "text behind arguments is ignored": (
        loading(first_object), OUT,
        "tool-arguments-broken-trailing-text tool-arguments-broken-two-objects",
    ),
    "double-encoded arguments are accepted": (
        unwrapped, ALL, "tool-arguments-double-encoded observe-call-double-encoded",
    ),
    "True is 1": (
        booleans_as_numbers, OUT, "tool-arguments-bool-for-one tool-arguments-false-for-zero",
    ),
    "nested extras are allowed": (
        differing(lambda d: d.fault is not values.Fault.EXTRA), OUT,
        "tool-arguments-extra-nested tool-arguments-extra-in-list",
    ),
    "missing arguments are allowed": (
        differing(lambda d: d.fault is not values.Fault.MISSING), OUT,
        "tool-arguments-missing tool-arguments-none-empty-missing tool-two-halves",
    ),
    "strings are coerced": (
        differing(lambda d: not tool_call.explained_by_encoding(d)), OUT,
        "tool-arguments-string-for-number tool-arguments-number-for-string",
    ),
    "the finish reason decides about calls": (
        calling(calls_by_finish), OUT, "tool-finish-stop tool-finish-null",
    ),
    "only the first call counts": (
        calling(lambda a: replace(a, calls=a.calls[:1])), OUT, "tool-any-call tool-closest",
    ),
    "a leaked call counts": (
        leaked_call_counts, OUT, "tool-leak-json tool-leak-tag tool-leak-mistral",
    ),
    "leaks are not recognised": (
        lambda m: m.setattr("denv.observe.answer.call_form", lambda _text: None), ALL,
        "tool-leak-harmony tool-reasoning-only observe-call-in-text",
    ),
    "names are respelt": (
        calling(
            lambda a: replace(
                a, calls=tuple(replace(c, name=(c.name or "").split(".")[-1]) for c in a.calls)
            )
        ),
        OUT, "tool-prefixed-name",
    ),
    "streamed calls go by index": (
        calls_by_index, OUT, "tool-stream-same-index tool-stream-no-index-two",
    ),
}  # fmt: skip
