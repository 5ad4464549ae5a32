"""Truths of probability, checked with SciPy's distributions and by going through all cases."""

from __future__ import annotations

import re
from itertools import combinations, product
from math import factorial

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
import sympy as sp
from scipy import stats

from denv.instruments.derivations import probability
from tests.instruments.derivations.questions import (
    close,
    components,
    integers,
    part,
    problems,
    shaken,
)


def _decimals(text):
    return [float(one) for one in re.findall(r"\d+\.\d+|\d+(?=%)", text)]


def check_two_tests(question, truth):
    believed, hit, false = (one / 100 for one in _decimals(question))
    for given, otherwise in ((hit, false), (hit, false), (1 - hit, 1 - false)):
        believed = believed * given / (believed * given + (1 - believed) * otherwise)
    assert close(believed, sp.sympify(truth), digits=10)


def check_drawing_without_return(question, truth):
    red, blue, drawn, least = integers(question)
    urn = stats.hypergeom(red + blue, red, drawn)
    assert close(sum(urn.pmf(k) for k in range(least, drawn)), sp.sympify(truth), digits=9)


def check_binomial_range(question, truth):
    chance = _decimals(question)[0]
    n, low, high = (
        int(one) for one in part(question, r"Of (\d+) .* at least (\d+) and at most (\d+) succeed")
    )
    found = stats.binom(n, chance).pmf(range(low, high + 1)).sum()
    assert close(100 * found, sp.sympify(truth), digits=9)


def check_largest_of_dice(question, truth):
    dice, _one, sides = integers(question)
    rolls = np.indices((sides,) * dice).reshape(dice, -1)
    spread = rolls.max(axis=0) - rolls.min(axis=0)
    assert sp.sympify(truth) == sp.Rational(int(spread.sum()), spread.size)


def check_coupons(question, truth):
    kinds, had, wanted = integers(question)
    # Expected boxes from each number of kinds solve E(k) = 1 + k/n E(k) + (1 - k/n) E(k + 1).
    states = range(had, wanted)
    system, right = np.eye(len(states)), np.ones(len(states))
    for row, k in enumerate(states):
        system[row, row] -= k / kinds
        if row + 1 < len(states):
            system[row, row + 1] -= 1 - k / kinds
    assert close(np.linalg.solve(system, right)[0], sp.sympify(truth), digits=9)


def check_two_state_chain(question, truth):
    leave, back = _decimals(question)
    days = int(part(question, r"works (\d+) days"))
    moves = np.linalg.matrix_power(np.array([[1 - leave, leave], [back, 1 - back]]), days)
    assert close(moves[0, 0], sp.sympify(truth), digits=10)


def check_gambler(question, truth):
    start, goal = (int(one) for one in part(question, r"with (\d+) chips .* are (\d+) chips"))
    above, below = (int(one) for one in part(question, r"probability (\d+)/(\d+)"))
    p, system = above / below, np.eye(goal + 1)
    for chips in range(1, goal):
        system[chips, chips + 1], system[chips, chips - 1] = -p, p - 1
    reached = np.linalg.solve(system, np.eye(goal + 1)[goal])
    assert close(reached[start], sp.sympify(truth), digits=9)


def check_conditional_dice(question, truth):
    _, sides, _, other, least, face = integers(question)
    first, second = np.meshgrid(np.arange(1, sides + 1), np.arange(1, other + 1))
    given = first + second >= least
    both = given & (np.minimum(first, second) >= face)
    assert sp.sympify(truth) == sp.Rational(int(both.sum()), int(given.sum()))


def check_fixed_points(question, truth):
    n, _, most = integers(question)
    found = sum(
        sum((-1) ** j / factorial(j) for j in range(n - k + 1)) / factorial(k)
        for k in range(most + 1)
    )
    assert close(found, sp.sympify(truth), digits=10)


def check_density(question, truth):
    shape = part(question, r"density c (.*) on")
    powers = re.findall(r"(?:x|\(1 - x\))(?:\^(\d+))?", shape.replace("(1 - x)", "(1 - x)"))
    a, b = (int(power or 1) for power in [one for one in powers if one is not None][:2])
    found = stats.beta(a + 1, b + 1)
    norm, mean, variance = components(truth)
    assert close(norm * 0.3**a * 0.7**b, found.pdf(0.3), digits=9)
    assert close(mean, found.mean(), digits=9)
    assert close(variance, found.var(), digits=9)


def check_exponential_maximum(question, truth):
    a, b, t = integers(question)
    with mp.workdps(40):
        early_x = mp.quad(lambda x: a * mp.exp(-a * x), [0, t])
        late = mp.exp(-a * t) + early_x * mp.exp(-b * t)
        assert abs(late - mp.mpf(str(sp.N(sp.sympify(truth), 40)))) < 1e-25


def check_thinned_poisson(question, truth):
    rate, least = (
        int(one) for one in part(question, r"mean of (\d+) .* at least (\d+) complaints")
    )
    found = stats.poisson(2 * rate * _decimals(question)[0]).sf(least - 1)
    assert close(found, sp.N(sp.sympify(truth)), digits=10)


def check_stationary_chain(question, truth):
    ahead_a, back_a, ahead_b, back_b, ahead_c, back_c = _decimals(question)
    moves = np.array([[0, ahead_a, back_a], [back_b, 0, ahead_b], [ahead_c, back_c, 0]])
    moves += np.diag(1 - moves.sum(axis=1))
    assert moves.min() >= 0
    weights = np.array(components(truth), dtype=float)
    assert close(weights.sum(), 1)
    assert np.allclose(weights @ moves, weights, atol=1e-12)


def check_reliability(question, truth):
    chances = _decimals(question)
    total = 0.0
    for states in product((True, False), repeat=4):
        a, b, c, d = states
        if (a and b) or (c and (a or d)):
            total += np.prod([p if on else 1 - p for p, on in zip(chances, states, strict=True)])
    assert close(100 * total, sp.sympify(truth), digits=10)


def check_growing_urn(question, truth):
    red, blue, draws, added, wanted, again = integers(question)
    assert draws == again
    found = stats.betabinom(draws, red / added, blue / added).pmf(wanted)
    assert close(found, sp.sympify(truth), digits=9)


def check_appointment(question, truth):
    first, second = (int(one) for one in part(question, r"waits (\d+) minutes, Bob (\d+)"))
    moments = np.linspace(0, 60, 100_001)
    span = np.minimum(moments + first, 60) - np.maximum(moments - second, 0)
    assert close(np.trapezoid(span, moments) / 3600, sp.sympify(truth), digits=7)


def check_sum_variance(question, truth):
    drawn, step, *_, last = integers(question)
    cards = list(range(step, last + 1, step))
    if len(cards) > 14 and drawn > 4:
        # Too many to go through: the variance of a sum is the sum of all covariances.
        single = np.var(cards)
        shared = np.mean([a * b for a, b in combinations(cards, 2)]) - np.mean(cards) ** 2
        found = drawn * single + drawn * (drawn - 1) * shared
    else:
        found = np.var([sum(chosen) for chosen in combinations(cards, drawn)])
    assert close(found, sp.sympify(truth), digits=9)


CHECKS = {name[6:]: check for name, check in globals().items() if name.startswith("check_")}


def test_every_template_is_checked():
    """No template of the field is without its check."""
    assert set(CHECKS) == {template.__name__ for template in probability.TEMPLATES}


@pytest.mark.parametrize("template", probability.TEMPLATES, ids=lambda one: one.__name__)
def test_truths(template):
    """What a question asks for is what other methods find."""
    for problem in problems(template):
        CHECKS[template.__name__](problem.question, problem.truth)


@pytest.mark.parametrize("template", probability.TEMPLATES, ids=lambda one: one.__name__)
def test_wrong_truths_are_found(template):
    """A truth that is wrong by one in an integer does not pass its check."""
    problem = problems(template, count=1)[0]
    for wrong in shaken(problem.truth)[:4]:
        with pytest.raises(AssertionError):
            CHECKS[template.__name__](problem.question, wrong)
