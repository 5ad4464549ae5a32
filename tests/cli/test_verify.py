"""``denv parity verify``: what is as it was signed, and each way in which it is not."""

from __future__ import annotations

import asyncio
import base64
import json

import pytest
from aiohttp import web
from jsonschema import Draft202012Validator

from denv.errors import HarnessError
from denv.publish.gathering import MOST_BYTES, gather
from denv.schemas import schema
from tests.cli import publishing


@pytest.fixture
async def published(denv, serve, tmp_path):
    """Publish a signed report; give its folder, the public key, and the suite."""
    suite, _ = await publishing.run(denv, serve, tmp_path, wrong={"3"})
    await denv("key", "new", "--out", tmp_path / "mine.key")
    out = tmp_path / "public"
    ended = await denv(
        *("parity", "report", "--public", "--out", out, "--key", tmp_path / "mine.key"),
        "--with-suite",
    )
    assert ended.code == 0, ended.err
    return out, tmp_path / "mine.pub", suite


async def test_what_was_signed_holds(denv, published):
    """A folder, its report and its envelope verify, with the suite too, and as JSON."""
    out, key, suite = published
    for place in (out, out / "report.json", out / "report.intoto.json"):
        ended = await denv("parity", "verify", place, "--key", key, "--suite", suite)
        assert ended.code == 0, ended.out + ended.err
        assert ended.out.endswith("\nverified\n")
    found = json.loads((await denv("parity", "verify", out, "--key", key, "--json")).out)
    Draft202012Validator(schema("verify-1")).validate(found)
    assert found["verified"] is True
    assert found["report"]["verdict"] == "pass"
    states = {check["name"]: check["state"] for check in found["checks"]}
    assert states["figures of index.html"] == states["figures of badge.svg"] == "holds"


def edit(path, old, new):
    """Replace a text that is there."""
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def resigned(out, change):
    """Change the statement and leave the signature."""
    path = out / "report.intoto.json"
    envelope = json.loads(path.read_text())
    content = json.loads(base64.b64decode(envelope["payload"]))
    change(content)
    envelope["payload"] = base64.b64encode(json.dumps(content).encode()).decode()
    path.write_text(json.dumps(envelope))


TAMPERINGS = {
    "the report": (
        lambda out: edit(out / "report.json", '"pass": 19', '"pass": 20'),
        "report.json: it was changed after it was signed",
    ),
    "the page": (
        lambda out: edit(out / "index.html", "95 %", "100 %"),
        "figures of index.html: they are not those of the report",
    ),
    "the badge": (
        lambda out: edit(out / "badge.svg", "pass 95 %", "pass 100 %"),
        "badge.svg: it was changed",
    ),
    "the suite": (
        lambda out: edit(out / "suite.jsonl", "number 3;", "number 4;"),
        "suite.jsonl is another suite than was asked",
    ),
    "the statement": (
        lambda out: resigned(out, lambda found: found["predicate"].update(result="PASSED!")),
        "the signature does not hold",
    ),
    "a file is missing": (
        lambda out: (out / "index.html").unlink(),
        "index.html: it is missing",
    ),
    "no report": (
        lambda out: (out / "report.json").unlink(),
        "report.json: it is missing",
    ),
    "no signature": (
        lambda out: (out / "report.intoto.json").unlink(),
        "it is not signed",
    ),
    "no envelope": (
        lambda out: (out / "report.intoto.json").write_text("[1]"),
        "it is no DSSE envelope",
    ),
    "a bad envelope": (
        lambda out: (out / "report.intoto.json").write_text(
            '{"payload": "e30=", "payloadType": "x", "signatures": []}'
        ),
        "bears no signature",
    ),
}


@pytest.mark.parametrize("what", TAMPERINGS)
async def test_what_was_edited_fails(denv, published, what):
    """Each change is told with its reason, and the exit code is 1."""
    out, key, _ = published
    tamper, said = TAMPERINGS[what]
    tamper(out)
    ended = await denv("parity", "verify", out, "--key", key)
    assert ended.code == 1
    assert said in ended.out, ended.out
    assert ended.out.endswith("NOT verified\n")
    found = json.loads((await denv("parity", "verify", out, "--key", key, "--json")).out)
    Draft202012Validator(schema("verify-1")).validate(found)
    assert (found["verified"], found["report"]) == (False, None)


async def test_another_key_fails(denv, published, tmp_path):
    """A report that somebody else signed is told as that."""
    out, _, _ = published
    await denv("key", "new", "--out", tmp_path / "other.key")
    ended = await denv("parity", "verify", out, "--key", tmp_path / "other.pub")
    assert ended.code == 1
    assert "it is not signed by this key" in ended.out


async def test_another_suite_fails(denv, published, tmp_path):
    """A suite that was changed is not the one that was asked."""
    out, key, suite = published
    other = tmp_path / "other.jsonl"
    other.write_bytes(suite.read_bytes().replace(b"number 3;", b"number 9;"))
    ended = await denv("parity", "verify", out, "--key", key, "--suite", other)
    assert ended.code == 1
    assert "other.jsonl is another suite than was asked" in ended.out


async def test_what_nobody_signed_fails(denv, published, tmp_path):
    """A file of a report's name that its signature does not cover is no part of it."""
    out, key, suite = published
    ended = await denv("parity", "report", "--public", "--out", out, "--key", tmp_path / "mine.key")
    assert ended.code == 0
    assert not (out / "suite.jsonl").exists()
    (out / "suite.jsonl").write_bytes(suite.read_bytes())
    ended = await denv("parity", "verify", out, "--key", key)
    assert ended.code == 1
    assert "suite.jsonl: nobody signed it" in ended.out


def beside(out):
    """Put files into the folder that no report has."""
    for name in ("extra.js", "INDEX.HTML", "report.j\u0455on", ".hidden"):
        (out / name).write_text("x")
    (out / "sub").mkdir()
    (out / "sub" / "x").write_text("x")
    (out / "link").symlink_to(out.parent)


async def test_any_other_name_fails(denv, published):
    """Whatever lies in the folder and is no part of the report is told, links unfollowed."""
    out, key, _ = published
    beside(out)
    ended = await denv("parity", "verify", out, "--key", key)
    assert ended.code == 1
    failed = [line for line in ended.out.split("\n") if line.startswith("FAIL")]
    names = [".hidden", "INDEX.HTML", "extra.js", "link", "report.j\\u0455on", "sub/"]
    assert failed == [
        f"FAIL  {name}: nobody signed it: take it away, or ask the publisher" for name in names
    ]
    for number in range(40):
        (out / f"more-{number}").touch()
    ended = await denv("parity", "verify", out, "--key", key)
    assert "FAIL  other files: no more than 20 of them are told" in ended.out


@pytest.mark.parametrize("name", ["report.json", "report.intoto.json", "badge.svg"])
async def test_a_file_that_is_too_large_fails(denv, published, name):
    """A file beyond what is read was not signed like that: exit 1, with the reason."""
    out, key, _ = published
    with (out / name).open("r+b") as file:
        file.truncate(MOST_BYTES + 1)
    ended = await denv("parity", "verify", out, "--key", key)
    assert ended.code == 1
    assert "larger than 268,435,456 bytes" in ended.out


async def test_what_cannot_be_checked_is_a_usage_error(denv, published, tmp_path):
    """A place or a key that is not there is exit 2 in one line."""
    out, key, _ = published
    for place, given, said in (
        (tmp_path / "nowhere", key, "there is no such file"),
        (out, tmp_path / "none.pub", "No such file"),
        (out, tmp_path / "mine.key", "is a private key"),
        (out, out / "report.json", "no public key"),
    ):
        ended = await denv("parity", "verify", place, "--key", given)
        assert (ended.code, len(ended.lines)) == (2, 1)
        assert said in ended.err


@pytest.fixture
async def host(published):
    """Serve the folder under ``/a/``, and ways in which a host misbehaves."""
    out, key, _ = published

    async def elsewhere(request):
        raise web.HTTPFound("http://localhost:1/report.json")

    async def around(request):
        raise web.HTTPFound(f"/a/{request.match_info['name']}")

    async def broken(request):
        return web.Response(status=500)

    async def slow(request):
        await asyncio.sleep(30)

    app = web.Application()
    app.router.add_get("/slow/{name}", slow)
    app.router.add_static("/a", out)
    app.router.add_get("/elsewhere/{name}", elsewhere)
    app.router.add_get("/around/{name}", around)
    app.router.add_get("/broken/{name}", broken)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}", key
    await runner.cleanup()


async def test_an_url_is_fetched(denv, host):
    """A folder's URL or one of a file in it is checked whole; its own redirects are followed."""
    url, key = host
    for place in ("a", "a/", "a/index.html", "a/report.json", "around/"):
        ended = await denv("parity", "verify", f"{url}/{place}", "--key", key)
        assert ended.code == 0, ended.out + ended.err
    nothing = await denv("parity", "verify", f"{url}/nothing/", "--key", key)
    assert nothing.code == 1
    assert "it is not signed" in nothing.out


async def test_a_host_that_misbehaves(denv, host):
    """Redirects to other hosts, errors, and files without end are exit 4 in one line."""
    url, key = host
    for place, said in (("elsewhere/", "another host"), ("broken/", "HTTP 500")):
        ended = await denv("parity", "verify", f"{url}/{place}", "--key", key)
        assert (ended.code, len(ended.lines)) == (4, 1)
        assert said in ended.err
    with pytest.raises(HarnessError, match="larger than 100 bytes"):
        await asyncio.to_thread(gather, f"{url}/a/", most_bytes=100)
    with pytest.raises(HarnessError, match=r"did not answer in 0\.3 s"):
        await asyncio.to_thread(gather, f"{url}/slow/", timeout_s=0.3)
