"""``denv parity report``: a stored run in every form, and what of it is public."""

from __future__ import annotations

import base64
import json
import sqlite3
from contextlib import closing

import pytest
from jsonschema import Draft202012Validator

from denv.schemas import schema
from tests import suites
from tests.cli import publishing
from tests.cli.publishing import PLANTED


async def test_every_form_again(denv, serve, tmp_path):
    """The latest run is shown if none is named, and written in all forms as when it ended."""
    _, run = await publishing.run(denv, serve, tmp_path, wrong={"3"})
    forms = {name: tmp_path / f"again.{name}" for name in ("html", "junit", "markdown")}
    options = [each for name, path in forms.items() for each in (f"--{name}", path)]
    ended = await denv("parity", "report", "--json", "-", *options)
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["run"] == run
    assert all(path.stat().st_size for path in forms.values())
    named = await denv("parity", "report", run)
    assert named.code == 0
    assert "PASS" in named.out.upper()
    assert "c3" in named.out


async def test_a_public_report(denv, serve, tmp_path):
    """The files say what the run found, follow the schema, and the page needs no scripts."""
    await publishing.run(denv, serve, tmp_path)
    _, run = await publishing.run(denv, serve, tmp_path, wrong={"3", "4", "5"})
    out = tmp_path / "public"
    ended = await denv("parity", "report", run, "--public", "--out", out)
    assert ended.code == 0, ended.err
    assert "not signed" in ended.err
    assert {path.name for path in out.iterdir()} == {"report.json", "index.html", "badge.svg"}
    report = json.loads((out / "report.json").read_text("utf-8"))
    Draft202012Validator(schema("public-1")).validate(report)
    assert report["verdict"] == "fail"
    assert report["kinds"]["exact"]["pass"] == 17
    assert [case["id"] for case in report["cases"] if case["outcome"] == "fail"] == [
        "c3",
        "c4",
        "c5",
    ]
    failed = report["cases"][3]
    assert failed["asked"]["messages"] == [{"role": "user", "content": "number 3;"}]
    assert failed["asked"]["expect"] == {"contains": "number 3;"}
    assert (failed["stage"]["text"], failed["reference"]["text"]) == ("no", "number 3;")
    page = (out / "index.html").read_text("utf-8")
    assert "<script" not in page
    assert 'content="noindex"' in page
    assert "85 %" in page
    assert "fail 85 %" in (out / "badge.svg").read_text("utf-8")


async def test_a_run_says_which_of_how_many_it_is(denv, serve, tmp_path):
    """Runs of one suite against one stage are counted, whichever of them is published."""
    suite, run = await publishing.run(denv, serve, tmp_path, wrong={"3"})
    stage, reference = await serve(), await serve()
    again = ("parity", "run", "--suite", suite, "--stage", stage.url, "--quiet")
    for _ in range(3):
        await denv(*again, "--reference", reference.url)
    out = tmp_path / "public"
    await denv("parity", "report", "--public", "--out", out)
    log = json.loads((out / "report.json").read_text("utf-8"))["log"]
    assert (log["position"], log["runs"], log["number"], log["entries"]) == (3, 3, 4, 4)
    assert "Run 3 of 3 with this suite against this stage" in (out / "index.html").read_text()
    await denv("parity", "report", run, "--public", "--out", out)
    assert "Run 1 of 1" in (out / "index.html").read_text()


async def test_planted_secrets_are_in_no_public_file(denv, serve, tmp_path, monkeypatch):
    """Whatever a server says in its errors, and whatever is private, no byte of it is published."""
    monkeypatch.setenv("PLANTED_KEY", PLANTED["key"])
    private = publishing.private_suite(tmp_path)
    await publishing.run(
        *(denv, serve, tmp_path, "--stage-key-env", "PLANTED_KEY", "--private", private),
        *("--stage-header", f"X-Planted: {PLANTED['header']}", "--stage-name", "our chat"),
        refused={"2", "7"},
        cases=30,
    )
    out = tmp_path / "public"
    await denv("key", "new")
    ended = await denv("parity", "report", "--public", "--out", out, "--with-suite")
    assert ended.code == 0, ended.err
    written = b"".join(path.read_bytes() for path in out.iterdir())
    envelope = json.loads((out / "report.intoto.json").read_text("utf-8"))
    written += base64.b64decode(envelope["payload"])
    assert b"refused" in written  # the errors are told
    for what, secret in PLANTED.items():
        assert secret.encode() not in written, what
    for name in (b"hidden-", b"127.0.0.1", str(tmp_path).encode(), b"X-Planted", b"PLANTED_KEY"):
        assert name not in written, name
    assert (
        json.loads((out / "report.json").read_text("utf-8"))["gaming"]["private"]["planned"] == 12
    )
    assert (out / "suite.jsonl").read_bytes() == (tmp_path / "core.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["nothing"], "there is no run 'nothing'"),
        (["--expires", "3d"], "--expires needs --public"),
        (["--public", "--out", "{out}", "--expires", "3d"], "--expires is for reports"),
        (["--revoke", "0" * 32], "no published report"),
        (["--out", "{out}"], "--out needs --public"),
        (["--index"], "--index needs --public"),
        (["--public", "--out", "{out}", "--suite", "{other}"], "is not the suite that run"),
        (["--public", "--out", "{out}", "--stale-after", "12h"], "whole days"),
        (["--public", "--out", "{out}", "--key", "{other}"], "no private key"),
    ],
)
async def test_what_cannot_be_published(denv, serve, tmp_path, options, said):
    """Options that do not go together, and files that are not what they should be, are exit 2."""
    await publishing.run(denv, serve, tmp_path)
    other = tmp_path / "other.jsonl"
    suites.write(tmp_path, suites.numbered(1), "other.jsonl")
    other.chmod(0o600)
    given = [each.format(out=tmp_path / "out", other=other) for each in options]
    ended = await denv("parity", "report", *given)
    assert ended.code == 2
    assert said in ended.err
    assert len(ended.lines) == 1


@pytest.mark.parametrize(
    "change",
    [
        """runs SET head = replace(head, '"verdict":"fail"', '"verdict":"pass"')""",
        """results SET document = replace(document, '"outcome":"fail"', '"outcome":"pass"')""",
    ],
)
async def test_a_report_that_was_changed_is_not_published(denv, serve, tmp_path, home, change):
    """A head or result that is not the one in the log of runs is told, and nobody signs it."""
    await publishing.run(denv, serve, tmp_path, wrong={"3", "4", "5"})
    await denv("key", "new")
    with closing(sqlite3.connect(home / "denv.sqlite3")) as connection, connection:
        assert connection.execute(f"UPDATE {change}").rowcount
    shown = await denv("parity", "report")
    assert (shown.code, "is not the one in the log of runs" in shown.err) == (0, True)
    for more in (("--out", tmp_path / "public"), ()):
        ended = await denv("parity", "report", "--public", *more)
        assert (ended.code, len(ended.lines)) == (4, 1)
        assert "`denv db check`" in ended.err
    assert not (tmp_path / "public").exists()
    assert (await denv("parity", "report", "--published")).out == ""


async def test_nothing_to_report(denv):
    """Without a run there is nothing to show."""
    ended = await denv("parity", "report")
    assert ended.code == 2
    assert "there are no runs yet" in ended.err


async def test_a_suite_that_was_moved_is_named(denv, serve, tmp_path):
    """Where the suite is gone from its place, the option names the same file elsewhere."""
    suite, _ = await publishing.run(denv, serve, tmp_path)
    moved = suite.rename(tmp_path / "moved.jsonl")
    out = ("--public", "--out", tmp_path / "out")
    ended = await denv("parity", "report", *out)
    assert ended.code == 2
    assert "is gone from" in ended.err
    assert (await denv("parity", "report", *out, "--suite", moved)).code == 0


async def test_a_report_is_published_listed_and_taken_back(denv, serve, tmp_path):
    """Without a folder it gets an address of 128 bits, that is listed, and revoked once."""
    await publishing.run(denv, serve, tmp_path)
    ended = await denv("parity", "report", "--public", "--expires", "30d")
    assert ended.code == 0, ended.err
    address = ended.out.strip().removeprefix("/r/").removesuffix("/")
    assert len(bytes.fromhex(address)) == 16
    assert f"{address}  pass" in (await denv("parity", "report", "--published")).out
    assert (await denv("parity", "report", "--revoke", address)).code == 0
    assert "taken back" in (await denv("parity", "report", "--published")).out
    assert (await denv("parity", "report", "--revoke", address)).code == 2
    assert (await denv("db", "check")).code == 0


async def test_a_stored_run_is_appended_to_the_summary_of_a_step(
    denv, serve, tmp_path, monkeypatch
):
    """What the step has said before stays, each report comes after it; a run does the same."""
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    await publishing.run(denv, serve, tmp_path, "--step-summary", wrong={"3", "4", "5"})
    assert summary.read_text("utf-8").startswith("## ❌ denv parity: fail\n")
    summary.write_text("before, without an end of its line", "utf-8")
    for _ in range(2):
        assert (await denv("parity", "report", "--step-summary")).code == 0
    text = summary.read_text("utf-8")
    assert text.startswith("before, without an end of its line\n")
    assert text.count("## ❌ denv parity: fail\n") == 2
    assert "<code>c3</code>" in text


async def test_a_summary_is_written_nowhere_unless_that_is_told(denv, serve, tmp_path, monkeypatch):
    """The variable alone, which every step has, changes nothing."""
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    await publishing.run(denv, serve, tmp_path)
    assert (await denv("parity", "report", "--junit", tmp_path / "junit.xml")).code == 0
    assert not summary.exists()


@pytest.mark.parametrize("value", [None, "", "/no/such/folder/summary.md"])
async def test_a_summary_outside_of_a_step_is_a_usage_error(denv, tmp_path, monkeypatch, value):
    """Without a place for it nothing is sent, and the message says what to do instead."""
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    if value is not None:
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", value)
    ended = await denv("parity", "report", "--step-summary")
    assert ended.code == 2
    assert "--step-summary" in ended.err
