"""The command: what it writes, what it shows, and its exit code."""

from __future__ import annotations

import asyncio
import io
import json
import re

import jsonschema
import pytest
from aiohttp import web
from rich.console import Console

from denv.cli.gates import gates
from denv.report.gates import render
from denv.schemas import schema
from tests.instruments.gates.toy import Toy, measure
from tests.stubs import StubServer, answers

BARE = Toy(engine="api", counts=False, logprobs=False)


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    monkeypatch.setenv("DENV_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "160")


def served(toy):
    """Let a stub server answer every path as the toy does."""

    def handler(request, n):
        async def answer(http, stub):
            status, body = toy.answer(http.path, request or {}, repeat=n)
            return web.json_response(body, status=status)

        return answer

    return StubServer(handler)


async def run(stage, reference, tmp_path, *more):
    """Run the command between two servers; give its exit code and its document."""
    target = tmp_path / "gates.json"
    arguments = ["--stage", stage.url, "--reference", reference.url, "--json", str(target)]
    small = ["--context-tokens", "200", "--samples", "20", "--retries", "0", "--quiet"]
    call = [*arguments, *small, *more]
    code = await asyncio.to_thread(gates.main, call, standalone_mode=False)
    return code, json.loads(target.read_text("utf-8"))


@pytest.mark.parametrize(
    ("sides", "code", "word"),
    [
        ((Toy(), Toy()), 0, "pass"),
        ((Toy(with_tools=False), Toy()), 1, "fail"),
        ((BARE, BARE), 3, "unknown"),
    ],
)
async def test_the_worst_gate_gives_the_exit_code(tmp_path, capsys, sides, code, word):
    """0 where all pass, 1 where one fails, 3 where one is unknown; the document says the same."""
    async with served(sides[0]) as one, served(sides[1]) as other:
        found, document = await run(one, other, tmp_path)
    assert found == code
    jsonschema.validate(document, schema("gates-1"))
    assert word in {gate["state"] for gate in document["gates"]}
    assert document["spent"]["stage"]["requests"] > 40
    out, err = capsys.readouterr()
    assert out == ""
    assert "requests" in err
    assert "Measurements" in err


async def test_an_api_that_offers_chat_alone(tmp_path):
    """The stub answers chat only: nothing is known that it does not show, and it ignores stop."""

    def handler(request, n):
        if request is None or "messages" not in request:
            return answers.error(404, "no such path")
        return answers.completion(request["messages"][-1]["content"] or "")

    async with StubServer(handler) as one, StubServer(handler) as other:
        code, document = await run(one, other, tmp_path)
    states = {gate["id"]: gate["state"] for gate in document["gates"]}
    unknown = {"G2": "unknown", "G3": "unknown", "G5": "unknown"}
    assert states == {"G1": "pass", **unknown, "G4": "pass", "G6": "fail"}
    assert code == 1
    assert "counts every text alike" in document["gates"][1]["finding"]


async def test_what_was_asked_is_not_asked_again(tmp_path, capsys):
    """A measurement that is resumed by its id asks for what has no answer, here nothing."""
    async with served(Toy()) as one, served(Toy()) as other:
        _, first = await run(one, other, tmp_path)
        before = len(one.seen)
        code, again = await run(one, other, tmp_path, "--resume", first["measure"])
        asked = len(one.seen) - before
    assert code == 0
    assert asked <= 2  # its models and the preflight
    assert again["gates"] == first["gates"]


def shown(document, *, width=160):
    stream = io.StringIO()
    Console(file=stream, width=width).print(render(document))
    return stream.getvalue()


def test_tables_name_gates_findings_and_measurements():
    """What does not pass stands with its finding; what is not admissible with its reason."""
    found = measure(Toy(with_tools=False))
    text = " ".join(shown(found).split())
    assert "G3 template fail" in text
    assert "the prompts part at character" in text
    assert "equals yes" in text
    assert "answers no G3 template: tools:" in text


@pytest.mark.parametrize("width", [40, 80, 200])
def test_tables_hold_no_control_characters(width):
    """Whatever a server writes into a finding is shown as escapes, on any width."""
    found = measure(Toy())
    found["gates"][2] |= {"state": "fail", "finding": "\x1b[31m[red]x\u202e\x00\u200b"}
    text = shown(found, width=width)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e]", text)
    if width == 200:
        assert r"\x1b[31m[red]x\u202e\x00\u200b" in text
