"""Runs that are killed: nothing that was journaled is asked twice, and the report is the same."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sqlite3
import sys
from collections import Counter
from contextlib import closing

import pytest

from tests import suites
from tests.stubs import StubServer, answers

CASES = 500
KILLS = 20
CONCURRENCY = 4


async def start(home, suite, stub_urls, *, resume=None, out=None):
    """Start the command as a process of its own."""
    arguments = ["--quiet", "--concurrency", str(CONCURRENCY), "--retries", "0"]
    if resume:
        arguments += ["--resume", resume]
    else:
        arguments += ["--suite", str(suite), "--stage", stub_urls[0], "--reference", stub_urls[1]]
    if out:
        arguments += ["--json", str(out)]
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "denv",
        "parity",
        "run",
        *arguments,
        env={**os.environ, "DENV_HOME": str(home)},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )


def journal(home):
    """Read which answers are on disk, and the run's id."""
    path = home / "denv.sqlite3"
    if not path.exists():
        return None, set()
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master").fetchall()
        if not {("runs",), ("answers",)} <= set(tables):
            return None, set()
        run = connection.execute("SELECT run FROM runs").fetchone()
        rows = connection.execute("SELECT side, case_index FROM answers").fetchall()
    return (run[0] if run else None), set(rows)


def counts(stub):
    """Count how often each case was asked."""
    contents = (s.json["messages"][-1]["content"] for s in stub.seen if s.method == "POST")
    return Counter(content for content in contents if content != "Hello")


def comparable(path):
    """Take out of a report what is about this run alone: its id, times and speeds."""
    document = json.loads(path.read_text("utf-8"))
    for key in ("run", "started", "finished"):
        del document[key]
    for side in ("stage", "reference"):
        del document[side]["latency_s"]
        del document[side]["url"]
    for case in document["cases"]:
        for side in ("stage", "reference"):
            del case[side]["elapsed_s"]
        for exchange in case["detail"].get("exchanges", {}).values():
            exchange.pop("elapsed_s", None)
    return document


def echoing(*, wrong_each=None):
    """Answer slowly enough to be killed in between, and now and then wrongly."""

    async def answer(request):
        await asyncio.sleep(0.004)
        content = request["messages"][-1]["content"]
        number = int("".join(filter(str.isdigit, content)) or 1)
        return answers.completion("no" if wrong_each and number % wrong_each == 0 else content)

    return lambda request, n: answer(request)


async def killed_once(home, suite, urls, *, resume, rng):
    """Start or resume the run, and kill it at a random moment after it has begun."""
    process = await start(home, suite, urls, resume=resume)
    deadline = asyncio.get_running_loop().time() + 60
    before = len(journal(home)[1])
    while len(journal(home)[1]) == before and asyncio.get_running_loop().time() < deadline:
        assert process.returncode is None, (await process.stderr.read()).decode()
        await asyncio.sleep(0.01)
    await asyncio.sleep(rng.uniform(0, 0.05))
    if process.returncode is None:
        os.kill(process.pid, signal.SIGKILL)
    await process.wait()


@pytest.mark.slow
async def test_killed_runs_lose_nothing_and_repeat_little(tmp_path):
    """Killed 20 times at random, a run of 500 cases ends in the report of an unbroken one."""
    suite = suites.write(tmp_path, suites.numbered(CASES))
    rng = random.Random(20)
    home = tmp_path / "home"
    async with StubServer(echoing(wrong_each=7)) as stage, StubServer(echoing()) as reference:
        urls = (stage.url, reference.url)
        stubs = {"stage": stage, "reference": reference}
        kills = 0
        while kills < KILLS:
            run, on_disk = journal(home)
            before = {side: counts(stub) for side, stub in stubs.items()}
            await killed_once(home, suite, urls, resume=run, rng=rng)
            kills += 1
            for side, stub in stubs.items():
                again = {c for c, n in counts(stub).items() if n > before[side][c] > 0}
                journaled = {f"number {index};" for where, index in on_disk if where == side}
                assert not again & journaled
                assert len(again) <= CONCURRENCY
        run, _ = journal(home)
        process = await start(home, suite, urls, resume=run, out=tmp_path / "resumed.json")
        _, errors = await process.communicate()
        assert process.returncode == 1, errors.decode()
        whole = await start(tmp_path / "other", suite, urls, out=tmp_path / "whole.json")
        await whole.communicate()
    resumed, unbroken = comparable(tmp_path / "resumed.json"), comparable(tmp_path / "whole.json")
    assert resumed == unbroken
    assert resumed["kinds"]["exact"]["planned"] == CASES


async def test_interrupt_ends_as_cancelled(tmp_path):
    """Ctrl-C ends a run with exit code 130 and a report of what is known."""
    suite = suites.write(tmp_path, suites.numbered(CASES))
    async with StubServer(echoing()) as stub:
        process = await start(tmp_path / "home", suite, (stub.url,) * 2, out=tmp_path / "r.json")
        while len(journal(tmp_path / "home")[1]) < 20:
            assert process.returncode is None, (await process.stderr.read()).decode()
            await asyncio.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, errors = await process.communicate()
    assert process.returncode == 130, errors.decode()
    document = json.loads((tmp_path / "r.json").read_text("utf-8"))
    assert document["verdict"] == "cancelled"
    assert 0 < len(document["cases"]) < CASES
