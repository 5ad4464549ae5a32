"""Prompts are nested, new in each run, and no question occurs twice."""

from itertools import islice
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from denv.instruments.speed.prompts import cut, questions, register


@given(st.integers(0, 2**48), st.integers(0, 5000), st.integers(0, 5000))
def test_a_deeper_prompt_extends_the_one_before(seed, one, other):
    """The shorter cut is the beginning of the longer one, whole words both, and not too long."""
    text = register(Random(seed), characters=5000)
    short, long = cut(text, min(one, other)), cut(text, max(one, other))
    assert long.startswith(short)
    assert len(long) <= max(one, other)
    assert short == "" or short.endswith(" ")


def test_a_register_is_long_enough_and_not_much_longer():
    """It ends with the line that reaches the length."""
    for characters in (1, 1000, 20_000):
        text = register(Random(7), characters=characters)
        assert characters <= len(text) < characters + 200
        assert text.endswith("\n")


def test_another_seed_shares_no_beginning():
    """Two runs part in the first line, so that nothing of an earlier one is cached."""
    one, other = (register(Random(seed), characters=500) for seed in (1, 2))
    assert one.split("\n")[0] != other.split("\n")[0]


def test_no_question_twice():
    """Even beyond all subjects each question is new."""
    asked = list(islice(questions(Random(3)), 4000))
    assert len(set(asked)) == 4000


def test_one_seed_gives_one_order():
    """Servers with the same seed are asked the same, one after another; another seed differs."""
    one, again, other = (list(islice(questions(Random(seed)), 50)) for seed in (5, 5, 6))
    assert one == again
    assert one != other
