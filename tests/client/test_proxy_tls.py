"""Proxies and certificate authorities are taken from where users of other tools set them."""

from __future__ import annotations

import asyncio
import base64
import ssl
import subprocess
from contextlib import asynccontextmanager

import pytest

from denv.client.http import AiohttpTransport
from denv.client.transport import HttpCall
from denv.errors import UsageError
from denv.records import FaultKind
from tests.stubs import StubServer

CA_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")

ASK = b'{"model":"stub","messages":[{"role":"user","content":"Hi"}]}'


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch):
    """Start each test without proxies and CAs of the machine."""
    for name in CA_VARIABLES + PROXY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


async def ask(base: str, headers: dict[str, str] | None = None, **options):
    """Send one call over a fresh transport."""
    transport = AiohttpTransport(**options)
    try:
        call = HttpCall("POST", f"{base}/chat/completions", headers=headers or {}, body=ASK)
        return await transport.send(call)
    finally:
        await transport.close()


# ---------------------------------------------------------------- proxies


@asynccontextmanager
async def proxy():
    """Run a proxy that notes what it is asked and answers itself (403 to a tunnel)."""
    heads: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        heads.append(head)
        status = "403 Forbidden" if head.startswith("CONNECT") else "200 OK"
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\n{{}}".encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}", heads


@pytest.mark.parametrize("name", ["http_proxy", "HTTP_PROXY", "ALL_PROXY"])
async def test_a_proxy_of_the_environment_is_asked(monkeypatch, name):
    """The proxy gets the absolute URL, and its own credentials in its own header."""
    async with proxy() as (address, heads):
        monkeypatch.setenv(name, f"http://me:pw@{address}")
        got = await ask("http://model.example.com/v1")
    assert got.status == 200
    assert heads[0].startswith("POST http://model.example.com/v1/chat/completions HTTP/1.1")
    credentials = base64.b64encode(b"me:pw").decode()
    assert f"Proxy-Authorization: Basic {credentials}" in heads[0]


async def test_no_proxy_is_honoured(monkeypatch):
    """A host that NO_PROXY names is asked directly."""
    async with proxy() as (address, heads), StubServer() as stub:
        monkeypatch.setenv("HTTP_PROXY", f"http://{address}")
        monkeypatch.setenv("NO_PROXY", "localhost,127.0.0.1")
        await ask(stub.url)
        assert len(stub.seen) == 1
    assert heads == []


async def test_a_tunnel_never_shows_the_key_to_the_proxy(monkeypatch):
    """For https the proxy sees host and port; its refusal is a fault without its credentials."""
    async with proxy() as (address, heads):
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:hunter22@{address}")
        got = await ask("https://model.example.com/v1", {"Authorization": "Bearer sk-secret-1"})
    assert heads[0].startswith("CONNECT model.example.com:443")
    assert "sk-secret-1" not in heads[0]
    assert got.fault.kind is FaultKind.CONNECT
    assert "hunter22" not in got.fault.message


async def test_a_dead_proxy_is_a_connect_fault(monkeypatch):
    """The line says that it is the proxy that cannot be reached, and not its credentials."""
    async with proxy() as (address, _):
        pass
    monkeypatch.setenv("HTTP_PROXY", f"http://me:hunter22@{address}")
    got = await ask("http://model.example.com/v1")
    assert got.fault.kind is FaultKind.CONNECT
    assert "the proxy" in got.fault.message
    assert "hunter22" not in repr(got)


async def test_a_socks_proxy_is_a_usage_error(monkeypatch):
    """What is not spoken is said before anything is sent, and is a fault if it is met later."""
    monkeypatch.setenv("ALL_PROXY", "socks5://me:hunter22@127.0.0.1:1080")
    with pytest.raises(UsageError, match="socks5"):
        AiohttpTransport("http://model.example.com/v1")
    got = await ask("http://model.example.com/v1")
    assert got.fault.kind is FaultKind.PROTOCOL
    assert "hunter22" not in got.fault.message


async def test_netrc_is_never_sent(monkeypatch, tmp_path):
    """Passwords that netrc holds for the host stay at home."""
    netrc = tmp_path / "netrc"
    netrc.write_text("default login me password hunter22\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    async with StubServer() as stub:
        await ask(stub.url)
        assert "Authorization" not in stub.seen[0].headers


# ---------------------------------------------------------------- certificates


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """Make a CA and a server's certificate for 127.0.0.1 with the openssl command."""
    folder = tmp_path_factory.mktemp("ca")

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl("req", "-x509", *curve, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Test CA")
    openssl("req", *curve, "-keyout", "leaf.key", "-out", "leaf.csr", "-subj", "/CN=127.0.0.1")
    (folder / "san").write_text("subjectAltName=IP:127.0.0.1\n")
    openssl(
        *("x509", "-req", "-in", "leaf.csr", "-CA", "ca.pem", "-CAkey", "ca.key"),
        *("-CAcreateserial", "-extfile", "san", "-out", "leaf.pem"),
    )
    return folder


@pytest.fixture
def server_tls(authority):
    """Give the server's side of TLS."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(authority / "leaf.pem", authority / "leaf.key")
    return context


async def test_an_unknown_authority_is_a_tls_fault(server_tls):
    """A certificate that nobody vouches for is refused, in words."""
    async with StubServer(tls=server_tls) as stub:
        got = await ask(stub.url)
        assert stub.seen == []
    assert got.fault.kind is FaultKind.TLS
    assert "not trusted" in got.fault.message


@pytest.mark.parametrize("name", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
async def test_a_ca_of_the_environment_is_trusted(monkeypatch, authority, server_tls, name):
    """Each variable that users of Python and curl set names a CA file."""
    monkeypatch.setenv(name, str(authority / "ca.pem"))
    async with StubServer(tls=server_tls) as stub:
        assert (await ask(stub.url)).status == 200


async def test_an_explicit_ca_file_is_trusted(authority, server_tls):
    """A CA given by name is trusted beside the system's."""
    async with StubServer(tls=server_tls) as stub:
        assert (await ask(stub.url, ca_file=authority / "ca.pem")).status == 200


@pytest.mark.parametrize("name", CA_VARIABLES)
def test_a_ca_that_is_not_there_is_a_usage_error(monkeypatch, name):
    """A variable that names nothing is said, instead of a puzzling refusal later."""
    monkeypatch.setenv(name, "/no/such/ca.pem")
    with pytest.raises(UsageError, match=name):
        AiohttpTransport()


def test_a_ca_file_without_certificates_is_a_usage_error(tmp_path):
    """A file that is no PEM is named."""
    path = tmp_path / "ca.pem"
    path.write_text("nothing")
    with pytest.raises(UsageError, match=r"ca\.pem"):
        AiohttpTransport(ca_file=path)


async def test_plain_http_where_tls_is_expected_is_hinted_at():
    """https:// to a plain port is a TLS fault that says what may be wrong."""
    async with StubServer() as stub:
        got = await ask(stub.url.replace("http:", "https:"))
    assert got.fault.kind is FaultKind.TLS
    assert "plain http" in got.fault.message
