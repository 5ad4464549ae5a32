"""Degenerate loops."""

from __future__ import annotations

import base64
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denv.checks.degenerate import (
    LONG_UNIT,
    MAX_TAIL,
    MIN_LENGTH,
    MIN_LENGTH_WITHOUT_LETTERS,
    MIN_REPEATS,
    MIN_REPEATS_OF_LONG_UNIT,
    Loop,
    find_loop,
)

GOOD = " ".join(f"Sentence {i} says that {i * i} is the square of {i}." for i in range(2_000))
SENTENCE = "I will now check the answer once more. "
PARAGRAPH = " ".join(f"Step {i} of the plan is done." for i in range(20)) + "\n"


@pytest.mark.parametrize(
    ("unit", "count"),
    [
        ("the ", 100), ("a", 256), ("no", 128), ("!", 600), ("\n", 600), (" ", 600), ("0", 600),
        ("\u4f60\u597d", 200), ("😀", 600), ("\\n", 256), ("</s>", 100), (SENTENCE, 8),
        (PARAGRAPH, 4), ("ab\n", 100), ("- item\n", 60),
    ],
)  # fmt: skip
def test_loops_are_found(unit: str, count: int) -> None:
    """Token, word, sentence and paragraph loops, and floods of blanks, with or without a head."""
    for head in ("", GOOD):
        found = find_loop(head + unit * count)
        assert found is not None
        assert found.repeats >= MIN_REPEATS_OF_LONG_UNIT
        assert found.start <= len(head)


def test_a_loop_says_its_unit_its_count_and_its_beginning() -> None:
    """The smallest unit is given, from where the repetition begins."""
    assert find_loop("Well: " + "abc" * 100) == Loop("abc", 100, 6)
    assert find_loop("abab" * 100) == Loop("ab", 200, 0)


@pytest.mark.parametrize("cut", range(1, len(SENTENCE)))
def test_the_last_unit_may_be_cut(cut: int) -> None:
    """A loop that is cut in the midst of its unit is one."""
    found = find_loop(GOOD + SENTENCE * 20 + SENTENCE[:cut])
    assert found is not None
    assert len(found.unit) == len(SENTENCE)
    assert found.repeats == 20


@pytest.mark.parametrize("end", ["\n", "\n\n", "   \n"])
def test_blanks_behind_a_loop_are_looked_past(end: str) -> None:
    """A loop that ends with some blanks is one."""
    found = find_loop("so " * 200 + end)
    assert found is not None
    assert found.start == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ha ha ha",
        "ha " * 20,
        "1000000",
        "1" + "0" * 100,
        "0." + "3" * 200,
        "Title\n" + "-" * 120,
        "=" * 200,
        "Colours\n" + "= " * 200,
        "| a | b |\n|---|---|\n" + "|  |  |\n" * 30,
        base64.b64encode(bytes(range(256)) * 3).decode(),
        base64.b64encode(bytes(200)).decode(),
        "\n".join(f"    self.field_{i} = field_{i}" for i in range(500)),
        "\n".join(f"{i}. Item {i}" for i in range(500)),
        "\n".join(f"| {i} | {i * 7} | yes |" for i in range(300)),
        "[\n" + "    0, 0, 0, 0,\n" * 12 + "]",
        "        }\n    }\n}\n" * 7,
        "na na na na hey hey goodbye\n" * 4,
        ("And the chorus goes like this, " * 3 + "\n") * 3,
        PARAGRAPH * 3,
        ("la " * 100 + "!") * 2,
        GOOD,
        "the " * 500 + "And here is the answer, after all: 42 it is, and no more than that.",
    ],
)
def test_what_is_no_loop(text: str) -> None:
    """Laughter, numbers, rules, tables, code, lists, choruses and an answer after all."""
    assert find_loop(text) is None


def test_the_bounds_are_exact() -> None:
    """Length and repeats are needed both, and more length where there is no letter."""
    assert find_loop("a" * MIN_LENGTH) is not None
    assert find_loop("a" * (MIN_LENGTH - 1)) is None
    assert find_loop("!" * MIN_LENGTH_WITHOUT_LETTERS) is not None
    assert find_loop("!" * (MIN_LENGTH_WITHOUT_LETTERS - 1)) is None
    for size, count in ((LONG_UNIT - 1, MIN_REPEATS), (LONG_UNIT, MIN_REPEATS_OF_LONG_UNIT)):
        unit = GOOD[:size]
        assert find_loop(unit * count) == Loop(unit, count, 0)
        assert find_loop((unit * count)[1:]) is None
    assert find_loop("y" + "é1" * 128) == Loop("é1", 128, 1)


def test_a_unit_as_long_as_the_tail_allows_is_found() -> None:
    """Four units of sixteen thousand code points are the longest loop that is looked for."""
    unit = GOOD[: MAX_TAIL // 4]
    assert find_loop(GOOD + unit * 4) is not None
    assert find_loop(unit + "!" + (unit + "!") * 4) is None


@given(st.text(min_size=1, max_size=12).filter(lambda unit: any(map(str.isalpha, unit))))
def test_a_unit_repeated_often_enough_is_a_loop(unit: str) -> None:
    """Any unit with a letter is found when it is repeated to the bounds."""
    found = find_loop(unit * MIN_LENGTH)
    assert found is not None
    assert (found.unit * MIN_LENGTH)[: len(found.unit)] == found.unit
    assert len(unit) % len(found.unit) == 0 or unit != unit.rstrip()


@given(st.lists(st.integers(0, 10**9), unique=True, max_size=200))
def test_texts_of_different_words_are_no_loop(numbers: list[int]) -> None:
    """A text without a repeated unit is never flagged."""
    assert find_loop(" ".join(f"w{n}" for n in numbers)) is None


def test_a_megabyte_takes_bounded_time() -> None:
    """Only the tail is looked at, and linearly, for texts made to be slow too."""
    hostile = ("a" * 200 + "b") * 1_000 + "a" * 150 + "c"
    fibonacci = ["a", "ab"]
    while len(fibonacci[-1]) < 300_000:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    began = time.process_time()
    for text in (GOOD * 10, "a" * 1_000_000, hostile, fibonacci[-1], "-" * 1_000_000 + "x"):
        find_loop(text)
    assert time.process_time() - began < 2.0
