"""One turn, an argument that is a text with everything parsers trip over."""

from __future__ import annotations

from random import Random

from denv.recipes.making import schema, words
from denv.recipes.making.drafts import Draft, Family, answer, calling, expect_call, request, user
from denv.recipes.making.drawing import code, full_name, two
from denv.recipes.making.wrongs import Wrong, compact, mojibake

_TOOLS = (
    schema.tool(
        "send_message",
        "Send a message",
        recipient=schema.text("full name"),
        body=schema.text("the message's text, unchanged"),
    ),
    schema.tool("read_messages", "Read the messages of a person", sender=schema.text()),
)


def _quotes(rng: Random) -> str:
    name, title = rng.choice(words.FIRST_NAMES), rng.choice(words.TITLES)
    return f'{name} said "yes" to the {title}, and I said "it\'s fine".'


def _lines(rng: Random) -> str:
    first, second = two(rng, words.PRODUCTS)
    return f"Shopping:\n- {rng.randint(2, 9)} {first}\n- {rng.randint(2, 9)} {second}\nThanks!"


def _json(rng: Random) -> str:
    return compact({"name": "ping", "arguments": {"to": code(rng), "n": rng.randint(2, 99)}})


def _unicode(rng: Random) -> str:
    place = rng.choice(("Zürich", "São Paulo", "Łódź", "Αθήνα", "Москва", "東京", "القاهرة"))
    return f"Grüße aus {place} – {rng.randint(2, 30)} °C, schön! 🌞"


def _paths(rng: Random) -> str:
    folder, file = two(rng, words.PLAIN_WORDS)
    return rf"Look at C:\new\{folder}\table_{file}.txt, line {rng.randint(2, 900)}."


def _markup(rng: Random) -> str:
    word, other = two(rng, words.PLAIN_WORDS)
    return f"<b>{word}</b> & <i class='x'>{other}</i> cost < {rng.randint(20, 90)} {{each}}"


def _code(rng: Random) -> str:
    name = rng.choice(words.PLAIN_WORDS)
    return f'def {name}(x):\n    return {{"{name}": x * {rng.randint(2, 90)}}}'


def _table(rng: Random) -> str:
    first, second = two(rng, words.CITIES)
    return f"city;rate\n{first};{rng.randint(10, 99)}%\n{second};{rng.randint(10, 99)}%"


_TEXTS = (_quotes, _lines, _json, _unicode, _paths, _markup, _code, _table)


def _damaged(at: int, recipient: str, body: str) -> Wrong:
    """Damage the text as a parser does that takes it for something else."""
    kinds = (
        (body.replace("\n", " ").replace('"', ""), "line breaks and quotes are lost"),
        (mojibake(body), "UTF-8 read as Latin-1"),
        (body.replace("\\", ""), "backslashes are lost"),
        (body.encode("unicode_escape").decode(), "the text is escaped twice"),
        (body.replace("&", "&amp;").replace("<", "&lt;"), "the text is escaped for HTML"),
        (body.split("\n", maxsplit=1)[0][:-1], "the text loses its end"),
    )
    text, kind = next(kind for kind in (*kinds[at % len(kinds) :], *kinds) if kind[0] != body)
    return calling("send_message", {"recipient": recipient, "body": text}), kind


def message(rng: Random, at: int) -> Draft:
    """Want a body that arrives code point for code point."""
    recipient, body = full_name(rng), _TEXTS[at % len(_TEXTS)](rng)
    wish = (
        f"Send {recipient} the message that stands between the two lines of tildes, exactly as it "
        f"is. The lines of tildes do not belong to it, and it ends without a line break.\n"
        f"~~~~\n{body}\n~~~~"
    )
    given = {"recipient": recipient, "body": body}
    wrong, kind = _instead(at, recipient, body)
    return Draft(
        request=request(user(wish), tools=_TOOLS),
        expect=expect_call("send_message", given),
        right=calling("send_message", given),
        wrong=wrong,
        why=f"The text between the lines of tildes, code point for code point. Wrong: {kind}.",
    )


def _instead(at: int, recipient: str, body: str) -> Wrong:
    if at % 8 == 0:
        raw = f'{{"recipient": "{recipient}", "body": "{body}'
        cut = {**calling("send_message", raw), "finish_reason": "length"}
        return cut, "quotes are not escaped, and the arguments are cut off"
    if at % 8 == 5:
        return answer(f"I have sent the message to {recipient}."), "text instead of a call"
    return _damaged(at // 2, recipient, body)


FAMILIES = (Family("tool-text", "tools-single", 24, message),)
