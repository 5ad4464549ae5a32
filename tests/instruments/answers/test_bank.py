"""The bank of integer questions: the same everywhere, and right by other ways of working it out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations

import pytest
import sympy

from denv.instruments.answers.bank import COUNT, LEVELS, TEMPLATES, Condition, items
from denv.suite.request import check_request

BANK = items()
MANY = items(7, count=400)


def one(pattern: str, text: str) -> re.Match[str]:
    found = re.search(pattern, text)
    assert found is not None
    return found


def numbers(text: str) -> list[int]:
    return [int(found) for found in re.findall(r"-?\d+", text)]


def test_size():
    """There are 240 items, as many of each template and of each level."""
    assert len(BANK) == COUNT == 240
    assert set(Counter(item.template for item in BANK).values()) == {COUNT // len(TEMPLATES)}
    assert Counter(item.level for item in BANK) == dict.fromkeys(range(1, LEVELS + 1), 60)
    assert len(TEMPLATES) >= 12


def test_no_item_stands_twice():
    """Ids and questions are all different, also in longer banks of other seeds."""
    for bank in (BANK, MANY):
        assert len({item.id for item in bank}) == len(bank)
        assert len({item.question for item in bank}) == len(bank)


def test_truths_are_integers():
    """Every truth is an int, none a bool, and none is longer than what is read."""
    assert all(type(item.truth) is int and abs(item.truth) < 10**15 for item in BANK)


def test_a_shorter_bank_is_the_first_part():
    """An item does not change with how many are drawn, and each part holds many templates."""
    assert items(count=50) == BANK[:50]
    assert {item.template for item in BANK[:20]} == set(TEMPLATES)
    assert Counter(item.level for item in BANK[:20]) == dict.fromkeys(range(1, LEVELS + 1), 5)


def test_seeds_differ():
    """Another seed asks other questions under the same ids."""
    other = items(1)
    assert [item.id for item in other] == [item.id for item in BANK]
    same = sum(a.question == b.question for a, b in zip(BANK, other, strict=True))
    assert same < 10


DIGEST = """
import hashlib, json
from denv.instruments.answers.bank import Condition, items
lines = [[i.id, i.level, str(i.truth), *map(i.prompt, Condition)] for i in items()]
print(hashlib.sha256(json.dumps(lines).encode()).hexdigest())
"""


@pytest.mark.parametrize("hash_seed", ["0", "1", "4242"])
def test_same_on_every_machine(hash_seed):
    """Prompts and truths have one digest, whatever PYTHONHASHSEED is."""
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    ran = subprocess.run(
        [sys.executable, "-c", DIGEST], env=environment, capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == RECORDED


RECORDED = "6da9f5621eb86444107f3bc0ab9808e7851fad3cec1110db96451300cfbafaa2"


def test_prompts():
    """Both conditions ask for the fixed last line, and only one of them allows UNSURE."""
    for item in BANK:
        forced, unsure = map(item.prompt, Condition)
        assert forced.startswith(item.question)
        assert "Answer with one integer" in forced
        assert forced.endswith("\nANSWER: <integer>")
        assert unsure.startswith(forced)
        assert unsure.endswith("\nANSWER: UNSURE")
        assert "UNSURE" not in forced


def test_messages_are_a_valid_request():
    """The messages pass the rules that a suite's line is held to."""
    faults: list[tuple[str, str]] = []
    for item in BANK:
        check_request({"messages": item.messages(Condition.UNSURE)}, faults)
    assert faults == []


def test_impossible_counts():
    """No item, and more than a template has questions, are errors that name the count."""
    with pytest.raises(ValueError, match="count: 0 items"):
        items(count=0)
    with pytest.raises(ValueError, match=r"count: .* no further question"):
        items(count=20_000)


# ---------------------------------------------------------------- truths, worked out otherwise


def again_sum(text: str) -> Fraction:
    first, *rest = re.findall(r"([+-] )?(\d+)", text)
    return Fraction(first[1]) + sum(Fraction(sign.strip() + n) for sign, n in rest)


def again_divisor(text: str) -> int:
    a, b = numbers(text)
    return max(d for d in range(1, min(a, b) + 1) if a % d == b % d == 0)


def again_power(text: str) -> int:
    a, b, m = numbers(text)
    result = 1
    for _ in range(b):
        result = result * a % m
    return result


def again_base(text: str) -> int:
    found = one(r"The number (\w+) is written in base (\d+)", text)
    return int(found[1], int(found[2]))


def again_sequence(text: str) -> int:
    """Follow the linear rule that the words state, from its coefficients."""
    term = int(one(r"term number (\d+)", text)[1])
    terms = numbers(one(r"starts with ([\d, ]+), and", text)[1])
    rule = one(r"further term is ([^.]+)\.", text)[1]
    found = numbers(rule)
    if "sum of the two" in rule:
        last, before, more = 1, 1, 0
    elif "minus the one before that" in rule:
        last, before, more = found[0], -1, found[1]
    elif "times" in rule:
        last, before, more = found[0], 0, found[1]
    else:
        last, before, more = 1, 0, found[0]
    while len(terms) < term:
        earlier = terms[-2] if before else 0
        terms.append(last * terms[-1] + before * earlier + more)
    return terms[term - 1]


def again_letters(text: str) -> int:
    letter, phrase = one(r'letter "(.)" stand in "(.+)"', text).groups()
    return len(re.findall(letter, phrase))


def again_words(text: str) -> int:
    word, listed = one(r'word "(\w+)" stand in this list: (.+)\?', text).groups()
    return len(re.findall(rf"\b{word}\b", listed))


def again_objects(text: str) -> int:
    things = re.findall(r"(\d+) (\w+) (\w+)(?=[,.])", text)
    out = re.search(r"neither (\w+) nor (\w+)", text)
    wanted = one(r"How many (\w+)", text)[1]
    if out:
        return sum(int(n) for n, colour, thing in things if not {colour, thing} & {*out.groups()})
    return sum(int(n) for n, _, thing in things if thing == wanted)


def again_position(text: str) -> int:
    string, letter, which = one(
        r'string "(\w+)".* letter "(.)" stand for time number (\d+)', text
    ).groups()
    at = -1
    for _ in range(int(which)):
        at = string.index(letter, at + 1)
    return at + 1


def again_sets(text: str) -> int:
    lists = {n: set(numbers(listed)) for n, listed in re.findall(r"([ABC]) = ([\d, ]+)", text)}
    wording = text.split("different numbers are ")[1].rstrip("?")
    a, b, c = (lists.get(name, set()) for name in "ABC")
    rules = {
        "both in A and in B": lambda n: n in a and n in b,
        "in A or in B or in both": lambda n: n in a or n in b,
        "in exactly one of A and B": lambda n: (n in a) != (n in b),
        "in C and in exactly one of A and B": lambda n: n in c and (n in a) != (n in b),
    }
    return sum(map(rules[wording], range(1000)))


def again_choices(text: str) -> int:
    word = re.search(r'letters of "(\w+)"', text)
    if word:
        return len(set(permutations(word[1])))
    if "committee" in text:
        size, women, men, least = numbers(text)
        people = ["w"] * women + ["m"] * men
        return sum(one.count("w") >= least for one in combinations(people, size))
    a, b = numbers(text)
    return a * b if "shirt" in text else len(list(combinations(range(b), a)))


MONTHS = "January February March April May June July August September October November December"


def again_days(text: str) -> int:
    """Count the days up to each date by the rules of leap years alone."""
    days = []
    for day, month, year in re.findall(r"(\d+) ([A-Z]\w+) (\d+)", text):
        y, m = int(year), MONTHS.split().index(month) + 1
        leap = y % 4 == 0 and (y % 100 != 0 or y % 400 == 0)
        lengths = [31, 28 + leap, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        before = y - 1
        whole = 365 * before + before // 4 - before // 100 + before // 400
        days.append(whole + sum(lengths[: m - 1]) + int(day))
    return days[1] - days[0]


def again_minutes(text: str) -> Fraction:
    times = re.findall(r"(\d\d):(\d\d)(?::(\d\d))?", text)
    begin, end = (3600 * int(h) + 60 * int(m) + int(s or 0) for h, m, s in times)
    later = re.search(r"(\d+) days later", text)
    days = int(later[1]) if later else int("the next day" in text)
    seconds = 86_400 * days + end - begin
    assert seconds > 0
    return Fraction(seconds, 1 if "How many seconds" in text else 60)


def again_units(text: str) -> Fraction:
    seconds = {"week": 604_800, "day": 86_400, "hour": 3600, "minute": 60, "second": 1}
    to = one(r"How many (\w+)s are", text)[1]
    parts = re.findall(r"(\d+) (\w+)s", text)
    return Fraction(sum(int(n) * seconds[unit] for n, unit in parts), seconds[to])


def again_purchase(text: str) -> int:
    bought = re.findall(r"(\d+) \w+ at (\d+) cents each", text)
    paid = int(one(r"pay with (\d+) coins", text)[1])
    change = 100 * paid - sum(int(n) * int(price) for n, price in bought)
    assert change > 0
    return change


def again_rates(text: str) -> int:
    """Follow the tank minute by minute; it never holds less than nothing."""
    start = re.search(r"holds (\d+) litres and", text)
    held = int(start[1]) if start else 0
    flow = r"gets (\d+)(?: and loses (\d+))? litres a minute"
    gains = [int(gets) - int(loses or 0) for gets, loses in re.findall(flow, text)]
    spans = [int(n) for n in re.findall(r"(?:for|in) (\d+) minutes", text)]
    for gain, minutes in zip(gains, spans, strict=True):
        for _ in range(minutes):
            held += gain
            assert held >= 0
    return held


AGAIN = {
    "sum": again_sum,
    "product": lambda text: sympy.Integer(numbers(text)[0]) * numbers(text)[1],
    "remainder": lambda text: sympy.Mod(*numbers(text)),
    "divisor": again_divisor,
    "power": again_power,
    "expression": lambda text: sympy.sympify(text[len("What is the value of ") : -1]),
    "base": again_base,
    "primes": lambda text: len(list(sympy.primerange(numbers(text)[0], numbers(text)[1] + 1))),
    "sequence": again_sequence,
    "letters": again_letters,
    "words": again_words,
    "objects": again_objects,
    "position": again_position,
    "sets": again_sets,
    "choices": again_choices,
    "days": again_days,
    "minutes": again_minutes,
    "units": again_units,
    "purchase": again_purchase,
    "rates": again_rates,
}


@pytest.mark.parametrize("template", TEMPLATES)
def test_truths(template):
    """Read back from its text and worked out another way, each question has the same answer."""
    asked = [item for item in (*BANK, *MANY) if item.template == template]
    assert len(asked) == 32
    for item in asked:
        assert AGAIN[template](item.question) == item.truth, item
