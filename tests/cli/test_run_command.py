"""The run command: what it writes and where, its exit codes, and how it is continued."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from importlib.metadata import version
from xml.etree import ElementTree as ET

import pytest

from denv import strictjson
from denv.recipes import load
from denv.report import validate
from denv.store import open_store
from tests import suites
from tests.stubs import answers

ESCAPE = "\x1b"


@pytest.fixture
def suite(tmp_path):
    """Write a suite of five cases whose echoed answers pass."""
    return suites.write(tmp_path, suites.numbered(5))


def wrong_at(number):
    """Echo, but answer nonsense to this number."""

    def handler(request, n):
        content = request["messages"][-1]["content"]
        return answers.completion("no" if content == f"number {number};" else content)

    return handler


def failing_cases(request, n):
    """Answer the preflight, and break at every case."""
    content = request["messages"][-1]["content"]
    return answers.completion() if content == "Hello" else answers.error(500, "boom")


def sides(stage, reference=None):
    return ("--stage", stage.url, "--reference", (reference or stage).url, "--retries", "0")


def run_of(ended):
    """Give the run's id, which stands on standard error before anything else."""
    first = ended.lines[0]
    found = re.fullmatch(r"run (\d{8}-\d{6}-[0-9a-f]{6}) \(--resume takes this id\)", first)
    assert found
    return found[1]


# ---------------------------------------------------------------- what is written


async def test_json_on_standard_output_is_all_there_is(denv, serve, suite):
    """Standard output holds one strict JSON document; all else is on standard error, plain."""
    ended = await denv("parity", "run", "--suite", suite, *sides(await serve()), "--json", "-")
    document = strictjson.loads(ended.out)
    validate(document)
    assert ended.code == 0
    assert document["run"] == run_of(ended)
    assert document["verdict"] == "pass"
    assert "pass" in ended.err.lower()
    assert ESCAPE not in ended.err


async def test_nothing_on_standard_output(denv, serve, suite):
    """Without ``--json -`` standard output stays empty."""
    ended = await denv("parity", "run", "--suite", suite, *sides(await serve()))
    assert (ended.code, ended.out) == (0, "")


async def test_every_form_is_written(denv, serve, suite, tmp_path):
    """Each report stands in its file, whole, and the files are named at the end."""
    paths = {form: tmp_path / f"out.{form}" for form in ("json", "html", "junit", "markdown")}
    options = [text for form, path in paths.items() for text in (f"--{form}", str(path))]
    stage, reference = await serve(wrong_at(3)), await serve()
    ended = await denv("parity", "run", "--suite", suite, *sides(stage, reference), *options)
    assert ended.code == 1
    document = strictjson.loads(paths["json"].read_bytes())
    validate(document)
    assert [c["id"] for c in document["cases"] if c["outcome"] == "fail"] == ["c3"]
    assert paths["html"].read_text("utf-8").lower().startswith("<!doctype html>")
    assert ET.parse(paths["junit"]).getroot().get("failures") == "1"
    assert "c3" in paths["markdown"].read_text("utf-8")
    for path in paths.values():
        assert path.name in ended.err
    assert sorted(p.name for p in tmp_path.glob("*out.*")) == sorted(p.name for p in paths.values())


async def test_report_that_cannot_be_written(denv, serve, suite, tmp_path):
    """Where a report cannot be written at the end, one line says so, and the run is kept."""
    target, right = tmp_path / "taken", wrong_at(None)

    def taking(request, n):
        target.mkdir(exist_ok=True)  # after the place was tried
        return right(request, n)

    stage = await serve(taking)
    ended = await denv("parity", "run", "--suite", suite, *sides(stage), "--json", target)
    assert ended.code == 4
    assert ended.lines[-1].startswith(f"denv: --json {target}: ")
    asked = len(stage.seen)
    again = await denv("parity", "run", "--resume", run_of(ended), "--json", tmp_path / "r.json")
    assert again.code == 0
    assert len(stage.seen) == asked


async def test_a_suite_without_any_threshold_is_told_at_once(denv, serve, tmp_path):
    """Where no kind is gated the run says what to give, before all else, and so does the check."""
    line = suites.line("lp", "Say hello.", {"logprobs-close": {"tolerance": 0.05}})
    suite = suites.write(tmp_path, [line])
    ended = await denv("parity", "run", "--suite", suite, *sides(await serve()))
    assert ended.code == 3
    assert ended.lines[0].startswith("no kind has a threshold: give --pass logprobs=95%")
    assert ended.lines[1].startswith("run ")
    checked = await denv("parity", "check", "--suite", suite, "--json")
    assert json.loads(checked.out)["advice"][0] == ended.lines[0]
    gated = await denv("parity", "check", "--suite", suite, "--pass", "logprobs=95%")
    assert "no kind has a threshold" not in gated.out


# ---------------------------------------------------------------- exit codes


@pytest.mark.parametrize(
    ("code", "answering"),
    [
        (0, (answers.echo(), answers.echo())),
        (1, (wrong_at(1), answers.echo())),
        (3, (answers.echo(), wrong_at(1))),
        (4, (answers.echo(), failing_cases)),
    ],
)
async def test_exit_codes(denv, serve, tmp_path, code, answering):
    """0 pass, 1 fail, 3 inconclusive, 4 error: here one case, so that none counts or it decides."""
    suite = suites.write(tmp_path, suites.numbered(2)[1:])
    both = sides(*[await serve(handler) for handler in answering])
    ended = await denv("parity", "run", "--suite", suite, *both, "--json", "-")
    assert ended.code == code, ended.err
    verdict = {0: "pass", 1: "fail", 3: "inconclusive", 4: "error"}[code]
    assert json.loads(ended.out)["verdict"] == verdict


async def test_rate_limited_stage_is_inconclusive(denv, serve, suite):
    """A stage that answers 429 to everything is not held to have failed: nothing was counted."""
    limited = await serve(answers.rate_limited(1000, "0"))
    ended = await denv("parity", "run", "--suite", suite, *sides(limited, await serve()))
    assert ended.code == 3, ended.err
    assert "rate-limited" in ended.err


async def test_retries_0_means_none(denv, serve, suite):
    """``--retries 0`` asks once: 0 is a value, not the lack of one."""
    stage = await serve(answers.failing(1000, 500))
    ended = await denv("parity", "run", "--suite", suite, *sides(stage, await serve()))
    assert ended.code == 1
    assert stage.chats == 1


# ---------------------------------------------------------------- terminals and pipes


def arguments(suite, stage, *more):
    return [sys.executable, "-m", "denv", "parity", "run", "--suite", suite, *sides(stage), *more]


async def slowly(request):
    await asyncio.sleep(0.05)
    return answers.completion(request["messages"][-1]["content"])


def on_terminal(command, environment):
    """Run a command whose standard error is a terminal; give its exit code and what it showed."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        command, stderr=follower, stdout=subprocess.DEVNULL, env=environment, close_fds=True
    )
    os.close(follower)
    shown = b""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if not select.select([leader], [], [], 1)[0]:
            continue
        try:
            data = os.read(leader, 65536)
        except OSError:  # how Linux says that the other end is closed
            break
        if not data:
            break
        shown += data
    os.close(leader)
    return process.wait(10), shown.decode()


async def test_terminal_has_a_bar(serve, home, tmp_path):
    """On a terminal a bar moves; after the run it is gone, and the cursor is back."""
    suite = suites.write(tmp_path, suites.numbered(60))
    stub = await serve(lambda request, n: slowly(request))
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    command = arguments(suite, stub, "--concurrency", "4")
    code, shown = await asyncio.to_thread(on_terminal, command, environment)
    assert code == 0, shown
    assert re.search(r"\b[1-9]\d?/60", shown)
    assert "failed" in shown
    assert shown.rfind(ESCAPE + "[?25h") > shown.rfind(ESCAPE + "[?25l") > -1
    assert "60/60" not in shown[shown.rfind(ESCAPE + "[?25h") :]


async def test_quiet_has_no_bar(serve, home, suite):
    """``--quiet`` shows no progress on a terminal either; id and verdict stay."""
    stub = await serve()
    environment = {**os.environ, "TERM": "xterm"}
    command = arguments(suite, stub, "--quiet")
    code, shown = await asyncio.to_thread(on_terminal, command, environment)
    assert code == 0
    assert "/5" not in shown.replace("5/5 ", "")
    assert ESCAPE + "[?25l" not in shown
    assert shown.startswith("run ")


@pytest.mark.parametrize("command", [["parity", "selfcheck", "--json"], ["--help"]])
async def test_reader_that_has_gone(home, command):
    """Output that nobody reads ends the command without a traceback, and not with 1, a ``fail``."""
    read, write = os.pipe()
    os.close(read)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "denv", *command, stdout=write, stderr=asyncio.subprocess.PIPE
    )
    os.close(write)
    _, errors = await process.communicate()
    assert (process.returncode, errors) == (4, b"")


async def test_report_whose_reader_has_gone(serve, home, suite):
    """A report that could not be delivered is an error, whatever the verdict."""
    read, write = os.pipe()
    os.close(read)
    process = await asyncio.create_subprocess_exec(
        *arguments(suite, await serve(), "--json", "-"),
        stdout=write,
        stderr=asyncio.subprocess.PIPE,
    )
    os.close(write)
    _, errors = await process.communicate()
    assert process.returncode == 4
    assert b"Traceback" not in errors


# ---------------------------------------------------------------- releases and recipes


def release(tmp_path, stage, reference, *, share="60%"):
    path = tmp_path / "release.yaml"
    path.write_text(
        f"release: chat-r8\nstage: {{url: {stage.url}, model: stage-m}}\n"
        "engine: {name: llama.cpp, version: b1, deterministic: true}\n"
        f"parity:\n  reference: {{url: {reference.url}, model: reference-m}}\n"
        f"  suite: suite.jsonl\n  pass: {{ exact: {share} }}\n"
    )
    return path


def models_asked(stub):
    return {seen.json["model"] for seen in stub.seen if seen.method == "POST"}


async def test_release_drives_a_run(denv, serve, suite, tmp_path):
    """A release alone names both sides, suite and thresholds; paths are its folder's."""
    stage, reference = await serve(wrong_at(1)), await serve()
    path = release(tmp_path, stage, reference)
    ended = await denv("parity", "run", "--release", path, "--json", "-")
    document = json.loads(ended.out)
    assert ended.code == 0, ended.err
    assert document["release"] == "chat-r8"
    assert document["engine"]["name"] == "llama.cpp"
    assert document["kinds"]["exact"]["threshold"] == 0.6
    assert models_asked(stage) == {"stage-m"}
    assert models_asked(reference) == {"reference-m"}


async def test_flags_win_over_the_release(denv, serve, suite, tmp_path):
    """A flag's side, model, suite and thresholds hold where the release says otherwise."""
    stage, reference, other = await serve(), await serve(), await serve(wrong_at(1))
    path = release(tmp_path, stage, reference)
    smaller = suites.write(tmp_path, suites.numbered(3), "smaller.jsonl")
    options = (
        "--stage",
        other.url,
        "--stage-model",
        "x",
        "--suite",
        smaller,
        "--pass",
        "exact=90%",
    )
    ended = await denv("parity", "run", "--release", path, *options, "--json", "-")
    document = json.loads(ended.out)
    assert ended.code == 1, ended.err
    assert document["kinds"]["exact"]["planned"] == 3
    assert document["kinds"]["exact"]["threshold"] == 0.9
    assert models_asked(other) == {"x"}
    assert stage.seen == []


async def test_recipe_brings_its_suite(denv, serve):
    """``--recipe smollm2`` asks the shipped suite, and ``check`` counts the same cases."""
    stub = await serve()
    ended = await denv("parity", "run", "--recipe", "smollm2", *sides(stub), "--json", "-")
    document = json.loads(ended.out)
    assert document["recipe"] == load("smollm2").label
    checked = await denv("parity", "check", "--recipe", "smollm2", "--json")
    assert checked.code == 0
    assert json.loads(checked.out)["suite"] == document["suite"]


# ---------------------------------------------------------------- check, selfcheck, version


async def test_check_says_what_would_run(denv, suite):
    """The check names the suite, its checks, thresholds and requests, as text and as JSON."""
    text = await denv("parity", "check", "--suite", suite, "--pass", "exact=95%", "--repeats", "3")
    assert (text.code, text.err) == (0, "")
    assert "suite.jsonl: valid, 5 cases" in text.out
    assert "exact: 5 cases, must pass: 95 %" in text.out
    assert "requests to each side: 15" in text.out
    found = await denv("parity", "check", "--suite", suite, "--json")
    document = strictjson.loads(found.out)
    assert (found.code, found.err) == (0, "")
    assert document["suite"]["cases"] == document["checks"]["contains"] == 5
    assert document["pass"] == {"exact": "100 %"}
    assert document["requests"] == {"each_side": 5}


async def test_selfcheck_counts(denv):
    """The self-check tries all of its known cases, and says how many are read right."""
    text = await denv("parity", "selfcheck")
    right, total = map(int, text.out.strip().split("/"))
    assert text.code == 0
    assert right == total > 100
    found = strictjson.loads((await denv("parity", "selfcheck", "--json")).out)
    assert found == {"total": total, "passed": total, "failures": []}


@pytest.mark.parametrize("command", [[sys.executable, "-m", "denv"], [sys.executable, "-c", ""]])
async def test_version(denv, command):
    """``denv --version`` and ``python -m denv --version`` name the program and its version."""
    wanted = f"denv, version {version('denv-parity')}\n"
    if command[1] == "-c":
        ended = await denv("--version")
        assert (ended.code, ended.out) == (0, wanted)
        return
    process = await asyncio.create_subprocess_exec(
        *command, "--version", stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    assert (process.returncode, out.decode()) == (0, wanted)


# ---------------------------------------------------------------- resuming


async def test_resume_takes_over_the_options(denv, serve, suite):
    """``--resume RUN`` alone goes on with the stored suite, sides and thresholds."""
    broken = True

    def flaky(request, n):
        content = request["messages"][-1]["content"]
        if broken and content == "number 2;":
            return answers.error(500, "boom")
        return answers.completion(content)

    stage, reference = await serve(wrong_at(4)), await serve(flaky)
    options = ("--pass", "exact=70%", "--repeats", "2", "--max-tokens", "7", "--stage-name", "blue")
    first = await denv("parity", "run", "--suite", suite, *sides(stage, reference), *options)
    assert first.code == 3, first.err
    broken = False
    before = stage.chats, reference.chats
    again = await denv("parity", "run", "--resume", run_of(first), "--json", "-")
    document = json.loads(again.out)
    assert again.code == 0, again.err
    assert document["run"] == run_of(first) == run_of(again)
    assert document["kinds"]["exact"]["pass"] == 4
    assert document["settings"]["repeats"] == 2
    assert document["settings"]["stage"]["retries"] == 0
    assert document["stage"]["name"] == "blue"
    assert stage.chats == before[0]
    # Both repeats of one case, and the preflight.
    assert reference.chats == before[1] + 3


async def test_headers_must_be_given_again(denv, serve, suite, home):
    """Header values are not kept: a run with headers is continued only with the same ones."""
    stub = await serve()
    header = ("--stage-header", "X-Route: planted-value")
    first = await denv("parity", "run", "--suite", suite, *sides(stub), *header)
    run = run_of(first)
    without = await denv("parity", "run", "--resume", run)
    assert without.code == 2
    assert "stage.headers" in without.err
    other = await denv("parity", "run", "--resume", run, "--stage-header", "X-Route: other")
    assert other.code == 2
    assert (await denv("parity", "run", "--resume", run, *header)).code == 0
    for path in home.iterdir():
        assert b"planted-value" not in path.read_bytes()


async def test_key_is_read_again(denv, serve, suite, home, monkeypatch):
    """The name of the key's variable is kept, the key is not: it is read anew."""
    key = "sk-planted-0123456789abcdef"
    monkeypatch.setenv("STAGE_KEY", key)
    stage, reference = await serve(answers.needs_key(key)), await serve()
    both = (*sides(stage, reference), "--stage-key-env", "STAGE_KEY")
    first = await denv("parity", "run", "--suite", suite, *both)
    monkeypatch.delenv("STAGE_KEY")
    without = await denv("parity", "run", "--resume", run_of(first))
    assert without.code == 2
    assert "STAGE_KEY" in without.err
    for path in home.iterdir():
        assert key.encode() not in path.read_bytes()


# ---------------------------------------------------------------- where data live


async def test_home_and_store(denv, serve, suite, home, tmp_path):
    """Runs are kept in ``$DENV_HOME``; ``--store`` overrides it, also with odd characters."""
    stub = await serve()
    first = await denv("parity", "run", "--suite", suite, *sides(stub))
    folder = tmp_path / "other ?&#%20 place"
    second = await denv("parity", "run", "--suite", suite, *sides(stub), "--store", folder)
    assert (first.code, second.code) == (0, 0)
    for place, ended in ((home, first), (folder, second)):
        store = open_store(place)
        latest = store.latest_run()
        assert latest is not None
        assert latest.run == run_of(ended)
        store.close()
        assert (place / "denv.sqlite3").stat().st_mode & 0o777 == 0o600
    missing = await denv("parity", "run", "--resume", run_of(second))
    assert missing.code == 2
