"""The pages name the commands and options that there are, and no others."""

import re

import click
import pytest

from simulations import RULES
from tests.docs.pages import DOCS, PAGES, ROOT, all_commands, commands, options_in, options_of
from tests.docs.pages import text_of as text

COMMANDS = dict(all_commands())
BENCHMARKS = {"--cases", "--rounds", "--rate", "--requests", "--seconds", "--streams"}
OPTIONS = {"--quick", "--version"}.union(BENCHMARKS, *map(options_of, COMMANDS.values()))
PAGE_OF = {
    "adapter": "adapter.md",
    "alarm list": "alarms.md",
    "alarm resolve": "alarms.md",
    "alarm test": "alarms.md",
    "completion": "completion.md",
    "db check": "db.md",
    "db export": "db.md",
    "db prune": "db.md",
    "db upgrade": "db.md",
    "doctor": "doctor.md",
    "gate": "deployers.md",
    "parity compare": "parity-compare.md",
    "parity report": "parity-report.md",
    "parity run": "parity-run.md",
    "parity verify": "parity-verify.md",
    "parity check": "parity-check.md",
    "parity plan": "parity-plan.md",
    "parity selfcheck": "parity-selfcheck.md",
    "parity schedule add": "schedule.md",
    "parity schedule list": "schedule.md",
    "parity schedule pause": "schedule.md",
    "parity schedule remove": "schedule.md",
    "parity schedule resume": "schedule.md",
    "parity schedule show": "schedule.md",
    "parity schedule trigger": "schedule.md",
    "parity demo": "parity-demo.md",
    "bench speed": "bench-speed.md",
    "parity gates": "parity-gates.md",
    "parity measure all": "measure-all.md",
    "parity measure answers": "measure-answers.md",
    "parity measure derivations": "measure-derivations.md",
    "parity measure tokens": "measure-tokens.md",
    "key new": "key.md",
    "key show": "key.md",
    "lab fetch": "lab.md",
    "recipe check": "recipes.md",
    "recipe list": "recipes.md",
    "recipe show": "recipes.md",
    "rollout cancel": "rollout.md",
    "rollout demo": "rollout-demo.md",
    "rollout list": "rollout.md",
    "rollout override": "rollout.md",
    "rollout promote": "rollout.md",
    "rollout rollback": "rollout.md",
    "rollout start": "rollout.md",
    "rollout status": "rollout.md",
    "router": "router.md",
    "serve": "serve.md",
    "token list": "token.md",
    "token new": "token.md",
    "token revoke": "token.md",
    "suite import": "suite-import.md",
    "suite vary": "gaming.md",
    "worker": "serve.md",
    "lab proxy": "lab.md",
    "lab serve": "lab.md",
    "lab spoil": "lab.md",
}
SHOWN = [(page.name, words) for page in PAGES for words in commands(text(page))]


def test_every_command_has_a_page():
    """Each command is documented, and no page is about a command that does not exist."""
    assert set(COMMANDS) == set(PAGE_OF)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_documented(name):
    """Each option of a command stands on its page."""
    assert options_of(COMMANDS[name]) <= options_in(text(DOCS / PAGE_OF[name]))


@pytest.mark.parametrize("name", sorted(set(PAGE_OF.values())))
def test_a_page_of_one_command_documents_no_option_of_another(name):
    """The option tables of a command's page hold its options alone."""
    own = set().union(*(options_of(COMMANDS[c]) for c, page in PAGE_OF.items() if page == name))
    table_rows = [line for line in text(DOCS / name).splitlines() if line.startswith("| `--")]
    described = set()
    for row in table_rows:
        cells = row.split(" | ")
        described |= options_in(cells[0])
        if "--reference" in cells[1]:
            described |= options_in(cells[1])
    assert described == own


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_that_is_named_exists(page):
    """A page names no command that there is not."""
    named = set(
        re.findall(
            r"denv ((?:alarm|bench|db|key|lab|parity|recipe|rollout|suite)"
            r"(?: measure| schedule)? [a-z]+)`",
            text(page),
        )
    )
    groups = {" ".join(name.split()[:-1]) for name in COMMANDS}
    assert named <= {*COMMANDS, *groups}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_option_that_is_named_exists(page):
    """A page names no option that no command has."""
    assert options_in(text(page)) <= OPTIONS


@pytest.mark.parametrize(("page", "words"), SHOWN, ids=[f"{p}: {w[:4]}" for p, w in SHOWN])
def test_shown_commands_parse(page, words):
    """Each command in a shell block is one that the program, or make, takes."""
    if words[0] == "make":
        assert re.search(rf"^{words[1]}:", text(ROOT / "Makefile"), re.MULTILINE)
        return
    if words[0] == "cat":
        return
    if words[:3] == ["python", "-m", "simulations"]:
        assert set(words[3:]) <= {"--quick", *RULES}
        return
    assert words[0] == "denv"
    name = next(n for size in (3, 2, 1) if (n := " ".join(words[1 : 1 + size])) in COMMANDS)
    rest = list(words[1 + len(name.split()) :])
    with COMMANDS[name].make_context(name, rest) as context:
        assert isinstance(context, click.Context)


def test_commands_are_shown():
    """The pages do show commands."""
    assert len(SHOWN) >= 15


def test_make_targets_of_the_first_screen():
    """The picture and both commands stand on the README's first screen."""
    first = "\n".join(text(ROOT / "README.md").splitlines()[:15])
    assert "make demo" in first
    assert "make test" in first
    assert "docs/images/report.png" in first
