"""Samples → medians with their range, the best of a depth, and the rate of streams together."""

import doctest

import pytest

from denv.instruments.speed import figures
from denv.instruments.speed.figures import (
    best_of,
    decode_figures,
    drafts,
    load_figures,
    prefill_figures,
    spread,
)
from denv.instruments.speed.sample import Sample, ServerTimings


def sample(seconds=1.0, *, tokens=11, first_s=0.5, **fields):
    """Give an answer whose tokens after the first took so many seconds."""
    given = {"arrivals": tokens, "answered_s": first_s, "last_s": first_s + seconds, **fields}
    return Sample(first_s=first_s, tokens=tokens, **given)


def cell(draft, median, low, high, server="stage"):
    found = {"median": median, "min": low, "max": high, "samples": 3}
    return {"server": server, "draft": draft, "tokens_per_s": found}


def test_examples_run():
    """The docstrings' examples give what stands there."""
    assert doctest.testmod(figures).failed == 0


def test_an_even_number_has_the_middle_of_two():
    """The median of 1, 2, 4, 8 is 3."""
    assert spread([8, 1, 4, 2]) == {"median": 3.0, "min": 1.0, "max": 8.0, "samples": 4}


def test_two_samples_are_no_median():
    """Below three rates there is no figure; the counts say why."""
    found = decode_figures([sample(1.0), sample(2.0), Sample(problem="status 503", retried=4)])
    assert found["tokens_per_s"] is None
    assert (found["asked"], found["usable"], found["retried"]) == (3, 2, 4)
    assert found["reason"] == "status 503"


def test_one_slow_answer_moves_the_range_and_not_the_median():
    """10 tokens in 1, 1 and 5 seconds: 10 a second, and 2 at the least."""
    found = decode_figures([sample(1.0), sample(5.0), sample(1.0)])
    assert found["tokens_per_s"] == {"median": 10.0, "min": 2.0, "max": 10.0, "samples": 3}
    assert found["ttft_s"]["median"] == 0.5


def test_drafts_are_summed():
    """Three answers with 5 of 10 drafts accepted: half, and 10 tokens in 5 evaluations."""
    answers = [sample(1.0, drafted=10, accepted=5)] * 3
    assert drafts(answers) == {
        "drafted": 30,
        "accepted": 15,
        "acceptance": 0.5,
        "evaluations": 15,
        "tokens_per_evaluation": 2.0,
    }
    assert decode_figures(answers)["ms_per_evaluation"]["median"] == pytest.approx(200.0)


@pytest.mark.parametrize(("drafted", "accepted"), [(None, None), (0, 0)])
def test_no_drafts_are_no_zero(drafted, accepted):
    """Neither silence nor a server without drafts has an acceptance."""
    assert drafts([sample(1.0, drafted=drafted, accepted=accepted)] * 3) is None


def test_the_servers_own_rate_stands_apart():
    """It is beside the measured one and never in its place."""
    told = [sample(1.0, server=ServerTimings(None, rate)) for rate in (12.0, 13.0, 15.0)]
    found = decode_figures(told)
    assert found["server_side"]["tokens_per_s"]["median"] == 13.0
    assert found["tokens_per_s"]["median"] == 10.0
    assert decode_figures([sample(1.0)] * 3)["server_side"] is None


def test_prefill_is_of_the_steps_that_measure_it():
    """Steps of 100 tokens in 0.5 s are 200 a second; one of 10 tokens does not count."""
    steps = [sample(prompt_tokens=100 * n, cached_tokens=100 * (n - 1)) for n in (1, 2, 3)]
    few = sample(prompt_tokens=310, cached_tokens=300)
    found = prefill_figures([*steps, few])
    assert found is not None
    assert found["tokens_per_s"]["median"] == 200.0
    assert found["new_tokens"] == 300
    assert prefill_figures([*steps[:2], few]) is None


def test_streams_together():
    """Two streams of 11 tokens, begun 1 s apart, the last token at 4 s: 22 in 4 s."""
    first = sample(2.5, sent_s=10.0)
    second = sample(2.5, sent_s=11.0)
    found = load_figures([[first, second]] * 3)
    assert found["tokens_per_s"]["median"] == pytest.approx(22 / 4)
    assert found["tokens_per_s_each"]["median"] == pytest.approx(10 / 2.5)
    assert found["tokens_per_s_each"]["samples"] == 6


def test_a_round_with_a_failure_has_no_rate():
    """The others were alone for a while, so the round shows another load."""
    whole = [sample(1.0), sample(1.0)]
    found = load_figures([whole, whole, [sample(1.0), Sample(problem="status 503")]])
    assert found["tokens_per_s"] is None
    assert found["tokens_per_s_each"]["samples"] == 5
    assert (found["asked"], found["usable"], found["reason"]) == (6, 5, "status 503")


def test_the_best_of_a_depth():
    """The highest median wins; it is clear where no range reaches it."""
    one, two = cell(1, 10.0, 9.0, 11.0), cell(2, 14.0, 12.0, 15.0)
    assert best_of([one, two]) == {"server": "stage", "draft": 2, "clear": True}


def test_ranges_that_overlap_are_not_clear():
    """A round of the other that was quicker than one of the best leaves it open."""
    one, two = cell(1, 10.0, 9.0, 12.5), cell(2, 14.0, 12.0, 15.0)
    assert best_of([one, two]) == {"server": "stage", "draft": 2, "clear": False}


def test_what_has_no_rival_is_not_the_best():
    """One column, or one that was measured, is nothing to compare."""
    lost = {**cell(2, 0, 0, 0), "tokens_per_s": None}
    assert best_of([cell(1, 10.0, 9.0, 11.0)]) is None
    assert best_of([cell(1, 10.0, 9.0, 11.0), lost]) is None
