"""JSON where it is asked for, checked field by field whatever its spacing and order of keys."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from denv.recipes.making import patterns, schema, words
from denv.recipes.making.drafts import Draft, Family, Json, answer, request, system, user
from denv.recipes.making.drawing import code, full_name, listed
from denv.recipes.making.wrongs import Wrong, stringified

ONE_OBJECT = "You answer with one JSON object and nothing else."
FREE = {"type": "json_object"}


def _damaged(at: int, fields: Json) -> Wrong:
    whole = json.dumps(fields)
    first = next(iter(fields))
    kinds: tuple[Wrong, ...] = (
        (answer(json.dumps(stringified(fields))), "numbers and truth values become strings"),
        ({"content": whole[:-1], "finish_reason": "length"}, "cut off before the last brace"),
        (answer(f"```json\n{whole}\n```"), "a fence around what was to be JSON alone"),
        (answer(json.dumps({k: v for k, v in fields.items() if k != first})), "a key is lost"),
        (answer(str(dict(fields))), "Python's spelling instead of JSON's"),
        (answer(f"Here is the object you asked for: {whole}"), "text around the object"),
        (answer(f"<think>\n{whole}"), "the reasoning leaks and never ends"),
    )
    return kinds[at % len(kinds)]


def drafted(at: int, asked: Json, fields: Json, why: str) -> Draft:
    """Give the draft of a case whose answer is one JSON object."""
    wrong, kind = _damaged(at, fields)
    return Draft(
        request=asked,
        expect={"regex": patterns.json_object(fields)},
        right=answer(json.dumps(fields, indent=2 if at % 2 else None)),
        wrong=wrong,
        why=f"{why} Wrong: {kind}.",
    )


def person(rng: Random, at: int) -> Draft:
    """Pick fields out of a sentence."""
    name, age, city = full_name(rng), rng.randint(19, 88), rng.choice(words.CITIES)
    member = rng.random() < 0.5
    told = "is a member" if member else "is not a member"
    asked = request(
        system(ONE_OBJECT),
        user(
            f"{name} is {age} years old, lives in {city} and {told} of the club. Give a JSON "
            "object with the keys name (string), age (number), city (string) and member (boolean)."
        ),
        response_format=FREE,
    )
    fields = {"name": name, "age": age, "city": city, "member": member}
    return drafted(at, asked, fields, "The four values stand in the sentence.")


def inventory(rng: Random, at: int) -> Draft:
    """Ask for two lists in the order of the text."""
    goods = rng.sample(words.PRODUCTS, 3)
    counts = rng.sample(range(3, 99), 3)
    told = listed([f"{count} {good}" for good, count in zip(goods, counts, strict=True)])
    asked = request(
        system(ONE_OBJECT),
        user(
            f"In the store there are {told}. Give a JSON object with the keys goods (list of "
            "strings) and counts (list of numbers), both in the order of the text."
        ),
        response_format=FREE,
    )
    return drafted(at, asked, {"goods": goods, "counts": counts}, "Both lists stand in the text.")


def _strict(name: str, **fields: schema.Schema) -> dict[str, Any]:
    inner = {"name": name, "strict": True, "schema": schema.thing(**fields)}
    return {"type": "json_schema", "json_schema": inner}


_TICKET = _strict(
    "ticket",
    ticket=schema.text(),
    priority=schema.one_of("low", "medium", "high"),
    hours=schema.whole(),
    paid=schema.flag(),
)


def ticket(rng: Random, at: int) -> Draft:
    """Give a JSON Schema that the server is to keep to."""
    number, hours, paid = code(rng), rng.randint(2, 60), rng.random() < 0.5
    priority = rng.choice(("low", "medium", "high"))
    told = "it has been paid" if paid else "it has not been paid"
    asked = request(
        user(
            f"Ticket {number} has {priority} priority, took {hours} hours, and {told}. "
            "Give it as JSON with the keys ticket, priority, hours and paid."
        ),
        response_format=_TICKET,
    )
    fields = {"ticket": number, "priority": priority, "hours": hours, "paid": paid}
    return drafted(at, asked, fields, "The four values stand in the text.")


FAMILIES = (
    Family("json-person", "json", 12, person),
    Family("json-inventory", "json", 8, inventory),
    Family("json-ticket", "json", 6, ticket),
)
