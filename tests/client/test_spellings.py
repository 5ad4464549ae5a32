"""A key that a server writes back is cut out in whatever way it is spelled."""

from __future__ import annotations

import base64
import html
import json
import sqlite3
import time
import urllib.parse
from collections.abc import Callable
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denv.client.spellings import Spellings
from denv.records import Endpoint, Secret
from denv.report import write_html, write_json, write_junit, write_markdown
from denv.runner import run_parity
from denv.store import open_store
from tests import suites
from tests.stubs import StubServer, answers

KEY = "sk-Ab/Cd+Ef&Gh<Ij>Kl=Mn'Op\"Qr=="


def json_escaped(text):
    """Escape every character, as the most careful JSON encoder may."""
    return "".join(f"\\u{ord(c):04x}" for c in text)


def careful(text):
    """Escape what encoders that mind HTML escape in JSON."""
    return json.dumps(text)[1:-1].translate({ord(c): f"\\u{ord(c):04X}" for c in "+&<>='/"})


WAYS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "JSON with each character escaped": json_escaped,
    "JSON that minds HTML": careful,
    "JSON with escaped slashes": lambda text: json.dumps(text)[1:-1].replace("/", "\\/"),
    "JSON in JSON": lambda text: json.dumps(careful(text))[1:-1],
    "HTML": html.escape,
    "HTML by numbers": lambda text: "".join(f"&#{ord(c)};" for c in text),
    "percent": lambda text: urllib.parse.quote(text, safe=""),
    "percent, each character": lambda text: "".join(f"%{ord(c):02x}" for c in text),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "hexadecimal": lambda text: text.encode().hex(),
}


@pytest.mark.parametrize("way", WAYS)
def test_each_spelling_is_cut(way):
    """The text before and after the key stays, and nothing of the key does."""
    spelled = WAYS[way](KEY).encode()
    spellings = Spellings(KEY)
    raw = b'{"error":"bad key ' + spelled + b' here"}'
    assert spellings.may_hold(raw)
    left = spellings.cut(raw, b"***")
    assert left.startswith(b'{"error":"bad key ')
    assert left.endswith(b' here"}')
    assert spelled not in left
    assert len(left) < len(raw) - 8


@given(st.binary(max_size=200))
def test_other_bytes_are_left_alone(raw):
    """What does not hold the key comes back as the same object."""
    assert Spellings(KEY).cut(raw, b"***") is raw


def test_looking_takes_linear_time():
    """A megabyte of what nearly begins an escaped key is looked through at once."""
    raw = (json_escaped(KEY)[:-6] + " ").encode() * 4000
    started = time.monotonic()
    Spellings(KEY).cut(raw, b"***")
    assert time.monotonic() - started < 20


@pytest.mark.parametrize(
    "way", ["plain", "JSON that minds HTML", "JSON with each character escaped"]
)
async def test_nothing_that_is_written_holds_the_key(tmp_path, monkeypatch, way):
    """A key that the stage echoes is in no row of the store and in no report, decoded or not."""
    monkeypatch.setenv("DENV_HOME", str(tmp_path / "home"))
    body = json.dumps(answers.completion("@")).replace("@", WAYS[way](KEY).replace('"', '\\"'))
    if way == "plain":
        body = json.dumps(answers.completion(KEY))
    store = open_store(tmp_path / "home")
    async with StubServer(lambda request, n: body.encode()) as stage, StubServer() as reference:
        report = await run_parity(
            suites.load(tmp_path, suites.numbered(2)),
            stage=Endpoint(url=stage.url, model="stub", key=Secret(KEY), retries=0),
            reference=Endpoint(url=reference.url, model="stub"),
            store=store,
        )
    write_json(report, tmp_path / "report.json")
    write_html(report, tmp_path / "report.html")
    write_junit(report, tmp_path / "report.xml")
    write_markdown(report, tmp_path / "report.md")
    store.close()
    with closing(sqlite3.connect(tmp_path / "home" / "denv.sqlite3")) as connection:
        rows = connection.execute("SELECT document FROM results").fetchall()
        bodies = connection.execute("SELECT body FROM answers WHERE side = 'stage'").fetchall()
    shown = [json.loads(document)["stage"]["text"] for (document,) in rows]
    assert shown == ["***"] * 2
    assert all(KEY not in str(json.loads(raw)) for (raw,) in bodies)
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes(), path
            assert html.escape(KEY).encode() not in path.read_bytes(), path
