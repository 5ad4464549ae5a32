"""Templates of probability: counting, conditioning, chains, expectations, densities."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, factorial
from random import Random

from denv.instruments.derivations.forms import Form, Problem
from denv.instruments.derivations.wording import distinct, parentheses

_NUMBER = Form("number")


def _tenths(rng: Random, low: int, high: int) -> Fraction:
    return Fraction(rng.randint(low, high), 10)


def two_tests(rng: Random) -> Problem:
    """Update a prior twice, on a positive and a negative test."""
    prior = Fraction(rng.randint(1, 9), 100)
    hit, false = Fraction(rng.randint(80, 98), 100), Fraction(rng.randint(3, 15), 100)
    question = (
        f"{_percent(prior)} of a population has a condition. A test is positive for "
        f"{_percent(hit)} of those who have it and for {_percent(false)} of those who do not; "
        "repeated tests of one person are independent given the condition. One person tests "
        "positive, positive, negative. Find the probability that this person has the condition."
    )
    having = prior * hit**2 * (1 - hit)
    lacking = (1 - prior) * false**2 * (1 - false)
    return Problem(question, str(having / (having + lacking)), _NUMBER)


def _percent(share: Fraction) -> str:
    return f"{share * 100}%"


def drawing_without_return(rng: Random) -> Problem:
    """Find the chance of at least so many of a kind in a draw without replacement."""
    red, blue, drawn = rng.randint(4, 9), rng.randint(4, 9), rng.randint(4, 6)
    least = 2
    question = (
        f"An urn holds {red} red and {blue} blue balls. {drawn} are drawn without replacement. "
        f"Find the probability that at least {least} are red and at least one is blue."
    )
    ways = sum(comb(red, k) * comb(blue, drawn - k) for k in range(least, drawn))
    return Problem(question, str(Fraction(ways, comb(red + blue, drawn))), _NUMBER)


def binomial_range(rng: Random) -> Problem:
    """Find the chance of a middling number of successes, in percent."""
    n, p = rng.randint(4, 6), _tenths(rng, 1, 9)
    low, high = sorted(distinct(rng, 1, n - 1, count=2))
    question = (
        f"A trial succeeds with probability {float(p)}. Of {n} independent trials, find the "
        f"probability, as a percentage, that at least {low} and at most {high} succeed."
    )
    found = sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(low, high + 1))
    return Problem(question, str(100 * found), Form("percent"))


def largest_of_dice(rng: Random) -> Problem:
    """Find the expected difference of the largest and the smallest of some dice."""
    sides, dice = rng.randint(4, 12), rng.randint(3, 5)
    question = (
        f"{dice} fair dice with faces 1 to {sides} are rolled. Find the expected value of the "
        "largest result minus the smallest."
    )
    largest = sum(1 - Fraction(k, sides) ** dice for k in range(sides))
    return Problem(question, str(2 * largest - (sides + 1)), _NUMBER)


def coupons(rng: Random) -> Problem:
    """Find how many more draws complete a collection that has been begun."""
    n = rng.randint(6, 12)
    had, wanted = rng.randint(1, 3), n - rng.randint(0, 2)
    question = (
        f"Each box holds one of {n} kinds of picture, all equally likely and independent. "
        f"Somebody has {had} different kinds. Find the expected number of further boxes until "
        f"{wanted} different kinds are there."
    )
    found = sum(Fraction(n, n - k) for k in range(had, wanted))
    return Problem(question, str(found), _NUMBER)


def two_state_chain(rng: Random) -> Problem:
    """Find where a chain of two states is after several steps."""
    leave, back = _tenths(rng, 1, 9), _tenths(rng, 1, 9)
    n = rng.randint(4, 6)
    question = (
        f"A machine that works today fails tomorrow with probability {float(leave)}; one that is "
        f"broken works tomorrow with probability {float(back)}. It works today. Find the exact "
        f"probability that it works {n} days from now."
    )
    working = Fraction(1)
    for _ in range(n):
        working = working * (1 - leave) + (1 - working) * back
    return Problem(question, str(working), _NUMBER)


def gambler(rng: Random) -> Problem:
    """Find the chance of reaching a goal before ruin, with unfair steps."""
    start, goal = rng.randint(2, 4), rng.randint(6, 9)
    p = rng.choice([Fraction(1, 3), Fraction(2, 5), Fraction(3, 5), Fraction(2, 3), Fraction(3, 7)])
    question = (
        f"A player with {start} chips wins one chip with probability {p} and else loses one, in "
        f"independent rounds, until there are {goal} chips or none. Find the probability that "
        f"the player ends with {goal} chips."
    )
    ratio = (1 - p) / p
    return Problem(question, str((1 - ratio**start) / (1 - ratio**goal)), _NUMBER)


def conditional_dice(rng: Random) -> Problem:
    """Find a chance about two dice given their sum."""
    sides, other = rng.randint(6, 10), rng.randint(6, 10)
    least, face = rng.randint(7, 10), rng.randint(3, 5)
    question = (
        f"A fair die with faces 1 to {sides} and a fair die with faces 1 to {other} are rolled. "
        f"Given that the sum is at least {least}, find the probability that both show "
        f"at least {face}."
    )
    given = [(a, b) for a, b in _rolls(sides, other) if a + b >= least]
    both = sum(a >= face and b >= face for a, b in given)
    return Problem(question, str(Fraction(both, len(given))), _NUMBER)


def _rolls(first: int, second: int) -> list[tuple[int, int]]:
    return list(product(range(1, first + 1), range(1, second + 1)))


def fixed_points(rng: Random) -> Problem:
    """Find the chance of at most so many matches in a random order."""
    n, most = rng.randint(5, 10), rng.randint(0, 4)
    question = (
        f"{n} letters are put into {n} addressed envelopes at random, one in each. Find the "
        f"probability that at most {most} of the letters are in their own envelopes."
    )
    ways = sum(comb(n, k) * _derangements(n - k) for k in range(most + 1))
    return Problem(question, str(Fraction(ways, factorial(n))), _NUMBER)


def _derangements(n: int) -> int:
    found = 1
    for k in range(1, n + 1):
        found = k * found + (-1) ** k
    return found


def density(rng: Random) -> Problem:
    """Normalise a density on the unit interval and find its mean and variance."""
    a, b = rng.randint(1, 7), rng.randint(1, 7)
    shape = f"{_raised('x', a)} {_raised('(1 - x)', b)}"
    question = (
        f"X has the density c {shape} on 0 <= x <= 1 and 0 elsewhere. "
        "Let m be its mean and v its variance. Give (c, m, v)."
    )
    norm = Fraction(factorial(a + b + 1), factorial(a) * factorial(b))
    mean = Fraction(a + 1, a + b + 2)
    variance = mean * (1 - mean) / (a + b + 3)
    return Problem(question, parentheses([norm, mean, variance]), Form("tuple", ("c", "m", "v")))


def _raised(base: str, power: int) -> str:
    return base if power == 1 else f"{base}^{power}"


def exponential_maximum(rng: Random) -> Problem:
    """Find the chance that the later of two exponential times is late."""
    a, b = distinct(rng, 1, 6, count=2)
    t = rng.randint(1, 3)
    question = (
        f"X and Y are independent and exponentially distributed with rates {a} and {b}. "
        f"Find the probability that max(X, Y) > {t}."
    )
    truth = f"exp(-{a * t}) + exp(-{b * t}) - exp(-{(a + b) * t})"
    return Problem(question, truth, _NUMBER)


def thinned_poisson(rng: Random) -> Problem:
    """Find the chance of several events of a thinned Poisson stream, in decimals."""
    rate, share, least = rng.randint(2, 9), _tenths(rng, 2, 8), rng.randint(2, 4)
    question = (
        f"Calls arrive as a Poisson process with a mean of {rate} an hour, and each is a complaint "
        f"with probability {float(share)}, independently of all else. Find the probability of at "
        f"least {least} complaints in two hours."
    )
    mean = 2 * rate * share
    fewer = sum(mean**k / factorial(k) for k in range(least))
    return Problem(question, f"1 - ({fewer})*exp({-mean})", Form("decimal", tolerance=1e-6))


def stationary_chain(rng: Random) -> Problem:
    """Find the stationary distribution of a chain of three states in a ring."""
    ahead = [_tenths(rng, 1, 6) for _ in range(3)]
    back = [_tenths(rng, 1, 3) for _ in range(3)]
    names = "ABC"
    moves = "; ".join(
        f"from {names[i]} to {names[(i + 1) % 3]} with probability {float(ahead[i])} and to "
        f"{names[(i + 2) % 3]} with probability {float(back[i])}"
        for i in range(3)
    )
    question = (
        f"A Markov chain moves {moves}; else it stays. Find its stationary distribution "
        "(a, b, c) over A, B, C."
    )
    # The weight of a state is the sum over trees of moves that lead into it.
    weights = [
        ahead[i - 2] * ahead[i - 1] + back[i - 2] * back[i - 1] + back[i - 2] * ahead[i - 1]
        for i in range(3)
    ]
    total = sum(weights)
    truth = parentheses(weight / total for weight in weights)
    return Problem(question, truth, Form("tuple", ("a", "b", "c")))


def reliability(rng: Random) -> Problem:
    """Find the chance that a network of parts works, in percent."""
    a, b, c, d = (_tenths(rng, 5, 9) for _ in range(4))
    question = (
        f"Parts A, B, C, D work independently with probabilities {float(a)}, {float(b)}, "
        f"{float(c)}, {float(d)}. A device works when A and B both work, or when C works and at "
        "least one of A and D works. Find the probability, as a percentage, that it works."
    )
    with_a = a * (1 - (1 - b) * (1 - c))
    found = with_a + (1 - a) * c * d
    return Problem(question, str(100 * found), Form("percent"))


def growing_urn(rng: Random) -> Problem:
    """Find the chance of a number of reds in an urn that grows with each draw."""
    red, blue = rng.randint(1, 5), rng.randint(1, 5)
    added, n = rng.randint(1, 3), rng.randint(4, 5)
    k = rng.randint(1, n - 1)
    question = (
        f"An urn holds {red} red and {blue} blue balls. {n} times a ball is drawn and put back "
        f"with {added} more of its colour. Find the probability that exactly {k} of the {n} balls "
        "drawn are red."
    )
    return Problem(question, str(_urn(red, blue, added, n, k)), _NUMBER)


def _urn(red: int, blue: int, added: int, draws: int, wanted: int) -> Fraction:
    if wanted < 0 or wanted > draws:
        return Fraction(0)
    if draws == 0:
        return Fraction(1)
    share = Fraction(red, red + blue)
    hit = _urn(red + added, blue, added, draws - 1, wanted - 1)
    miss = _urn(red, blue + added, added, draws - 1, wanted)
    return share * hit + (1 - share) * miss


def appointment(rng: Random) -> Problem:
    """Find the chance that two people meet who wait for unlike times."""
    first, second = distinct(rng, 5, 40, count=2)
    question = (
        "Ann and Bob each come to a place at a time uniformly distributed over the same hour, "
        f"independently. Ann waits {first} minutes, Bob {second}. Find the probability that they "
        "meet."
    )
    apart = Fraction((60 - first) ** 2 + (60 - second) ** 2, 2 * 60**2)
    return Problem(question, str(1 - apart), _NUMBER)


def sum_variance(rng: Random) -> Problem:
    """Find the variance of a sum of numbers drawn without replacement."""
    n, drawn = rng.randint(8, 20), rng.randint(3, 6)
    step = rng.randint(2, 5)
    question = (
        f"{drawn} different cards are drawn at random from cards that bear the numbers "
        f"{step}, {2 * step}, {3 * step}, ..., {n * step}. Find the variance of the sum of the "
        "numbers drawn."
    )
    single = Fraction(step**2 * (n**2 - 1), 12)
    return Problem(question, str(drawn * single * Fraction(n - drawn, n - 1)), _NUMBER)


TEMPLATES = (
    two_tests, drawing_without_return, binomial_range, largest_of_dice, coupons,
    two_state_chain, gambler, conditional_dice, fixed_points, density, exponential_maximum,
    thinned_poisson, stationary_chain, reliability, growing_urn, appointment, sum_variance,
)  # fmt: skip
