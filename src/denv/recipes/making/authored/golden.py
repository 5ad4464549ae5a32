"""Golden prompts: short and easy, of every part; a deployment that fails one is not served."""

from __future__ import annotations

from functools import partial

from denv.recipes.making.authored.rows import Calls, counted, one_word, told
from denv.recipes.making.drafts import called, calling, result, system, user
from denv.recipes.making.schema import one_of, text, tool, whole

_counted, _word = partial(counted, part="exact"), partial(one_word, part="exact")
_call = Calls("tools-single", first=3)
_later = Calls("tools-multi", first=1)

_LIGHT = tool("set_light", "Set a lamp", lamp=text(), state=one_of("on", "off"))
_STOCK = tool("read_stock", "Pieces of an article in stock", article=text())
_REORDER = tool("reorder", "Order more of an article", article=text(), pieces=whole())

GOLDEN = (
    _counted(
        name="golden-sum",
        wish="What is 2 + 3? Answer with the number only.",
        right=5,
        wrong="6",
        why="2 + 3 = 5.",
    ),
    _counted(
        name="golden-days",
        wish="How many days does a week have? Answer with the number only.",
        right=7,
        wrong="",
        why="Seven. Wrong: an empty answer.",
    ),
    _word(
        name="golden-capital",
        wish="What is the capital of Italy? Answer with one word, in English.",
        right="Rome",
        wrong="Milan",
        why="Rome.",
    ),
    _word(
        name="golden-opposite",
        wish="What is the opposite of open? Answer with one word.",
        right="closed|shut|close",
        wrong="opened",
        why="What is not open is closed or shut.",
    ),
    _word(
        name="golden-german",
        wish="Welche Farbe hat eine reife Zitrone? Antworte mit einem Wort.",
        right="gelb",
        wrong="yellow",
        why="Yellow, in German gelb. Wrong: English.",
    ),
    _word(
        name="golden-chinese",
        wish="中国的首都是哪座城市？只回答城市名。",
        right="北京",
        wrong="åäº¬",
        why="Beijing. Wrong: UTF-8 read as Latin-1.",
    ),
    told(
        "golden-copy",
        "exact",
        "Repeat exactly, and say nothing else: blue whale 52",
        expect={"contains": "blue whale 52"},
        right="blue whale 52",
        wrong="blue whale 5",
        why="The text itself. Wrong: cut off.",
    ),
    told(
        "golden-system",
        "exact",
        [system("You answer every message with the one word PONG."), user("ping")],
        expect={"contains": "PONG"},
        right="PONG",
        wrong="Hello! How can I help?",
        why="The system message says so. Wrong: it is lost.",
    ),
    told(
        "golden-code",
        "code",
        "What does this Python print?\n\nprint(len([3, 1, 2]))\n\nAnswer with the number only.",
        expect={"regex": r"(?<!\d)3(?!\d)"},
        right="3",
        wrong="6",
        why="The list has three items. Wrong: their sum.",
    ),
    told(
        "golden-json",
        "json",
        [
            system("You answer with one JSON object and nothing else."),
            user('Give a JSON object with the key "ok" and the value true.'),
        ],
        response_format={"type": "json_object"},
        expect={"regex": r'\A\s*\{\s*"ok"\s*:\s*true\s*\}\s*\Z'},
        right='{"ok": true}',
        wrong='{"ok": "true"}',
        why="true is no string.",
    ),
    _call(
        "golden-call",
        "Switch the lamp named desk on.",
        [_LIGHT],
        ("set_light", {"lamp": "desk", "state": "on"}),
        why="Both stand in the request.",
    ),
    _call(
        "golden-call-number",
        "Order 12 more pieces of article bolt.",
        [_REORDER, _STOCK],
        ("reorder", {"article": "bolt", "pieces": 12}),
        why="Both stand in the request.",
    ),
    _later(
        "golden-call-after-result",
        [
            user("Check the stock of article nut, and order 40 more pieces if there are none."),
            called(("c1", "read_stock", {"article": "nut"})),
            result("c1", {"pieces": 0}),
        ],
        [_STOCK, _REORDER],
        ("reorder", {"article": "nut", "pieces": 40}),
        why="There are none.",
    ),
    told(
        "golden-no-call",
        "no-call",
        "Say hello to me in one word. You need no tool.",
        tools=[_LIGHT],
        expect={"regex": r"(?i)\b(?:hello|hi|hey)\b"},
        right="Hello!",
        wrong=calling("set_light", {"lamp": "hello", "state": "on"}),
        why="A greeting needs no lamp. Wrong: the lamp is switched.",
    ),
)
