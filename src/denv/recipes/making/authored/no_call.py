"""Tools are offered, and the right answer is a text."""

from __future__ import annotations

from denv.recipes.making.authored.rows import told
from denv.recipes.making.drafts import called, calling, result, said, user
from denv.recipes.making.schema import text, tool, whole

CASES = (
    told(
        "turns-report-the-result",
        "no-call",
        [
            user(
                "Send the parcel 77 by ship, and tell me its tracking code. The code only, please."
            ),
            called(("c1", "send_parcel", {"parcel": 77, "by": "ship"})),
            result("c1", {"tracking": "SEA-9QX4", "days": 21}),
        ],
        tools=[tool("send_parcel", "Send a parcel", parcel=whole(), by=text())],
        expect={"contains": "SEA-9QX4"},
        right="SEA-9QX4",
        wrong=calling("send_parcel", {"parcel": 77, "by": "ship"}),
        why="The result has the code. Wrong: the parcel is sent again.",
    ),
    told(
        "turns-user-declines",
        "no-call",
        [
            user("Delete the album Winter."),
            said("This deletes 340 photos for good. Shall I do it?"),
            user("No, leave it. How many photos did you say there are? The number only."),
        ],
        tools=[tool("delete_album", "Delete an album", album=text())],
        expect={"regex": r"(?<!\d)340(?!\d)"},
        right="340",
        wrong=calling("delete_album", {"album": "Winter"}),
        why="The user declined, and 340 was said before. Wrong: it is deleted all the same.",
    ),
    told(
        "turns-no-tool-for-it",
        "no-call",
        "Which planet is closest to the sun? One word. You need no tool for that.",
        tools=[tool("book_rocket", "Book a flight to a planet", planet=text(), seats=whole())],
        expect={"regex": r"(?i)\bmercury\b"},
        right="Mercury",
        wrong=calling("book_rocket", {"planet": "Mercury", "seats": 1}),
        why="A question of knowledge, and nothing is to be booked. Wrong: it is.",
    ),
    told(
        "turns-choice-none",
        "no-call",
        "Repeat the word tulip. Nothing but this word.",
        tools=[tool("repeat", "Repeat a word", word=text())],
        tool_choice="none",
        expect={"regex": r"(?i)\A\W*tulip\W*\Z"},
        right="tulip",
        wrong='repeat(word="tulip")',
        why="tool_choice is none: no call, not as a text either. Wrong: a call as text.",
    ),
)
