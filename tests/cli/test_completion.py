"""Completion as real shells ask for it: commands, options, and what is kept."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from click.shell_completion import BashComplete

from denv.cli import denv as cli
from denv.cli import run
from denv.cli.parity import parity
from denv.recipes.finding import names
from denv.store import RolloutRecord, RunRecord, ScheduleRecord, open_store
from tests.postgres import new_database

BIN = Path(sys.executable).parent
PATIENCE_S = 30


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    """Write the script that the command prints for bash."""
    path = tmp_path_factory.mktemp("shell") / "denv.bash"
    path.write_bytes(subprocess.check_output([BIN / "denv", "completion", "bash"]))
    return path


def program(shell):
    """Find a shell; its test is skipped where it is not installed, but for DENV_ALL_TESTS."""
    found = shutil.which(shell)
    if found is None:
        missing = f"{shell} is missing: apt-get install {shell}"
        pytest.fail(missing) if os.environ.get("DENV_ALL_TESTS") else pytest.skip(missing)
    return found


@pytest.fixture
def bash(script, home):
    """Have bash complete a line that is begun; give what it offers, and what was printed."""

    def complete(*words, **variables):
        line = " ".join(f"'{word}'" for word in ("denv", *words))
        code = (
            f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words)}; "
            '_denv_completion denv; printf "%s\\n" "${COMPREPLY[@]}"'
        )
        environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", **variables}
        ended = subprocess.run(
            ["bash", "--norc", "-c", code],
            check=True,
            capture_output=True,
            text=True,
            env=environment,
        )
        assert ended.stderr == ""
        return ended.stdout.split("\n")[:-1]

    return complete


def offered(*words):
    """Give what click offers for a line that is begun, in this process: quicker than a shell."""
    shell = BashComplete(cli, {}, "denv", "_DENV_COMPLETE")
    return [item.value for item in shell.get_completions(list(words[:-1]), words[-1])]


@pytest.fixture
def kept(home):
    """Keep two runs, a rollout and two schedules."""
    with closing(open_store(home)) as store:
        for number, run in enumerate(("20260101-000000-aaaaaa", "20260102-000000-bbbbbb")):
            store.create_run(RunRecord(run, float(number), "finished", {}, {}))
        store.rollouts.create_rollout(RolloutRecord("r-1", "s", "chat", "p", 1.0, {}, {}))
        for name in ("nightly", "noon"):
            store.schedules.add_schedule(ScheduleRecord(name, 1.0, {}, {}))
    return home


def test_commands_of_lazy_groups(bash):
    """Commands are offered by their names in each group, imported or not."""
    assert bash("ro") == ["rollout", "router"]
    assert {"parity", "doctor", "completion", "rollout"} <= set(offered(""))
    assert {"run", "report", "schedule", "measure"} <= set(offered("parity", ""))
    assert offered("parity", "measure", "t") == ["tokens"]


def test_options(bash):
    """Options are offered where a dash begins them."""
    assert "--resume" in bash("parity", "run", "--re")


def test_what_is_kept(bash, kept):
    """Runs come the newest first; each argument offers what it names."""
    runs = ["20260102-000000-bbbbbb", "20260101-000000-aaaaaa"]
    assert bash("parity", "report", "") == runs
    assert offered("parity", "report", "20260101") == runs[1:]
    assert offered("parity", "run", "--resume", "") == runs
    assert offered("rollout", "status", "") == ["r-1"]
    assert offered("parity", "schedule", "show", "n") == ["nightly", "noon"]


def test_recipes():
    """Shipped recipes are offered."""
    assert offered("recipe", "show", "") == list(names())
    assert offered("parity", "run", "--recipe", "gen") == ["generic"]
    assert offered("parity", "run", "--recipe", "no-such") == []


def test_the_folder_that_the_line_names(kept, tmp_path, monkeypatch):
    """The data are those of --store where it stands before, else of the environment."""
    other = tmp_path / "other"
    with closing(open_store(other)) as store:
        store.create_run(RunRecord("other-run", 1.0, "finished", {}, {}))
    assert offered("parity", "report", "--store", str(other), "") == ["other-run"]
    monkeypatch.setenv("DENV_HOME", str(other))
    assert offered("parity", "report", "") == ["other-run"]


def test_no_store_is_made(bash, home):
    """Where there are no data nothing is offered, and nothing is there afterwards."""
    assert bash("parity", "report", "") == [""]
    assert not home.exists()


@pytest.mark.parametrize("database", ["mysql://db/x", "postgresql://u@127.0.0.1:9/x"])
def test_what_goes_wrong_is_silent(home, capfd, monkeypatch, database):
    """A database that does not answer, or is none, offers nothing and prints nothing."""
    monkeypatch.setenv("DENV_DATABASE", database)
    assert offered("parity", "report", "") == []
    assert capfd.readouterr() == ("", "")


def test_a_shell_that_says_nonsense_is_told_nothing(home, capfd, monkeypatch):
    """A word's number that is none is answered by silence too."""
    monkeypatch.setenv("_DENV_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "denv pa")
    monkeypatch.setenv("COMP_CWORD", "x")
    assert run([]) == 4
    assert capfd.readouterr() == ("", "")


def test_a_damaged_file_is_silent(bash, home):
    """A file that is no database offers nothing, and is left as it is."""
    home.mkdir()
    (home / "denv.sqlite3").write_bytes(b"no database" * 100)
    assert bash("parity", "report", "") == [""]
    assert (home / "denv.sqlite3").read_bytes() == b"no database" * 100


def test_names_that_a_shell_would_act_on_are_not_offered(kept):
    """Click's script quotes nothing, so that a blank or a star would become something else."""
    with closing(open_store(kept)) as store:
        for name in ("two words", "*", "$(touch x)", "a,b", "new\nline", "2027"):
            store.create_run(RunRecord(name, 9.0, "finished", {}, {}))
    assert offered("parity", "report", "2") == [
        "2027",
        "20260102-000000-bbbbbb",
        "20260101-000000-aaaaaa",
    ]
    assert "*" not in offered("parity", "report", "")


def test_a_database_of_the_environment(home, monkeypatch):
    """Runs in PostgreSQL are offered too."""
    monkeypatch.setenv("DENV_DATABASE", new_database())
    with closing(open_store(home)) as store:
        store.create_run(RunRecord("in-postgres", 1.0, "finished", {}, {}))
    assert offered("parity", "report", "in-") == ["in-postgres"]


def test_signs_of_like_are_taken_as_they_are(kept):
    """An underscore or a percent sign that was typed stands for itself."""
    assert offered("parity", "report", "%") == []
    assert offered("parity", "report", "2026010_") == []


def test_a_tab_in_an_interactive_bash(script, kept):
    """Typed as a person types it, a tab completes the only run that begins so."""
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "TERM": "dumb"}
    with typing("bash", "--norc", "--noprofile", "-i", env=environment) as parent:
        os.write(parent, f"source {script}; echo read\\y\n".encode())
        _until(parent, b"ready\r\n")
        os.write(parent, b"echo denv; denv parity report 20260101\t")
        assert b"20260101-000000-aaaaaa" in _until(parent, b"-aaaaaa")
        os.write(parent, b"\x15denv parity run --recipe=gene\t")
        assert b"--recipe=generic" in _until(parent, b"generic")


def _until(handle, wanted):
    said, end = b"", time.monotonic() + PATIENCE_S
    while wanted not in said and time.monotonic() < end:
        ready, _, _ = select.select([handle], [], [], 1.0)
        if ready:
            said += os.read(handle, 4096)
    assert wanted in said, said
    return said


def test_a_value_in_one_word_with_its_option(bash, kept):
    """The = between an option and its value is a word of its own in bash."""
    assert bash("parity", "run", "--recipe", "=", "gen") == ["generic"]
    assert bash("parity", "run", "--stream", "=") == ["no", "yes", "both"]


@pytest.fixture(scope="module")
def fish(tmp_path_factory):
    """Have a real fish complete lines that are begun; give what it offers for each."""
    shell = program("fish")
    folder = tmp_path_factory.mktemp("fish")
    scripts = folder / "fish" / "completions"
    scripts.mkdir(parents=True)
    (scripts / "denv.fish").write_bytes(
        subprocess.check_output([BIN / "denv", "completion", "fish"])
    )

    def complete(*lines, cwd="."):
        asked = "; ".join(f"complete -C '{line}'; echo ----" for line in lines)
        environment = {
            **os.environ,
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "XDG_CONFIG_HOME": str(folder),
            "XDG_DATA_HOME": str(folder / "data"),
            "HOME": str(folder),
        }
        ended = subprocess.run(
            [shell, "-c", asked],
            check=True,
            capture_output=True,
            text=True,
            env=environment,
            cwd=cwd,
        )
        assert ended.stderr == ""
        return [part.split("\n")[:-1] for part in ended.stdout.split("----\n")[:-1]]

    return complete


def test_fish_offers_commands_with_what_they_are_for(fish, kept):
    """Descriptions are whole, commas and all; options of a command are its own."""
    commands, options = fish("denv parity re", "denv rollout list --a")
    report = parity.lazy["report"][1]
    assert "," in report
    assert commands == [f"report\t{report}"]
    assert options == ["--active\tOnly those that have not ended."]


def test_fish_offers_values(fish, kept, tmp_path):
    """Runs the newest first, recipes, choices, files; after an option or in one word with it."""
    (tmp_path / "core.jsonl").touch()
    (tmp_path / "cores").mkdir()
    runs = ["20260102-000000-bbbbbb", "20260101-000000-aaaaaa"]
    found = fish(
        "denv parity report ",
        "denv parity run --recipe=gen",
        "denv parity run --stream ",
        "denv parity run --suite=cor",
        "denv parity run --store=cor",
        cwd=tmp_path,
    )
    plain = [[each.partition("\t")[0] for each in offered] for offered in found]
    assert plain[:3] == [runs, ["--recipe=generic"], ["no", "yes", "both"]]
    assert plain[3:] == [["--suite=core.jsonl", "--suite=cores/"], ["--store=cores/"]]


ZSH_LINES = {
    "denv complet": b"denv completion ",
    "denv parity report 20260101": b"denv parity report 20260101-000000-aaaaaa ",
    "denv parity run --recipe=gen": b"denv parity run --recipe=generic ",
    "denv parity run --suite=core": b"denv parity run --suite=core.jsonl ",
    "denv parity run --store=fol": b"denv parity run --store=folder/",
    "denv rollout list --act": b"denv rollout list --active ",
}


def test_zsh_completes_what_is_typed(kept, tmp_path):
    """A tab in a real zsh, whose line editor is then asked for the line that stands there."""
    shell = program("zsh")
    (tmp_path / "core.jsonl").touch()
    (tmp_path / "folder").mkdir()
    functions = tmp_path / "zfunc"
    functions.mkdir()
    script = subprocess.check_output([BIN / "denv", "completion", "zsh"])
    (functions / "_denv").write_bytes(script)
    (tmp_path / ".zshrc").write_text(
        f"PS1=; fpath+={functions}; autoload -U compinit; compinit -u -d {tmp_path}/dump\n"
        'unsetopt beep; shown() { print -r -- "<$BUFFER>"; BUFFER=; }\n'
        "zle -N shown; bindkey '^X^P' shown; print re''ady\n"
    )
    environment = {
        **os.environ,
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "TERM": "dumb",
        "ZDOTDIR": str(tmp_path),
    }
    with typing(shell, "-i", env=environment, cwd=tmp_path) as parent:
        _until(parent, b"ready")
        for line, completed in ZSH_LINES.items():
            os.write(parent, line.encode() + b"\t\x18\x10")
            assert b"<" + completed + b">" in _until(parent, b">\r"), line


@contextmanager
def typing(*arguments, **options):
    """Give the handle of a terminal in which a shell runs."""
    parent, child = pty.openpty()
    shell = subprocess.Popen(
        arguments, stdin=child, stdout=child, stderr=child, start_new_session=True, **options
    )
    os.close(child)
    try:
        yield parent
    finally:
        shell.kill()
        shell.wait()
        os.close(parent)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
async def test_scripts_are_of_their_shells(denv, tmp_path, shell):
    """Each script is what its shell can read, where that shell is installed."""
    ended = await denv("completion", shell)
    assert ended.code == 0
    assert "_DENV_COMPLETE" in ended.out
    assert f"{shell}_complete" in ended.out
    (tmp_path / "script").write_text(ended.out)
    subprocess.run([program(shell), "-n", tmp_path / "script"], check=True)


async def test_a_shell_that_is_not_known(denv):
    """Another shell is a usage error that names those that there are."""
    ended = await denv("completion", "powershell")
    assert ended.code == 2
    assert "'bash', 'zsh', 'fish'" in ended.err


def test_commands_are_offered_without_importing_them():
    """The list of a group's commands costs no more than the group itself."""
    code = (
        "import os, sys; os.environ.update(_DENV_COMPLETE='bash_complete', COMP_WORDS='denv ', "
        "COMP_CWORD='1'); from denv.cli import run; run([]); "
        "print([m for m in sys.modules if m.startswith('denv.cli.')])"
    )
    said = subprocess.check_output([sys.executable, "-c", code], text=True).splitlines()
    assert "plain,parity" in said  # bash shows no descriptions
    assert "denv.cli.parity" not in said[-1]
