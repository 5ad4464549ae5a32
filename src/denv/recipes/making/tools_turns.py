"""Several turns: the call depends on a tool's result, a correction, or what was said before."""

from __future__ import annotations

from random import Random

from denv.recipes.making import schema, words
from denv.recipes.making.drafts import Draft, Family, called, request, result, said, system, user
from denv.recipes.making.drawing import code, full_name, two
from denv.recipes.making.tools_single import drafted

_BILLING = (
    schema.tool("find_customer", "Find a customer by name", name=schema.text()),
    schema.tool(
        "create_invoice",
        "Write an invoice",
        customer_id=schema.text("as find_customer gives it"),
        amount=schema.number("in euros"),
    ),
)


def lookup(rng: Random, at: int) -> Draft:
    """Want a second call that takes an identifier out of the first one's result."""
    name, customer = full_name(rng), code(rng, letters=3, digits=5)
    amount = rng.randint(40, 9_000) + rng.choice((0.25, 0.5, 0.75))
    asked = request(
        system("Use the tools; do one call after the other."),
        user(f"Write an invoice of {amount} euros for {name}."),
        called(("call_1", "find_customer", {"name": name})),
        result("call_1", {"customer_id": customer, "name": name, "city": rng.choice(words.CITIES)}),
        tools=_BILLING,
    )
    given = {"customer_id": customer, "amount": amount}
    why = "The identifier stands in the tool's result, the amount in the request."
    return drafted(at, asked, "create_invoice", given, why=why)


_TABLE = (
    schema.tool(
        "book_table",
        "Book a table; a later call replaces an earlier one",
        name=schema.text(),
        guests=schema.whole(),
        time=schema.text("24-hour clock, HH:MM"),
    ),
    schema.tool("cancel_table", "Cancel a table", name=schema.text()),
)


def correction(rng: Random, at: int) -> Draft:
    """Change one thing, so that all else stays as it was."""
    name, guests = rng.choice(words.LAST_NAMES), rng.randint(3, 9)
    time, later = f"{rng.randint(17, 18)}:30", f"{rng.randint(19, 21)}:15"
    more = guests + rng.randint(2, 6)
    change_time = at % 2 == 0
    change = f"at {later} instead" if change_time else f"for {more} guests instead"
    given = {
        "name": name,
        "guests": guests if change_time else more,
        "time": later if change_time else time,
    }
    asked = request(
        user(f"Book a table for {guests} guests at {time}, name {name}."),
        called(("call_1", "book_table", {"name": name, "guests": guests, "time": time})),
        result("call_1", {"booked": True}),
        said(f"Your table for {guests} guests at {time} is booked."),
        user(f"Please book it {change}; everything else stays as it is."),
        tools=_TABLE,
    )
    why = "The last message changes one argument; the others are those of the first call."
    return drafted(at, asked, "book_table", given, why=why, unlike=4)


_FLIGHTS = (
    schema.tool(
        "search_flights",
        "Flights between two cities",
        origin=schema.text(),
        destination=schema.text(),
        airline=schema.text(),
    ),
    schema.tool("book_flight", "Book a flight", flight=schema.text(), seats=schema.whole()),
)


def cheaper(rng: Random, at: int) -> Draft:
    """Want a decision between the results of two calls."""
    (origin, target), airlines = two(rng, words.CITIES), ("Nordwing", "Solair")
    flights = [code(rng, digits=3), code(rng, digits=3)]
    prices = rng.sample(range(90, 800, 7), 2)
    seats = rng.randint(2, 6)
    searched = [{"origin": origin, "destination": target, "airline": one} for one in airlines]
    asked = request(
        user(
            f"Compare Nordwing and Solair from {origin} to {target}, "
            f"and book {seats} seats on the cheaper flight."
        ),
        called(*((f"call_{n}", "search_flights", given) for n, given in enumerate(searched))),
        *(
            result(f"call_{n}", {"flight": flight, "price_per_seat": price})
            for n, (flight, price) in enumerate(zip(flights, prices, strict=True))
        ),
        tools=_FLIGHTS,
    )
    flight = flights[prices.index(min(prices))]
    given = {"flight": flight, "seats": seats}
    why = f"{min(prices)} is less than {max(prices)}, so that {flight} is the cheaper one."
    return drafted(at, asked, "book_flight", given, why=why, unlike=2)


_DESKS = (
    schema.tool(
        "reserve_desk",
        "Reserve a desk on a floor",
        floor=schema.whole(),
        desk=schema.text(),
        weekday=schema.one_of("Monday", "Tuesday", "Wednesday", "Thursday", "Friday"),
    ),
    schema.tool("release_desk", "Give a desk back", desk=schema.text()),
)


def refused(rng: Random, at: int) -> Draft:
    """Agree to what a tool's error offers instead."""
    floor, (desk, other) = rng.randint(2, 19), (code(rng, letters=1, digits=2) for _ in range(2))
    day = rng.choice(("Monday", "Tuesday", "Wednesday", "Thursday", "Friday"))
    first = {"floor": floor, "desk": desk, "weekday": day}
    asked = request(
        user(f"Reserve desk {desk} on floor {floor} for {day}."),
        called(("call_1", "reserve_desk", first)),
        result("call_1", {"error": f"desk {desk} is taken on {day}", "free_desk": other}),
        said(f"Desk {desk} is taken on {day}. Desk {other} on the same floor is free. Shall I?"),
        user("Yes, reserve that one."),
        tools=_DESKS,
    )
    given = {**first, "desk": other}
    why = f"Desk {other} is the free one; floor and day are those of the request."
    return drafted(at, asked, "reserve_desk", given, why=why, unlike=1)


_DELIVERY = (
    schema.tool(
        "schedule_delivery",
        "Schedule a delivery",
        name=schema.text("full name"),
        street=schema.text("street and house number"),
        city=schema.text(),
        floor=schema.whole(),
    ),
    schema.tool("track_delivery", "Where a delivery is", delivery=schema.text()),
)


def remembered(rng: Random, at: int) -> Draft:
    """Give each argument in another turn."""
    name, city, floor = full_name(rng), rng.choice(words.CITIES), rng.randint(2, 12)
    street = f"{rng.choice(words.STREETS)} {rng.randint(2, 140)}"
    asked = request(
        system("You schedule deliveries. Collect name, street, city and floor, then call."),
        user(f"Hello, I am {name}, and I need a delivery."),
        said("Gladly. Which street and house number?"),
        user(f"{street}."),
        said("And which city?"),
        user(f"{city}."),
        said("On which floor do you live?"),
        user(f"On floor {floor}. That is all, please schedule it."),
        tools=_DELIVERY,
    )
    given = {"name": name, "street": street, "city": city, "floor": floor}
    why = "Each of the user's messages gives one argument."
    return drafted(at, asked, "schedule_delivery", given, why=why, unlike=3)


_TRANSFER = (
    schema.tool("list_bills", "Bills of a person that are not paid", name=schema.text()),
    schema.tool("pay", "Pay one amount of money", name=schema.text(), euros=schema.whole()),
)


def summed(rng: Random, at: int) -> Draft:
    """Want an argument that is computed from a tool's result."""
    name, bills = full_name(rng), [rng.randint(2, 30) * 10 for _ in range(3)]
    asked = request(
        user(f"Look up what I owe {name}, and pay the sum of it in one amount."),
        called(("call_1", "list_bills", {"name": name})),
        result("call_1", {"bills": [{"bill": code(rng), "euros": euros} for euros in bills]}),
        tools=_TRANSFER,
    )
    given = {"name": name, "euros": sum(bills)}
    why = f"{' + '.join(map(str, bills))} = {sum(bills)}, computed."
    return drafted(at, asked, "pay", given, why=why, unlike=4)


FAMILIES = (
    Family("turns-lookup", "tools-multi", 16, lookup),
    Family("turns-correction", "tools-multi", 16, correction),
    Family("turns-cheaper", "tools-multi", 14, cheaper),
    Family("turns-refused", "tools-multi", 12, refused),
    Family("turns-remembered", "tools-multi", 14, remembered),
    Family("turns-summed", "tools-multi", 12, summed),
)
