"""A key that a server quotes, in whatever form, is nowhere in what a run leaves behind."""

from __future__ import annotations

import base64
import html
import io
import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from urllib.parse import quote, unquote

import pytest
from aiohttp import web
from rich.console import Console

from denv.records import Endpoint, Secret
from denv.report import print_report, write_html, write_json, write_junit, write_markdown
from denv.runner import run_parity
from denv.store import open_store
from tests import suites
from tests.stubs import StubServer, answers

KEYS = ["sk-Ab/Cd+Ef=Gh&Ij<Kl>Mn'Op\"Qr_0123", "100%~of{this}|is^a`key\\and;more#0123"]
HEADER = "team/secret+0123456="


def hexed(text: str, before: str, digits: int = 2) -> str:
    return "".join(f"{before}{ord(character):0{digits}X}" for character in text)


FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "URL": lambda key: quote(key, safe=""),
    "URL, every character": lambda key: hexed(key, "%"),
    "URL twice": lambda key: quote(quote(key, safe=""), safe=""),
    "HTML": html.escape,
    "HTML, decimal": lambda key: "".join(f"&#{ord(character)};" for character in key),
    "HTML, hexadecimal": lambda key: "".join(f"&#x{ord(character):X};" for character in key),
    "escapes": lambda key: hexed(key, "\\u", 4),
    "escapes of scripts": lambda key: hexed(key, "\\x"),
    "hexadecimal": lambda key: key.encode().hex(),
    "base64": lambda key: base64.b64encode(b"user:" + key.encode()).decode(),
    "JSON": json.dumps,
}


def in_json(text: str) -> str:
    return json.dumps(text)[1:-1]


def in_safe_json(text: str) -> str:
    """Escape as ASP.NET and Gson do."""
    return re.sub("[+=&<>'/]", lambda found: f"\\u{ord(found[0]):04X}", in_json(text))


def in_escapes(text: str) -> str:
    return "".join(f"\\u{ord(character):04x}" for character in text)


QUOTERS = [in_json, in_safe_json, in_escapes]


def quoting(secrets):
    """Quote each secret in each form: in an error, in an answer, and in headers."""
    ways = [
        (secret, form, write)
        for secret in secrets
        for form in FORMS
        for write in QUOTERS
        # No encoder has a reason to escape the letters and digits of another's output.
        if write is not in_escapes or form == "plain"
    ]

    def handler(request, n):
        content = request["messages"][-1]["content"]
        if not content.startswith("number"):
            return answers.completion(content)
        number = int(content.removeprefix("number ").removesuffix(";"))
        secret, form, write = ways[number // 2]
        text = FORMS[form](secret)
        if number % 2:
            body = f'{{"error":{{"message":"{write("bad key " + text)}"}}}}'
        else:
            body = json.dumps(answers.completion("@")).replace("@", write(f"{content} {text}"))
        return web.Response(
            body=body.encode(),
            status=400 if number % 2 else 200,
            content_type="application/json",
            headers={"X-Echo": text, "X-Replica": FORMS[form](secret)},
        )

    return handler, 2 * len(ways)


def cells(path):
    """Give every value of every table."""
    with closing(sqlite3.connect(path)) as database:
        for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'"):
            for row in database.execute(f'SELECT * FROM "{table}"'):
                for value in row:
                    yield value if isinstance(value, bytes) else str(value).encode()


def strings(value):
    """Give every string of a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def readings(raw: bytes):
    """Give a text as it is, its JSON strings, and each of them with its escapes read."""
    text = raw.decode("utf-8", "replace")
    found = [text]
    for line in (text, *text.splitlines()):
        try:
            found += strings(json.loads(line))
        except ValueError:
            continue
    for _ in range(4):
        yield from found
        found = [read(each) for each in found]


def read(text: str) -> str:
    """Read the escapes of a text once."""
    text = re.sub(r"\\(?:u00|x)([0-9a-fA-F]{2})", lambda found: chr(int(found[1], 16)), text)
    return html.unescape(unquote(text)).replace("\\/", "/").replace('\\"', '"')


def traces(secret: str, raw: bytes) -> list[str]:
    """Give where a text shows a secret."""
    core = base64.b64encode(b"user:" + secret.encode()).decode()[8:-8]
    needles = [secret, secret.replace("\\", ""), secret.encode().hex(), core]
    return [
        each[max(0, each.index(needle) - 100) :][:300]
        for each in readings(raw)
        for needle in needles
        if needle in each
    ]


def reports(report):
    """Give the report in every format."""
    for write in (write_json, write_html, write_junit, write_markdown):
        stream = io.StringIO()
        write(report, stream)
        yield stream.getvalue().encode()
    stream = io.StringIO()
    print_report(report, Console(file=stream, width=300), {})
    yield stream.getvalue().encode()


@pytest.mark.parametrize("key", KEYS)
async def test_no_form_of_a_key_is_kept_or_shown(tmp_path, monkeypatch, key):
    """All files, rows and reports are searched, raw and with every escape read."""
    home = tmp_path / "home"
    monkeypatch.setenv("DENV_HOME", str(home))
    handler, count = quoting([key, HEADER])
    store = open_store(home)
    async with StubServer(handler) as stage, StubServer() as reference:
        report = await run_parity(
            suites.load(tmp_path, suites.numbered(count)),
            stage=Endpoint(
                stage.url,
                key=Secret(key),
                headers={"X-Team": HEADER},
                secret_headers=frozenset({"X-Team"}),
                replica_header="x-replica",
                retries=0,
            ),
            reference=Endpoint(reference.url, retries=0),
            store=store,
        )
    left = [*reports(report)]
    store.close()
    left += [path.read_bytes() for path in home.rglob("*") if path.is_file()]
    left += cells(home / "denv.sqlite3")
    assert sum(b"***" in each for each in left) > count
    for secret in (key, HEADER):
        assert [trace for raw in left for trace in traces(secret, raw)] == []
    assert any(traces("number 0;", raw) for raw in left)
