"""One turn, arguments with lists and objects inside: orders, events, filters."""

from __future__ import annotations

from datetime import date, timedelta
from random import Random

from denv.recipes.making import schema, words
from denv.recipes.making.drafts import Draft, Family, request, user
from denv.recipes.making.drawing import clock, code, listed
from denv.recipes.making.tools_single import drafted

_ORDER = (
    schema.tool(
        "place_order",
        "Place an order; items in the order in which they are named",
        city=schema.text("where it goes"),
        items=schema.many(schema.thing(article=schema.text(), quantity=schema.whole())),
        express=schema.flag(),
    ),
    schema.tool("cancel_order", "Cancel an order", order=schema.text()),
)


def order(rng: Random, at: int) -> Draft:
    """Want a list of objects."""
    city = rng.choice(words.CITIES)
    items = [
        {"article": code(rng), "quantity": rng.randint(2, 40)} for _ in range(rng.randint(2, 4))
    ]
    express = rng.random() < 0.5
    told = listed([f"{item['quantity']} of article {item['article']}" for item in items])
    way = "Send it express." if express else "Not express."
    asked = request(user(f"Place an order to {city}: {told}. {way}"), tools=_ORDER)
    given = {"city": city, "items": items, "express": express}
    state = str(express).lower()
    why = f"{len(items)} items in the order in which they are named; express is {state}."
    return drafted(at, asked, "place_order", given, why=why)


_EVENT = (
    schema.tool(
        "create_event",
        "Put an event into the calendar",
        title=schema.text(),
        date=schema.text("ISO 8601, YYYY-MM-DD"),
        start=schema.text("24-hour clock, HH:MM"),
        minutes=schema.whole("how long it lasts"),
        attendees=schema.many(schema.text("e-mail address")),
        online=schema.flag(),
    ),
    schema.tool("delete_event", "Delete an event", title=schema.text()),
    schema.tool("list_events", "List the events of a day", date=schema.text()),
)


def event(rng: Random, at: int) -> Draft:
    """Want dates, times, a list of strings and a truth value."""
    day = date(2027, 1, 1) + timedelta(days=rng.randrange(700))
    written = f"{day.day} {words.MONTHS[day.month - 1]} {day.year}"
    title, start, minutes = rng.choice(words.TITLES), clock(rng), rng.randint(2, 16) * 10
    people = rng.sample(words.FIRST_NAMES, rng.randint(2, 3))
    attendees = [f"{name.lower()}@example.com" for name in people]
    online = rng.random() < 0.5
    where = "It is online." if online else "It is not online."
    wish = (
        f'Put "{title}" into my calendar on {written} at {start} for {minutes} '
        f"minutes, with {listed(attendees)} as attendees, in this order. {where}"
    )
    given = {
        "title": title,
        "date": day.isoformat(),
        "start": start,
        "minutes": minutes,
        "attendees": attendees,
        "online": online,
    }
    why = f"{written} is {day.isoformat()}; all else stands in the request."
    return drafted(at, request(user(wish), tools=_EVENT), "create_event", given, why=why, unlike=3)


_SHOP = (
    schema.tool(
        "search_products",
        "Search the shop",
        query=schema.text("what is looked for, as the customer names it"),
        filters=schema.thing(
            price=schema.thing(min=schema.whole(), max=schema.whole()),
            colours=schema.many(schema.one_of(*words.COLOURS)),
            in_stock=schema.flag("only what is in stock"),
        ),
    ),
    schema.tool("show_product", "Show one product", article=schema.text()),
    schema.tool("show_cart", "Show the cart", currency=schema.one_of("EUR", "USD")),
)


def filters(rng: Random, at: int) -> Draft:
    """Want objects in objects, and a list of enums."""
    product = rng.choice(words.PRODUCTS)
    low = rng.randint(2, 40) * 5
    high = low + rng.randint(2, 30) * 5
    colours = rng.sample(words.COLOURS, rng.randint(2, 3))
    stock = rng.random() < 0.5
    told = "only what is in stock" if stock else "also what is not in stock"
    wish = (
        f'Search the shop for "{product}": price from {low} to {high}, colours {listed(colours)} '
        f"(in this order), {told}."
    )
    bounds = {"min": low, "max": high}
    inner = {"price": bounds, "colours": colours, "in_stock": stock}
    given = {"query": product, "filters": inner}
    asked = request(user(wish), tools=_SHOP)
    why = f"The bounds are {low} and {high}; {told} makes in_stock {str(stock).lower()}."
    return drafted(at, asked, "search_products", given, why=why, unlike=5)


_GRID = (
    schema.tool(
        "fill_grid",
        "Fill a grid of numbers; one list a row",
        sheet=schema.text(),
        rows=schema.many(schema.many(schema.whole())),
    ),
    schema.tool("clear_grid", "Empty a grid", sheet=schema.text()),
)


def grid(rng: Random, at: int) -> Draft:
    """Want lists in a list."""
    sheet, width = code(rng, letters=1, digits=2), rng.randint(2, 4)
    rows = [[rng.randint(-20, 99) for _ in range(width)] for _ in range(rng.randint(2, 3))]
    told = "\n".join(" ".join(map(str, row)) for row in rows)
    asked = request(user(f"Fill the grid of sheet {sheet} with these rows:\n{told}"), tools=_GRID)
    why = f"{len(rows)} lines with {width} numbers each are as many lists of numbers."
    given = {"sheet": sheet, "rows": rows}
    return drafted(at, asked, "fill_grid", given, why=why, unlike=4)


FAMILIES = (
    Family("tool-order", "tools-single", 18, order),
    Family("tool-event", "tools-single", 18, event),
    Family("tool-filters", "tools-single", 16, filters),
    Family("tool-grid", "tools-single", 12, grid),
)
