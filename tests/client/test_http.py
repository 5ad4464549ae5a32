"""The transport over real sockets: every fault is a value, every answer is bounded."""

from __future__ import annotations

import asyncio
import json
import socket
import tracemalloc

import pytest

from denv.client.http import AiohttpTransport
from denv.client.transport import HttpCall
from denv.records import FaultKind, Timeouts
from tests.stubs import StubServer, answers

ASK = json.dumps({"model": "stub", "messages": [{"role": "user", "content": "Hi"}]}).encode()
MIB = 1024 * 1024


@pytest.fixture
async def transport():
    """Give a transport and close it."""
    made = AiohttpTransport()
    yield made
    await made.close()


def call(base: str, **options) -> HttpCall:
    """Write a chat call to a base URL."""
    options.setdefault("timeouts", Timeouts(connect_s=2, first_byte_s=2, total_s=4))
    return HttpCall("POST", f"{base}/chat/completions", body=ASK, **options)


async def faulted(transport, handler, **options):
    """Send one call to a stub with this behaviour."""
    async with StubServer(handler) as stub:
        return await transport.send(call(stub.url, **options))


# ---------------------------------------------------------------- answers


async def test_an_answer_comes_whole_with_lower_case_headers_and_times(transport):
    """Status, headers, body and both times of a plain answer are kept, and there is no fault."""
    got = await faulted(transport, answers.echo())
    assert got.status == 200
    assert got.fault is None
    assert dict(got.headers)["content-type"].startswith("application/json")
    assert json.loads(got.body)["choices"][0]["message"]["content"] == "Hi"
    assert 0 <= got.first_byte_s <= got.elapsed_s


async def test_the_body_goes_out_as_it_is_given(transport):
    """The server reads the call's very bytes and its headers, and no header names this program."""
    async with StubServer() as stub:
        await transport.send(call(stub.url, headers={"Authorization": "Bearer k", "X-A": "1"}))
        seen = stub.seen[0]
    assert seen.body == ASK
    assert seen.headers["X-A"] == "1"
    assert "denv" not in str(seen.headers).lower()


@pytest.mark.parametrize("handler", [answers.invalid_utf8(), answers.nan(), answers.deep()])
async def test_bodies_are_not_interpreted(transport, handler):
    """Bytes that are not UTF-8, NaN and deep nesting pass through: nothing is read here."""
    got = await faulted(transport, handler)
    assert got.fault is None
    assert got.body.startswith(b"{")


async def test_a_stream_is_read_raw_to_its_end(transport):
    """Frames stay as they came, also where a character is split between two of them."""
    frames = [b"data: \xe4", b"\xbd\xa0\n\n", b"data: [DONE]\n\n"]
    got = await faulted(transport, answers.sse(frames), streamed=True)
    assert got.body == b"".join(frames)
    assert got.streamed


async def test_a_stream_that_is_cut_keeps_what_came(transport):
    """A connection that breaks in the middle of chunks is a cut, with the part before it."""
    data = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\ndata:\r\n"
    got = await faulted(transport, answers.raw(data), streamed=True)
    assert got.fault.kind is FaultKind.CUT
    assert (got.status, got.body) == (200, b"data:")


async def test_redirects_are_given_back(transport):
    """A redirect is an answer: nothing is followed, and the other host is not asked."""
    async with StubServer() as other:
        handler = answers.redirect(307, f"{other.url}/chat/completions")
        got = await faulted(transport, handler)
        assert other.seen == []
    assert got.status == 307
    assert dict(got.headers)["location"].startswith(other.url)


# ---------------------------------------------------------------- bounds


async def test_a_huge_body_is_not_read_beyond_the_cap(transport):
    """Of an endless answer only the cap, and what sockets buffer, is ever sent or held."""
    tracemalloc.start()
    async with StubServer(answers.endless(answers.CHUNK)) as stub:
        got = await transport.send(call(stub.url, max_bytes=MIB))
        sent = stub.sent_bytes
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert got.fault.kind is FaultKind.TOO_LARGE
    assert len(got.body) <= 4096
    assert sent < MIB + 16 * MIB
    assert peak < 16 * MIB


async def test_a_body_that_says_it_is_huge_is_not_read_at_all(transport):
    """A Content-Length of 10 GB is refused before its first byte."""
    async with StubServer(answers.endless(answers.CHUNK, total=10_000_000_000)) as stub:
        got = await transport.send(call(stub.url))
        assert stub.sent_bytes < 32 * MIB
    assert got.fault.kind is FaultKind.TOO_LARGE
    assert got.body == b""


async def test_a_gzip_bomb_is_capped_after_decompression(transport):
    """The cap counts unpacked bytes: 256 MiB of zeros in 256 KiB stop at 1 MiB."""
    handler = answers.gzip_bomb(256)
    tracemalloc.start()
    got = await faulted(transport, handler, max_bytes=MIB)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert got.fault.kind is FaultKind.TOO_LARGE
    assert peak < 16 * MIB


async def test_a_body_of_exactly_the_cap_is_whole(transport):
    """The cap itself is allowed; one byte more is not."""
    exact = answers.body(b"{" + b" " * (MIB - 1))
    assert (await faulted(transport, exact, max_bytes=MIB)).fault is None
    got = await faulted(transport, exact, max_bytes=MIB - 1)
    assert got.fault.kind is FaultKind.TOO_LARGE


# ---------------------------------------------------------------- time-outs


async def test_no_first_byte_in_time(transport):
    """A server that says nothing is told apart from one that is slow to end."""
    limits = Timeouts(connect_s=2, first_byte_s=0.1, total_s=5)
    got = await faulted(transport, answers.slow(3), timeouts=limits)
    assert got.fault.kind is FaultKind.TIMEOUT_FIRST_BYTE
    assert got.status is None
    assert got.elapsed_s < 1


async def test_a_trickle_is_ended_by_the_total(transport):
    """Single bytes that keep coming do not prolong an answer beyond its total time."""
    limits = Timeouts(connect_s=2, first_byte_s=1, total_s=0.3)
    handler = answers.endless(b"x", pause_s=0.05)
    got = await faulted(transport, handler, timeouts=limits, streamed=True)
    assert got.fault.kind is FaultKind.TIMEOUT_TOTAL
    assert got.body.startswith(b"xx")
    assert got.elapsed_s < 1


async def test_no_connection_in_time(transport):
    """A port that neither accepts nor refuses is a time-out of connecting."""
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        fillers = []
        for _ in range(4):  # fills the queue of connections that nobody accepts
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.1", port))
            fillers.append(filler)
        limits = Timeouts(connect_s=0.2, first_byte_s=5, total_s=5)
        got = await transport.send(call(f"http://127.0.0.1:{port}/v1", timeouts=limits))
        for filler in fillers:
            filler.close()
    assert got.fault.kind is FaultKind.TIMEOUT_CONNECT


# ---------------------------------------------------------------- faults


async def test_a_closed_port_is_a_connect_fault_in_one_plain_line(transport):
    """The line names host, port and the system's word, not a list of addresses tried."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    got = await transport.send(call(f"http://127.0.0.1:{port}/v1"))
    assert got.fault.kind is FaultKind.CONNECT
    assert got.fault.message == f"cannot connect to 127.0.0.1:{port}: Connection refused"


async def test_an_unknown_host_is_a_dns_fault(transport):
    """A name that cannot be resolved is told apart from a refused connection."""
    got = await transport.send(call("http://no-such-host.invalid/v1"))
    assert got.fault.kind is FaultKind.DNS
    assert got.fault.message == "no address found for no-such-host.invalid"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", FaultKind.CUT),
        (b"HTTP/1.1 200 OK\r\nContent-", FaultKind.CUT),
        (b"SSH-2.0-OpenSSH_9.6\r\n", FaultKind.PROTOCOL),
        (b"HTTP/1.1 200 OK\r\nbad header\r\n\r\n", FaultKind.PROTOCOL),
        (b"HTTP/1.1 200 OK\r\nX-A: " + b"a" * 100_000 + b"\r\n\r\n", FaultKind.PROTOCOL),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
            FaultKind.PROTOCOL,
        ),
        (
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope",
            FaultKind.PROTOCOL,
        ),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{", FaultKind.CUT),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", FaultKind.PROTOCOL),
    ],
)
async def test_broken_http_is_a_fault_and_never_an_exception(transport, data, kind):
    """What is cut and what is no HTTP are told apart; none of it is quoted."""
    got = await faulted(transport, answers.raw(data))
    assert got.fault.kind is kind
    assert "aaa" not in got.fault.message


async def test_a_header_that_cannot_be_sent_is_a_fault(transport):
    """A line break in a header is refused before anything is sent."""
    async with StubServer() as stub:
        got = await transport.send(call(stub.url, headers={"X-A": "a\r\nX-B: b"}))
        assert stub.seen == []
    assert got.fault.kind is FaultKind.PROTOCOL


async def test_cancellation_passes_through_and_frees_the_connection(transport):
    """Only cancellation leaves as an exception; the transport is usable afterwards."""
    async with StubServer(answers.first(1, lambda: answers.slow(5)(None, 0))) as stub:
        task = asyncio.ensure_future(transport.send(call(stub.url)))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await transport.send(call(stub.url))).status == 200


# ---------------------------------------------------------------- connections


async def test_a_kept_connection_closed_while_idle_is_no_fault(transport):
    """A cut on a reused connection, before any byte, is asked again on a fresh one, once."""
    async with StubServer(answers.first(2, answers.completion, then=answers.dropped())) as stub:
        for _ in range(2):
            assert (await transport.send(call(stub.url))).fault is None
        got = await transport.send(call(stub.url))
        assert got.fault.kind is FaultKind.CUT
        assert stub.chats == 4


async def test_connections_are_reused(transport):
    """Calls one after another share one connection, whatever the status."""
    ports = set()

    def handler(request, n):
        async def write(http, stub):
            ports.add(http.transport.get_extra_info("peername")[1])
            return answers.error(500, "no")

        return write

    async with StubServer(handler) as stub:
        for _ in range(5):
            await transport.send(call(stub.url))
    assert len(ports) == 1


async def test_a_call_shows_neither_headers_nor_body():
    """The repr of a call holds no key and no customer's text."""
    shown = repr(HttpCall("POST", "http://h/v1", headers={"A": "sk-secret"}, body=b"private"))
    assert "sk-secret" not in shown
    assert "private" not in shown
