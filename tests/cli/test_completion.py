"""Completion as a real bash asks for it: commands, options, and what is kept."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from click.shell_completion import BashComplete

from denv.cli import denv as cli
from denv.cli.completion import VARIABLE
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
    shell = BashComplete(cli, {}, "denv", VARIABLE)
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
    parent, child = pty.openpty()
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "TERM": "dumb"}
    shell = subprocess.Popen(
        ["bash", "--norc", "--noprofile", "-i"],
        stdin=child, stdout=child, stderr=child, env=environment, start_new_session=True,
    )  # fmt: skip
    os.close(child)
    try:
        os.write(parent, f"source {script}; echo read\\y\n".encode())
        _until(parent, b"ready\r\n")
        os.write(parent, b"echo denv; denv parity report 20260101\t")
        assert b"20260101-000000-aaaaaa" in _until(parent, b"-aaaaaa")
    finally:
        shell.kill()
        shell.wait()
        os.close(parent)


def _until(handle, wanted):
    said, end = b"", time.monotonic() + PATIENCE_S
    while wanted not in said and time.monotonic() < end:
        ready, _, _ = select.select([handle], [], [], 1.0)
        if ready:
            said += os.read(handle, 4096)
    assert wanted in said, said
    return said


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
async def test_scripts_are_of_their_shells(denv, tmp_path, shell):
    """Each script is what its shell can read, where that shell is installed."""
    ended = await denv("completion", shell)
    assert ended.code == 0
    assert "_DENV_COMPLETE" in ended.out
    assert f"{shell}_complete" in ended.out
    if (program := shutil.which(shell)) is not None:
        (tmp_path / "script").write_text(ended.out)
        subprocess.run([program, "-n", tmp_path / "script"], check=True)


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
    assert "plain,parity" in said
    assert "denv.cli.parity" not in said[-1]
