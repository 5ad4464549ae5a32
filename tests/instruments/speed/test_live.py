"""Over real sockets: events are counted, delays are lower bounds, keys stay where they belong."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest
from aiohttp import web

from denv.client import EndpointClient
from denv.errors import EndpointError, HarnessError, RunCancelledError
from denv.instruments.speed import Ask, Speed
from denv.observe import observe
from denv.records import Endpoint, FaultKind, Secret, Timeouts
from denv.runner.arrivals import Arrivals, StreamTransport, current
from denv.runner.benching import run_bench
from tests.instruments.speed.scripted import chunk
from tests.stubs import StubServer, answers

SPEED = Speed(tokens=12, depths=(60,), levels=(1, 2))
KEY = "sk-0123456789abcdef"


def speaking(*, first_s=0.0, pause_s=0.0, usage=True, timings=None, refuse=()):
    """Stream so many words as are asked for, an event a word; plain answers to the preflight."""

    def handler(request, n):
        for name in refuse:
            if name in request:
                return answers.error(400, f"Unsupported parameter: '{name}'")
        if not request.get("stream"):
            return answers.completion("Hello")
        words = len(request["messages"][0]["content"].split())

        async def write(http, stub):
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(http)
            await _send(response, chunk({"role": "assistant", "content": ""}))
            await asyncio.sleep(first_s)
            for number in range(request["max_tokens"]):
                if number:
                    await asyncio.sleep(pause_s)
                await _send(response, chunk({"content": f"w{number} "}))
            await _send(response, chunk({}, "length"))
            counts = {"prompt_tokens": words, "completion_tokens": request["max_tokens"]}
            last: dict[str, Any] = {"choices": [], "object": "chat.completion.chunk"}
            last |= {"usage": counts} if usage else {}
            await _send(response, last | ({"timings": timings} if timings else {}))
            await response.write(b"data: [DONE]\n\n")
            return response

        return write

    return handler


async def _send(response, event):
    await response.write(f"data: {json.dumps(event)}\n\n".encode())


def endpoint(stub, **fields):
    return Endpoint(url=stub.url, **{"concurrency": 2, "retries": 0, **fields})


async def measured(stub, speed=SPEED, **fields):
    return (await run_bench(speed, endpoints={"stage": endpoint(stub, **fields)})).document


async def test_every_event_is_seen_as_it_comes():
    """12 words with pauses are 12 tokens, and no round is quicker than its pauses allow.

    From request to end that holds whatever else the machine does; between two arrivals a stall
    may swallow a pause, so the bound there is wide.
    """
    async with StubServer(speaking(first_s=0.03, pause_s=0.01)) as stub:
        document = await measured(stub)
    (cell,) = document["depths"][0]["cells"]
    assert cell["completion_tokens"] == 3 * 12
    assert 0 < cell["tokens_per_s"]["median"] <= 5 / 0.01
    assert cell["ttft_s"]["min"] >= 0.0299
    both = document["load"][1]
    assert both["concurrency"] == 2
    assert both["tokens_per_s"]["max"] <= 2 * 12 / (0.0299 + 11 * 0.0099)


async def probed(stub, clock, **fields):
    """Ask for five words and give the exchange with what was noted of its arrival."""
    client = EndpointClient(
        endpoint(stub, **fields),
        transport=StreamTransport(endpoint(stub, **fields), clock=clock),
        observe=observe,
    )
    arrivals = Arrivals()
    current.set(arrivals)
    body = json.dumps({"model": "stub", **Ask("stage", "Hello", 5).body()}).encode()
    exchange = await client.probe("/v1/chat/completions", body, streamed=True)
    await client.close()
    return exchange, arrivals


def written(arrivals):
    return b"".join(f"data: {mark.data}\n\n".encode() for mark in arrivals.marks)


async def test_arrival_times_are_the_clocks():
    """The times of a stream are read off the given clock, one for each event, from the request."""
    ticks = iter(range(1000))
    async with StubServer(speaking(pause_s=0.005)) as stub:
        exchange, arrivals = await probed(stub, lambda: float(next(ticks)))
    assert exchange.status == 200
    assert arrivals.sent_s == 0.0
    times = [mark.at_s for mark in arrivals.marks]
    assert times == sorted(times)
    assert times[0] >= 1.0
    words = [mark for mark in arrivals.marks if '"content": "w' in mark.data]
    assert len({mark.at_s for mark in words}) >= 3
    assert written(arrivals) == exchange.body


async def test_a_cut_try_leaves_no_marks():
    """What a try that was cut had brought is no part of the next one, nor is its time."""
    speak, asked = speaking(), []

    def handler(request, n):
        asked.append(n)
        if len(asked) == 1:
            return answers.cut(b'data: {"choices":[{"delta":{"content":"w0 "}}]}\n\n')(request, n)
        return speak(request, n)

    ticks = iter(range(1000))
    async with StubServer(handler) as stub:
        exchange, arrivals = await probed(stub, lambda: float(next(ticks)), retries=1)
    assert [attempt.status for attempt in exchange.attempts] == [200]
    assert written(arrivals) == exchange.body
    assert arrivals.sent_s > 0
    assert arrivals.marks[0].at_s >= 1.0


async def test_a_kept_connection_that_was_closed_is_no_failed_try():
    """The request is sent anew at once, on a fresh connection: no server has failed a try."""
    speak, ports = speaking(), []

    def handler(request, n):
        async def write(http, stub):
            port = http.transport.get_extra_info("peername")[1]
            again = port in ports
            ports.append(port)
            return await (answers.dropped() if again else speak)(request, n)(http, stub)

        return write

    async with StubServer(handler) as stub:
        client = EndpointClient(
            endpoint(stub), transport=StreamTransport(endpoint(stub)), observe=observe
        )
        current.set(arrivals := Arrivals())
        body = json.dumps({"model": "stub", **Ask("stage", "Hello", 5).body()}).encode()
        got = [await client.probe("/v1/chat/completions", body, streamed=True) for _ in range(2)]
        await client.close()
    assert [(one.status, one.fault, one.attempts) for one in got] == [(200, None, ())] * 2
    assert len(ports) == 3
    assert len(set(ports)) == 2
    assert written(arrivals) == got[1].body


async def test_a_fresh_connection_that_is_cut_is_a_failed_try():
    """A request is sent anew only once, and only where its connection was a kept one."""
    async with StubServer(answers.dropped()) as stub:
        exchange, _ = await probed(stub, time.perf_counter)
        assert stub.chats == 1
    assert exchange.fault.kind is FaultKind.CUT


@pytest.mark.parametrize("by_name", [True, False], ids=["ca_file", "environment"])
async def test_certificates_are_checked(monkeypatch, authority, server_tls, by_name):
    """Streams trust what the ordinary transport trusts, and nobody else."""
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    path = str(authority / "ca.pem")
    async with StubServer(speaking(), tls=server_tls) as stub:
        exchange, _ = await probed(stub, time.perf_counter)
        assert exchange.fault is not None
        assert exchange.fault.kind is FaultKind.TLS
        assert stub.seen == []
        if not by_name:
            monkeypatch.setenv("REQUESTS_CA_BUNDLE", path)
        named = {"ca_file": path} if by_name else {}
        exchange, arrivals = await probed(stub, time.perf_counter, **named)
    assert exchange.status == 200
    assert written(arrivals) == exchange.body


async def test_requests_are_the_instruments_own():
    """They stream, are greedy and seeded, ask for the usage, and carry what the endpoint adds."""
    async with StubServer(speaking()) as stub:
        await measured(stub, extra={"top_k": 1})
        asked = [seen.json for seen in stub.seen if b'"stream":true' in seen.body]
    assert len(asked) == SPEED.cost()["stage"].requests
    for body in asked:
        assert (body["temperature"], body["seed"], body["model"]) == (0, 0, "stub")
        assert body["stream_options"] == {"include_usage": True}
        assert body["max_tokens"] in {1, 12}
        assert body["top_k"] == 1
        assert "speculative.n_max" not in body


async def test_refused_fields_are_left_out():
    """A server that knows neither ``seed`` nor ``stream_options`` is measured without them."""
    async with StubServer(speaking(refuse=("seed", "stream_options"), usage=False)) as stub:
        document = await measured(stub)
        last = stub.seen[-1].json
    assert "seed" not in last
    assert "stream_options" not in last
    (cell,) = document["depths"][0]["cells"]
    assert cell["completion_tokens"] == 3 * 12
    assert any("counted as tokens" in note for note in document["notes"])


async def test_a_key_is_sent_and_shown_nowhere():
    """Each request bears the key, and a document made of errors that quote it does not."""

    def handler(request, n):
        if not request.get("stream"):
            return answers.completion("Hello")
        return answers.error(400, f"no stream for {KEY}")

    async with StubServer(handler) as stub:
        with pytest.raises(HarnessError) as raised:
            await measured(stub, key=Secret(KEY))
        sent = {seen.headers.get("Authorization") for seen in stub.seen}
    assert sent == {f"Bearer {KEY}"}
    assert KEY not in str(raised.value)
    assert "no stream for ***" in str(raised.value)


async def test_a_redirect_is_not_followed():
    """A stream that is sent elsewhere is refused, and the key with it."""
    async with StubServer() as other:

        def handler(request, n):
            if not request.get("stream"):
                return answers.completion("Hello")
            return web.Response(status=307, headers={"Location": f"{other.url}/chat/completions"})

        async with StubServer(handler) as stub:
            with pytest.raises(HarnessError, match="redirects"):
                await measured(stub, key=Secret(KEY))
        assert other.seen == []


async def test_a_server_that_does_not_stream():
    """An answer in one document is no stream, said plainly."""
    async with StubServer() as stub:
        with pytest.raises(HarnessError, match=r"the stage gives no stream: .*no event stream"):
            await measured(stub)


async def test_a_server_that_is_away():
    """What cannot be reached ends the run before anything is measured."""
    gone = Endpoint(url="http://127.0.0.1:9/v1", model="m", retries=0)
    with pytest.raises(HarnessError, match=r"the stage is unreachable: .*cannot connect"):
        await run_bench(SPEED, endpoints={"stage": gone})


async def test_a_wrong_key_is_a_usage_error():
    """401 names the side and the key."""
    async with StubServer(answers.needs_key("right-key-of-a-test")) as stub:
        with pytest.raises(EndpointError, match="wrong key"):
            await measured(stub, key=Secret("wrong-key-of-a-test"))


async def test_a_stream_that_is_cut_is_asked_again():
    """A cut answer leaves no marks behind: the second try alone is measured."""
    speak = speaking(pause_s=0.004)
    cuts = {"left": 1}

    def handler(request, n):
        if request.get("stream") and request["max_tokens"] > 1 and cuts["left"]:
            cuts["left"] -= 1
            return answers.cut(b'data: {"choices":[{"delta":{"content":"w0 "}}]}\n\n')(request, n)
        return speak(request, n)

    async with StubServer(handler) as stub:
        document = await measured(stub, retries=2)
    assert cuts["left"] == 0
    assert document["spent"]["stage"]["requests"] == SPEED.cost()["stage"].requests + 1


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (Timeouts(first_byte_s=0.2, total_s=9.0), r"no first byte within 0\.2 s"),
        (Timeouts(first_byte_s=0.2, total_s=0.2), r"no whole answer within 0\.2 s"),
    ],
)
async def test_time_outs_are_named(limits, said):
    """A server that does not begin, and one that does not end, are told apart."""

    def handler(request, n):
        if not request.get("stream"):
            return answers.completion("Hello")
        return answers.slow(5.0)(request, n)

    async with StubServer(handler) as stub:
        with pytest.raises(HarnessError, match=said):
            await measured(stub, timeouts=limits)


async def test_a_run_can_be_stopped():
    """Setting ``stop`` ends the run in the middle of a stream."""
    stop = asyncio.Event()
    async with StubServer(speaking(first_s=30.0)) as stub:
        run = run_bench(SPEED, endpoints={"stage": endpoint(stub)}, stop=stop)
        task = asyncio.create_task(run)
        await asyncio.sleep(0.3)
        stop.set()
        with pytest.raises(RunCancelledError, match="cannot go on"):
            await task


async def test_a_proxy_that_holds_a_stream_back_is_seen():
    """The server tells one rate and another arrives: a note says that something lies between."""
    timings = {"predicted_n": 12, "predicted_per_second": 1e6, "prompt_n": 60, "cache_n": 0}
    async with StubServer(speaking(pause_s=0.004, timings=timings)) as stub:
        document = await measured(stub)
    assert any("something lies between" in note for note in document["notes"])
