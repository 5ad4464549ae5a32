"""Whether a server drafts as long as it is asked to, from what it tells."""

import pytest

from denv.instruments.speed.drafts import drafting_of, exceeds
from denv.instruments.speed.sample import Sample


def sample(tokens=24, drafted=None, accepted=None, **fields):
    return Sample(tokens=tokens, drafted=drafted, accepted=accepted, **fields)


def judged(longest, shortest, *, most=8, least=1):
    return drafting_of(longest, shortest, most=most, least=least)


def test_a_server_that_obeys():
    """Recorded of llama.cpp started with 8 and with 1: 20 drafts in 3 steps, 11 in 12."""
    found = judged(sample(drafted=20, accepted=20), sample(drafted=11, accepted=11))
    assert (found.state, found.settable) == ("settable", True)


def test_a_server_that_ignores_the_field():
    """Recorded of llama.cpp b11549, asked for 1: 20 drafts in 3 steps, which 1 a step excludes."""
    recorded = sample(drafted=20, accepted=20)
    found = judged(recorded, recorded)
    assert (found.state, found.settable) == ("ignored", False)
    assert found.says == (
        "the server ignores speculative.n_max: asked for at most 1 a step, it drafted 20 in 3 steps"
    )


def test_a_field_without_effect():
    """A server whose own length is 1 keeps within 1; the same counts for 8 show no effect."""
    recorded = sample(drafted=11, accepted=11)
    assert judged(recorded, recorded).state == "ignored"


def test_none_asked_for_and_some_made():
    """With length 0 a single draft is one too many, apart from none."""
    assert judged(sample(drafted=9, accepted=3), sample(drafted=2, accepted=1), least=0).state == (
        "ignored"
    )
    off = judged(sample(drafted=9, accepted=3), sample(drafted=0, accepted=0), least=0)
    assert off.state == "settable"


def test_a_refused_field():
    """A server that refuses the field says so in its error."""
    no = Sample(problem="HTTP 400: unknown field", status=400)
    found = judged(no, sample(drafted=1, accepted=1))
    assert (found.state, "unknown field" in found.says) == ("refused", True)


def test_an_error_is_no_refusal():
    """A server error says nothing of the field."""
    assert judged(Sample(problem="status 503", status=503), sample()).state == "untold"


def test_a_server_that_does_not_tell():
    """Without counts nothing is known: not obeyed, not ignored."""
    assert judged(sample(), sample()).state == "untold"


def test_a_server_without_drafts():
    """Nothing drafted at any length: there is nothing to set."""
    none = sample(drafted=0, accepted=0)
    assert judged(none, none).state == "none"


@pytest.mark.parametrize(
    ("drafted", "accepted", "length", "more"),
    [(12, 0, 1, False), (24, 0, 1, False), (25, 0, 1, True), (20, 20, 8, False), (33, 20, 8, True)],
)
def test_the_bound(drafted, accepted, length, more):
    """24 tokens with all drafts refused are 23 steps, and one is allowed for beside them."""
    assert exceeds(sample(drafted=drafted, accepted=accepted), length) is more
