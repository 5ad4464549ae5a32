"""Bad input: one line that says what is wrong, exit 2, and no case sent."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import sys
from contextlib import closing

import pytest

from denv.store import engines, open_store
from tests import suites
from tests.stubs import answers

SECRET = "sk-planted-0123456789abcdef"
GOOD = json.dumps(suites.line("good", "Say yes.", {"contains": "yes"}))
WEATHER = {"name": "get_weather", "arguments": {"city": "Paris"}}


def assert_refused(ended, *parts, code=2):
    """One line on standard error, which holds these parts, and nothing on standard output."""
    assert ended.code == code, ended.err
    assert ended.out == ""
    assert len(ended.lines) == 1, ended.err
    assert_plain(ended.err)
    for part in parts:
        assert part in ended.err


def assert_plain(errors):
    """Each line is the command's own, shows no secret, and obeys no control character."""
    lines = errors.split("\n")
    assert lines.pop() == ""
    for line in lines:
        assert line.startswith("denv: ")
        assert line.isprintable()
    assert "Traceback" not in errors
    assert SECRET not in errors


def chats(stub):
    """Count chat requests."""
    return sum(seen.method == "POST" for seen in stub.seen)


@pytest.fixture
def parity(denv, tmp_path):
    """Run ``denv parity run`` on a good suite, with what else is given."""
    suite = suites.write(tmp_path, [json.loads(GOOD)])

    async def run(stub, *options):
        sides = ("--stage", stub.url, "--reference", stub.url)
        return await denv("parity", "run", "--suite", suite, *sides, "--retries", "0", *options)

    return run


# ---------------------------------------------------------------- options

OPTIONS = {
    "unknown flag": (["--frobnicate"], ["--frobnicate"]),
    "suite is missing": (["--suite", "absent.jsonl"], ["absent.jsonl", "no such file"]),
    "suite is a folder": (["--suite", "."], ["--suite", "directory"]),
    "suite and recipe": (["--recipe", "smollm2"], ["--suite and --recipe exclude each other"]),
    "negative rate": (["--pass", "exact=-1%"], ["--pass", "'-1%' is below 0 %"]),
    "rate above all": (["--pass", "exact=101%"], ["--pass", "'101%' is above 100 %"]),
    "rate of nothing": (["--pass", "exact=0%"], ["exact", "above 0 %"]),
    "rate without sign": (["--pass", "exact=95"], ["write 95%"]),
    "rate is NaN": (["--pass", "exact=nan"], ["'nan' is not a share"]),
    "rate twice": (["--pass", "exact=9%,exact=8%"], ["exact twice"]),
    "unknown kind": (["--pass", "exakt=99%"], ["no kind 'exakt'", "exact"]),
    "kind that the suite lacks": (["--pass", "logprobs=99%"], ["logprobs", "no such case"]),
    "confidence of 100 %": (["--confidence", "100%"], ["confidence"]),
    "confidence with 100 %": (["--confidence", "95%"], ["100 %", "exact"]),
    "coverage above all": (["--coverage", "2"], ["--coverage"]),
    "max-retried is no share": (["--max-retried", "few"], ["--max-retried", "'few'"]),
    "concurrency 0": (["--concurrency", "0"], ["--concurrency", "0"]),
    "concurrency of a side 0": (["--stage-concurrency", "0"], ["--stage-concurrency", "0"]),
    "concurrency is a word": (["--reference-concurrency", "x"], ["--reference-concurrency", "'x'"]),
    "timeout 0": (["--timeout", "0"], ["--timeout is 0"]),
    "timeout negative": (["--timeout", "-1"], ["--timeout is -1"]),
    "timeout NaN": (["--timeout", "nan"], ["--timeout is nan"]),
    "timeout infinite": (["--timeout", "inf"], ["--timeout is inf"]),
    "timeout too large": (["--timeout", "1e400"], ["--timeout is inf"]),
    "retries negative": (["--retries", "-1"], ["--retries", "-1"]),
    "repeats 0": (["--repeats", "0"], ["--repeats", "0"]),
    "max-tokens 0": (["--max-tokens", "0"], ["--max-tokens", "0"]),
    "max-tokens too large": (["--max-tokens", str(10**30)], ["--max-tokens"]),
    "rate is junk": (["--rate", "fast"], ["--rate", "5/s"]),
    "rate 0": (["--stage-rate", "0/s"], ["above 0"]),
    "price is junk": (["--stage-price", "cheap"], ["--stage-price 'cheap'", "0.14/0.28"]),
    "price NaN": (["--stage-price", "nan/1"], ["--stage-price", "from 0"]),
    "price negative": (["--reference-price", "-1/1"], ["--reference-price", "from 0"]),
    "stream is junk": (["--stream", "maybe"], ["--stream", "'maybe'", "both"]),
    "max-age is junk": (["--reference-max-age", "soon"], ["--reference-max-age", "24h"]),
    "header without colon": (["--stage-header", f"Bearer {SECRET}"], ["--stage-header", "NAME"]),
    "header without name": (["--stage-header", ": x"], ["--stage-header", "NAME: VALUE"]),
    "header with a line break": (["--stage-header", "a: b\nc: d"], ["'a'", "cannot be sent"]),
    "header of the run": (["--stage-header", "Content-Length: 1"], ["Content-Length"]),
    "header that carries a key": (
        ["--stage-header", f"Authorization: Bearer {SECRET}"],
        ["--stage-header", "Authorization carries a key", "--stage-key-env", "--stage-header-env"],
    ),
    "header that carries a key in small letters": (
        ["--reference-header", f"x-api-key: {SECRET}"],
        ["--reference-header", "x-api-key carries a key", "--reference-key-env"],
    ),
    "replica header is none": (
        ["--stage-replica-header", "a:b"],
        ["--stage-replica-header", "'a:b'", "no name of a header"],
    ),
    "report over a key file": (
        ["--stage-key-file", "closed.key", "--html", "closed.key"],
        ["--html closed.key", "--stage-key-file"],
    ),
    "report over the suite": (["--json", "suite.jsonl"], ["--json suite.jsonl", "--suite"]),
    "two reports in one file": (["--json", "r", "--junit", "./r"], ["--json and --junit", "r"]),
    "header variable missing": (["--stage-header-env", "X=ABSENT"], ["ABSENT is not set"]),
    "header variable is the value": (["--stage-header-env", f"X={SECRET}"], ["none of this name"]),
    "header-env without =": (["--stage-header-env", SECRET], ["NAME=VAR"]),
    "extra is not JSON": (["--stage-extra", "{a:1}"], ["--stage-extra is not JSON"]),
    "extra is NaN": (["--stage-extra", '{"a": NaN}'], ["--stage-extra is not JSON", "NaN"]),
    "extra twice": (["--stage-extra", '{"a": 1, "a": 2}'], ["stands twice"]),
    "extra is a list": (["--reference-extra", "[1]"], ["--reference-extra must be a JSON object"]),
    "extra sets a setting": (["--stage-extra", '{"temperature": 1}'], ["'temperature'"]),
    "key variable missing": (["--stage-key-env", "ABSENT"], ["--stage-key-env", "ABSENT"]),
    "key variable is the key": (["--stage-key-env", SECRET], ["--stage-key-env", "name"]),
    "key variable empty": (["--stage-key-env", "EMPTY_KEY"], ["EMPTY_KEY holds no key"]),
    "key file missing": (["--stage-key-file", "absent"], ["absent", "No such file"]),
    "key file open": (["--stage-key-file", "open.key"], ["open.key", "chmod 600"]),
    "key file a folder": (["--stage-key-file", "."], ["not a regular file"]),
    "key twice": (["--stage-key-env", "A", "--stage-key-file", "b"], ["exclude each other"]),
    "release missing": (["--release", "absent.yaml"], ["absent.yaml", "No such file"]),
    "release broken": (["--release", "broken.yaml"], ["broken.yaml:2", "modle", '"model"?']),
    "resume of nothing": (["--resume", "20200101-000000-abc"], ["no run '20200101-000000-abc'"]),
    "json into no folder": (["--json", "no/r.json"], ["--json no/r.json", "no folder"]),
    "json into a folder": (["--json", "."], ["--json .", "folder"]),
    "html into no folder": (["--html", "no/r.html"], ["--html no/r.html", "no folder"]),
    "two on standard output": (["--json", "-", "--html", "-"], ["standard output"]),
    "store is a file": (["--store", "open.key"], ["--store", "open.key", "file"]),
    "empty": (["--pass", ""], ["--pass is empty"]),
    "empty key variable": (["--stage-key-env", ""], ["--stage-key-env is empty"]),
    "not UTF-8": (["--stage-model", "m\udcff"], ["--stage-model is not UTF-8"]),
    "control characters": (["--pass", "\x1b[2J\x07=1%"], ["\\x1b[2J\\x07"]),
    "line break": (["--suite", "a\nb.jsonl"], ["no such file"]),
}


@pytest.mark.parametrize("name", OPTIONS)
async def test_bad_option(parity, serve, tmp_path, monkeypatch, name):
    """A wrong option is named in one line, and no connection is opened."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EMPTY_KEY", " ")
    (tmp_path / "open.key").write_text(SECRET)
    (tmp_path / "open.key").chmod(0o644)
    (tmp_path / "closed.key").write_text(SECRET)
    (tmp_path / "closed.key").chmod(0o600)
    (tmp_path / "broken.yaml").write_text("release: r\nstage: {url: 'http://h/v1', modle: m}\n")
    stub = await serve()
    given, parts = OPTIONS[name]
    ended = await parity(stub, *given)
    if name == "line break":
        assert ended.code == 2
        assert_plain(ended.err)
    else:
        assert_refused(ended, *parts)
    assert stub.seen == []


URL = "http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    ("given", "parts"),
    [
        (["frobnicate"], ["frobnicate"]),
        (["parity", "runn"], ["'runn'", "run"]),
        (
            ["parity", "run"],
            ["--suite FILE, --stage URL and --reference URL are missing", "as in: denv"],
        ),
        (["parity", "run", "--stage", URL], ["--suite FILE and --reference URL are missing"]),
        (["parity", "run", "--recipe", "generic", "--stage", URL], ["--reference URL is missing"]),
        (["parity", "run", "extra"], ["extra"]),
        (["parity", "run", "--suite"], ["--suite"]),
        (["parity", "check"], ["--suite FILE is missing"]),
        (["parity", "check", "--recipe", "nope"], ["unknown recipe 'nope'", "smollm2"]),
        (["parity", "check", "--recipe", "smollm2", "--suite", "s"], ["exclude each other"]),
        (["parity", "check", "--recipe", ""], ["--recipe is empty"]),
    ],
)
async def test_bad_command(denv, given, parts):
    """A command that does not exist, or lacks what it needs, says so in one line."""
    assert_refused(await denv(*given), *parts)


@pytest.mark.parametrize("given", [[], ["parity"]])
async def test_no_command_shows_help(denv, given):
    """Without a command there is help on standard error, and exit 2."""
    ended = await denv(*given)
    assert (ended.code, ended.out) == (2, "")
    assert "Usage: denv" in ended.err


URLS = {
    "no scheme": ("127.0.0.1:8080/v1", ["http://"]),
    "other scheme": ("ftp://127.0.0.1/v1", ["http://"]),
    "no /v1": ("http://127.0.0.1:9/api", ["http://127.0.0.1:9/api/v1"]),
    "a call": ("http://127.0.0.1:9/v1/chat/completions", ["its base is http://127.0.0.1:9/v1"]),
    "credentials": (f"http://user:{SECRET}@127.0.0.1:9/v1", ["credentials"]),
    "query": (f"http://127.0.0.1:9/v1?key={SECRET}", ["no query"]),
    "fragment": ("http://127.0.0.1:9/v1#x", ["fragment"]),
    "no host": ("http:///v1", ["no host"]),
    "no port": ("http://127.0.0.1:port/v1", ["not a URL"]),
    "space": ("http://127.0.0.1 /v1", ["space"]),
    "control character": ("http://127.0.0.1\x1b[31m/v1", ["control character"]),
    "empty": ("", ["--stage is empty"]),
}


@pytest.mark.parametrize("name", URLS)
async def test_bad_url(parity, serve, name):
    """A URL that is no base of an API is refused, with the right one where it can be told."""
    stub = await serve()
    url, parts = URLS[name]
    assert_refused(await parity(stub, "--stage", url), "--stage", *parts)
    assert stub.seen == []


# ---------------------------------------------------------------- suites

TOOL = '"tools": [{"type": "function", "function": {"name": "get_weather"}}], '


def of(expect, *, case_id="bad", more=""):
    """Write a line with this ``expect``, given as JSON text."""
    messages = '[{"role": "user", "content": "?"}]'
    return f'{{"id": "{case_id}", "messages": {messages}, {more}"expect": {expect}}}'


LINES = {
    "not JSON": ("{'id': 1}", ["JSON"]),
    "not an object": ("[1]", ["object"]),
    "duplicate id": (of('{"equals": "1"}', case_id="good"), ["id", "good", "line 1"]),
    "two checks": (of('{"equals": "1", "contains": "1"}'), ["expect"]),
    "no check": (of("{}"), ["expect"]),
    "unknown check": (of('{"equal": "1"}'), ["expect", "equal"]),
    "bad regex": (of('{"regex": "("}'), ["expect.regex"]),
    "negative tolerance": (of('{"logprobs-close": {"tolerance": -0.1}}'), ["tolerance"]),
    "tolerance NaN": (of('{"logprobs-close": {"tolerance": NaN}}'), ["NaN"]),
    "infinite": (of('{"logprobs-close": {"tolerance": 1e999}}'), ["out of range"]),
    "tool without tools": (of(json.dumps({"tool-call": WEATHER})), ["tools"]),
    "unknown field": (of('{"equals": "1"}', more='"temperature": 1, '), ["temperature"]),
    "key twice": (of('{"equals": "1", "equals": "2"}'), ["twice"]),
    "max_tokens 0": (of('{"equals": "1"}', more='"max_tokens": 0, '), ["max_tokens"]),
    "max_tokens huge": (of('{"equals": "1"}', more=f'"max_tokens": {10**30}, '), ["max_tokens"]),
    "control character": (of('{"\\u001b[2J": "1"}'), ["expect"]),
}


@pytest.mark.parametrize("name", LINES)
async def test_bad_line(denv, serve, tmp_path, name):
    """A wrong line is named by file, line and field; check and run say the same."""
    stub = await serve()
    text, parts = LINES[name]
    path = tmp_path / "suite.jsonl"
    path.write_text(f"{GOOD}\n{text}\n", "utf-8")
    sides = ("--stage", stub.url, "--reference", stub.url)
    ran = await denv("parity", "run", "--suite", path, *sides)
    checked = await denv("parity", "check", "--suite", path)
    assert_refused(ran, f"{path}:2: ", *parts)
    assert checked == ran
    assert stub.seen == []


async def test_a_line_a_fault(denv, serve, tmp_path):
    """Up to 20 faults are reported at once, each on its own line, then how many more there are."""
    stub = await serve()
    path = tmp_path / "suite.jsonl"
    path.write_text("".join(of("{}", case_id=f"c{n}") + "\n" for n in range(30)), "utf-8")
    ended = await denv(
        "parity", "run", "--suite", path, "--stage", stub.url, "--reference", stub.url
    )
    assert ended.code == 2
    assert_plain(ended.err)
    assert len(ended.lines) == 21
    assert [line.split(":")[2] for line in ended.lines[:20]] == [str(n + 1) for n in range(20)]
    assert "10 more" in ended.lines[20]
    assert stub.seen == []


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xff\xfe\n", b"\x1f\x8b\x08\x00"])
async def test_bad_file(denv, tmp_path, content):
    """A file that is empty, no text or compressed is no suite."""
    path = tmp_path / "suite.jsonl"
    path.write_bytes(content)
    assert_refused(await denv("parity", "check", "--suite", path), str(path))


# ---------------------------------------------------------------- what the preflight finds

PREFLIGHT = {
    "redirect 301": (answers.redirect(301, "https://a.example/v1/chat/completions"), ["(301)"]),
    "redirect 307": (answers.redirect(307, "https://a.example/v1/chat/completions"), ["(307)"]),
    "redirect 308": (answers.redirect(308, "https://a.example/v1/chat/completions"), ["(308)"]),
    "HTML": (answers.html(), ["HTML instead of an API (200)"]),
    "HTML 404": (answers.html(404), ["HTML instead of an API (404)"]),
    "401": (answers.needs_key("other"), ["wrong key (401)", "Incorrect API key"]),
    "403": (lambda r, n: answers.error(403, "no access"), ["(403)", "no access"]),
    "404": (answers.knows_model("other"), ["(404)", "The model `stub` does not exist."]),
    "405": (lambda r, n: answers.error(405, "use GET"), ["(405)", "use GET"]),
    "text": (answers.body(b"It works!", content_type="text/plain"), ["not an API", "It works!"]),
    "hostile": (lambda r, n: answers.error(404, "\x1b[2J\u202e"), ["(404)"]),
}


@pytest.mark.parametrize("side", ["stage", "reference"])
@pytest.mark.parametrize("name", PREFLIGHT)
async def test_preflight(parity, serve, monkeypatch, name, side):
    """What cannot become right by waiting is exit 2, said plainly after one request a side."""
    monkeypatch.setenv("PLANTED_KEY", SECRET)
    handler, parts = PREFLIGHT[name]
    good, bad = await serve(), await serve(handler)
    options = [f"--{side}", bad.url, f"--{side}-key-env", "PLANTED_KEY"]
    parts = [f"{side}: ", *parts]
    if "redirect" in name:
        parts.append("the URL to use is https://a.example/v1")
    assert_refused(await parity(good, *options), *parts)
    assert chats(bad) == 1
    assert chats(good) <= 1


async def test_missing_key(parity, serve):
    """Without a key, a side that wants one is told apart from a wrong key."""
    good, locked = await serve(), await serve(answers.needs_key("right"))
    assert_refused(await parity(good, "--stage", locked.url), "stage: a key is needed (401)")


async def test_several_models(parity, serve):
    """Where several models are served and none is named, they are listed."""
    good, many = await serve(), await serve(models=["b", "a\x1b[2J"])
    ended = await parity(good, "--stage", many.url)
    assert_refused(ended, "stage: 2 models are served", "'b'", "'a\\x1b[2J'")
    assert chats(many) == 0


async def test_no_model(parity, serve):
    """Where no model is served, one must be named."""
    good, none = await serve(), await serve(models=[])
    assert_refused(await parity(good, "--reference", none.url), "reference: ", "no model")


# ---------------------------------------------------------------- resuming


@pytest.mark.parametrize("change", ["suite", "setting", "threshold", "url"])
async def test_resume_with_a_change(parity, serve, tmp_path, change):
    """A run is not continued with another suite, setting, threshold or side."""
    stub, other = await serve(), await serve()
    first = await parity(stub)
    run = first.lines[0].split()[1]
    changes: dict[str, list[object]] = {
        "suite": ["--suite", suites.write(tmp_path, suites.numbered(2), "other.jsonl")],
        "setting": ["--max-tokens", "5"],
        "threshold": ["--pass", "exact=50%"],
        "url": ["--stage", other.url],
    }
    before = len(stub.seen)
    named = {"setting": "max_tokens", "threshold": "pass", "url": "stage.url"}.get(change, change)
    assert_refused(await parity(stub, "--resume", run, *changes[change]), run, named)
    assert len(stub.seen) == before
    assert other.seen == []


# ---------------------------------------------------------------- the data folder


async def test_home_is_a_file(parity, serve, home):
    """A data folder that is a file is a wrong setting, exit 2."""
    home.write_text("")
    assert_refused(await parity(await serve()), str(home), code=2)


@pytest.mark.parametrize("content", [b"not a database" * 100, b"SQLite format 3\0" + b"x" * 5000])
async def test_corrupt_database(parity, serve, home, content):
    """A file that is no database is an error of the harness, and is left as it is."""
    home.mkdir()
    path = home / "denv.sqlite3"
    path.write_bytes(content)
    stub = await serve()
    assert_refused(await parity(stub), str(path), code=4)
    assert stub.seen == []
    assert path.read_bytes() == content


async def test_newer_database(parity, serve, home):
    """Data of a newer program are refused and left as they are."""
    open_store(home).close()
    path = home / "denv.sqlite3"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = 'tomorrow'")
        connection.execute("DROP TABLE answers")
    assert_refused(
        await parity(await serve()), str(path), "form 'tomorrow' of a newer denv", code=4
    )
    with closing(sqlite3.connect(path)) as connection:
        names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    assert "answers" not in names


async def test_locked_database(parity, serve, home, monkeypatch):
    """A database that another process does not let go is an error of the harness."""
    open_store(home).close()
    monkeypatch.setattr(engines, "LOCK_WAIT_S", 0.2)
    with closing(sqlite3.connect(home / "denv.sqlite3", isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        assert_refused(await parity(await serve()), "locked", code=4)


async def test_folder_that_cannot_be_written(tmp_path):
    """An ordinary user without rights to the data folder is told so."""
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o555)
    code = (
        # Another user may be unable to read this interpreter's library: it is loaded before.
        "import os, sys; from denv.cli import parity, run, running\n"
        "if os.geteuid() == 0: os.setuid(65534)\n"
        "url = 'http://127.0.0.1:9/v1'\n"
        "sides = ['--suite', 's.jsonl', '--stage', url, '--reference', url]\n"
        f"sys.exit(run(['parity', 'run', *sides, '--store', {str(folder)!r}]))"
    )
    for parent in folder.parents:
        if parent.stat().st_uid == os.geteuid() and not parent.stat().st_mode & 0o001:
            parent.chmod(0o711)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await process.communicate()
    assert process.returncode == 2, err.decode()
    assert out == b""
    assert err.decode().startswith(f"denv: {folder}")
    assert "Permission denied" in err.decode()
    assert_plain(err.decode())


# ---------------------------------------------------------------- as a process


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["parity", "run", "--frobnicate"], b"--frobnicate"),
        (["parity", "check", "--suite", "/absent.jsonl"], b"/absent.jsonl"),
        (["parity", "run", "--stage", b"http://\xff/v1"], b"--stage"),
    ],
)
async def test_process(arguments, part, home):
    """The process itself ends with exit 2 and one line, also for bytes that are no text."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "denv",
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert (process.returncode, out) == (2, b"")
    assert err.count(b"\n") == 1
    assert part in err
    assert_plain(err.decode())


@pytest.mark.parametrize(
    "arguments", [("parity", "check", "--release"), ("suite", "import", "--from", "kvv")]
)
async def test_a_pipe_is_not_waited_for(denv, tmp_path, arguments):
    """Where a file is read whole, a pipe that nobody writes to is refused at once."""
    os.mkfifo(tmp_path / "pipe")
    out = () if "--release" in arguments else ("--out", tmp_path / "out.jsonl")
    ended = await denv(*arguments, tmp_path / "pipe", *out)
    assert_refused(ended, "pipe", "not a regular file")


async def test_links_that_lead_to_each_other(denv, tmp_path):
    """A file to import that is such a link is one line, as any that cannot be read."""
    (tmp_path / "one").symlink_to("other")
    (tmp_path / "other").symlink_to("one")
    given = ("suite", "import", "--from", "kvv", tmp_path / "one", "--out", tmp_path / "out")
    assert_refused(await denv(*given), "one", "symbolic links")


@pytest.mark.parametrize("columns", ["0", "1", "99999999", "9" * 5000])
async def test_columns_that_no_terminal_has(denv, tmp_path, monkeypatch, columns):
    """Whatever the number of columns, what is said is said, and soon."""
    monkeypatch.setenv("COLUMNS", columns)
    ended = await denv("parity", "--help")
    assert ended.code == 0
    assert "Commands:" in ended.out
    assert len(max(ended.out.split("\n"), key=len)) <= 1000


async def test_a_private_part_that_is_the_suite_is_found_by_check(denv, tmp_path):
    """What a run refuses of a release, checking it refuses too."""
    suites.write(tmp_path, [json.loads(GOOD)])
    side = {"url": "http://127.0.0.1:9/v1"}
    parity = {"suite": "suite.jsonl", "private": "suite.jsonl", "reference": side}
    release = tmp_path / "release.yaml"
    release.write_text(json.dumps({"release": "r", "stage": side, "parity": parity}))
    ended = await denv("parity", "check", "--release", release)
    assert_refused(ended, "the private part is the suite itself")
