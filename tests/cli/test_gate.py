"""``denv gate``: one JSON document on standard output, and the exit codes of the contract."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time

import pytest
import yaml
from jsonschema import Draft202012Validator

from denv.schemas import schema
from tests import suites
from tests.stubs import answers


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


@pytest.fixture
def release(tmp_path):
    """Write a release over these two stubs, its suite of so many cases."""

    def write(stage, reference, *, cases=3, name="release.yaml"):
        suites.write(tmp_path, suites.numbered(cases))
        settings = {
            "release": "chat-r8",
            "stage": {"url": stage.url},
            "parity": {"reference": {"url": reference.url}, "suite": "suite.jsonl"},
        }
        path = tmp_path / name
        path.write_text(yaml.safe_dump(settings), "utf-8")
        return path

    return write


def read(ended):
    """Give the document, which is all of standard output and follows its schema."""
    document = json.loads(ended.out)
    Draft202012Validator(schema("gate-1")).validate(document)
    assert ended.out.rstrip().startswith("{")
    return document


@pytest.mark.parametrize(
    ("code", "answering"),
    [
        (0, (answers.echo(), answers.echo())),
        (1, (wrong_at(1), answers.echo())),
        (3, (answers.echo(), wrong_at(0))),
        (4, (answers.echo(), failing_cases)),
    ],
)
async def test_exit_codes_are_the_contracts(denv, serve, release, code, answering):
    """Verdict and exit code go together as those of a run do."""
    verdict = {0: "pass", 1: "fail", 3: "inconclusive", 4: "error"}[code]
    stage, reference = [await serve(handler) for handler in answering]
    path = release(stage, reference, cases=1 if code == 3 else 3)
    ended = await denv("gate", path, "--retries", "0")
    document = read(ended)
    assert (ended.code, document["exit_code"], document["verdict"]) == (code, code, verdict)
    assert document["release"]["name"] == "chat-r8"
    assert document["run"] in ended.err


@pytest.mark.parametrize("code", [0, 1, 3])
async def test_inconclusive_as(denv, serve, release, code):
    """An inconclusive verdict takes the exit code that is asked for, and stays its own verdict."""
    path = release(await serve(), await serve(wrong_at(0)), cases=1)
    ended = await denv("gate", path, "--inconclusive-as", code)
    assert (ended.code, read(ended)["verdict"]) == (code, "inconclusive")


async def test_inconclusive_as_0_lets_no_failure_pass(denv, serve, release):
    """The option is about the inconclusive alone: a failure stays 1, an error 4."""
    failing = release(await serve(wrong_at(1)), await serve())
    assert (await denv("gate", failing, "--inconclusive-as", 0)).code == 1
    broken = release(await serve(), await serve(failing_cases))
    assert (await denv("gate", broken, "--inconclusive-as", 0, "--retries", 0)).code == 4


async def test_the_document_counts_and_names(denv, serve, release):
    """Counts are those of the kinds summed; the cases that failed are named with their cause."""
    ended = await denv("gate", release(await serve(wrong_at(1)), await serve()))
    document = read(ended)
    assert document["counts"] == {
        "planned": 3,
        "pass": 2,
        "fail": 1,
        "reference-fail": 0,
        "unmeasured": 0,
        "reference-error": 0,
    }
    assert document["kinds"]["exact"]["threshold"] == 1.0
    assert [(each["id"], each["cause"]) for each in document["failing"]] == [("c1", "unknown")]
    assert document["reasons"]


async def test_options_of_a_run_instead_of_a_release(denv, serve, tmp_path):
    """Suite and sides by options do as well; then no release is named."""
    suite = suites.write(tmp_path, suites.numbered(2))
    stage = await serve()
    given = ("--suite", suite, "--stage", stage.url, "--reference", stage.url)
    document = read(await denv("gate", *given, "--markdown", tmp_path / "summary.md"))
    assert (document["verdict"], document["release"]) == ("pass", None)
    assert "pass" in (tmp_path / "summary.md").read_text("utf-8").lower()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("R", "--release", "R"), "a release is given twice"),
        (("R", "--json", "-"), "--json - : standard output holds the gate's document"),
        (("R", "--json", "/dev/stdout"), "standard output holds the gate's document"),
        (("R", "--html", "-"), "--html - : standard output holds the gate's document"),
        (("R", "--id", "../x"), "--id takes letters"),
        (("nowhere.yaml",), "nowhere.yaml: cannot be read"),
        ((), "--stage URL and --reference URL are missing"),
    ],
)
async def test_usage_errors(denv, serve, release, arguments, said):
    """Exit code 2, one line, and nothing on standard output."""
    path = release(await serve(), await serve())
    ended = await denv("gate", *(path if each == "R" else each for each in arguments))
    assert (ended.code, ended.out, len(ended.lines)) == (2, "", 1)
    assert said in ended.err


async def test_an_id_is_used_once(denv, serve, release):
    """A second gate of the same id is refused, unless the first was itself refused unasked."""
    path = release(await serve(), await serve())
    (path.parent / "suite.jsonl").write_text("{}\n", "utf-8")
    assert (await denv("gate", path, "--id", "g1")).code == 2
    suites.write(path.parent, suites.numbered(1))
    assert (await denv("gate", path, "--id", "g1")).code == 0
    ended = await denv("gate", path, "--id", "g1")
    assert (ended.code, ended.lines) == (2, ["denv: there is a gate 'g1' already"])


@pytest.mark.slow
async def test_ended_by_a_signal(serve, release, home):
    """SIGTERM ends it as cancelled, exit code 130, with its document."""

    async def slowly(request, n):
        if request["messages"][-1]["content"] != "Hello":
            await asyncio.sleep(60)
        return answers.echo()(request, n)

    path = release(await serve(slowly), await serve())
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "denv", "gate", str(path), "--quiet"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "DENV_HOME": str(home)},
    )
    assert process.stderr is not None
    seen = b""
    deadline = time.monotonic() + 60
    while b"--resume" not in seen and time.monotonic() < deadline:
        seen += await process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    out, _ = await process.communicate()
    document = json.loads(out)
    Draft202012Validator(schema("gate-1")).validate(document)
    assert (process.returncode, document["verdict"]) == (130, "cancelled")
