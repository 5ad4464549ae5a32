"""The document, its tables, and the page with its pictures."""

from __future__ import annotations

import io
import json
import re
import xml.etree.ElementTree as ET

import jsonschema
import pytest
from rich.console import Console

from denv.instruments.speed import Speed, Target
from denv.records import Endpoint, Side
from denv.report.speed import best_mark, number, page, render, spread
from denv.report.speed_pictures import depth_picture, load_picture
from denv.runner.benching import run_bench
from denv.schemas import schema
from tests.instruments.speed.conftest import run
from tests.instruments.speed.scripted import Machine
from tests.instruments.speed.test_live import speaking
from tests.stubs import StubServer

SVG = "{http://www.w3.org/2000/svg}"


def document(machines=None, **settings):
    """Give a whole document, as the runner writes it, of machines of known speeds."""
    machines = machines or {"stage": Machine(draft=4)}
    sides = {name: Side.REFERENCE if name == "reference" else Side.STAGE for name in machines}
    targets = tuple(Target(name, side) for name, side in sides.items())
    speed = Speed(targets=targets, tokens=16, depths=(300, 600), levels=(1, 2), **settings)
    server = {
        "draft": None, "url": "http://127.0.0.1:8080/v1", "name": None, "model": "m",
        "engine": None, "build": None, "slots": None, "context": None,
    }  # fmt: skip
    spent = {"requests": 1, "prompt_tokens": 2, "completion_tokens": 3}
    return {
        "schema": "denv.bench.speed/1",
        "bench": "speed-20261130-120000-abcdef",
        "started": "2026-11-30T12:00:00Z",
        "finished": "2026-11-30T12:01:00Z",
        "denv": {"version": "0", "python": "3"},
        "servers": {name: {"side": side.value, **server} for name, side in sides.items()},
        "settings": {**speed.settings(), "seed": 1},
        **run(speed, machines),
        "spent": dict.fromkeys(machines, spent),
    }


def shown(found, width=120):
    stream = io.StringIO()
    Console(width=width, file=stream).print(render(found))
    return stream.getvalue()


def check(found):
    validator = jsonschema.Draft202012Validator(schema("speed-1"))
    json.dumps(found, allow_nan=False)
    assert [error.message for error in validator.iter_errors(found)] == []


@pytest.mark.parametrize(
    "found",
    [
        document(),
        document(drafts=(0, 1, 4)),
        document({"stage": Machine(tells=False)}),
        document({"stage": Machine(context=500)}),
        document({"stage": Machine(), "reference": Machine(evaluation_s=0.01)}),
    ],
    ids=["drafts unasked", "drafts", "silent", "short context", "two sides"],
)
def test_documents_are_of_the_schema(found):
    """Whatever a server tells and refuses, the document is of the shipped form."""
    check(found)


async def test_what_the_runner_writes_is_of_the_schema():
    """The whole document of a run over sockets is."""
    async with StubServer(speaking()) as stub:
        speed = Speed(tokens=12, depths=(60,), levels=(1,))
        benched = await run_bench(speed, endpoints={"stage": Endpoint(url=stub.url, retries=0)})
    check(benched.document)
    assert benched.document["bench"] == benched.bench
    assert "verdict" not in json.dumps(benched.document)


def test_the_schema_refuses_what_is_not_there():
    """An unknown key, a verdict, and a median of two samples are no documents."""
    validator = jsonschema.Draft202012Validator(schema("speed-1"))
    found = document()
    assert not validator.is_valid({**found, "verdict": "pass"})
    cell = found["depths"][0]["cells"][0]
    cell["tokens_per_s"]["samples"] = 2
    assert not validator.is_valid(found)


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0.1234, "0.123"), (1.234, "1.23"), (12.34, "12.3"), (1234.5, "1,234")],
)
def test_numbers_have_three_digits(value, text):
    """A figure is written with what it is worth."""
    assert number(value) == text


def test_a_spread_is_a_median_with_its_range():
    """Absent figures are a dash, never a zero."""
    assert spread({"median": 12.0, "min": 9.5, "max": 100.4, "samples": 3}) == "12.0 (9.50–100)"
    assert spread(None) == "–"


def test_the_best_is_marked():
    """One cell alone bears the mark, and says where ranges overlap."""
    cell = {"server": "stage", "draft": 2}
    assert best_mark({**cell, "clear": True}, cell) == " ★ best"
    assert best_mark({**cell, "clear": False}, cell) == " ★ best, ranges overlap"
    assert best_mark({**cell, "clear": True}, {"server": "stage", "draft": 3}) == ""
    assert best_mark(None, cell) == ""


def test_the_terminal_shows_the_table_of_lengths():
    """Context depth × draft length stands there, with one best a depth."""
    text = shown(document(drafts=(0, 1, 4)))
    assert re.search(r"depth +draft 0 +draft 1 +draft 4", text)
    table = text.partition("Tokens/s by context depth and draft length")[2].partition("Prefill")[0]
    assert table.count("★ best") == 2
    assert re.search(r"300 +50\.0 +93\.8 +250 ★ best", table)


def test_the_terminal_says_why_there_is_one_column():
    """A server that ignores the field has its reason below the table."""
    text = shown(document({"stage": Machine(draft=4, obeys=False)}, drafts=(1, 4)))
    assert "one draft column: the server ignores speculative.n_max" in text
    assert "★" not in text


def test_no_picture_without_figures():
    """Where nothing was measured there is no empty frame."""
    assert depth_picture({"depths": []}) is None
    assert load_picture({"load": []}) is None


def test_pictures_are_drawings_with_a_text():
    """Each is an SVG of its own names, with title and description, in the page's colours."""
    found = document(drafts=(0, 1, 4))
    pictures = [str(depth_picture(found)), str(load_picture(found))]
    ids = []
    for picture in pictures:
        root = ET.fromstring(picture)
        assert root.get("role") == "img"
        named = {element.get("id"): element for element in root.iter() if element.get("id")}
        titles = [named[name] for name in (root.get("aria-labelledby") or "").split()]
        assert [element.tag for element in titles] == [f"{SVG}title", f"{SVG}desc"]
        ids += re.findall(r'\bid="([^"]+)"', picture)
        assert not re.search(r"#[0-9a-f]{6}", picture)
        assert "var(--series-0)" in picture
        assert "var(--ink)" in picture
    assert len(ids) == len(set(ids))
    described = ET.fromstring(pictures[0]).find(f"{SVG}desc")
    assert described is not None
    assert "stage, draft 4: 250.0 at 300 (best), 250.0 at 600 (best)" in (described.text or "")


def test_references_of_a_picture_lead_to_its_own_parts():
    """What a drawing refers to is in it, under the name that it has on the page."""
    picture = str(depth_picture(document()))
    names = set(re.findall(r'\bid="([^"]+)"', picture))
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', picture))
    assert used
    assert used <= names


def test_the_page_needs_nothing_else():
    """One file: no script, no address to load from, every figure of the tables in it."""
    found = document(drafts=(0, 1, 4))
    html = page(found)
    assert html.startswith("<!doctype html>")
    assert "<script" not in html
    assert not re.search(r"""(?:src|href)=["'](?!#|data:,)""", html)
    assert html.count("<svg") == 2
    assert "250 ★ best" in html
    assert "--series-7" in html
    assert "prefers-color-scheme: dark" in html


def test_hostile_names_do_not_act():
    """Markup and control characters of servers are shown and do nothing."""
    found = document()
    hostile = "<script>alert(1)</script>\x1b[2J\u202e"
    found["servers"]["stage"]["model"] = hostile
    found["notes"] = [hostile]
    found["depths"][0]["servers"][0]["reason"] = hostile
    found["depths"][0]["cells"][0]["server"] = hostile
    html, text = page(found), shown(found)
    for written in (html, text):
        assert not set(written) & {"\x1b", "\u202e"}
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    ET.fromstring(str(depth_picture(found)))
