"""Templates about letters, words, things and sets: what is counted stands in the question."""

from __future__ import annotations

from math import comb, factorial

from denv.instruments.bank.draw import Draw, Posed

WORDS = (
    "anchor", "banana", "barrel", "basket", "bottle", "butter", "candle", "carpet", "cheese",
    "copper", "cotton", "feather", "garden", "hammer", "kettle", "ladder", "lantern", "leather",
    "letter", "meadow", "mirror", "needle", "paddle", "pepper", "pillow", "potato", "puddle",
    "ribbon", "saddle", "shutter", "tobacco", "tomato", "tunnel", "turret", "velvet", "willow",
)  # fmt: skip
_COLOURS = ("red", "blue", "green", "yellow", "white", "black", "brown", "grey")
_THINGS = ("cups", "boxes", "chairs", "books", "lamps", "coats", "plates", "bowls")
_SCRAMBLED = "abcdefgh"


def ask_letters(draw: Draw, level: int) -> Posed:
    """Count a letter in a phrase."""
    phrase = " ".join(draw.several(WORDS, (1, 3, 7, 15)[level - 1]))
    letter = draw.one_of(sorted(set(phrase) - {" "}))
    return f'How many times does the letter "{letter}" stand in "{phrase}"?', phrase.count(letter)


def ask_words(draw: Draw, level: int) -> Posed:
    """Count a word in a list where it stands again and again."""
    kinds, length = ((3, 8), (4, 14), (5, 30), (6, 60))[level - 1]
    some = draw.several(WORDS, kinds)
    listed = [draw.one_of(some) for _ in range(length)]
    word = draw.one_of(listed)
    return (
        f'How many times does the word "{word}" stand in this list: {", ".join(listed)}?',
        listed.count(word),
    )


def ask_objects(draw: Draw, level: int) -> Posed:
    """Add up the things that are of one sort, or not of one colour."""
    colours = draw.several(_COLOURS, (2, 3, 4, 6)[level - 1])
    things = draw.several(_THINGS, (1, 2, 3, 4)[level - 1])
    highest = (9, 12, 40, 90)[level - 1]
    counts = {(c, t): draw.between(2, highest) for t in things for c in colours}
    order = draw.several(list(counts), len(counts))
    listed = ", ".join(f"{counts[c, t]} {c} {t}" for c, t in order)
    colour, thing = draw.one_of(colours), draw.one_of(things)
    if level == 1:
        return f"A room holds {listed}. How many {thing} is that?", sum(counts.values())
    if level == 2:
        value = sum(n for (_, t), n in counts.items() if t == thing)
        return f"A room holds {listed}. How many {thing} does it hold?", value
    value = sum(n for (c, t), n in counts.items() if c != colour and t != thing)
    return (
        f"A store holds {listed}. How many of these are neither {colour} nor {thing}?",
        value,
    )


def ask_position(draw: Draw, level: int) -> Posed:
    """Find where a letter stands for the n-th time."""
    length, letters = ((6, 3), (12, 4), (28, 5), (60, 6))[level - 1]
    text = "".join(draw.one_of(_SCRAMBLED[:letters]) for _ in range(length))
    letter = draw.one_of(text)
    places = [at for at, one in enumerate(text, 1) if one == letter]
    which = draw.between(1, len(places)) if level < 3 else len(places)
    question = (
        f'In the string "{text}", at which position does the letter "{letter}" stand for time '
        f"number {which}? (The first character is at position 1.)"
    )
    return question, places[which - 1]


def ask_sets(draw: Draw, level: int) -> Posed:
    """Find the size of what two or three lists of numbers make together."""
    sizes, highest = ((4, 9), (7, 15), (12, 30), (22, 60))[level - 1]
    numbers = range(1, highest + 1)
    lists = [draw.several(numbers, sizes) for _ in range(2 if level < 4 else 3)]
    first, second = set(lists[0]), set(lists[1])
    names = "ABC"[: len(lists)]
    shown = "; ".join(
        f"{name} = {', '.join(map(str, one))}" for name, one in zip(names, lists, strict=True)
    )
    wording, value = (
        ("both in A and in B", len(first & second)),
        ("in A or in B or in both", len(first | second)),
        ("in exactly one of A and B", len(first ^ second)),
        ("in C and in exactly one of A and B", len((first ^ second) & set(lists[-1]))),
    )[level - 1]
    return f"Given are lists of numbers: {shown}. How many different numbers are {wording}?", value


def ask_choices(draw: Draw, level: int) -> Posed:
    """Count arrangements and selections."""
    if level == 1:
        shirts, hats = draw.between(3, 12), draw.between(3, 12)
        return (
            f"In how many ways can one shirt of {shirts} and one hat of {hats} be chosen?",
            shirts * hats,
        )
    if level == 2:
        people, chosen = draw.between(5, 15), draw.between(2, 3)
        question = (
            f"In how many ways can {chosen} of {people} people be chosen? Their order does "
            "not matter."
        )
        return question, comb(people, chosen)
    if level == 3:
        word = draw.one_of(WORDS)
        value = factorial(len(word))
        for letter in set(word):
            value //= factorial(word.count(letter))
        return (
            f'How many different strings can be made by arranging all letters of "{word}"?',
            value,
        )
    women, men, least = draw.between(6, 9), draw.between(6, 9), draw.between(2, 3)
    size = draw.between(5, 6)
    value = sum(comb(women, w) * comb(men, size - w) for w in range(least, size + 1))
    question = (
        f"A committee of {size} is chosen from {women} women and {men} men. How many "
        f"committees have at least {least} women?"
    )
    return question, value
