"""Lengths of traces: what counts as one, its spread, and the difference of both sides."""

from __future__ import annotations

import doctest

import pytest

from denv.instruments.paired import traces
from denv.instruments.paired.traces import Trace, compare_traces, trace_of
from denv.records import Observation, Usage


@pytest.mark.parametrize(
    ("answer", "at", "lengths"),
    [
        (Observation(text="ANSWER: 12"), 8, (0, 0)),
        (Observation(text="We add.\nANSWER: 12"), 16, (0, 7)),
        (Observation(text="We add, and get 12."), None, (0, 19)),
        (Observation(text="  \n"), None, (0, 0)),
        (Observation(text="ANSWER: 12", reasoning=" We add. "), 8, (7, 0)),
        (Observation(reasoning="We add."), None, (7, 0)),
        (
            Observation(
                text="<think>\nWe add.\n</think>\n\nANSWER: 12", text_after_reasoning="ANSWER: 12"
            ),
            8,
            (7, 0),
        ),
        (
            Observation(text="<think></think>ANSWER: 12", text_after_reasoning="ANSWER: 12"),
            8,
            (0, 0),
        ),
        (Observation(text="<think>We add", reasoning_open=True), None, (6, 0)),
        (
            Observation(text="[THINK]We add.[/THINK]So:\n12", text_after_reasoning="So:\n12"),
            4,
            (7, 3),
        ),
    ],
)
def test_what_stands_ahead_of_the_answer(answer, at, lengths):
    """Reasoning counts wherever it stands, tags and the answer's own line do not."""
    found = trace_of(answer, answer_at=at)
    assert (found.reasoning, found.working) == lengths
    assert found.length == sum(lengths)


def test_tokens_are_the_servers_count():
    """The count of all tokens is what the server says, None where it says none."""
    assert trace_of(Observation(text="x", usage=Usage(9, 4)), answer_at=None).tokens == 4
    assert trace_of(Observation(text="x"), answer_at=None).tokens is None


def test_spread():
    """Of 1 … 5 the median is 3 and the quartiles 2 and 4; of tokens those that were counted."""
    pairs = [(Trace(n, 0, n if n > 3 else None), None) for n in range(1, 6)]
    found = compare_traces(pairs)
    side = found.reference
    assert (side.trace.answers, side.trace.median, side.trace.quartiles) == (5, 3, (2, 4))
    assert (side.tokens.answers, side.tokens.median, side.tokens.longest) == (2, 4.5, 5)
    assert (side.short.count, side.short.of) == (5, 5)


def test_difference():
    """The median of 20 differences 0 … 19 is 9.5, the sign test's limits the 6th and the 15th.

    R: qbinom(0.025, 20, 0.5) is 6, so that the 6th and the 15th smallest are the limits of 95 %.
    """
    found = compare_traces([(Trace(100, 0, 50), Trace(100 + n, 0, 50 - n)) for n in range(20)])
    assert (found.characters.median, found.characters.interval) == (9.5, (5, 14))
    assert (found.tokens.median, found.tokens.interval) == (-9.5, (-14, -5))


def test_few_pairs_have_no_interval():
    """Five pairs allow no limits of 95 %, whatever they show: 2/2^5 is above 0.05."""
    found = compare_traces([(Trace(n, 0), Trace(2 * n, 0)) for n in range(5)])
    assert (found.characters.pairs, found.characters.median) == (5, 2)
    assert found.characters.interval is None
    assert found.tokens.pairs == 0


def test_nothing_at_all():
    """Without answers all figures are None."""
    found = compare_traces([(None, None)])
    assert (found.stage.trace.median, found.stage.short.value) == (None, None)
    assert (found.characters.median, found.short_rise.value) == (None, None)
    assert found.warnings() == []


def test_short_traces():
    """Nine characters are short and ten are not; only the stage's surely oftener ones warn."""
    long, short = Trace(0, 10), Trace(4, 5)
    worse = compare_traces([(long, short)] * 10)
    assert worse.short_rise.value == 1.0
    assert len(worse.warnings()) == 1
    assert compare_traces([(short, long)] * 10).warnings() == []
    assert compare_traces([(long, short)] + [(long, long)] * 9).warnings() == []


def test_examples():
    """The example in the docstring runs."""
    result = doctest.testmod(traces)
    assert result.attempted > 0
    assert result.failed == 0
