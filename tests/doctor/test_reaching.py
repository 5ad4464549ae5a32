"""A server that is asked step by step, each step of which can fail in its own way."""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from aiohttp import web

from denv.doctor.finding import Level
from denv.doctor.reaching import Address, examine_address
from denv.records import Secret
from tests.stubs import StubServer

KEY = Secret("sk-planted-7f31c2d9")


async def look(url, **given):
    return [finding async for finding in examine_address(Address("stage", url, **given))]


async def test_a_server_that_is_well(folder, serve):
    """Port, list and model are as they should be; the key is sent, and nothing else is asked."""
    stub = await serve(models=["m"])
    found = await look(stub.url, key=KEY, model="m")
    assert [each.level for each in found] == [Level.OK, Level.OK]
    assert [(seen.method, seen.path) for seen in stub.seen] == [("GET", "/v1/models")]
    assert stub.seen[0].headers["Authorization"] == f"Bearer {KEY.reveal()}"


@pytest.mark.parametrize(
    ("models", "model", "expected"),
    [
        (["a", "b"], None, (Level.FAULT, "name one of them as its model")),
        ([], None, (Level.FAULT, "name one of them as its model")),
        (["a"], None, (Level.OK, None)),
        (
            ["a"],
            "other",
            (Level.WARNING, "some servers take more names than they list; else correct it"),
        ),
    ],
)
async def test_the_model_is_held_against_the_list(folder, serve, models, model, expected):
    """A model that is not listed may be taken all the same; none at all is only clear of one."""
    stub = await serve(models=models)
    *_, found = await look(stub.url, model=model)
    assert (found.level, found.advice) == expected


async def test_a_name_that_resolves_to_nothing(folder):
    """Names of the domain `invalid` resolve nowhere (RFC 6761); nothing is asked after that."""
    (found,) = await look("http://no-such-host.invalid/v1")
    assert found.level is Level.FAULT
    assert "cannot be resolved" in found.text


async def test_a_port_that_nobody_listens_on(folder):
    """A port without a server refuses connections."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        (found,) = await look(f"http://127.0.0.1:{free.getsockname()[1]}/v1")
    assert found.level is Level.FAULT
    assert "refuses connections" in found.text


async def test_an_url_that_is_no_base(folder):
    """What no run would take is told in the words that a run has for it."""
    (found,) = await look("http://127.0.0.1:8080/v1/chat/completions")
    assert (found.level, "its base is" in found.text) == (Level.FAULT, True)


@pytest.fixture
async def answering(folder):
    """Serve one answer to everything; give a function that starts it and gives its URL."""
    runners = []

    async def start(**answer):
        async def handler(_):
            return web.Response(**answer)

        runner = web.ServerRunner(web.Server(handler))
        await runner.setup()
        runners.append(runner)
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return f"http://127.0.0.1:{runner.addresses[0][1]}/v1"

    yield start
    for runner in runners:
        await runner.cleanup()


@pytest.mark.parametrize(
    ("answer", "given", "level", "said"),
    [
        ({"status": 401}, {"key": KEY}, Level.FAULT, "give the right key"),
        ({"status": 401}, {}, Level.FAULT, "key-env"),
        ({"status": 403}, {"key": KEY}, Level.FAULT, "give the right key"),
        ({"status": 404}, {"model": "m"}, Level.NOTE, None),
        ({"status": 404}, {}, Level.FAULT, "name its model"),
        ({"status": 503}, {"model": "m"}, Level.FAULT, "log"),
        ({"text": "<html>hello"}, {}, Level.FAULT, "is the url that of an API?"),
        ({"text": '{"data": [{"name": 1}]}'}, {}, Level.FAULT, "is the url that of an API?"),
        ({"text": "[" * 100_000}, {}, Level.FAULT, "is the url that of an API?"),
    ],
)
async def test_answers_to_the_list(answering, answer, given, level, said):
    """Each answer has its own meaning, and its own advice."""
    *_, found = await look(await answering(**answer), **given)
    assert found.level is level
    assert found.advice == said or said in found.advice


@pytest.mark.parametrize(("hours", "way"), [(-2, "ahead of"), (2, "behind")])
async def test_a_clock_that_is_far_off(answering, hours, way):
    """The server's Date tells how far both clocks are apart."""
    date = format_datetime(datetime.now(UTC) + timedelta(hours=hours), usegmt=True)
    body = json.dumps({"data": [{"id": "m"}]})
    *_, found = await look(await answering(text=body, headers={"Date": date}))
    assert found.level is Level.WARNING
    assert f"{way} the server's" in found.text


@pytest.mark.parametrize("date", ["yesterday", "", "Thu, 99 Foo 2026 00:00:00 GMT"])
async def test_a_date_that_is_none_says_nothing(answering, date):
    """Whatever a server sends there, the look goes on."""
    body = json.dumps({"data": [{"id": "m"}]})
    found = await look(await answering(text=body, headers={"Date": date}))
    assert [each.level for each in found] == [Level.OK, Level.OK]


async def test_what_a_server_says_cannot_turn_the_terminal(serve, folder):
    """A model's name may hold anything."""
    stub = await serve(models=["\x1b[2Jm\u202e"])
    *_, found = await look(stub.url)
    assert "\x1b" not in found.text
    assert "\u202e" not in found.text


# ---------------------------------------------------------------- certificates


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """Make certificates for 127.0.0.1 of one authority: good, ending soon, and ended."""
    folder = tmp_path_factory.mktemp("ca")

    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl("req", "-x509", *curve, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=CA")
    (folder / "san").write_text("subjectAltName=IP:127.0.0.1\n")
    openssl("req", *curve, "-keyout", "leaf.key", "-out", "leaf.csr", "-subj", "/CN=127.0.0.1")
    for name, days in (("good", 90), ("soon", 5), ("ended", 0)):
        openssl(
            *("x509", "-req", "-in", "leaf.csr", "-CA", "ca.pem", "-CAkey", "ca.key"),
            *("-CAcreateserial", "-extfile", "san", "-days", str(days), "-out", f"{name}.pem"),
        )
    return folder


@pytest.fixture
def trusted(folder, certificates, monkeypatch):
    """Have the authority trusted by the variable that curl and requests read."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificates / "ca.pem"))


@pytest.mark.parametrize(
    ("name", "level", "said"),
    [
        ("good", Level.OK, "ends in 90 days"),
        ("soon", Level.WARNING, "ends in 5 days"),
        ("ended", Level.FAULT, "certificate has expired"),
    ],
)
async def test_certificates(certificates, trusted, name, level, said):
    """How long it is good is told before it is too late."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificates / f"{name}.pem", certificates / "leaf.key")
    async with StubServer(tls=context) as stub:
        found, *more = await look(stub.url)
    assert found.level is level
    assert said in found.text
    assert bool(more) is (level is not Level.FAULT)


async def test_an_authority_that_is_not_known_and_a_port_without_tls(folder, certificates, serve):
    """Each is told as what it is."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificates / "good.pem", certificates / "leaf.key")
    async with StubServer(tls=context) as stub:
        (found,) = await look(stub.url)
    assert "its certificate is refused" in found.text
    plain = await serve()
    (found,) = await look(plain.url.replace("http:", "https:"))
    assert (found.level, found.advice) == (Level.FAULT, "is http:// meant?")
