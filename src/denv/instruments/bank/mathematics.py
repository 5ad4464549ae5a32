"""Prompts for mathematics, from school arithmetic to short proofs."""

from __future__ import annotations

from denv.instruments.bank.prompt import Prompt, asked

CATEGORY = "mathematics"
MAX_TOKENS = 96

_ASKED = {
    "ladder": "A ladder of 6.5 m leans against a wall, its foot 2.5 m away from it. How high does "
    "it reach? Show each step.",
    "odd-squares": "Prove that the square of an odd number leaves the remainder 1 when it is "
    "divided by 8.",
    "derivative": "Differentiate f(x) = x^2 * sin(3x) and simplify the result.",
    "integral": "Evaluate the integral of x * e^(2x) from 0 to 1, step by step.",
    "dice": "Three fair dice are thrown. What is the probability that the largest number shown "
    "is exactly 4?",
    "matrix": "Find the eigenvalues and eigenvectors of the matrix [[4, 1], [2, 3]].",
    "percent": "A price rises by 20 % and then falls by 20 %. Is it what it was? Explain with a "
    "number and then in general.",
    "irrational": "Prove that the square root of 3 is irrational.",
    "system": "Solve for x, y and z: x + y + z = 6, 2x - y + z = 3, x + 2y - 3z = -4.",
    "sum": "Find a closed form for 1*2 + 2*3 + ... + n*(n+1) and prove it by induction.",
    "clock": "At what times between two and three o'clock do the hands of a clock form a right "
    "angle?",
    "limit": "Find the limit of (1 - cos(4x)) / x^2 as x goes to 0, in two different ways.",
    "handshakes": "At a party each of n guests shakes hands with each other guest once; there are "
    "91 handshakes. How many guests are there?",
    "modular": "What are the last two digits of 7^2026? Explain the pattern.",
    "triangle": "In a triangle, two sides are 7 and 9 and the angle between them is 60 degrees. "
    "Find the third side and the area.",
    "bayes": "A test finds a fault in 98 % of faulty parts and in 3 % of good ones. One part in "
    "200 is faulty. How likely is a part that fails the test to be faulty?",
    "series": "Does the sum of 1/(n * ln(n)) from n = 2 converge? Justify your answer.",
    "latex": "Write the quadratic formula in LaTeX and derive it by completing the square.",
    "graph": "Show that a graph in which every vertex has degree at least 2 contains a cycle.",
    "median": "Give five different positive integers whose mean is 10, whose median is 7 and "
    "whose largest is as large as possible. Explain why it cannot be larger.",
}


def prompts() -> tuple[Prompt, ...]:
    """Give the prompts of this category."""
    return tuple(asked(CATEGORY, *item, max_tokens=MAX_TOKENS) for item in _ASKED.items())
