"""Reaching Temporal's real server through TLS: whom it trusts, who it is, and what is refused."""

from __future__ import annotations

import pytest

from denv.errors import HarnessError, UsageError
from denv.records import Secret
from denv.rollout.engine.connection import Connection, TlsFiles, answers, connect
from tests.rollout.engine.encrypting import Authority, encrypted, in_headers


@pytest.fixture(scope="module")
def authorities(tmp_path_factory):
    """Make the authority of servers, that of clients, and one that nobody knows."""
    folder = tmp_path_factory.mktemp("authorities")
    return {name: Authority(folder / name, name) for name in ("servers", "clients", "stranger")}


def files(authorities, *, trusted="servers", own=None):
    """Give the files of a connection; ``own`` is the authority of one's own certificate."""
    certificate, key = (
        (None, None) if own is None else authorities[own].issue(f"of-{own}", server=False)
    )
    return TlsFiles(certificate, key, authorities[trusted].certificate)


async def test_a_server_whose_authority_is_trusted(temporal, authorities):
    """With --tls-ca the connection stands, over HTTP/2 as agreed in the handshake."""
    async with encrypted(temporal.address, authorities["servers"]) as (address, agreed):
        client = await connect(Connection(address, tls=files(authorities)))
        assert await answers(client)
        assert set(agreed) == {"h2"}


@pytest.mark.parametrize("key", [None, "secret-10"])
async def test_an_api_key_goes_with_it(temporal, authorities, key):
    """Over TLS a key reaches the server as a bearer's, and none where there is none."""
    heard = bytearray()
    async with encrypted(temporal.address, authorities["servers"], heard=heard) as (address, _):
        api_key = None if key is None else Secret(key)
        connection = Connection(address, tls=files(authorities), api_key=api_key)
        assert await answers(await connect(connection))
    assert (in_headers("Bearer secret-10") in bytes(heard)) is (key is not None)


async def test_authorities_that_are_given_replace_the_system_s(temporal, authorities, monkeypatch):
    """Whom the system trusts is trusted without --tls-ca alone."""
    monkeypatch.setenv("SSL_CERT_FILE", str(authorities["servers"].certificate))
    async with encrypted(temporal.address, authorities["servers"]) as (address, _):
        assert await answers(await connect(Connection(address, tls=TlsFiles())))
        given = Connection(address, tls=files(authorities, trusted="stranger"))
        with pytest.raises(HarnessError, match="its certificate is not trusted"):
            await connect(given, timeout_s=5)


async def test_one_s_own_certificate(temporal, authorities):
    """A server that asks for certificates takes that of its clients' authority."""
    async with encrypted(
        temporal.address, authorities["servers"], clients=authorities["clients"]
    ) as (address, agreed):
        client = await connect(Connection(address, tls=files(authorities, own="clients")))
        assert await answers(client)
        assert set(agreed) == {"h2"}


@pytest.mark.parametrize("own", [None, "stranger"])
async def test_no_or_a_wrong_certificate_of_one_s_own(temporal, authorities, own):
    """Without one, or with a stranger's, there is one line that says where."""
    async with encrypted(
        temporal.address, authorities["servers"], clients=authorities["clients"]
    ) as (address, _):
        with pytest.raises(HarnessError) as caught:
            await connect(Connection(address, tls=files(authorities, own=own)), timeout_s=5)
    assert str(caught.value) == (
        f"no Temporal server answers at {address} over TLS: "
        "it ends the connection, as one does that wants another --tls-cert"
    )


@pytest.mark.parametrize("tls", ["stranger", "system"])
async def test_a_server_that_is_not_trusted(temporal, authorities, tls):
    """A wrong --tls-ca, or the system's authorities alone: one line says what is wrong."""
    trusted = TlsFiles() if tls == "system" else files(authorities, trusted=tls)
    async with encrypted(temporal.address, authorities["servers"]) as (address, _):
        with pytest.raises(HarnessError) as caught:
            await connect(Connection(address, tls=trusted), timeout_s=5)
    assert str(caught.value) == (
        f"no Temporal server answers at {address} over TLS: its certificate is not trusted"
    )


async def test_plain_and_encrypted_do_not_mix(temporal, authorities):
    """TLS to a plain server, and plain to one with TLS: the line says which was tried."""
    with pytest.raises(HarnessError, match=f"{temporal.address} over TLS"):
        await connect(Connection(temporal.address, tls=files(authorities)), timeout_s=3)
    async with encrypted(temporal.address, authorities["servers"]) as (address, _):
        with pytest.raises(HarnessError, match=f"{address} without TLS"):
            await connect(Connection(address), timeout_s=3)


async def test_a_key_is_not_sent_in_the_clear(temporal):
    """An API key on a plain connection is refused before anything is sent; it is not shown."""
    with pytest.raises(UsageError, match="sent over TLS alone: add --tls") as caught:
        await connect(Connection(temporal.address, api_key=Secret("key-one")))
    assert "key-one" not in str(caught.value)
