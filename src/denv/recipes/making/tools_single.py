"""One turn, one tool among others: plain arguments, enums, numbers, identifiers, switches."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from denv.recipes.making import schema, words
from denv.recipes.making.drafts import Draft, Family, Json, calling, expect_call, request, user
from denv.recipes.making.drawing import clock, code, full_name, two
from denv.recipes.making.wrongs import Wrong, wrong_call

ASSISTANT_TOOLS = (
    schema.tool("get_weather", "Current weather of a city", city=schema.text()),
    schema.tool("set_alarm", "Set an alarm", time=schema.text("24-hour clock, HH:MM")),
    schema.tool("start_timer", "Start a countdown", minutes=schema.whole()),
    schema.tool("play_album", "Play a music album", title=schema.text()),
    schema.tool(
        "convert_currency",
        "Convert an amount of money",
        amount=schema.number(),
        source=schema.text("ISO 4217 code"),
        target=schema.text("ISO 4217 code"),
    ),
    schema.tool(
        "find_train",
        "Find the next train between two cities",
        origin=schema.text(),
        destination=schema.text(),
    ),
    schema.tool("add_to_list", "Add an item to the shopping list", item=schema.text()),
    schema.tool("call_contact", "Call a person by phone", name=schema.text("full name")),
    schema.tool("open_ticket", "Show a support ticket", ticket=schema.text("such as AB-1234")),
    schema.tool("dim_light", "Dim a room's light", room=schema.text(), percent=schema.whole()),
)
"""Tools of a household's assistant: the right one stands among others that it is not."""


def drafted(
    at: int,
    asked: Json,
    name: str,
    arguments: Json,
    *,
    why: str,
    unlike: int = 0,
    wrong: Wrong | None = None,
) -> Draft:
    """Give the draft of a case in which one call is due.

    Wrong answers take turns by ``at``, from the kind ``unlike`` on; ``wrong`` is one of its own.
    """
    names = [one["function"]["name"] for one in asked["tools"]]
    other = next((one for one in names if one != name), None)
    message, kind = wrong or wrong_call(at + unlike, name, arguments, other=other)
    return Draft(
        request=asked,
        expect=expect_call(name, arguments),
        right=calling(name, arguments),
        wrong=message,
        why=f"{why} Wrong: {kind}.",
    )


Wish = tuple[str, str, dict[str, Any]]
"""What is said, the tool, and its arguments."""


def _weather(rng: Random) -> Wish:
    city = rng.choice(words.CITIES)
    return f"What is the weather in {city} right now?", "get_weather", {"city": city}


def _alarm(rng: Random) -> Wish:
    time = clock(rng, 5, 22)
    return f"Set an alarm for {time}.", "set_alarm", {"time": time}


def _timer(rng: Random) -> Wish:
    minutes = rng.randint(3, 95)
    wish = f"Start a countdown of {minutes} minutes, please."
    return wish, "start_timer", {"minutes": minutes}


def _album(rng: Random) -> Wish:
    title = f"{rng.choice(words.COLOURS).title()} {rng.choice(words.PLAIN_WORDS).title()}"
    return f'Play the album "{title}".', "play_album", {"title": title}


def _currency(rng: Random) -> Wish:
    amount = rng.randint(120, 9_900)
    source, target = two(rng, ("EUR", "USD", "GBP", "JPY", "CHF", "SEK", "CAD"))
    given = {"amount": amount, "source": source, "target": target}
    return f"How much is {amount} {source} in {target}?", "convert_currency", given


def _train(rng: Random) -> Wish:
    origin, target = two(rng, words.CITIES)
    wish = f"When does the next train from {origin} to {target} leave?"
    return wish, "find_train", {"origin": origin, "destination": target}


def _shopping(rng: Random) -> Wish:
    item = rng.choice(words.PRODUCTS)
    return f'Put "{item}" on my shopping list.', "add_to_list", {"item": item}


def _phone(rng: Random) -> Wish:
    name = full_name(rng)
    return f"Call {name}.", "call_contact", {"name": name}


def _ticket(rng: Random) -> Wish:
    ticket = code(rng)
    return f"Show me support ticket {ticket}.", "open_ticket", {"ticket": ticket}


def _dim(rng: Random) -> Wish:
    room, percent = rng.choice(words.ROOMS), rng.randint(2, 19) * 5
    wish = f"Dim the light in the {room} to {percent} percent."
    return wish, "dim_light", {"room": room, "percent": percent}


_WISHES: tuple[Callable[[Random], Wish], ...] = (
    *(_weather, _alarm, _timer, _album, _currency),
    *(_train, _shopping, _phone, _ticket, _dim),
)


def plain(value: float) -> int | float:
    """Give a whole number as one, so that it is written without a fraction."""
    return int(value) if value.is_integer() else value


def among_others(rng: Random, at: int) -> Draft:
    """Offer six tools, of which one is the right one."""
    wish, name, arguments = _WISHES[at % len(_WISHES)](rng)
    others = [one for one in ASSISTANT_TOOLS if one["function"]["name"] != name]
    mine = next(one for one in ASSISTANT_TOOLS if one["function"]["name"] == name)
    tools = [*rng.sample(others, 5), mine]
    rng.shuffle(tools)
    why = f"Of the six tools {name} alone does what is asked; its arguments stand in the request."
    return drafted(at, request(user(wish), tools=tools), name, arguments, why=why)


_MODES = {"heat": "heating", "cool": "cooling", "fan": "fan only", "dry": "drying"}


def climate(rng: Random, at: int) -> Draft:
    """Want enums, and a temperature with a half degree."""
    room, mode = rng.choice(words.ROOMS), rng.choice(tuple(_MODES))
    target = rng.randint(32, 54) / 2
    tools = [
        schema.tool(
            "set_climate",
            "Set the air conditioner of a room",
            room=schema.one_of(*words.ROOMS),
            mode=schema.one_of(*_MODES),
            target=schema.number("degrees Celsius"),
        ),
        schema.tool("read_climate", "Read a room's temperature", room=schema.text()),
    ]
    wish = f"Set the {room} to {_MODES[mode]} with a target of {target:g} degrees Celsius."
    given = {"room": room, "mode": mode, "target": plain(target)}
    why = f"Of the modes, {mode} is the one for {_MODES[mode]}; room and target are named."
    return drafted(at, request(user(wish), tools=tools), "set_climate", given, why=why)


def coordinates(rng: Random, at: int) -> Draft:
    """Want negative numbers and fractions."""
    kind = rng.choice(("pharmacy", "bakery", "museum", "hotel"))
    latitude = round(rng.uniform(-60, 60), 4)
    longitude = round(rng.uniform(-170, -10) if at % 2 else rng.uniform(10, 170), 4)
    radius = rng.randint(2, 30) / 2
    tools = [
        schema.tool(
            "search_places",
            "Search places around a point",
            kind=schema.one_of("pharmacy", "bakery", "museum", "hotel"),
            latitude=schema.number("degrees, south is negative"),
            longitude=schema.number("degrees, west is negative"),
            radius_km=schema.number(),
        ),
        schema.tool("get_address", "Postal address of a place", place=schema.text()),
    ]
    wish = (
        f"Search for a {kind} within {radius:g} km of the point with "
        f"latitude {latitude} and longitude {longitude}."
    )
    given = {"kind": kind, "latitude": latitude, "longitude": longitude, "radius_km": plain(radius)}
    why = "Kind, radius and both coordinates stand in the request with their signs."
    asked = request(user(wish), tools=tools)
    return drafted(at, asked, "search_places", given, why=why, unlike=2)


def identifiers(rng: Random, at: int) -> Draft:
    """Want digits that are a text and keep their zeros, or integers beyond 2^53."""
    tools = [
        schema.tool(
            "track_parcel",
            "Where a parcel is",
            parcel=schema.text("the parcel's number, ten digits with leading zeros"),
        ),
        schema.tool(
            "read_entry", "Read one entry of the ledger", entry=schema.whole("entry number")
        ),
    ]
    if at % 2:
        entry = rng.randint(2**53 + 1, 9 * 10**16) | 1
        asked = request(user(f"Read the ledger's entry {entry}."), tools=tools)
        why = f"{entry} is above 2^53 and odd: a double would round it to another entry."
        rounded = calling("read_entry", {"entry": int(float(entry))}), "it went through a double"
        given, own = {"entry": entry}, rounded if at % 4 == 1 else None
        return drafted(at, asked, "read_entry", given, why=why, wrong=own)
    parcel = f"00{rng.randint(10_000_000, 99_999_999)}"
    asked = request(user(f"Where is the parcel with the number {parcel}?"), tools=tools)
    why = "The schema wants a string, so that the zeros ahead are a part of the number."
    number = calling("track_parcel", {"parcel": int(parcel)}), "the zeros are lost"
    own = number if at % 4 == 0 else None
    return drafted(at, asked, "track_parcel", {"parcel": parcel}, why=why, unlike=4, wrong=own)


_DEVICES = ("lamp", "fan", "heater", "blinds", "radio", "pump")


def switches(rng: Random, at: int) -> Draft:
    """Want truth values in a nested object."""
    room = rng.choice(words.ROOMS)
    devices = rng.sample(_DEVICES, 4)
    states = [rng.random() < 0.5 for _ in devices]
    if len(set(states)) == 1:
        states[0] = not states[0]
    tools = [
        schema.tool(
            "set_switches",
            "Switch devices of a room on (true) or off (false)",
            room=schema.one_of(*words.ROOMS),
            switches=schema.thing(**{device: schema.flag() for device in devices}),
        ),
        schema.tool("list_devices", "List the devices of a room", room=schema.text()),
    ]
    pairs = list(zip(devices, states, strict=True))
    told = ", ".join(f"{device} {'on' if state else 'off'}" for device, state in pairs)
    asked = request(user(f"In the {room}: {told}."), tools=tools)
    given = {"room": room, "switches": dict(pairs)}
    why = "On is true and off is false, as the tool's description says."
    return drafted(at, asked, "set_switches", given, why=why, unlike=1)


FAMILIES = (
    Family("tool-among-others", "tools-single", 30, among_others),
    Family("tool-climate", "tools-single", 14, climate),
    Family("tool-coordinates", "tools-single", 14, coordinates),
    Family("tool-identifiers", "tools-single", 14, identifiers),
    Family("tool-switches", "tools-single", 14, switches),
)
