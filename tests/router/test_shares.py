from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from denv.router.shares import Share, pick

WEIGHTS = st.lists(st.integers(1, 1000).map(lambda n: n / 1000), min_size=1, max_size=8)


@given(WEIGHTS, st.integers(1, 500))
def test_each_gets_its_share_of_every_stretch_from_the_start(weights, picks):
    """After each choice each was chosen as often as its share says, but for less than 1."""
    shares = [Share(weight) for weight in weights]
    exact = [Fraction(share.units, sum(s.units for s in shares)) for share in shares]
    chosen = [0] * len(shares)
    for n in range(1, picks + 1):
        chosen[pick(shares)] += 1
        for count, share in zip(chosen, exact, strict=True):
            assert abs(count - n * share) < 1


def test_a_tenth_is_spread_out():
    """A replica of a tenth gets one of each ten requests, not ten of each hundred in a row."""
    shares = [Share(0.1), Share(0.9)]
    chosen = [pick(shares) for _ in range(100)]
    assert [chosen[at : at + 10].count(0) for at in range(0, 100, 10)] == [1] * 10


@given(WEIGHTS.filter(lambda weights: len(weights) > 1), st.data())
def test_one_that_was_left_out_does_not_catch_up(weights, data):
    """A replica that is back gets its share again, and no burst of what it missed."""
    shares = [Share(weight) for weight in weights]
    for _ in range(data.draw(st.integers(0, 50))):
        pick(shares)
    for _ in range(200):
        pick(shares[1:])
    chosen = [pick(shares) for _ in range(50)]
    exact = 50 * shares[0].units / sum(share.units for share in shares)
    assert abs(chosen.count(0) - exact) < 3
