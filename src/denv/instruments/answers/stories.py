"""Templates about dates, times, units, money and work; all amounts come out whole."""

from __future__ import annotations

from datetime import date, timedelta

from denv.instruments.bank.draw import Draw, Posed

_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_GOODS = ("pens", "apples", "stamps", "rolls", "candles", "buttons", "onions", "tickets")
_UNITS = (("weeks", 604_800), ("days", 86_400), ("hours", 3600), ("minutes", 60), ("seconds", 1))


def ask_days(draw: Draw, level: int) -> Posed:
    """Count the days between two dates of the Gregorian calendar."""
    year = draw.between(*((2001, 2030), (2001, 2030), (1950, 2030), (1605, 1895))[level - 1])
    month, day = draw.between(1, 12 if level > 1 else 11), draw.between(1, 12)
    start = date(year, month, day)
    span = ((3, 16), (35, 150), (400, 1500), (40_000, 90_000))[level - 1]
    end = start + timedelta(days=draw.between(*span))
    return (
        f"How many days after {_shown(start)} is {_shown(end)}? (Gregorian calendar)",
        (end - start).days,
    )


def ask_minutes(draw: Draw, level: int) -> Posed:
    """Count the minutes, at level 4 the seconds, that pass between two times of day."""
    length = draw.between(*((15, 55), (70, 600), (700, 1400), (2000, 9000))[level - 1])
    begin = draw.between(0, 5 * 60) if level < 3 else draw.between(10 * 60, 23 * 60)
    days, end = divmod(begin + length, 24 * 60)
    when = ("the same day", "the next day")[days] if days < 2 else f"{days} days later"
    if level < 4:
        question = (
            f"A journey begins at {_clock(begin)} and ends at {_clock(end)} {when}. "
            "How many minutes does it take?"
        )
        return question, length
    first, last = draw.between(1, 59), draw.between(1, 59)
    question = (
        f"A journey begins at {_clock(begin)}:{first:02} and ends at {_clock(end)}:{last:02} "
        f"{when}. How many seconds does it take?"
    )
    return question, 60 * length + last - first


def ask_units(draw: Draw, level: int) -> Posed:
    """Turn a length of time into a smaller unit."""
    first, parts = ((3, 1), (2, 2), (1, 3), (0, 5))[level - 1]
    units = _UNITS[first : first + parts]
    to_name, to_size = _UNITS[-1] if level != 2 else _UNITS[3]
    amounts = [draw.between(2, 9 + 11 * level) for _ in units]
    listed = [f"{n} {name}" for n, (name, _) in zip(amounts, units, strict=True)]
    shown = ", ".join(listed[:-1]) + " and " + listed[-1] if len(listed) > 1 else listed[0]
    total = sum(n * size for n, (_, size) in zip(amounts, units, strict=True))
    return f"How many {to_name} are {shown} in all?", total // to_size


def ask_purchase(draw: Draw, level: int) -> Posed:
    """Find the change that is given back, in cents."""
    kinds = draw.several(_GOODS, (1, 2, 3, 5)[level - 1])
    most, dearest = ((5, 20), (9, 60), (14, 180), (38, 970))[level - 1]
    bought = [(draw.between(2, most), draw.between(5, dearest), kind) for kind in kinds]
    total = sum(count * price for count, price, _ in bought)
    paid = (total // 100 + draw.between(1, 2 * level)) * 100
    listed = "; ".join(f"{count} {kind} at {price} cents each" for count, price, kind in bought)
    question = (
        f"Someone buys {listed}. They pay with {paid // 100} coins of one dollar (100 cents "
        "each). How many cents of change do they get?"
    )
    return question, paid - total


def ask_rates(draw: Draw, level: int) -> Posed:
    """Follow a tank that is filled and emptied at stated rates."""
    high = (9, 20, 60, 200)[level - 1]
    inflow, minutes = draw.between(4, high), draw.between(5, 5 + high)
    start = draw.between(10, 10 * high)
    if level == 1:
        question = (
            f"A tank gets {inflow} litres a minute. How many litres does it get in {minutes} "
            "minutes?"
        )
        return question, inflow * minutes
    text = f"A tank holds {start} litres and gets {inflow} litres a minute for {minutes} minutes."
    value = start + inflow * minutes
    for _ in range(level - 2):
        drained = draw.between(3, minutes)
        outflow = draw.between(2, min(inflow, value // drained))  # never more than it holds
        refill, wait = draw.between(2, high), draw.between(3, high)
        value += (refill - outflow) * drained + refill * wait
        text += (
            f" Then, for {drained} minutes, it gets {refill} and loses {outflow} litres a minute;"
            f" after that it loses nothing and gets {refill} litres a minute for {wait} minutes."
        )
    return f"{text} How many litres does it hold at the end?", value


def _shown(day: date) -> str:
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"
