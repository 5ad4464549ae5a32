"""G6: logprobs that are real, complete and unscaled."""

from dataclasses import replace
from math import log

import pytest

from denv.instruments.gates import State
from denv.instruments.gates.logprobs_real import (
    MOST_TOKENS,
    factor_check,
    logprob_checks,
    mass,
    rest_missing,
)
from denv.instruments.gates.serving_path import Raw
from denv.records import Side, TokenLogprob, TopLogprob
from tests.instruments.gates.samples import broken, reply, spoken

NO_RAW = Raw(lacking="shows no rendered prompt")


def position(text="a", *, scale=1.0, head=0.5, given=20):
    """Give a position of twenty alternatives that sum to 0.98, its logprobs scaled."""
    chances = [head] + [(0.98 - head) / 2**n for n in range(1, 19)]
    chances.append(0.98 - sum(chances))
    names = [text, *(f"{text}{n}" for n in range(19))]
    values = [log(chance) * scale for chance in chances]
    pairs = list(zip(names, values, strict=True))[:given]
    top = tuple(TopLogprob(name, value, name.encode()) for name, value in pairs)
    return TokenLogprob(text, values[0], text.encode(), None, top)


def answer(*entries, **fields):
    return spoken(*entries, completion=len(entries) + 1, **fields)


def checks(*entries, raw=NO_RAW, drift=0.0, **fields):
    replies = [answer(*entries, **fields)]
    return {one.name: one for one in logprob_checks(Side.STAGE, replies, raw, drift_nats=drift)}


def changed(entry, **fields):
    """Change the chosen token's entry and all of its alternatives."""
    return replace(entry, top=tuple(replace(one, **fields) for one in entry.top), **fields)


GOOD = [position("a"), position("b", head=0.6), position("c", head=0.3)]


def test_real_logprobs_pass():
    """Finite, not above 0, complete, and the head of a distribution."""
    found = checks(*GOOD)
    assert {name: one.state for name, one in found.items()} == {
        "logprobs-real": State.PASS,
        "logprobs-complete": State.PASS,
        "logprobs-unscaled": State.PASS,
    }
    evidence = found["logprobs-unscaled"].evidence
    assert evidence["greatest_mass"] == pytest.approx(0.98)


# 2.38 = √0.5 + √0.48 · (Σ 2^(−n/2) for n = 1 … 18, + 2^−9)
@pytest.mark.parametrize(
    ("entry", "name", "says"),
    [
        (changed(GOOD[0], logprob=None), "logprobs-real", "are placeholders"),
        (changed(GOOD[0], logprob=0.5), "logprobs-real", "are above 0"),
        (position(given=3), "logprobs-complete", "gives 3, 20 alternatives"),
        (replace(GOOD[0], top=()), "logprobs-complete", "gives 0, 20 alternatives"),
        (position(scale=0.5), "logprobs-unscaled", "sum to more than 1, up to 2.38"),
        (replace(GOOD[0], logprob=-3.0), "logprobs-unscaled", "not that of its own entry"),
    ],
)
def test_one_bad_position_fails(entry, name, says):
    """Each fault is named with how many positions show it."""
    found = checks(*GOOD, entry)[name]
    assert found.state is State.FAIL
    assert says in found.finding


def test_chosen_tokens_that_are_all_certain():
    """A server that writes 0 for every chosen token gives no logprobs."""
    certain = [replace(one, logprob=0.0) for one in GOOD]
    assert "have the logprob 0" in checks(*certain)["logprobs-real"].finding
    assert checks(*GOOD, certain[0])["logprobs-real"].state is State.PASS


def test_five_alternatives_are_complete_where_no_more_are_allowed():
    """The API's older limit is taken; anything between is not."""
    five = checks(*(position(given=5) for _ in range(3)))
    assert five["logprobs-complete"].state is State.PASS
    seven = checks(*(position(given=7) for _ in range(3)))
    assert seven["logprobs-complete"].state is State.FAIL


def test_every_token_has_an_entry():
    """The end token may be counted and not listed; no other may."""
    short = spoken(*GOOD, completion=5)
    found = logprob_checks(Side.STAGE, [short], NO_RAW, drift_nats=0.0)
    assert found[1].evidence["tokens_without_entry"] == 1
    assert found[1].state is State.FAIL
    cut = spoken(*GOOD, completion=7, finish_reason="length")
    assert logprob_checks(Side.STAGE, [cut], NO_RAW, drift_nats=0.0)[1].state is State.FAIL
    ship = spoken(*GOOD, position("\N{SHIP}"), completion=7)
    assert logprob_checks(Side.STAGE, [ship], NO_RAW, drift_nats=0.0)[1].state is State.PASS
    aside = spoken(*GOOD, completion=6, logprobs_reasoning=2)
    assert logprob_checks(Side.STAGE, [aside], NO_RAW, drift_nats=0.0)[1].state is State.PASS


def test_a_peaked_position_shows_values_that_are_scaled_up():
    """What a head leaves of 1 must fit into a vocabulary of tokens less probable than the least.

    0.99 and nineteen tokens of 1e-8 squared leave 0.02, and 300 000 tokens of 1e-16 hold 3e-11.
    """
    top = [TopLogprob("a", 2 * log(0.99), b"a")]
    top += [TopLogprob(f"b{n}", 2 * log(1e-8), f"b{n}".encode()) for n in range(19)]
    entry = TokenLogprob("a", 2 * log(0.99), b"a", None, tuple(top))
    assert mass(entry) == pytest.approx(0.9801)
    assert rest_missing(entry) == pytest.approx(1 - 0.9801 - 19e-16 - (MOST_TOKENS - 20) * 1e-16)
    assert "belongs to no token" in checks(entry)["logprobs-unscaled"].finding
    honest = replace(entry, top=(*entry.top[:-1], TopLogprob("c", log(1e-7), b"c")))
    assert rest_missing(honest) > 0.01


def test_no_logprobs_are_unknown():
    """Absent values are neither pass nor fail, and the reason is said."""
    absent = reply("a", logprobs_absent="no logprobs field")
    found = logprob_checks(Side.STAGE, [absent], NO_RAW, drift_nats=None)
    assert {one.state for one in found} == {State.UNKNOWN}
    assert found[0].finding == "the stage gives no logprobs (no logprobs field)"
    assert "no answer" in logprob_checks(Side.STAGE, [broken()], NO_RAW, drift_nats=None)[0].finding


def raw_of(*entries):
    return Raw((answer(*entries).observation,))


@pytest.mark.parametrize(
    ("ours", "theirs", "drift", "state", "says"),
    [
        (1.0, 1.0, 0.0, State.PASS, "are those of its raw completion, within 0 nats"),
        (2.0, 1.0, 0.0, State.FAIL, "are 2 times those of its raw completion"),
        (0.5, 1.0, 0.0, State.FAIL, "are 0.5 times"),
        (1.02, 1.0, 0.0, State.FAIL, "nats off those of its raw completion"),
        (1.02, 1.0, 0.1, State.PASS, "within"),
    ],
)
def test_chat_against_raw_completion(ours, theirs, drift, state, says):
    """The same positions have the same values, within twice the side's own noise."""
    chat = [position(name, scale=ours) for name in "abc"]
    raw = raw_of(*(position(name, scale=theirs) for name in "abc"))
    found = checks(*chat, raw=raw, drift=drift)["logprobs-raw"]
    assert found.state is state
    assert says in found.finding


def test_nothing_in_common_with_raw_completion():
    """Without a position that both have there is no check, and no pass."""
    assert "logprobs-raw" not in checks(*GOOD, raw=Raw((reply("x").observation,)))


@pytest.mark.parametrize(
    ("ours", "theirs", "state"),
    [(1.0, 1.0, State.PASS), (3.0, 1.0, State.FAIL), (1.0, 3.0, State.FAIL)],
)
def test_a_fixed_multiple_between_the_sides(ours, theirs, state):
    """It is found whichever side is scaled, and named with its factor."""
    stage, reference = (
        [answer(*(position(name, scale=scale) for name in "abcdef"))] for scale in (ours, theirs)
    )
    found = factor_check(stage, reference)
    assert found.state is state
    if state is State.FAIL:
        assert found.evidence["factor"] == pytest.approx(ours / theirs)


def test_no_position_in_common_is_unknown():
    """And the gate does not need it."""
    found = factor_check([reply("a")], [answer(*GOOD)])
    assert (found.state, found.needed) == (State.UNKNOWN, False)
