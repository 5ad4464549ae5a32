"""``denv rollout start`` on a real engine: what it says and exits with, however it goes."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys

import pytest

from denv import cli
from denv.errors import RolloutSupersededError
from tests.rollout.engine.encrypting import Authority, encrypted, in_headers
from tests.rollout.engine.staging import LATE_CANCEL
from tests.rollout.engine.test_rollouts import incomplete

pytestmark = LATE_CANCEL


@pytest.fixture
def start(engine, capsys):
    """Run the command beside the engine; give its exit code and what it says."""

    async def run(release, *options, address=None):
        capsys.readouterr()
        words = ["rollout", "start", release, *options, *server(engine, address)]
        code = await asyncio.to_thread(cli.run, [str(word) for word in words])
        return code, *capsys.readouterr()

    return run


def server(engine, address=None):
    return ("--temporal", address or engine.connection.address, "--queue", engine.queue)


@pytest.mark.slow
async def test_started_it_says_how_to_look(start, engine, releases):
    """Without --wait it ends once the engine has begun: exit code 0."""
    code, _, err = await start(releases.write())
    assert code == 0
    (found,) = engine.store.rollouts.list_rollouts()
    assert f"denv rollout status {found.rollout} --follow shows the way" in err
    await engine.end(found.rollout)


@pytest.mark.slow
async def test_waited_for_it_shows_each_decision(start, engine, releases):
    """Promoted, the exit code is 0, and the document is the one that status gives."""
    code, out, err = await start(releases.write(), "--wait", "--json", "-")
    assert code == 0
    assert "[promoted] Batch 2 of 2" in err
    assert json.loads(out)["phase"] == "promoted"


@pytest.mark.slow
async def test_it_reaches_an_engine_over_tls_with_a_key(
    start, engine, releases, tmp_path, monkeypatch
):
    """The whole way: --tls-ca, an API key from a variable, and a release that is promoted."""
    authority = Authority(tmp_path / "servers", "servers")
    monkeypatch.setenv("TEMPORAL_KEY", "secret-10")
    heard = bytearray()
    async with encrypted(engine.connection.address, authority, heard=heard) as (address, _):
        code, _, err = await start(
            releases.write(), "--wait", "--tls-ca", authority.certificate,
            "--temporal-key-env", "TEMPORAL_KEY", address=address,
        )  # fmt: skip
    assert code == 0, err
    assert in_headers("Bearer secret-10") in bytes(heard)
    assert "secret-10" not in err


async def test_a_latched_release_is_refused_with_its_reason(start, engine, releases):
    """Without --wait as with it: exit code 1, the rule that refused it, and how to override it."""
    releases.stage.wrong = True
    path = releases.write(golden=None)
    failed = await engine.start(path)
    await engine.end(failed)
    for options in ((), ("--wait",)):
        code, _, err = await start(path, *options)
        assert code == 1
        assert "[refused-latched] " in err
        assert f"denv rollout override {failed} --reason" in err
        assert "This proof has failed before and nobody has overridden it." in err


async def test_a_start_that_is_refused_exits_1(start, engine, releases):
    """While the rollback before it cannot be finished a newer release is not begun."""
    async with incomplete(engine, releases) as older:
        code, _, err = await start(releases.write("r2"))
        assert code == 1
        refusal = (
            f"denv: r2 is not started: the rollback of {older} is still incomplete and traffic "
            f"may be on it: denv rollout rollback {older} tries again"
        )
        assert [line for line in err.splitlines() if line.startswith("denv: ")] == [refusal]
    await engine.say("rollback", older)
    await engine.end(older)


@pytest.mark.slow
async def test_a_start_that_gives_way_before_it_began_exits_130(engine, releases):
    """Of two that wait for one stage the newer has it; the other is told so, and never began."""
    first = await engine.start(releases.write("r1", bake="60s", parity_every="60s"))
    await engine.reach(first, "baking")
    await engine.stop_worker()
    starts = []
    for name in ("r2", "r3"):
        given = asyncio.Event()
        starting = engine.start(releases.write(name), on_given=given.set)
        starts.append(asyncio.create_task(starting))
        await given.wait()
    await engine.add_worker()
    with pytest.raises(RolloutSupersededError, match="of r2 is superseded by") as superseded:
        await starts[0]
    assert superseded.value.exit_code == 130
    newest = await starts[1]
    assert (await engine.end(newest)).release == "r3"
    names = [record.release for record in engine.store.rollouts.list_rollouts()]
    assert names == ["r3", "r1"]


async def test_a_store_that_cannot_be_written_is_one_line(engine, releases, read_only, capsys):
    """A word that would have to be written is refused with exit code 4; the log can be read."""
    releases.stage.wrong = True
    rollout = await engine.start(releases.write(golden=None))
    await engine.end(rollout)
    override = ["rollout", "override", rollout, "--reason", "network", "--by", "ann"]
    read_only(True)
    capsys.readouterr()
    assert await asyncio.to_thread(cli.run, override) == 4
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("denv.sqlite3: attempt to write a readonly database")
    assert await asyncio.to_thread(cli.run, ["rollout", "status", rollout]) == 1
    read_only(False)
    assert await asyncio.to_thread(cli.run, override) == 0


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
async def test_interrupted_it_says_that_the_rollout_goes_on(engine, releases, how):
    """Only the waiting ends: the exit code is 130, and nothing is said to be cancelled."""
    path = releases.write(bake="60s", parity_every="60s")
    command = ("rollout", "start", str(path), "--wait", *server(engine))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "denv", *command),
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "COLUMNS": "200"},
    )
    assert process.stderr is not None
    said = b""
    async with asyncio.timeout(120):
        while b"baking [weights-set]" not in said:
            line = await process.stderr.readline()
            assert line, said
            said += line
        process.send_signal(how)
        said += await process.stderr.read()
        code = await process.wait()
    (found,) = engine.store.rollouts.list_rollouts()
    last = said.decode().splitlines()[-1]
    assert code == 130
    assert re.fullmatch(
        rf"interrupted: the rollout {found.rollout} goes on "
        rf"\(denv rollout status {found.rollout} --follow shows the way\)",
        last,
    )
    assert b"cancelled" not in said
    await engine.say("promote", found.rollout)
    await engine.reach(found.rollout, "parity", "shifting", "baking", "promoted")
    await engine.say("cancel", found.rollout)
    await engine.end(found.rollout)
