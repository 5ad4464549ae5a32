"""Calls after several turns: what is to be called stands in results and earlier words."""

from __future__ import annotations

from denv.recipes.making.authored.rows import Calls
from denv.recipes.making.drafts import called, calling, result, said, system, user
from denv.recipes.making.schema import flag, many, number, text, thing, tool, whole

_call = Calls("tools-multi", first=2)

_HOTEL = (
    tool("search_hotels", "Hotels of a city", city=text()),
    tool("hotel_details", "Rooms of a hotel", hotel=text("the hotel's id")),
    tool("book_room", "Book a room", room=text("the room's id"), nights=whole()),
)

CASES = (
    _call(
        "turns-chain-of-three",
        [
            user("Book me the cheapest room of the Hotel Lindqvist in Malmö for 3 nights."),
            called(("c1", "search_hotels", {"city": "Malmö"})),
            result("c1", [{"id": "h-21", "name": "Astor"}, {"id": "h-38", "name": "Lindqvist"}]),
            called(("c2", "hotel_details", {"hotel": "h-38"})),
            result("c2", [{"room": "r-5", "price": 140}, {"room": "r-9", "price": 95}]),
        ],
        _HOTEL,
        ("book_room", {"room": "r-9", "nights": 3}),
        why="r-9 costs 95, less than 140; the nights stand in the first message.",
        wrong=(calling("book_room", {"room": "r-5", "nights": 3}), "the first room is taken"),
    ),
    _call(
        "turns-second-of-chain",
        [
            user("Which rooms does the Hotel Astor in Malmö have?"),
            called(("c1", "search_hotels", {"city": "Malmö"})),
            result("c1", [{"id": "h-21", "name": "Astor"}, {"id": "h-38", "name": "Lindqvist"}]),
        ],
        _HOTEL,
        ("hotel_details", {"hotel": "h-21"}),
        why="The Astor's id is h-21.",
        wrong=(
            calling("search_hotels", {"city": "Malmö"}),
            "the first call is made again, as if its result were lost",
        ),
    ),
    _call(
        "turns-plain-result",
        [
            user("Take the next free number for Nils and tell the display."),
            called(("c1", "next_number", {"name": "Nils"})),
            result("c1", "Number 88, please wait in room 4."),
        ],
        [
            tool("next_number", "Draw a waiting number", name=text()),
            tool("show_number", "Show a number on the display", number=whole(), room=whole()),
        ],
        ("show_number", {"number": 88, "room": 4}),
        why="The result is a sentence, in which both numbers stand.",
    ),
    _call(
        "turns-empty-result",
        [
            user("Is there a folder named Taxes? If there is none, create it."),
            called(("c1", "find_folder", {"name": "Taxes"})),
            result("c1", []),
        ],
        [
            tool("find_folder", "Find folders by name", name=text()),
            tool("create_folder", "Create a folder", name=text()),
        ],
        ("create_folder", {"name": "Taxes"}),
        why="The list is empty: there is none.",
    ),
    _call(
        "turns-text-beside-call",
        [
            user("Measure the tank, and open valve 3 if it is above 80 percent."),
            {
                **called(("c1", "measure_tank", {"unit": "percent"})),
                "content": "Let me measure the tank first.",
            },
            result("c1", {"percent": 91}),
        ],
        [
            tool("measure_tank", "How full the tank is", unit=text()),
            tool("set_valve", "Open (true) or close a valve", valve=whole(), open=flag()),
        ],
        ("set_valve", {"valve": 3, "open": True}),
        why="91 is above 80.",
        wrong=(
            calling("set_valve", {"valve": 3, "open": "true"}),
            "the truth value becomes a string",
        ),
    ),
    _call(
        "turns-results-out-of-order",
        [
            user("Which of Ann and Bo has more points? Give a badge to that person."),
            called(("c_ann", "points", {"name": "Ann"}), ("c_bo", "points", {"name": "Bo"})),
            result("c_bo", {"points": 310}),
            result("c_ann", {"points": 120}),
        ],
        [
            tool("points", "Points of a person", name=text()),
            tool("give_badge", "Give a badge", name=text()),
        ],
        ("give_badge", {"name": "Bo"}),
        why="The ids say that 310 are Bo's, although his result comes first.",
        wrong=(calling("give_badge", {"name": "Ann"}), "results are matched by their order"),
    ),
    _call(
        "turns-unicode-result",
        [
            user("Who is on duty tonight? Send that person a page."),
            called(("c1", "on_duty", {"night": True})),
            result("c1", {"name": "Łukasz Śliwiński-Özdemir"}),
        ],
        [
            tool("on_duty", "Who is on duty", night=flag()),
            tool("send_page", "Page a person", name=text("exactly as on_duty gives it")),
        ],
        ("send_page", {"name": "Łukasz Śliwiński-Özdemir"}),
        why="The name is that of the result, with every accent.",
        wrong=(
            calling("send_page", {"name": "Lukasz Sliwinski-Ozdemir"}),
            "the accents are lost",
        ),
    ),
    _call(
        "turns-json-in-json",
        [
            user("Read the configuration, and set its limit to twice what it is."),
            called(("c1", "read_config", {"key": "limits"})),
            result("c1", {"value": '{"limit": 45, "unit": "MB"}'}),
        ],
        [
            tool("read_config", "Read a value; it is JSON as text", key=text()),
            tool("set_limit", "Set the limit", limit=whole(), unit=text()),
        ],
        ("set_limit", {"limit": 90, "unit": "MB"}),
        why="The text holds 45 MB, and twice 45 is 90.",
    ),
    _call(
        "turns-the-second-one",
        [
            user("Find songs about rain."),
            called(("c1", "find_songs", {"topic": "rain"})),
            result("c1", [{"song": 71, "title": "Drops"}, {"song": 17, "title": "Grey"}]),
            said("I found two: 1. Drops, 2. Grey. Which one shall I play?"),
            user("The second one, please."),
        ],
        [
            tool("find_songs", "Find songs", topic=text()),
            tool("play_song", "Play a song by its number", song=whole("as find_songs gives it")),
        ],
        ("play_song", {"song": 17}),
        why="The second of the list is song 17.",
        wrong=(calling("play_song", {"song": 2}), "the place in the list is taken for the number"),
    ),
    _call(
        "turns-other-tool-after-failure",
        [
            system("If the primary printer is out of order, use the spare printer."),
            user("Print invoice 640."),
            called(("c1", "print_primary", {"invoice": 640})),
            result("c1", {"error": "out of order"}),
        ],
        [
            tool("print_primary", "Print on the primary printer", invoice=whole()),
            tool("print_spare", "Print on the spare printer", invoice=whole()),
        ],
        ("print_spare", {"invoice": 640}),
        why="The system message says what to do then.",
        wrong=(
            calling("print_primary", {"invoice": 640}),
            "the system message is lost, and the call is made again",
        ),
    ),
    _call(
        "turns-big-integer",
        [
            user("Find the newest post of the account heron, and pin it."),
            called(("c1", "newest_post", {"account": "heron"})),
            result("c1", '{"post": 72057594037927937, "likes": 12}'),
        ],
        [
            tool("newest_post", "The newest post of an account", account=text()),
            tool("pin_post", "Pin a post", post=whole()),
        ],
        ("pin_post", {"post": 72057594037927937}),
        why="2^56 + 1 is no double: rounding makes another post of it.",
        wrong=(
            calling("pin_post", {"post": 72057594037927936}),
            "the integer goes through a double",
        ),
    ),
    _call(
        "turns-next-page",
        [
            system("Read all pages: as long as a result has a cursor, ask for the next page."),
            user("List all members of the club."),
            called(("c1", "list_members", {"cursor": ""})),
            result("c1", {"members": ["Ada", "Bo"], "cursor": "eyJwIjoyfQ=="}),
        ],
        [
            tool("list_members", "One page of members", cursor=text("empty for the first page")),
            tool("count_members", "How many members there are", club=text()),
        ],
        ("list_members", {"cursor": "eyJwIjoyfQ=="}),
        why="The result has a cursor, which the next call takes as it is.",
        wrong=(calling("list_members", {"cursor": "eyJwIjoyfQ"}), "the padding is lost"),
    ),
    _call(
        "turns-german",
        [
            user("Suche die Kundin Frau Weiß."),
            called(("c1", "find_customer", {"name": "Weiß"})),
            result("c1", {"customer": 3307, "city": "Gießen"}),
            said("Frau Weiß aus Gießen hat die Kundennummer 3307. Was soll ich tun?"),
            user("Schreib ihr bitte 15 Euro gut."),
        ],
        [
            tool("find_customer", "Find a customer", name=text()),
            tool("credit", "Credit a customer", customer=whole(), euros=number()),
        ],
        ("credit", {"customer": 3307, "euros": 15}),
        why="The customer is the one that was found; 15 euros are asked for.",
    ),
    _call(
        "turns-collected-list",
        [
            user("I want to order. First, two baguettes."),
            said("Noted: two baguettes. Anything else?"),
            user("Five croissants. And no, make that one baguette only."),
            said("One baguette, five croissants. Anything else?"),
            user("No, order it now."),
        ],
        [
            tool(
                "order",
                "Order; the things in the order in which they were named",
                things=many(thing(thing=text("singular, lower case"), count=whole())),
            ),
            tool("cancel", "Cancel the order", reason=text()),
        ],
        (
            "order",
            {"things": [{"thing": "baguette", "count": 1}, {"thing": "croissant", "count": 5}]},
        ),
        why="The correction leaves one baguette; the croissants come second.",
        wrong=(
            calling(
                "order",
                {"things": [{"thing": "baguette", "count": 2}, {"thing": "croissant", "count": 5}]},
            ),
            "a turn is lost",
        ),
    ),
    _call(
        "turns-moved-appointment",
        [
            system("Today is Monday, 7 June 2027."),
            user("Is there an appointment at the dentist?"),
            called(("c1", "find_appointment", {"with": "dentist"})),
            result("c1", {"appointment": "ap-4", "date": "2027-06-10", "time": "09:40"}),
            said("Yes, on Thursday, 10 June, at 09:40."),
            user("Move it to the day after, same time."),
        ],
        [
            tool("find_appointment", "Find an appointment", **{"with": text()}),
            tool(
                "move_appointment",
                "Move an appointment",
                appointment=text(),
                date=text("ISO 8601"),
                time=text("HH:MM"),
            ),
        ],
        ("move_appointment", {"appointment": "ap-4", "date": "2027-06-11", "time": "09:40"}),
        why="The day after 10 June is 11 June; id and time are those of the result.",
        wrong=(
            calling(
                "move_appointment", {"appointment": "ap-4", "date": "2027-06-08", "time": "09:40"}
            ),
            "counted from today",
        ),
    ),
)
