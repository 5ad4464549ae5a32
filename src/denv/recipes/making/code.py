"""Small programs; what they print is known because they are run here."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from textwrap import dedent
from typing import Any

from denv.recipes.making import patterns, words
from denv.recipes.making.drafts import Draft, Family, answer, request, user
from denv.recipes.making.wrongs import wrong_text

_ALLOWED: dict[str, Any] = {
    one.__name__: one for one in (dict, enumerate, len, list, max, min, range, sorted, str, sum)
}


def output(program: str) -> str:
    """Run a program that this module made, and give the line that it prints."""
    printed: list[str] = []
    names = {**_ALLOWED, "print": lambda value: printed.append(str(value))}
    exec(compile(program, "<case>", "exec"), {"__builtins__": names})  # noqa: S102 - made here
    (line,) = printed
    return line


def _loop(rng: Random) -> str:
    return f"""\
        total = 0
        for n in range({rng.randint(2, 5)}, {rng.randint(8, 11)}):
            if n % 2 == {rng.randrange(2)}:
                total += n
        print(total)
        """


def _slices(rng: Random) -> str:
    word, first = rng.choice(words.PLAIN_WORDS), rng.randint(2, 9)
    return f"""\
        words = ["{word}", "alpha", "beta"]
        print(words[-1] + "-" + words[0] + str({first} + 1))
        """


def _counting(rng: Random) -> str:
    items = rng.choices(words.COLOURS[:3], k=rng.randint(5, 7))
    return f"""\
        seen = {{}}
        for item in {items}:
            seen[item] = seen.get(item, 0) + 1
        print(max(seen.values()) * 100 + len(seen))
        """


def _comprehension(rng: Random) -> str:
    numbers = rng.sample(range(2, 20), 5)
    return f"""\
        numbers = {numbers}
        print([n * 2 for n in numbers if n > {sorted(numbers)[2] - 1}])
        """


def _recursion(rng: Random) -> str:
    return f"""\
        def f(n):
            return n if n < {rng.randint(2, 4)} else n + f(n - {rng.randint(2, 3)})

        print(f({rng.randint(9, 14)}))
        """


def _sorting(rng: Random) -> str:
    pairs = [(name, rng.randint(20, 60)) for name in rng.sample(words.FIRST_NAMES, 3)]
    return f"""\
        people = {pairs}
        people = sorted(people, key=lambda pair: (pair[1], pair[0]))
        print(people[{rng.randrange(3)}][0])
        """


def _nested(rng: Random) -> str:
    return f"""\
        grid = [[{rng.randint(2, 9)}, {rng.randint(2, 9)}], [{rng.randint(2, 9)}, 1]]
        print(sum(row[0] for row in grid) * {rng.randint(2, 5)} - grid[0][1])
        """


def _branches(rng: Random) -> str:
    return f"""\
        x = {rng.randint(10, 60)}
        while x > {rng.randint(3, 6)}:
            x = x // 2 if x % 2 == 0 else x - {rng.choice((1, 3))}
        print(x)
        """


_PROGRAMS: tuple[Callable[[Random], str], ...] = (
    _loop,
    _slices,
    _counting,
    _comprehension,
    _recursion,
    _sorting,
    _nested,
    _branches,
)


def traced(rng: Random, at: int) -> Draft:
    """Ask what a program prints."""
    program = dedent(_PROGRAMS[at % len(_PROGRAMS)](rng))
    right = output(program)
    number = right.lstrip("-").isdigit()
    near = str(int(right) + 1) if number else right[1:]
    wrong, kind = wrong_text(at // len(_PROGRAMS) * 3 + at, right, near=near)
    question = f"What does this Python program print?\n\n```python\n{program}```\n"
    return Draft(
        request=request(user(f"{question}\nAnswer with the printed line only.")),
        expect={"regex": patterns.number(int(right)) if number else patterns.alone(right)},
        right=answer(right),
        wrong=wrong,
        why=f"The program was run: it prints {right}. Wrong: {kind}.",
    )


FAMILIES = (Family("code-traced", "code", 24, traced),)
