"""Deploy commands are real processes: arguments, environment, time-outs, output, secrets."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from denv.records import Secret
from denv.release import DeployCommand
from denv.rollout.sides import PlannedReplica
from denv.rollout.steps.deploy import MAX_OUTPUT_BYTES, run_deploy

REPLICA = PlannedReplica("a", "http://10.0.0.8:8000/v1")


@pytest.fixture
def run(tmp_path):
    """Run a command in a fresh folder."""

    async def deploy(*arguments, secrets=(), grace_s=0.2, **settings):
        command = DeployCommand.model_validate({"run": list(arguments), **settings})
        return await run_deploy(
            command,
            REPLICA,
            release="chat-r8",
            folder=str(tmp_path),
            secrets=secrets,
            grace_s=grace_s,
        )

    return deploy


def python(code):
    return (sys.executable, "-c", code)


async def test_placeholders_are_filled_in_and_no_shell_reads_them(run):
    """Arguments and environment get name, URL and release; $ and ; mean nothing."""
    code = "import os, sys; print(*sys.argv[1:], os.environ['WHO'])"
    outcome = await run(
        *python(code),
        "{replica}={url}",
        "$HOME; {release}",
        "{other}",
        environment={"WHO": "{replica}@{release}"},
    )
    assert outcome.ok
    assert outcome.exit_code == 0
    shown = "a=http://10.0.0.8:8000/v1 $HOME; chat-r8 {other} a@chat-r8\n"
    assert outcome.output == shown


async def test_it_runs_in_the_releases_folder_with_the_inherited_environment(
    run, tmp_path, monkeypatch
):
    """What denv has in its environment the command has too."""
    monkeypatch.setenv("CLUSTER", "blue")
    outcome = await run(*python("import os; print(os.getcwd(), os.environ['CLUSTER'])"))
    assert outcome.output == f"{tmp_path} blue\n"


async def test_an_exit_code_is_told(run):
    """A command that fails is named with replica and code, its output is kept."""
    outcome = await run(*python("import sys; print('no room', file=sys.stderr); sys.exit(3)"))
    assert (outcome.ok, outcome.exit_code, outcome.output) == (False, 3, "no room\n")
    assert outcome.why == f"a: {sys.executable}: exit code 3"


async def test_a_program_that_is_not_there(run):
    """A command that cannot be started is an outcome, not an exception."""
    outcome = await run("no-such-program")
    assert (outcome.ok, outcome.exit_code) == (False, None)
    assert "no-such-program: cannot be started: No such file" in outcome.why


def alive(pid):
    """Tell whether a process is there and no zombie."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


async def gone(pid):
    for _ in range(200):
        if not alive(pid):
            return True
        await asyncio.sleep(0.01)
    return False


STUBBORN = """
import os, pathlib, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = os.fork()
if child:
    pathlib.Path("pids").write_text(f"{os.getpid()} {child}")
    print("started", flush=True)
time.sleep(60)
"""


async def test_a_time_out_ends_the_whole_group(run, tmp_path):
    """A command and its child that ignore SIGTERM are killed, and what they said is kept."""
    began = time.monotonic()
    outcome = await run(*python(STUBBORN), timeout="500ms")
    assert time.monotonic() - began < 10
    assert "took longer than 0.5 s and was ended" in outcome.why
    assert outcome.output == "started\n"
    assert outcome.exit_code == -9
    for pid in (tmp_path / "pids").read_text().split():
        assert await gone(int(pid))


async def test_a_cancellation_ends_the_whole_group(run, tmp_path):
    """A step that is cancelled leaves no process behind."""
    task = asyncio.create_task(run(*python(STUBBORN)))
    while not (tmp_path / "pids").exists():
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    for pid in (tmp_path / "pids").read_text().split():
        assert await gone(int(pid))


async def test_a_server_that_is_left_running_lives_on(run, tmp_path):
    """A start command may leave its server in the background: it can write, and it is noted."""
    server = "import time, pathlib; time.sleep(.3); print('x', flush=True); "
    server += "pathlib.Path('lived').touch(); time.sleep(60)"
    code = "import subprocess, sys, pathlib; "
    code += f"p = subprocess.Popen([sys.executable, '-c', {server!r}]); "
    code += "pathlib.Path('pid').write_text(str(p.pid))"
    outcome = await run(*python(code))
    pid = int((tmp_path / "pid").read_text())
    try:
        assert outcome.ok
        assert outcome.note == "a process of it goes on running"
        for _ in range(200):
            if (tmp_path / "lived").exists():
                break
            await asyncio.sleep(0.02)
        assert (tmp_path / "lived").exists()
        assert alive(pid)
    finally:
        os.kill(pid, 9)


async def test_secrets_are_masked(run, monkeypatch):
    """Keys of the plan, and whatever the environment names as secret, are not kept."""
    monkeypatch.setenv("HF_TOKEN", "token-value-123")
    code = "import os; print(os.environ['HF_TOKEN'], 'key-value-456', 'plain')"
    outcome = await run(*python(code), secrets=[Secret("key-value-456")])
    assert outcome.output == "*** *** plain\n"


async def test_a_long_output_is_cut_in_its_middle(run):
    """Beginning and end are kept in whole lines, and it is said how much is not."""
    lines = 40_000
    outcome = await run(*python(f"for n in range({lines}): print('line', n)"))
    kept = outcome.output.splitlines()
    assert (kept[0], kept[-1]) == ("line 0", f"line {lines - 1}")
    assert len(outcome.output.encode()) <= MAX_OUTPUT_BYTES + 100
    written = sum(len(f"line {n}\n") for n in range(lines))
    shown = sum(len(line) + 1 for line in kept if "left out" not in line)
    assert f"… {written - shown} bytes are left out …" in kept


async def test_control_characters_are_not_kept(run):
    """What a terminal would obey is replaced; tabs and line ends stay."""
    outcome = await run(*python(r"print('\x1b[2Ja\tb\r\nc')"))
    assert outcome.output == "\N{REPLACEMENT CHARACTER}[2Ja\tb\nc\n"
