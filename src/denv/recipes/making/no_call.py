"""Tools are offered and none is due: the answer is a text.

The check reads the text alone, and an answer that calls a tool has none.
"""

from __future__ import annotations

from random import Random

from denv.recipes.making import patterns, schema, words
from denv.recipes.making.drafts import (
    Draft,
    Family,
    Json,
    answer,
    called,
    calling,
    request,
    result,
    user,
)
from denv.recipes.making.drawing import clock, full_name, two
from denv.recipes.making.tools_single import ASSISTANT_TOOLS
from denv.recipes.making.wrongs import Wrong, wrong_text

ONLY = "Answer with the number only."


def _numbered(asked: Json, value: int, *, wrong: Wrong, why: str) -> Draft:
    message, kind = wrong
    return Draft(
        request=asked,
        expect={"regex": patterns.number(value)},
        right=answer(str(value)),
        wrong=message,
        why=f"{why} Wrong: {kind}.",
    )


def unneeded(rng: Random, at: int) -> Draft:
    """Ask for a sum that no tool of those offered helps with."""
    first, second = rng.randint(12, 79), rng.randint(12, 79)
    tools = rng.sample(ASSISTANT_TOOLS, 4)
    name = tools[0]["function"]["name"]
    wish = f"You do not need a tool for this: what is {first} plus {second}? {ONLY}"
    wrong = (
        (calling(name, {}), f"a call of {name}, which has nothing to do with it")
        if at % 2 == 0
        else wrong_text(at // 2, str(first + second), near=str(first + second + 10))
    )
    why = f"{first} + {second} = {first + second}, computed; no tool adds numbers."
    return _numbered(request(user(wish), tools=tools), first + second, wrong=wrong, why=why)


_WEATHER = schema.tool("get_weather", "Current weather of a city", city=schema.text())


def answered(rng: Random, at: int) -> Draft:
    """Ask for what a tool's result says already."""
    city, degrees, wind = rng.choice(words.CITIES), rng.randint(12, 29), rng.randint(30, 80)
    asked = request(
        user(f"How many degrees Celsius is it in {city} right now? {ONLY}"),
        called(("call_1", "get_weather", {"city": city})),
        result("call_1", {"city": city, "temperature_c": degrees, "wind_kmh": wind}),
        tools=[_WEATHER],
    )
    wrong = (
        (calling("get_weather", {"city": city}), "the tool is called again: its result was lost")
        if at % 2 == 0
        else wrong_text(at // 2, str(degrees), near=str(wind))
    )
    why = f"The tool's result says {degrees}; {wind} is the wind."
    return _numbered(asked, degrees, wrong=wrong, why=why)


_CONTACTS = schema.tool("find_contact", "Phone extension of a person", name=schema.text())


def told_apart(rng: Random, at: int) -> Draft:
    """Ask for one of two results that came in parallel."""
    names = [full_name(rng), full_name(rng)]
    numbers = rng.sample(range(1_200, 9_800), 2)
    mine = rng.randrange(2)
    asked = request(
        user("Look up the phone extensions of " + " and ".join(names) + "."),
        called(*((f"call_{n}", "find_contact", {"name": name}) for n, name in enumerate(names))),
        *(result(f"call_{n}", {"extension": number}) for n, number in enumerate(numbers)),
        user(f"Tell me only the extension of {names[mine]}. {ONLY}"),
        tools=[_CONTACTS],
    )
    right, other = numbers[mine], numbers[1 - mine]
    wrong = (
        (answer(str(other)), "the results are swapped")
        if at % 2 == 0
        else wrong_text(at // 2, str(right), near="I cannot see any result.")
    )
    why = f"Result {mine + 1} belongs to {names[mine]} by its call's id."
    return _numbered(asked, right, wrong=wrong, why=why)


_PARKING = (
    schema.tool("open_gate", "Open the gate of the car park", gate=schema.text()),
    schema.tool("call_guard", "Call the guard", reason=schema.text()),
)


def forbidden(rng: Random, at: int) -> Draft:
    """Offer tools and forbid them by tool_choice."""
    opens, closes = clock(rng, 6, 9), clock(rng, 18, 22)
    gate, other = two(rng, ("North", "South", "East", "West"))
    asked = request(
        user(
            f"The {gate} gate is open from {opens} to {closes}, the {other} gate day and night. "
            f"At what time does the {gate} gate close? Answer with the time only."
        ),
        tools=_PARKING,
        tool_choice="none",
    )
    near = calling("open_gate", {"gate": gate}), "a call in spite of tool_choice none"
    message, kind = near if at % 2 == 0 else wrong_text(at // 2, closes, near=opens)
    return Draft(
        request=asked,
        expect={"contains": closes},
        right=answer(closes),
        wrong=message,
        why=f"The text says that it closes at {closes}; {opens} is when it opens. Wrong: {kind}.",
    )


FAMILIES = (
    Family("no-call-unneeded", "no-call", 12, unneeded),
    Family("no-call-answered", "no-call", 12, answered),
    Family("no-call-told-apart", "no-call", 10, told_apart),
    Family("no-call-forbidden", "no-call", 8, forbidden),
)
