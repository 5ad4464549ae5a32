"""Short questions with one right answer, which is computed."""

from __future__ import annotations

from datetime import date, timedelta
from random import Random

from denv.recipes.making import patterns, words
from denv.recipes.making.drafts import Draft, Family, answer, request, user
from denv.recipes.making.drawing import listed
from denv.recipes.making.wrongs import wrong_text

NUMBER = "Answer with the number only."


def _number(at: int, question: str, value: int, *, near: int, why: str) -> Draft:
    wrong, kind = wrong_text(at, str(value), near=str(near))
    return Draft(
        request=request(user(f"{question} {NUMBER}")),
        expect={"regex": patterns.number(value)},
        right=answer(str(value)),
        wrong=wrong,
        why=f"{why} Wrong: {kind}.",
    )


def arithmetic(rng: Random, at: int) -> Draft:
    """Ask for one step of arithmetic."""
    first, second = rng.randint(12, 49), rng.randint(12, 19)
    match at % 4:
        case 0:
            value, told = first * second, f"{first} * {second}"
        case 1:
            big = rng.randint(300, 900)
            value, told = big - first, f"{big} - {first}"
        case 2:
            value, told = first, f"{first * second} / {second}"
        case _:
            value, told = first - 60, f"{first} - 60"
    return _number(at, f"What is {told}?", value, near=value + 1, why=f"{told} = {value}.")


def units(rng: Random, at: int) -> Draft:
    """Ask for a whole number of one unit in another."""
    count = rng.randint(3, 48)
    big, small, factor = (
        ("hours", "minutes", 60),
        ("kilometres", "metres", 1000),
        ("kilograms", "grams", 1000),
        ("minutes", "seconds", 60),
        ("metres", "centimetres", 100),
        ("weeks", "days", 7),
    )[at % 6]
    question = f"How many {small} are {count} {big}?"
    value = count * factor
    why = f"{count} * {factor} = {value}."
    return _number(at // 2, question, value, near=value * 10, why=why)


_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def dates(rng: Random, at: int) -> Draft:
    """Ask for a date or a weekday some days later."""
    days = rng.randint(3, 9)
    if at % 2:
        start = rng.randrange(7)
        right, near = _WEEKDAYS[(start + days) % 7], _WEEKDAYS[(start + days + 1) % 7]
        question = (
            f"Today is {_WEEKDAYS[start]}. Which weekday is it in {days} days? "
            "Answer with the weekday only."
        )
        pattern, why = patterns.word(right), f"{days} days after {_WEEKDAYS[start]}, computed."
    else:
        day = date(2026, 1, 1) + timedelta(days=rng.randrange(900))
        right = (day + timedelta(days=days)).isoformat()
        near = (day + timedelta(days=days - 1)).isoformat()
        question = f"Which date is {days} days after {day.isoformat()}? Answer as YYYY-MM-DD only."
        pattern, why = rf"(?<!\d){right}(?!\d)", f"{day} + {days} days, computed."
    wrong, kind = wrong_text(at // 2, right, near=near)
    return Draft(
        request=request(user(question)),
        expect={"regex": pattern},
        right=answer(right),
        wrong=wrong,
        why=f"{why} Wrong: {kind}.",
    )


def strings(rng: Random, at: int) -> Draft:
    """Ask for operations on words that need no look at single letters."""
    pool = rng.sample(words.PLAIN_WORDS, 5)
    told = listed(pool)
    match at % 5:
        case 0:
            question, right, near = f"Write {pool[0]} in capital letters.", pool[0].upper(), pool[0]
        case 1:
            question = f"Which of these words stands third: {told}?"
            right, near = pool[2], pool[1]
        case 2:
            question = f"Which of these words comes first in the alphabet: {told}?"
            right, near = min(pool), max(pool)
        case 3:
            question = f"Join these words with hyphens, in their order: {', '.join(pool[:3])}."
            right, near = "-".join(pool[:3]), "_".join(pool[:3])
        case _:
            question = f"Replace {pool[1]} by {pool[4]} in: {' '.join(pool[:3])}"
            right, near = " ".join((pool[0], pool[4], pool[2])), " ".join(pool[:3])
    wrong, kind = wrong_text(at // 5, right, near=near)
    return Draft(
        request=request(user(f"{question}\nAnswer with the result only.")),
        expect={"regex": patterns.alone(right)},
        right=answer(right),
        wrong=wrong,
        why=f"Computed from the words: {right}. Wrong: {kind}.",
    )


def table(rng: Random, at: int) -> Draft:
    """Ask for one look into a small table."""
    cities, sold = rng.sample(words.CITIES, 5), rng.sample(range(110, 990), 5)
    rows = list(zip(cities, sold, strict=True))
    text = "\n".join(["city,sold", *(f"{city},{count}" for city, count in rows)])
    ordered = sorted(rows, key=lambda row: row[1])
    if at % 2:
        city, value = rows[rng.randrange(5)]
        near = next(count for other, count in rows if other != city)
        question = f"How many were sold in {city}?"
        return _number(at // 2, f"{text}\n\n{question}", value, near=near, why="Its row says so.")
    right, near_city = ordered[-1][0], ordered[0][0]
    wrong, kind = wrong_text(at // 2, right, near=near_city)
    question = "Which city sold the most? Answer with the city only."
    return Draft(
        request=request(user(f"{text}\n\n{question}")),
        expect={"regex": patterns.alone(right)},
        right=answer(right),
        wrong=wrong,
        why=f"{ordered[-1][1]} is the largest of the five numbers. Wrong: {kind}.",
    )


FAMILIES = (
    Family("exact-arithmetic", "exact", 12, arithmetic),
    Family("exact-units", "exact", 10, units),
    Family("exact-dates", "exact", 10, dates),
    Family("exact-strings", "exact", 15, strings),
    Family("exact-table", "exact", 10, table),
)
