"""What the measuring commands are given: refused before anything is sent, with nothing lost."""

from __future__ import annotations

import json

import pytest

from tests import suites
from tests.stubs import answers

GATES = {
    "schema": "denv.parity.gates/1",
    "gates": [],
    "admissible": {},
}


@pytest.fixture
async def sides(serve):
    """Two stub servers, as options."""
    stub = await serve()
    return stub, ("--stage", stub.url, "--reference", stub.url, "--retries", 0)


@pytest.mark.parametrize("command", ["tokens", "answers", "derivations"])
async def test_an_output_over_an_input_is_refused(denv, sides, tmp_path, command):
    """The gates file that is read is never written over, through a link neither."""
    stub, both = sides
    gates = tmp_path / "gates.json"
    gates.write_text(json.dumps(GATES), "utf-8")
    link = tmp_path / "link.json"
    link.symlink_to(gates)
    for target in (gates, link):
        ended = await denv("parity", "measure", command, *both, "--gates", gates, "--json", target)
        assert ended.code == 2
        assert "would overwrite the file of --gates" in ended.err
    assert json.loads(gates.read_text("utf-8")) == GATES
    assert stub.seen == []


async def test_two_outputs_in_one_file_are_refused(denv, sides, tmp_path):
    """A document and a page cannot be one file, however it is written."""
    stub, both = sides
    target = tmp_path / "a.x"
    twice = ("--json", target, "--html", tmp_path / "." / "a.x")
    for words in (("parity", "measure", "tokens", *both), ("bench", "speed", "--stage", stub.url)):
        ended = await denv(*words, *twice)
        assert ended.code == 2
        assert "are the same file" in ended.err
    assert stub.seen == []
    assert not target.exists()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"schema": "denv.parity.gates/1"}', "admissible: not what denv parity gates writes"),
        (json.dumps(GATES | {"admissible": "x"}), "--gates"),
        ('{"schema": "denv.parity.tokens/1"}', "not a document of denv.parity.gates/1"),
        ("[1]", "not a document of denv"),
        ('{"a": NaN}', "not JSON"),
    ],
)
async def test_a_gates_file_that_is_none_is_refused(denv, sides, tmp_path, content, says):
    """What is no whole document of the gates is an error, not an undecided measurement."""
    stub, both = sides
    gates = tmp_path / "gates.json"
    gates.write_text(content, "utf-8")
    ended = await denv("parity", "measure", "tokens", *both, "--gates", gates)
    assert ended.code == 2
    assert says in ended.err
    assert len(ended.lines) == 1
    assert stub.seen == []


async def test_devices_are_no_documents(denv, sides):
    """A device that never ends is not read."""
    ended = await denv("parity", "measure", "tokens", *sides[1], "--gates", "/dev/zero")
    assert ended.code == 2
    assert "not a file" in ended.err


async def test_a_model_name_that_is_no_text_is_refused(denv, serve):
    """A lone surrogate in the name of the only model cannot be written: one line, exit 2."""
    stub = await serve()
    stub.listing = b'{"data": [{"id": "a\\ud800b"}]}'
    sides = ("--stage", stub.url, "--reference", stub.url, "--retries", 0)
    for words in (("parity", "gates", *sides), ("bench", "speed", "--stage", stub.url)):
        ended = await denv(*words)
        assert ended.code == 2
        assert "a name that is no text" in ended.err
        assert "Traceback" not in ended.err


async def test_a_refusal_over_several_lines_is_one_line(denv, serve):
    """What a server says cannot look like a line of ours."""
    stub = await serve(answers.always(lambda: answers.error(400, "no\r\ndenv: all is well")))
    ended = await denv("bench", "speed", "--stage", stub.url, "--retries", 0)
    assert not any(line.startswith("denv: all is well") for line in ended.lines)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--stage-price", "1e308/1e308"), "prices are numbers from 0 to"),
        (("--repeats", 100_000), "it must be 1 to 1000"),
    ],
)
async def test_plan_refuses_what_a_run_refuses(denv, tmp_path, options, says):
    """Prices and repeats beyond all use are errors of the plan too."""
    suite = suites.write(tmp_path, suites.numbered(3))
    ended = await denv("parity", "plan", "--suite", suite, "--json", *options)
    assert ended.code == 2
    assert says in ended.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("parity", "gates", "--resume", "gates-none"), "there is no measurement"),
        (("parity", "measure", "tokens", "--retries", 1000), "retries"),
        (("parity", "measure", "answers", "--timeout", -1), "--timeout is -1"),
        (("bench", "speed", "--retries", 1000), "retries"),
    ],
)
async def test_errors_of_usage_come_before_the_costs(denv, sides, words, says):
    """What cannot be done has no price: the error is the only line."""
    stub, both = sides
    urls = both[:2] if words[0] == "bench" else both[:4]
    ended = await denv(*words, *urls)
    assert ended.code == 2
    assert says in ended.err
    assert len(ended.lines) == 1
    assert stub.seen == []


async def test_costs_come_before_anything_is_sent(denv, sides):
    """A run that is in order says its costs first, even where the server cannot be reached."""
    gone = ("--stage", "http://127.0.0.1:9/v1", "--reference", "http://127.0.0.1:9/v1")
    for words in (("parity", "gates", *gone), ("bench", "speed", *gone)):
        ended = await denv(*words, "--retries", 0)
        assert ended.code == 4
        assert "stage: at most" in ended.lines[0]
