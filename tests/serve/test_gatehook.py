"""The gate over HTTP: started by name, read by id, and answered to Flagger. Runs are real ones."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack

import aiohttp
import pytest
import yaml
from jsonschema import Draft202012Validator

from denv.errors import UsageError
from denv.records import Secret
from denv.report.gate import opened
from denv.runner.gates import GateFolder
from denv.schemas import schema
from denv.serve.gatehook import gate_app, token_for
from denv.serve.hosts import allowed_hosts
from tests import suites
from tests.serve.mounting import mounted
from tests.stubs import StubServer, answers

TOKEN = "token-0123456789"
CHECKSUM = "6f8c9d7b5d"


def wrong(request, n):
    """Answer the preflight, and every case wrongly."""
    return answers.completion("no")


@pytest.fixture
async def stack():
    async with AsyncExitStack() as opened:
        yield opened


@pytest.fixture
def release(tmp_path, stack):
    """Write a release of this name over stub servers; the stage answers as the handler says."""

    async def write(name="chat", handler=None, *, cases=2):
        stage = await stack.enter_async_context(StubServer(handler))
        reference = await stack.enter_async_context(StubServer())
        folder = tmp_path / "releases"
        folder.mkdir(exist_ok=True)
        suites.write(folder, suites.numbered(cases))
        settings = {
            "release": f"{name}-r8",
            "stage": {"url": stage.url},
            "parity": {"reference": {"url": reference.url}, "suite": "suite.jsonl"},
        }
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(settings), "utf-8")
        return stage

    return write


@pytest.fixture
def serve(tmp_path, stack):
    """Serve the gate below /gate; gives a client of it."""

    async def start(**options):
        given = {"releases": tmp_path / "releases", "data": tmp_path / "data", "token": None}
        served = mounted("/gate", gate_app(**{**given, **options}))
        session = aiohttp.ClientSession(await stack.enter_async_context(served))
        return await stack.enter_async_context(session)

    return start


async def post(client, path, body, **headers):
    async with client.post(f"/gate{path}", json=body, headers=headers) as answer:
        return answer.status, await answer.json()


async def get(client, gate, **headers):
    async with client.get(f"/gate/runs/{gate}", headers=headers) as answer:
        return answer.status, await answer.json()


async def end_of(client, gate, *, within_s=60):
    """Ask as Argo Rollouts does until the answer is 200; give it, and all statuses before."""
    statuses = []
    async with asyncio.timeout(within_s):
        while True:
            status, document = await get(client, gate)
            statuses.append(status)
            if status == 200:
                return document, statuses[:-1]
            await asyncio.sleep(0.1)


def canary(**metadata):
    """Give the body that Flagger posts (docs/gitbook/usage/webhooks.md of fluxcd/flagger)."""
    return {
        "name": "chat",
        "namespace": "models",
        "phase": "Progressing",
        "checksum": CHECKSUM,
        "metadata": metadata,
    }


# ---------------------------------------------------------------- runs


async def test_started_by_name_and_read_by_id(serve, release):
    """202 with the document, 503 with Retry-After while it runs, 200 with the verdict."""
    await release()
    client = await serve()
    status, document = await post(client, "/runs", {"release": "chat", "id": "chat-7d4f"})
    assert (status, document["state"], document["gate"]) == (202, "running", "chat-7d4f")
    document, before = await end_of(client, "chat-7d4f")
    assert set(before) == {503}
    Draft202012Validator(schema("gate-1")).validate(document)
    assert (document["verdict"], document["release"]["name"]) == ("pass", "chat-r8")


async def test_the_same_id_starts_nothing_again(serve, release):
    """Posted again, while it runs and after it, the same gate is given: its cases are paid once."""
    stage = await release()
    client = await serve()
    for _ in range(2):
        assert (await post(client, "/runs", {"release": "chat", "id": "g"}))[0] == 202
    await end_of(client, "g")
    asked = stage.chats
    status, document = await post(client, "/runs", {"release": "chat", "id": "g"})
    assert (status, document["verdict"]) == (200, "pass")
    assert stage.chats == asked


async def test_a_failure_is_an_answer(serve, release):
    """A failed gate is 200 with its verdict, and the reason stands in it."""
    await release(handler=wrong)
    client = await serve()
    _, started = await post(client, "/runs", {"release": "chat"})
    document, _ = await end_of(client, started["gate"])
    assert document["verdict"] == "fail"
    assert document["reasons"]


@pytest.mark.parametrize(
    "name", ["../chat", "releases/chat", "/etc/passwd", "http://h/chat", "chat.yaml", "nope", "."]
)
async def test_only_names_are_taken(serve, release, name):
    """A path, an URL or an unknown name is no release: nothing outside the folder is read."""
    await release()
    status, body = await post(await serve(), "/runs", {"release": name})
    assert (status, list(body)) == (404, ["reason"])


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ([], 400),
        ({"release": 3}, 400),
        ({"release": "chat", "url": "http://h"}, 400),
        ({"release": "chat", "id": "../x"}, 400),
        ({"release": "chat", "id": 7}, 400),
    ],
)
async def test_bad_bodies(serve, release, body, status):
    """What is no request is refused with a reason, and starts nothing."""
    stage = await release()
    found, answer = await post(await serve(), "/runs", body)
    assert (found, list(answer)) == (status, ["reason"])
    assert stage.chats == 0


async def test_a_release_that_is_wrong(serve, release, tmp_path):
    """A release that cannot be read is 422 with the line that is wrong."""
    await release()
    (tmp_path / "releases" / "chat.yaml").write_text("release: x\nstages: 1\n", "utf-8")
    status, body = await post(await serve(), "/runs", {"release": "chat"})
    assert status == 422
    assert "chat.yaml:2: stages" in body["reason"]


async def test_one_gate_of_a_release_at_a_time(serve, release):
    """A second one of the same release is refused while the first runs, another's id too."""
    await release()
    await release("other")
    client = await serve()
    await post(client, "/runs", {"release": "chat", "id": "g1"})
    assert (await post(client, "/runs", {"release": "chat", "id": "g2"}))[0] == 409
    assert (await post(client, "/runs", {"release": "other", "id": "g1"}))[0] == 409
    await end_of(client, "g1")


@pytest.mark.parametrize(
    ("program", "how"),
    [
        ("/bin/false", "ended with exit code 1"),
        ("/nowhere/denv", "could not be started (No such file or directory)"),
    ],
)
async def test_a_gate_that_dies_without_a_word_is_an_error(serve, release, program, how):
    """Where the process leaves no document, the gate ends as an error, never as running."""
    await release()
    client = await serve(command=(program,))
    _, started = await post(client, "/runs", {"release": "chat"})
    document, _ = await end_of(client, started["gate"])
    assert document["verdict"] == "error"
    assert document["reasons"] == [f"denv gate {how} and left no document"]
    Draft202012Validator(schema("gate-1")).validate(document)


async def test_unknown_gates(serve, release):
    """An unknown id is 404, also one that is a path."""
    await release()
    client = await serve()
    assert (await get(client, "nope"))[0] == 404
    assert (await get(client, "..%2F..%2Fetc"))[0] == 404


# ---------------------------------------------------------------- Flagger


async def test_flagger_goes_on_only_after_a_pass(serve, release):
    """404 before any gate, 425 while it runs, 200 after it passed."""
    await release()
    client = await serve()
    assert (await post(client, "/flagger", canary()))[0] == 404
    await post(client, "/runs", {"release": "chat", "id": "g"})
    assert (await post(client, "/flagger", canary()))[0] == 425
    await end_of(client, "g")
    status, body = await post(client, "/flagger", canary())
    assert (status, body) == (200, {"gate": "g", "verdict": "pass"})


async def test_flagger_is_told_why_not(serve, release):
    """After a failure the answer is 412 and its body says what failed, for Flagger's events."""
    await release(handler=wrong)
    client = await serve()
    await post(client, "/runs", {"release": "chat", "id": "g"})
    await end_of(client, "g")
    status, body = await post(client, "/flagger", canary())
    assert status == 412
    assert body["reason"].startswith("chat: the gate g ended with fail: ")


async def test_flaggers_rollback_hook_is_answered_only_after_a_failure(serve, release):
    """With ``when: fail`` 200 means roll back: never before a gate, while it runs, or passed."""
    answering = [wrong]

    def now(request, n):
        return answering[0](request, n)

    await release(handler=now)
    client = await serve()
    asked = canary(when="fail")
    assert (await post(client, "/flagger", asked))[0] == 404
    await post(client, "/runs", {"release": "chat", "id": "g1"})
    assert (await post(client, "/flagger", asked))[0] == 425
    await end_of(client, "g1")
    assert (await post(client, "/flagger", asked)) == (200, {"gate": "g1", "verdict": "fail"})
    answering[0] = answers.echo()
    await post(client, "/runs", {"release": "chat", "id": "g2"})
    await end_of(client, "g2")
    assert (await post(client, "/flagger", asked))[0] == 412
    assert (await post(client, "/flagger", canary(when="always")))[0] == 400


async def test_flagger_starts_one_gate_a_revision(serve, release):
    """With start each hook of one revision asks about one gate; another revision has its own."""
    stage = await release()
    client = await serve()
    status, body = await post(client, "/flagger", canary(start="true", release="chat"))
    assert status == 425
    gate = body["reason"].split()[3]
    await end_of(client, gate)
    asked = stage.chats
    for _ in range(2):
        assert (await post(client, "/flagger", canary(start="true")))[0] == 200
    assert stage.chats == asked
    again = {**canary(start="true"), "checksum": "another"}
    assert (await post(client, "/flagger", again))[0] == 425
    assert (await post(client, "/flagger", {**again, "checksum": None}))[0] == 400


async def test_a_pass_of_other_settings_counts_nothing(serve, release, tmp_path):
    """Where the release was changed after its gate, there is no gate of the release as it is."""
    await release()
    client = await serve()
    await post(client, "/runs", {"release": "chat", "id": "g"})
    await end_of(client, "g")
    path = tmp_path / "releases" / "chat.yaml"
    settings = yaml.safe_load(path.read_text("utf-8"))
    settings["parity"]["pass"] = {"exact": "90%"}
    path.write_text(yaml.safe_dump(settings), "utf-8")
    status, body = await post(client, "/flagger", canary())
    assert (status, body["reason"]) == (404, "chat: no gate has run for the release as it now is")


async def test_an_old_pass_can_be_refused(serve, release):
    """With max-age a pass that is older holds the canary; a wrong one is a bad request."""
    await release()
    client = await serve()
    await post(client, "/runs", {"release": "chat", "id": "g"})
    await end_of(client, "g")
    await asyncio.sleep(0.01)
    assert (await post(client, "/flagger", canary(**{"max-age": "1h"})))[0] == 200
    assert (await post(client, "/flagger", canary(**{"max-age": "1ms"})))[0] == 412
    assert (await post(client, "/flagger", canary(**{"max-age": "soon"})))[0] == 400


# ---------------------------------------------------------------- who may ask


async def test_without_the_token_nothing_is_done(serve, release):
    """With a token set, every path wants it: as a bearer, or in Flagger's metadata."""
    stage = await release()
    client = await serve(token=Secret(TOKEN))
    body = {"release": "chat", "id": "g"}
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}):
        assert (await post(client, "/runs", body, **headers))[0] == 401
        assert (await get(client, "g", **headers))[0] == 401
    assert (await post(client, "/runs", {**body, "metadata": {"token": TOKEN}}))[0] == 401
    assert (await post(client, "/flagger", canary(token="wrong")))[0] == 401
    assert stage.chats == 0
    assert (await post(client, "/flagger", canary(token=TOKEN)))[0] == 404
    given = {"Authorization": f"Bearer {TOKEN}"}
    assert (await get(client, "g", **given))[0] == 404


async def test_other_sites_cannot_post(serve, release):
    """A body of another type, as a browser sends across sites unasked, is refused."""
    stage = await release()
    client = await serve()
    text = json.dumps({"release": "chat"})
    async with client.post("/gate/runs", data=text, headers={"Content-Type": "text/plain"}) as got:
        assert got.status == 415
    assert stage.chats == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "[::1]", "localhost", "127.0.0.2"])
def test_loopback_does_without_a_token(host):
    """What only this machine reaches needs none."""
    assert token_for(host, None) is None


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.com", ""])
def test_any_other_address_wants_one(host, tmp_path):
    """What others reach is refused without a token's file, and reads it from a private one."""
    with pytest.raises(UsageError, match="give --token-file"):
        token_for(host, None)
    file = tmp_path / "token"
    file.write_text(TOKEN + "\n", "utf-8")
    file.chmod(0o600)
    found = token_for(host, file)
    assert found is not None
    assert found.reveal() == TOKEN


# ---------------------------------------------------------------- what is kept


async def test_a_gate_outlives_the_server(serve, release, tmp_path):
    """What ended is known to the next server; what ran when the server ended was cancelled."""

    async def slowly(request, n):
        if request["messages"][-1]["content"] != "Hello":
            await asyncio.sleep(60)
        return answers.echo()(request, n)

    await release(handler=slowly)
    app = gate_app(releases=tmp_path / "releases", data=tmp_path / "data", token=None)
    async with mounted("/gate", app) as url, aiohttp.ClientSession() as session:
        await session.post(f"{url}/gate/runs", json={"release": "chat", "id": "g"})
        async with asyncio.timeout(60):
            while GateFolder(tmp_path / "data").get("g") is None:
                await asyncio.sleep(0.05)
            await asyncio.sleep(2)
    client = await serve()
    status, document = await get(client, "g")
    assert status == 200
    assert document["verdict"] in {"cancelled", "error"}
    assert (await post(client, "/flagger", canary()))[0] == 412


def test_a_gate_whose_process_is_gone(tmp_path):
    """A document that says running, of a process that is no more, is read as an error."""
    folder = GateFolder(tmp_path)
    folder.begin(opened("g", release=None, started="2026-01-01T00:00:00.000Z"))
    path = tmp_path / "gates" / "g.json"
    record = json.loads(path.read_text("utf-8"))

    def read(**changes):
        path.write_text(json.dumps({**record, **changes}), "utf-8")
        found = folder.get("g")
        assert found is not None
        return found["state"], found["verdict"]

    assert read() == ("running", None)
    assert read(pid=2**22 + 1) == ("ended", "error")
    assert read(pid=2**22 + 1, host="another") == ("running", None)


# ---------------------------------------------------------------- by which name


@pytest.mark.parametrize(
    "called",
    ["evil.example.com", "evil.example.com:8090", "", "[fe80::1]", "localhost:1@evil", "[::1]evil"],
)
async def test_another_name_is_refused_on_loopback(serve, release, called):
    """A page whose name was made to resolve to this machine starts nothing and reads nothing."""
    await release()
    client = await serve()
    for path, body in (("/runs", {"release": "chat"}), ("/flagger", canary())):
        status, answer = await post(client, path, body, Host=called)
        assert status == 421
        assert "is not served here; --allow-host NAME adds a name" in answer["reason"]
    assert (await get(client, "any", Host=called))[0] == 421


@pytest.mark.parametrize("called", ["localhost", "LOCALHOST:1", "127.0.0.1:9", "[::1]:9", "gate."])
async def test_its_own_names_are_answered(serve, called):
    """The address, localhost, and what is allowed besides, with whatever port."""
    client = await serve(hosts=allowed_hosts("127.0.0.1", ["Gate"], open_to_all=False))
    assert (await get(client, "any", Host=called))[0] == 404


async def test_with_a_token_any_name_will_do_until_some_are_named(serve):
    """Who shows the token is no page that was led here; names that are given hold all the same."""
    shown = {"Authorization": f"Bearer {TOKEN}", "Host": "gates.example.com"}
    client = await serve(token=Secret(TOKEN), hosts=allowed_hosts("0.0.0.0", open_to_all=True))
    assert (await get(client, "any", **shown))[0] == 404
    named = allowed_hosts("0.0.0.0", ["other.example.com"], open_to_all=True)
    client = await serve(token=Secret(TOKEN), hosts=named)
    assert (await get(client, "any", **shown))[0] == 421
