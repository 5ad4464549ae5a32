"""The import command: what it writes, what it lists, and how it ends."""

import json

import pytest

from denv.suite import load_suite
from tests.suites import WEATHER

SAMPLE = {"messages": [{"role": "user", "content": "Rain?"}], "tools": [WEATHER]}
CONFIG = """\
prompts: [file://p.txt]
tests:
  - {vars: {word: [no, file]}, assert: [{type: contains, value: '{{word}}'}]}
  - tests.yaml
"""
LOG = {
    "eval": {"task": "t", "scorers": [{"name": "includes"}]},
    "samples": [{"id": 1, "input": "Q", "target": "A"}],
}


@pytest.fixture
def files(tmp_path):
    """Write a file of each form, and those that they name."""
    labelled = {**SAMPLE, "should_call_tool": True}
    (tmp_path / "s.jsonl").write_text(json.dumps(labelled) + "\n" + json.dumps(SAMPLE) + "\n")
    (tmp_path / "e.jsonl").write_text('{"input": "2+2?", "ideal": "4"}\n')
    (tmp_path / "c.yaml").write_text(CONFIG)
    (tmp_path / "p.txt").write_text("Say {{word}}\n---\nWrite {{word}}")
    (tmp_path / "tests.yaml").write_text("- {vars: {word: x}, assert: [{type: is-json}]}\n")
    (tmp_path / "l.json").write_text(json.dumps(LOG))
    return tmp_path


FORMS = [("kvv", "s.jsonl", 1), ("promptfoo", "c.yaml", 6), ("openai-evals", "e.jsonl", 1)]
FORMS += [("inspect", "l.json", 1)]


@pytest.mark.parametrize(("form", "name", "count"), FORMS)
async def test_each_form_becomes_a_valid_suite(denv, files, form, name, count):
    """What is written passes ``parity check``, and writing it again gives the same bytes."""
    out = files / "out.jsonl"
    command = ("suite", "import", "--from", form, files / name, "--out", out)
    ended = await denv(*command)
    assert (ended.code, ended.out) == (0, "")
    assert ended.lines[-1].startswith(f"{count} cases carried over, ")
    assert load_suite(out).cases == count
    assert (await denv("parity", "check", "--suite", out)).code == 0
    before = out.read_bytes()
    await denv(*command)
    assert out.read_bytes() == before


async def test_what_is_left_behind_is_listed(denv, files):
    """Each is told with its place and counted, on standard error or as JSON."""
    out = files / "out.jsonl"
    command = ("suite", "import", "--from", "kvv", files / "s.jsonl", "--out", out)
    ended = await denv(*command)
    where = f"{files / 's.jsonl'}:2"
    assert ended.lines == [
        f"{where}: says nothing of what is expected",
        "1 cases carried over, 1 left behind, 0 parts left out",
    ]
    listed = json.loads((await denv(*command, "--json")).out)
    assert (listed["cases"], listed["cases_left"]) == (1, 1)
    assert listed["left"] == [
        {"where": where, "why": "says nothing of what is expected", "case": True}
    ]


async def test_an_import_of_nothing_is_an_error(denv, files):
    """Where nothing is carried over no suite is written, and the list is told all the same."""
    (files / "s.jsonl").write_text(json.dumps(SAMPLE) + "\n")
    out = files / "out.jsonl"
    ended = await denv("suite", "import", "--from", "kvv", files / "s.jsonl", "--out", out)
    assert ended.code == 2
    assert "says nothing of what is expected" in ended.lines[0]
    assert "nothing of it could be carried over" in ended.lines[-1]
    assert not out.exists()


async def test_the_suite_may_go_to_standard_output(denv, files):
    """``-`` writes the suite there, and all else to standard error."""
    ended = await denv("suite", "import", "--from", "inspect", files / "l.json", "--out", "-")
    assert json.loads(ended.out)["id"] == "t-1"


async def test_ideals_are_compared_as_asked(denv, files):
    """``--compare includes`` wants an ideal anywhere in the answer."""
    command = ("suite", "import", "--from", "openai-evals", files / "e.jsonl", "--out", "-")
    assert json.loads((await denv(*command)).out)["expect"] == {"regex": r"\A(?:4)"}
    included = await denv(*command, "--compare", "includes")
    assert json.loads(included.out)["expect"] == {"contains": "4"}


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--from", "kvv", "none.jsonl", "--out", "o.jsonl"], "none.jsonl: cannot be read"),
        (["--from", "kvv", "s.jsonl", "--out", "s.jsonl"], "would overwrite the file of FILE"),
        (["--from", "kvv", "s.jsonl", "--out", "no/o.jsonl"], "there is no folder"),
        (["--from", "kvv", "s.jsonl", "--out", "-", "--json"], "standard output takes one thing"),
        (["--from", "kvv", "s.jsonl", "--out", "o", "--compare", "match"], "--compare is for"),
        (["--from", "promptfoo", "s.jsonl", "--out", "o.jsonl"], "s.jsonl:2: not YAML"),
        (["--from", "promptfoo", "tests.yaml", "--out", "o.jsonl"], "not a mapping of keys"),
        (["--from", "inspect", "s.jsonl", "--out", "o.jsonl"], "s.jsonl: not JSON"),
        (["--from", "inspect", "x.eval", "--out", "o.jsonl"], "x.eval: not a zip archive"),
        (["--from", "inspect", "y.eval", "--out", "o.jsonl"], "y.eval: cannot be read"),
        (["--from", "kvv", "latin.jsonl", "--out", "o.jsonl"], "latin.jsonl:2: not UTF-8"),
        (["--from", "other", "s.jsonl", "--out", "o.jsonl"], "other"),
        (["s.jsonl", "--out", "o.jsonl"], "--from"),
    ],
)
async def test_bad_input_is_one_clear_error(denv, files, monkeypatch, arguments, why):
    """Each ends with 2 and one line, and nothing is written."""
    monkeypatch.chdir(files)
    (files / "x.eval").write_bytes(b"no zip")
    (files / "latin.jsonl").write_bytes(b"{}\n\xe9\n")
    before = sorted(files.iterdir())
    ended = await denv("suite", "import", *arguments)
    assert ended.code == 2, ended
    assert why in ended.lines[-1]
    assert sorted(files.iterdir()) == before


@pytest.mark.parametrize("name", ["deep.json", "deep.jsonl", "deep.yaml"])
async def test_a_named_file_that_is_nested_too_deeply_is_told(denv, files, name):
    """What no parser reads is left behind with its reason, and the import goes on."""
    (files / name).write_text("[" * 100_000)
    (files / "c.yaml").write_text(f"prompts: [hello]\ntests: [file://{name}]\n")
    done = await denv(
        "suite", "import", "--from", "promptfoo", files / "c.yaml", "--out", files / "o.jsonl"
    )
    assert done.code == 2
    assert "nested too deeply" in done.err


async def test_what_a_terminal_would_obey_is_shown(denv, files):
    """A description from elsewhere cannot move the cursor."""
    tests = '[{description: "a\\e[2Jb", assert: []}, {assert: [{type: is-json}]}]'
    (files / "c.yaml").write_text(f"prompts: [Hi]\ntests: {tests}\n")
    ended = await denv("suite", "import", "--from", "promptfoo", files / "c.yaml", "--out", "-")
    assert "a\\x1b[2Jb" in ended.lines[0]
