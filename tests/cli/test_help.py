"""Pages of help: quick, alike in all commands, and whole on narrow terminals."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict

import click
import pytest

from denv.cli import denv as cli
from denv.cli.lazy import WHOLE, LazyGroup
from denv.cli.parity import parity
from tests.cli.commands import walk, words

ALL = {" ".join(words(each)): each for each in walk()}
COMMANDS = {name: each for name, each in ALL.items() if not isinstance(each.command, click.Group)}
GROUPS = {
    name: (each.command, each) for name, each in ALL.items() if isinstance(each.command, LazyGroup)
}

HEAVY = (
    "aiohttp", "asyncio", "jinja2", "matplotlib", "numpy", "pydantic", "rich", "scipy", "sklearn",
    "sqlalchemy", "statsmodels", "sympy", "temporalio",
)  # fmt: skip

FORMS: dict[str, set[str | None]] = {
    "--concurrency": {"N", "N,…"},  # bench speed asks at several
    "--json": {None, "F"},  # prints the result itself, or writes it beside a table
    "--name": {"NAME"},
    "--out": {"DIR", "F", "S.jsonl", "P.jsonl"},
    "--recipe": {"NAME|PATH", "NAME"},  # vary: a shipped one alone
    "--resume": {"RUN", "ID"},
    "--table": {"NAME", "F"},  # of a database, of weights
}
"""Options of one name that mean more than one thing; all others are written alike."""

RUN_ALL = """
import contextlib, io, json, sys
from denv.cli import run

told = {}
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        codes = [run([*words, "--help"]), run([*words, "--no-such-option"])]
    heavy = [name for name in json.loads(sys.argv[2]) if name in sys.modules]
    if codes != [0, 2] or heavy:
        sys.exit(f"{words}: exit codes {codes}, imported {heavy}")
print("all light")
"""


def options_of(context):
    """Give a command's own options."""
    return [each for each in context.command.params if isinstance(each, click.Option)]


def test_no_page_of_help_or_usage_error_imports_what_is_slow():
    """Help and slips of the pen are answered at once: nothing large is imported for them."""
    given = [words(each) for each in ALL.values()]
    said = subprocess.run(
        [sys.executable, "-c", RUN_ALL, json.dumps(given), json.dumps(HEAVY)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (said.stdout, said.stderr) == ("all light\n", "")


@pytest.mark.parametrize("words", [[], ["parity"], ["parity", "measure"]])
def test_the_help_of_a_group_imports_none_of_its_commands(words):
    """A group's page comes from the table; that is what keeps it quick."""
    code = (
        f"from denv.cli import run; run([*{words}, '--help']); import sys; "
        "print([m for m in sys.modules if m.startswith('denv.cli.')])"
    )
    said = subprocess.check_output([sys.executable, "-c", code], text=True).splitlines()
    for module, _ in ({} if words else cli.lazy or parity.lazy).values():
        assert repr(module.partition(":")[0]) not in said[-1]


@pytest.mark.parametrize("name", GROUPS)
def test_the_table_says_what_the_commands_say(name):
    """Each name leads to the command of that name, and the line about it is its own first one."""
    group, context = GROUPS[name]
    for each, (_, says) in group.lazy.items():
        found = group.get_command(context, each)
        assert found is not None
        assert found.name == each
        assert says == found.get_short_help_str(WHOLE)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_says_what_it_is_for_and_how_it_ends(name):
    """The first sentence fits a line of 100 columns; exit codes are listed."""
    context = COMMANDS[name]
    first = context.command.get_short_help_str(WHOLE)
    assert first.endswith(".")
    assert len(first) <= 96
    assert "Exit codes: 0 " in " ".join((context.command.help or "").split())


@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_is_explained(name):
    """Each option has a sentence, a word for its value that is no type's, and shows its default."""
    for option in options_of(COMMANDS[name]):
        assert option.help, option.name
        if not option.is_flag and not isinstance(option.type, click.Choice):
            assert option.metavar, option.name
        if option.default not in (None, False, ()) and "UNSET" not in repr(option.default):
            assert option.show_default, option.name


def test_options_of_one_name_are_written_alike():
    """An option that is known from one command is the same in the next."""
    forms, helps = defaultdict(set), defaultdict(set)
    for context in COMMANDS.values():
        for option in options_of(context):
            form = None if option.is_flag else option.metavar
            forms[option.opts[0]].add(form)
            helps[option.opts[0]].add(option.help)
    for name, found in forms.items():
        assert len(found - FORMS.get(name, set())) <= 1, (name, found)
    for name in ("--store", "--quiet", "--tls-key", "--stage-key-env"):
        assert len(helps[name]) == 1, (name, helps[name])


@pytest.mark.parametrize("columns", [40, 80, 200])
async def test_pages_keep_to_the_terminal(denv, monkeypatch, columns):
    """No line is wider than the terminal, words apart that are longer, and no sentence is cut."""
    monkeypatch.setenv("COLUMNS", str(columns))
    for given in ([], ["parity"], ["rollout"], ["parity", "run"], ["doctor"]):
        ended = await denv(*given, "--help")
        assert ended.code == 0
        assert "..." not in ended.out.replace("[ARGS]...", "")
        for line in ended.out.splitlines():
            # Beside a column of options click leaves ten letters for what they do.
            assert len(line) <= max(min(columns, 100), 44) or len(line.split()) <= 2, line


@pytest.mark.parametrize("name", ["-h", "--help"])
async def test_both_names_of_help(denv, name):
    """Help is there by either name, in every group and command."""
    for given in ([], ["parity"], ["parity", "run"], ["rollout", "status"], ["db", "check"]):
        ended = await denv(*given, name)
        assert (ended.code, ended.err) == (0, "")
        assert ended.out.startswith("Usage: denv")


async def test_version(denv):
    """The version is one line on standard output."""
    short, long = await denv("-V"), await denv("--version")
    assert short == long
    assert (long.code, long.err, long.out.count("\n")) == (0, "", 1)
    assert long.out.startswith("denv, version ")


SLIPS = {
    ("party",): "Did you mean 'denv parity'?",
    ("parity", "runn"): "Did you mean 'denv parity run'?",
    ("parity", "measure", "token"): "Did you mean 'denv parity measure tokens'?",
    ("rollout", "stauts"): "Did you mean 'denv rollout status' or 'denv rollout start'?",
    ("run",): "Did you mean 'denv parity run'?",
    ("selfcheck",): "Did you mean 'denv parity selfcheck'?",
    ("start",): "Did you mean 'denv rollout start'?",
    ("zzz",): "denv --help names those that there are.",
    ("parity", "run", "--jsn"): "Did you mean one of: '--json', '--junit'?",
    ("rollout", "start"): "Missing argument 'R.yaml'. See denv rollout start --help.",
    ("token", "new", "--name", "x"): "Choose from: read, run. See denv token new --help.",
    ("parity", "gates"): "--stage URL and --reference URL are missing (a release may name them)",
    ("parity", "check"): "as in: denv parity check --suite core.jsonl",
    ("key", "show"): "there is no such key: denv key new makes one",
}


@pytest.mark.parametrize("given", SLIPS, ids=" ".join)
async def test_slips_are_answered_with_what_is_meant(denv, given):
    """What is misspelt, misplaced or left out is said in one line, with the right word."""
    ended = await denv(*given)
    assert (ended.code, ended.out, len(ended.lines)) == (2, "", 1)
    assert SLIPS[given] in ended.err


def as_process(*arguments, **variables):
    """Run the command as a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "denv", *arguments],
        capture_output=True, check=False, env={**os.environ, **variables},
    )  # fmt: skip


@pytest.mark.parametrize("given", [("--help",), ("parity", "run", "--help"), ("recipe", "list")])
def test_a_reader_that_goes_away(given):
    """A pipe that is closed early, as by head, gives no traceback."""
    code = f"{sys.executable} -m denv {' '.join(given)} | head -n 1; exit ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=False)
    assert ended.stderr == ""
    assert ended.stdout.count("\n") == 1


@pytest.mark.parametrize("variables", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}])
def test_texts_of_a_plain_terminal(variables, home):
    """Where the locale has no other letters a page is still shown, and so is an error."""
    shown = as_process("parity", "run", "--help", **variables)
    assert (shown.returncode, shown.stderr) == (0, b"")
    wrong = as_process("parity", "check", "--suite", "größe.jsonl", **variables)
    assert wrong.returncode == 2
    assert wrong.stderr.startswith(b"denv: gr")
    assert b"Traceback" not in wrong.stderr


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {}])
def test_no_colours_without_a_terminal(variables):
    """What goes into a pipe has no control sequences."""
    for given in (("--help",), ("recipe", "list")):
        ended = as_process(*given, **variables)
        assert b"\x1b" not in ended.stdout + ended.stderr
