"""What one streamed answer says of speed, from times that are written down."""

import json

import pytest

from denv.instruments.speed import Mark, Streamed
from denv.instruments.speed.sample import read_sample
from denv.records import Attempt, Exchange
from tests.instruments.speed.scripted import chunk, refused, streamed

EVERY_100_MS = [0.5 + 0.1 * n for n in range(11)]


def usage(n, **more):
    return {"prompt_tokens": 40, "completion_tokens": n, **more}


def test_the_rate_is_that_of_the_tokens_after_the_first():
    """11 tokens from 0.5 s to 1.5 s are 10 intervals in one second."""
    sample = read_sample(streamed(EVERY_100_MS, usage=usage(11)))
    assert sample.tokens_per_s == pytest.approx(10.0)
    assert (sample.first_s, sample.tokens, sample.counted_by) == (0.5, 11, "usage")
    assert sample.arrivals == 11


def test_the_role_is_no_first_token():
    """The event that brings the role alone does not stop the clock of the first token."""
    found = streamed([1.0, 1.1, 1.2], usage=usage(8))
    early = Streamed(found.exchange, (Mark(0.01, found.marks[0].data), *found.marks[1:]))
    assert read_sample(early).first_s == 1.0


def test_the_end_token_has_its_time():
    """With 10 words and an end token, 11 tokens take until the finish reason arrives."""
    times = EVERY_100_MS[:10]
    sample = read_sample(streamed(times, usage=usage(11), finish="stop", finish_s=1.5))
    assert sample.tokens_per_s == pytest.approx(10.0)


def test_drafts_make_tokens_cheaper_and_evaluations_not():
    """24 tokens of which 20 were drafted and accepted are the first and three evaluations.

    Recorded of llama.cpp with a draft of 8: 8 + 1, 8 + 1 and 4 + 1 tokens after the first.
    """
    times = [0.1] + [0.2] * 9 + [0.3] * 9 + [0.4] * 5
    timings = {"predicted_n": 24, "draft_n": 20, "draft_n_accepted": 20}
    sample = read_sample(streamed(times, usage=usage(24), timings=timings))
    assert sample.evaluations == 3
    assert sample.ms_per_evaluation == pytest.approx(100.0)
    assert sample.tokens_per_s == pytest.approx(23 / 0.3)


def test_a_refused_draft_costs_an_evaluation():
    """Of 20 drafted tokens 5 were accepted: 24 tokens took 18 evaluations after the first."""
    timings = {"predicted_n": 24, "draft_n": 20, "draft_n_accepted": 5}
    sample = read_sample(
        streamed([0.1 * n for n in range(1, 25)], usage=usage(24), timings=timings)
    )
    assert sample.evaluations == 23 - 5


def test_timings_without_drafts_say_that_there_were_none():
    """llama.cpp leaves the counts out where nothing was drafted: an evaluation a token."""
    sample = read_sample(
        streamed(EVERY_100_MS, usage=usage(11), timings={"predicted_n": 11, "prompt_n": 40})
    )
    assert (sample.drafted, sample.accepted) == (0, 0)
    assert sample.ms_per_evaluation == pytest.approx(100.0)


def test_a_server_that_tells_nothing_has_no_time_of_an_evaluation():
    """Whether it drafts is not known, so the figure is absent and not the time of a token."""
    sample = read_sample(streamed(EVERY_100_MS, usage=usage(11)))
    assert (sample.drafted, sample.evaluations, sample.ms_per_evaluation) == (None, None, None)
    assert sample.cached_tokens is None
    assert sample.prefill_tokens_per_s is None


def test_prefill_counts_what_was_not_cached():
    """1000 prompt tokens of which 900 were cached, and 0.5 s: 200 a second."""
    details = {"prompt_tokens": 1000, "prompt_tokens_details": {"cached_tokens": 900}}
    sample = read_sample(streamed(EVERY_100_MS, usage={**usage(11), **details}))
    assert sample.prefilled == 100
    assert sample.prefill_tokens_per_s == pytest.approx(200.0)


def test_prefill_of_a_few_tokens_is_no_rate():
    """31 new tokens measure the way to the server, not its prefill."""
    details = {"prompt_tokens": 1000, "prompt_tokens_details": {"cached_tokens": 969}}
    sample = read_sample(streamed(EVERY_100_MS, usage={**usage(11), **details}))
    assert sample.prefilled == 31
    assert sample.prefill_tokens_per_s is None


def test_prefill_of_an_answer_without_visible_token():
    """A first token that shows no text ends the prefill with its finish reason."""
    details = {"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 0}}
    sample = read_sample(streamed([], usage={**usage(1), **details}, finish_s=0.25))
    assert sample.first_s is None
    assert sample.prefill_tokens_per_s == pytest.approx(400.0)


def test_without_usage_the_timings_count():
    """``stream_options`` may be refused; llama.cpp's timings tell the same."""
    timings = {"predicted_n": 11, "prompt_n": 30, "cache_n": 10}
    sample = read_sample(streamed(EVERY_100_MS, timings=timings))
    assert (sample.tokens, sample.counted_by) == (11, "timings")
    assert (sample.prompt_tokens, sample.cached_tokens) == (40, 10)


def test_without_any_count_events_are_tokens():
    """What remains is to count the events with text, and to say so."""
    sample = read_sample(streamed(EVERY_100_MS))
    assert (sample.tokens, sample.counted_by) == (11, "events")
    assert sample.prompt_tokens is None


def test_hidden_thoughts_are_no_part_of_the_rate():
    """Of 1000 tokens 989 were thought unseen before the first: 11 remain for the second."""
    details = {"completion_tokens_details": {"reasoning_tokens": 989}}
    sample = read_sample(streamed(EVERY_100_MS, usage=usage(1000, **details)))
    assert (sample.tokens, sample.hidden) == (11, True)
    assert sample.tokens_per_s == pytest.approx(10.0)


def test_streamed_thoughts_are_tokens_like_others():
    """Thoughts that are streamed were seen, and their tokens count."""
    details = {"completion_tokens_details": {"reasoning_tokens": 11}}
    sample = read_sample(streamed(EVERY_100_MS, usage=usage(11, **details), reasoning=True))
    assert (sample.tokens, sample.hidden, sample.first_s) == (11, False, 0.5)


@pytest.mark.parametrize(
    ("times", "n", "said"),
    [
        ([0.1, 0.2, 0.3], 3, "it stopped after 3 tokens; a rate needs 8"),
        ([2.0] * 40, 40, "the stream came in 1 pieces: something holds it back"),
        ([2.0] * 20 + [2.1] * 20, 40, "the stream came in 2 pieces: something holds it back"),
    ],
)
def test_what_gives_no_rate(times, n, said):
    """A few tokens, and a stream that a proxy has held back, show no speed of the server."""
    sample = read_sample(streamed(times, usage=usage(n)))
    assert sample.why_no_rate == said
    assert (sample.tokens_per_s, sample.ms_per_evaluation) == (None, None)
    assert sample.first_s == times[0]


def test_an_error_is_no_sample():
    """A refusal has its message and status, and no figure."""
    sample = read_sample(refused("request (9000 tokens) exceeds the available context size"))
    assert sample.status == 400
    assert "exceeds the available context size" in (sample.problem or "")
    assert sample.tokens_per_s is None


def test_a_cut_stream_is_no_sample():
    """What came before the cut is no answer, so its times are none."""
    found = streamed(EVERY_100_MS)
    cut = found.exchange.body.partition(b'"finish_reason": "length"')[0]
    sample = read_sample(Streamed(Exchange(status=200, body=cut, streamed=True), found.marks[:5]))
    assert sample.problem is not None
    assert sample.tokens_per_s is None


def test_a_plain_answer_is_no_sample():
    """A server that answers in one JSON document does not stream."""
    message = {"role": "assistant", "content": "Hello"}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    body = json.dumps({"choices": [choice]}).encode()
    sample = read_sample(Streamed(Exchange(status=200, body=body, streamed=True)))
    assert sample.problem == "the answer is no event stream"


def test_joined_events_count_each():
    """Chunks that one event holds, where the empty lines were left out, are all read."""
    found = streamed(EVERY_100_MS, usage=usage(11))
    last = found.marks[-3:-1]
    joined = Mark(last[-1].at_s, "\n".join(mark.data for mark in last))
    sample = read_sample(Streamed(found.exchange, (*found.marks[:-3], joined, found.marks[-1])))
    assert sample.tokens == 11
    assert sample.tokens_per_s == pytest.approx(10.0)


def test_retries_are_counted():
    """An answer that came at the third try says so."""
    found = streamed(EVERY_100_MS)
    tries = (Attempt(503, "status 503", 0.5),) * 2
    exchange = Exchange(status=200, body=found.exchange.body, streamed=True, attempts=tries)
    assert read_sample(Streamed(exchange, found.marks)).retried == 2


@pytest.mark.parametrize("junk", ["12", True, -1, 1.5, None, [], float("inf")])
def test_counts_that_are_none(junk):
    """What is no whole number from 0 on is not told, and never a zero."""
    found = streamed(EVERY_100_MS)
    timings = {"predicted_n": junk, "prompt_n": junk, "draft_n": junk, "predicted_per_second": junk}
    mark = Mark(1.5, json.dumps({**chunk({}), "timings": timings}))
    sample = read_sample(Streamed(found.exchange, (*found.marks, mark)))
    assert (sample.drafted, sample.prompt_tokens) == (None, None)
    assert sample.counted_by == "events"


@pytest.mark.parametrize("huge", [10**300, 10**400, 10**10])
def test_numbers_that_no_server_reaches_are_not_told(huge):
    """Counts and rates beyond a thousand million stand in no figure and no note."""
    timings = {"predicted_n": huge, "prompt_n": huge, "predicted_per_second": huge}
    told = {"prompt_tokens": huge, "completion_tokens": huge, "total_tokens": huge}
    sample = read_sample(streamed(EVERY_100_MS, usage=told, timings=timings))
    assert (sample.tokens, sample.counted_by) == (len(EVERY_100_MS), "events")
    assert sample.prompt_tokens is None
    assert sample.server is not None
    assert sample.server.tokens_per_s is None
