"""Long requests: a sentence to be found among thousands of words, and a tool among dozens."""

from __future__ import annotations

from random import Random

from denv.recipes.making import patterns, schema, words
from denv.recipes.making.drafts import Draft, Family, answer, request, user
from denv.recipes.making.drawing import a, code, full_name, two
from denv.recipes.making.tools_single import drafted
from denv.recipes.making.wrongs import wrong_text

SIZES = (8_000, 8_000, 8_000, 16_000, 16_000, 16_000, 32_000, 64_000)
"""Characters: about 2, 4, 8 and 16 thousand tokens."""

DEPTHS = (0.5, 0.02, 0.97, 0.25, 0.75, 0.1, 0.6, 0.35)


def _sentence(rng: Random) -> str:
    name, place = full_name(rng), rng.choice(words.PLACES)
    thing, other = two(rng, words.PLAIN_WORDS)
    goods, city = rng.choice(words.PRODUCTS), rng.choice(words.CITIES)
    match rng.randrange(6):
        case 0:
            return f"{name} walked to the {place} and left {a(thing)} beside the {other}."
        case 1:
            return f"A crate of {goods} from {city} was weighed and put next to the {thing}."
        case 2:
            return f"In {city} they still speak of the {thing} that was found at the {place}."
        case 3:
            return f"{name} wrote a long letter about {goods}, but never sent it to {city}."
        case 4:
            return f"The {place} was closed that week, so the {goods} went to {name} instead."
        case _:
            return f"Nobody remembers why the {other} was painted {rng.choice(words.COLOURS)}."


def haystack(rng: Random, characters: int) -> list[str]:
    """Write sentences without a number, until they have so many characters."""
    sentences: list[str] = []
    length = 0
    while length < characters:
        sentences.append(_sentence(rng))
        length += len(sentences[-1]) + 1
    return sentences


def needle(rng: Random, at: int) -> Draft:
    """Ask for one of three codes."""
    names = [one.title() for one in rng.sample(words.PLAIN_WORDS, 3)]
    codes = [rng.randint(10_000, 99_999) for _ in names]
    size, depth = SIZES[at % len(SIZES)], DEPTHS[at % len(DEPTHS)]
    sentences = haystack(rng, size)
    places = sorted({0.15, 0.85} - {depth}) if depth not in {0.15, 0.85} else [0.4, 0.6]
    for name, number, where in zip(names, codes, (depth, *places), strict=True):
        told = f"The access code of the locker {name} is {number}."
        sentences.insert(int(where * len(sentences)), told)
    wish = (
        f"{' '.join(sentences)}\n\nWhat is the access code of the locker {names[0]}? "
        "Answer with the code only."
    )
    wrong, kind = wrong_text(at, str(codes[0]), near=str(codes[1]))
    return Draft(
        request=request(user(wish)),
        expect={"regex": patterns.number(codes[0])},
        right=answer(str(codes[0])),
        wrong=wrong,
        why=f"Put in at {depth:.0%} of the text; the others are of other lockers. Wrong: {kind}.",
    )


def two_needles(rng: Random, at: int) -> Draft:
    """Ask for what two sentences far apart say together."""
    name, hall = full_name(rng), rng.choice(words.PLAIN_WORDS).title()
    floor = rng.randint(3, 40)
    sentences = haystack(rng, 12_000)
    sentences.insert(int(0.8 * len(sentences)), f"The hall {hall} is on floor {floor}.")
    sentences.insert(int(0.2 * len(sentences)), f"The meeting of {name} is in the hall {hall}.")
    wish = (
        f"{' '.join(sentences)}\n\nOn which floor is the meeting of {name}? "
        "Answer with the number only."
    )
    near = "The text does not mention the floor."
    wrong, kind = wrong_text(at, str(floor), near=near)
    return Draft(
        request=request(user(wish)),
        expect={"regex": patterns.number(floor)},
        right=answer(str(floor)),
        wrong=wrong,
        why=f"The meeting is in {hall}, and {hall} is on floor {floor}. Wrong: {kind}.",
    )


_VERBS = ("open", "close", "test", "clean")


def many_tools(rng: Random, at: int) -> Draft:
    """Offer forty-eight tools whose names are alike."""
    things = rng.sample(words.PLAIN_WORDS, 12)
    tools = [
        schema.tool(
            f"{verb}_{thing}",
            f"{verb.title()} a {thing} of a site",
            site=schema.text("the site's code"),
            level=schema.whole("from 1 to 9"),
        )
        for thing in things
        for verb in _VERBS
    ]
    rng.shuffle(tools)
    verb, thing = rng.choice(_VERBS), rng.choice(things)
    given = {"site": code(rng), "level": rng.randint(2, 9)}
    wish = f"{verb.title()} the {thing} of site {given['site']} at level {given['level']}."
    why = f"Among {len(tools)} tools, {verb}_{thing} alone is named."
    asked = request(user(wish), tools=tools)
    return drafted(at, asked, f"{verb}_{thing}", given, why=why, unlike=1)


FAMILIES = (
    Family("long-needle", "long-context", 8, needle),
    Family("long-two-needles", "long-context", 4, two_needles),
    Family("long-many-tools", "long-context", 6, many_tools),
)
