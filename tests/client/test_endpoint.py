"""Retries, pace, shared waits and refused fields, in virtual time over an in-memory transport."""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from math import exp, log
from random import Random
from statistics import fmean, median

import pytest

from denv.client.endpoint import EndpointClient
from denv.client.http import AiohttpTransport
from denv.client.transport import HttpCall
from denv.encode import encode
from denv.errors import EndpointError
from denv.observe import observe
from denv.records import (
    Case,
    Cause,
    Contains,
    Dialect,
    Endpoint,
    Exchange,
    Fault,
    FaultKind,
    LogprobsClose,
    Pacing,
    ProblemKind,
    Secret,
)
from tests.client.virtual_time import FixedRandom, VirtualTime
from tests.stubs import StubServer, answers

KEY = "sk-Secret-0123456789"
ENDPOINT = Endpoint(url="http://stage.test/v1", model="m", key=Secret(KEY), retries=4)
WALL = datetime(2026, 11, 29, 21, 0, 0, tzinfo=UTC).timestamp()
OK = Exchange(status=200, body=json.dumps(answers.completion("Hello")).encode())


def case(index: int = 0, check=None) -> Case:
    """Write a small case."""
    fields = {"messages": [{"role": "user", "content": f"Hello {index}"}]}
    return Case(id=str(index), index=index, line=1, fields=fields, check=check or Contains("H"))


def builder(index: int = 0, check=None):
    """Give what writes a case's request in a dialect."""
    one = case(index, check)
    return lambda dialect: encode(one, ENDPOINT, model="m", max_tokens=16, dialect=dialect)


def refused(status: int, message: str = "no", **headers: str) -> Exchange:
    """Give an error in the API's form."""
    body = json.dumps({"error": {"message": message}}).encode()
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Exchange(status=status, headers=named, body=body)


def broken(kind: FaultKind = FaultKind.CONNECT) -> Exchange:
    """Give an exchange that a fault ended."""
    return Exchange(status=None, fault=Fault(kind, "broken"))


class Script:
    """A transport that answers from a function ``(call, n) → Exchange`` and notes the times."""

    def __init__(self, time: VirtualTime, answer, *, takes_s: float = 0.0) -> None:
        self.time, self.answer, self.takes_s = time, answer, takes_s
        self.calls: list[HttpCall] = []
        self.at: list[float] = []
        self.running = self.most = 0

    async def send(self, call):
        n = len(self.calls)
        self.calls.append(call)
        self.at.append(self.time.now)
        self.running += 1
        self.most = max(self.most, self.running)
        if self.takes_s:
            await self.time.sleep(self.takes_s)
        self.running -= 1
        return self.answer(call, n)

    async def close(self) -> None:
        pass


def scripted(
    answer, *, jitter: float = 0.0, takes_s: float = 0.0, on_dialect=None, rng=None, **changes
):
    """Give a client, its transport and its clock; ``changes`` are the endpoint's."""
    time = VirtualTime()
    script = Script(time, answer, takes_s=takes_s)
    client = EndpointClient(
        replace(ENDPOINT, **changes),
        transport=script,
        observe=observe,
        clock=time.clock,
        wall=lambda: WALL + time.now,
        sleep=time.sleep,
        rng=rng or FixedRandom(jitter),
        on_dialect=on_dialect,
    )
    return client, script, time


async def asked(answer, **options):
    """Ask one case; give the exchange, the observation and the transport."""
    client, script, time = scripted(answer, **options)
    [(exchange, observation, _)] = await time.run(client.ask(builder()))
    return exchange, observation, script


# ---------------------------------------------------------------- retries


async def test_an_answer_is_given_at_once():
    """A usable answer is not asked for again and has no attempts."""
    exchange, observation, script = await asked(lambda call, n: OK)
    assert (len(script.calls), exchange.attempts, observation.text) == (1, (), "Hello")


@pytest.mark.parametrize(
    "bad",
    [
        refused(429),
        refused(500),
        refused(502),
        refused(503),
        broken(FaultKind.DNS),
        broken(FaultKind.CONNECT),
        broken(FaultKind.CUT),
        broken(FaultKind.TIMEOUT_FIRST_BYTE),
        Exchange(status=200, body=b'{"choices":[{"index":0,"mess'),
        Exchange(status=200, body=b""),
    ],
)
async def test_what_may_pass_is_asked_again_and_noted(bad):
    """429, server errors, connection faults and broken bodies are retried; the try is recorded."""
    exchange, observation, script = await asked(lambda call, n: bad if n < 2 else OK, jitter=0.5)
    assert len(script.calls) == 3
    assert observation.problem is None
    assert exchange.attempts == observation.attempts
    assert [a.status for a in exchange.attempts] == [bad.status] * 2
    assert all(a.problem for a in exchange.attempts)
    # Half of 0.5 s and of 1 s, and up to a tenth more where the wait is shared.
    for attempt, wait_s in zip(exchange.attempts, (0.25, 0.5), strict=True):
        assert wait_s <= attempt.waited_s <= wait_s * 1.1


@pytest.mark.parametrize(
    "bad",
    [
        refused(400),
        refused(401),
        refused(404),
        broken(FaultKind.TLS),
        broken(FaultKind.TOO_LARGE),
        Exchange(status=200, body=b"<!doctype html><title>Sign in</title>"),
        Exchange(status=200, headers=(("content-type", "text/html; charset=utf-8"),), body=b"x"),
    ],
)
async def test_what_will_not_pass_is_asked_once(bad):
    """Refusals, untrusted certificates, huge bodies and web pages are final."""
    exchange, observation, script = await asked(lambda call, n: bad)
    assert len(script.calls) == 1
    assert observation.problem is not None
    assert exchange.attempts == ()


async def test_retries_end():
    """After ``retries`` more tries the last failure is the answer."""
    exchange, observation, script = await asked(lambda call, n: refused(503), retries=2)
    assert len(script.calls) == 3
    assert len(exchange.attempts) == 2
    assert observation.problem.kind is ProblemKind.SERVER_ERROR


async def test_a_template_that_raises_is_asked_twice():
    """A 500 that names the template and repeats word for word stops after the first repeat."""
    bad = refused(500, "template: unexpected role")
    _, observation, script = await asked(lambda call, n: bad)
    assert len(script.calls) == 2
    assert observation.problem.cause is Cause.TEMPLATE


async def test_other_server_errors_that_repeat_use_all_retries():
    """Only the template's errors are known not to pass."""
    _, _, script = await asked(lambda call, n: refused(500, "out of memory"))
    assert len(script.calls) == 5


# ---------------------------------------------------------------- shared waits, pace, slots


async def test_retry_after_holds_back_every_worker():
    """After one 429 nobody asks for the two seconds that it names."""

    def answer(call, n):
        return refused(429, retry_after="2") if n == 0 else OK

    client, script, time = scripted(answer, concurrency=1, retries=1)
    await time.run(*(client.ask(builder(i)) for i in range(3)))
    assert script.at[0] == 0
    assert script.at[1:] == [2, 2, 2]


async def test_the_wait_holds_others_even_where_the_refused_gave_up():
    """Without retries left the 429 is final for its case, but the next case still waits."""

    def answer(call, n):
        return refused(429, retry_after="2") if n == 0 else OK

    client, script, time = scripted(answer, concurrency=1, retries=0)
    results = await time.run(*(client.ask(builder(i)) for i in range(2)))
    assert results[0][1].problem.kind is ProblemKind.RATE_LIMITED
    assert script.at == [0, 2]


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(("value", "wait_s"), [("Sun, 29 Nov 2026 21:00:30 GMT", 30), ("1.5", 1.5)])
async def test_dates_and_fractions_are_waited_for(status, value, wait_s):
    """Both statuses may carry a wait, in each of its forms."""
    bad = refused(status, retry_after=value)
    exchange, _, script = await asked(lambda call, n: bad if n == 0 else OK)
    assert script.at == [0, wait_s]
    assert exchange.attempts[0].waited_s == wait_s


async def test_a_day_is_not_waited_for_and_that_is_said():
    """86400 seconds become 60, and the attempt's line names both."""
    bad = refused(429, retry_after="86400")
    exchange, _, script = await asked(lambda call, n: bad if n == 0 else OK)
    assert script.at == [0, 60]
    assert "86400" in exchange.attempts[0].problem


async def test_workers_do_not_come_back_at_once():
    """A shared wait is stretched by at most a tenth for each worker's own jitter."""
    bad = refused(429, retry_after="2")
    _, _, script = await asked(lambda call, n: bad if n == 0 else OK, jitter=0.5)
    assert script.at[1] == pytest.approx(2 + 0.5 * 0.2)


async def test_a_lost_connection_holds_back_every_worker():
    """While a server is down its workers do not all knock at once."""

    def answer(call, n):
        return broken() if n == 0 else OK

    client, script, time = scripted(answer, jitter=1.0, concurrency=1, retries=0)
    await time.run(*(client.ask(builder(i)) for i in range(2)))
    assert script.at[1] >= 0.5


async def test_a_single_server_error_holds_back_nobody_else():
    """A 500 says nothing of the other requests: only its own case waits."""

    def answer(call, n):
        return refused(500) if b"Hello 0" in call.body and n == 0 else OK

    client, script, time = scripted(answer, jitter=0.5, concurrency=2)
    await time.run(*(client.ask(builder(i)) for i in range(3)))
    assert sorted(script.at) == [0, 0, 0, 0.25]


async def test_no_more_than_the_slots_run_at_once():
    """Eight cases on three slots of one second take three rounds."""
    client, script, time = scripted(lambda call, n: OK, takes_s=1.0, concurrency=3)
    await time.run(*(client.ask(builder(i)) for i in range(8)))
    assert script.most == 3
    assert time.now == 3


async def test_requests_are_evenly_spaced():
    """Four a second are sent at 0, 0.25, 0.5 …, however many workers there are."""
    client, script, time = scripted(lambda call, n: OK, rate=4.0, concurrency=8)
    await time.run(*(client.ask(builder(i)) for i in range(6)))
    assert script.at == pytest.approx([0, 0.25, 0.5, 0.75, 1.0, 1.25])


async def test_interleaved_requests_come_at_gaps_of_chance():
    """Interleaved, gaps have the mean of the rate, and as many are short as an exponential has."""
    client, script, time = scripted(
        lambda call, n: OK, rate=4.0, concurrency=4, pacing=Pacing.INTERLEAVED, rng=Random(11)
    )
    await time.run(*(client.ask(builder(i)) for i in range(400)))
    gaps = [b - a for a, b in pairwise(script.at)]
    assert fmean(gaps) == pytest.approx(0.25, rel=0.15)
    assert median(gaps) == pytest.approx(0.25 * log(2), rel=0.15)
    assert sum(gap > 0.5 for gap in gaps) / len(gaps) == pytest.approx(exp(-2), abs=0.05)


async def test_the_pace_holds_after_a_shared_wait():
    """Workers that were held back come back in the same even steps, not in a burst."""

    def answer(call, n):
        return refused(429, retry_after="2") if n == 0 else OK

    client, script, time = scripted(answer, rate=4.0, concurrency=8)
    await time.run(*(client.ask(builder(i)) for i in range(4)))
    later = sorted(script.at)[1:]
    assert later[0] >= 2
    assert all(b - a >= 0.25 - 1e-9 for a, b in pairwise(later))


async def test_cancelling_a_worker_frees_its_slot():
    """A cancelled wait leaves the endpoint usable."""
    client, script, time = scripted(lambda call, n: OK, takes_s=5.0, concurrency=1)
    first = asyncio.ensure_future(client.ask(builder()))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    script.takes_s = 0
    [(_, observation, _)] = await time.run(client.ask(builder(1)))
    assert observation.text == "Hello"


# ---------------------------------------------------------------- refused fields


def refusing(*names: str):
    """Refuse fields by name, one at a time."""

    def answer(call, n):
        sent = json.loads(call.body)
        for name in names:
            if name in sent:
                return refused(400, f"Unsupported parameter: '{name}' is not supported.")
        return OK

    return answer


async def test_refused_fields_are_dropped_once_an_endpoint_and_reported():
    """The first case learns both fields; the second is written right at once."""
    told: list[Dialect] = []
    client, script, time = scripted(refusing("seed", "max_tokens"), on_dialect=told.append)
    [(exchange, observation, request)] = await time.run(client.ask(builder()))
    assert observation.problem is None
    assert exchange.attempts == ()
    assert "seed" not in json.loads(request.body)
    assert json.loads(request.body)["max_completion_tokens"] == 16
    assert len(script.calls) == 3
    await time.run(client.ask(builder(1)))
    assert len(script.calls) == 4
    assert told[-1] == client.dialect == Dialect(frozenset({"seed"}), 20, "max_completion_tokens")
    assert len(told) == 2


async def test_workers_that_met_the_same_refusal_just_ask_again():
    """Four concurrent refusals change the dialect once; each is asked once more, uncounted."""
    told: list[Dialect] = []
    client, script, time = scripted(refusing("seed"), takes_s=1.0, on_dialect=told.append)
    results = await time.run(*(client.ask(builder(i)) for i in range(4)))
    assert len(script.calls) == 8
    assert len(told) == 1
    assert all(exchange.attempts == () for exchange, _, _ in results)


async def test_top_logprobs_shrink_step_by_step():
    """A server that takes at most 5 gets 5."""

    def answer(call, n):
        if json.loads(call.body)["top_logprobs"] > 5:
            return refused(400, "top_logprobs must be at most 5")
        return OK

    client, script, time = scripted(answer)
    [(_, _, request)] = await time.run(client.ask(builder(0, LogprobsClose(0.05))))
    assert json.loads(request.body)["top_logprobs"] == 5
    assert len(script.calls) == 2


async def test_a_refusal_of_a_field_that_was_not_sent_is_final():
    """Where nothing of the request would change it is not asked again, and nothing is learnt."""
    client, script, time = scripted(lambda call, n: refused(400, "logprobs is not supported"))
    await time.run(client.ask(builder()))
    assert len(script.calls) == 1
    assert client.dialect == Dialect()


async def test_a_server_that_refuses_everything_is_left():
    """Asking again in other dialects ends."""
    client, script, time = scripted(
        lambda call, n: refused(400, "unsupported: seed, max_tokens, temperature")
    )
    await time.run(client.ask(builder()))
    assert len(script.calls) <= 8


# ---------------------------------------------------------------- redirects


def redirected(status: int, location: str) -> Exchange:
    """Give a redirect."""
    return Exchange(status=status, headers=(("location", location),), body=b"<html>Moved</html>")


@pytest.mark.parametrize("status", [307, 308])
async def test_a_redirect_on_the_same_host_keeps_method_body_and_key(status):
    """307 and 308 to the very same scheme, host and port are followed."""

    def answer(call, n):
        return redirected(status, "/v1/chat/completions/") if n == 0 else OK

    exchange, _, script = await asked(answer)
    assert exchange.status == 200
    assert script.calls[1].url == "http://stage.test/v1/chat/completions/"
    assert script.calls[1].method == "POST"
    assert script.calls[1].body == script.calls[0].body


@pytest.mark.parametrize(
    ("status", "location"),
    [
        (301, "https://stage.test/v1/chat/completions"),
        (302, "/v1/chat/completions/"),
        (303, "/v1/chat/completions/"),
        (307, "http://other.test/v1/chat/completions"),
        (307, "http://stage.test:81/v1/chat/completions"),
        (308, "https://stage.test/v1/chat/completions"),
        (307, "//other.test/v1/chat/completions"),
        (307, "http://stage.test@other.test/v1/chat/completions"),
    ],
)
async def test_other_redirects_are_refused_and_named(status, location):
    """What would change method, scheme, host or port gets no request and no key."""
    exchange, observation, script = await asked(lambda call, n: redirected(status, location))
    assert len(script.calls) == 1
    assert exchange.fault.kind is FaultKind.REDIRECT
    assert f"({status})" in exchange.fault.message
    assert "/v1" in exchange.fault.message
    assert observation.problem is not None


async def test_the_message_names_the_right_base_without_query_or_credentials():
    """The user reads which URL to give; what may be secret in the target is left out."""
    location = "https://me:pw@api.example.test/v1/chat/completions?token=hunter22"
    exchange, _, _ = await asked(lambda call, n: redirected(301, location))
    assert exchange.fault.message == (
        "redirects (301) to https://api.example.test/v1/chat/completions; "
        "the URL to use is https://api.example.test/v1"
    )


@pytest.mark.parametrize("location", ["", "http://[bad", "http://a:99999/"])
async def test_a_redirect_to_nowhere_is_a_fault(location):
    """A missing or broken Location never raises."""
    exchange, _, _ = await asked(lambda call, n: redirected(307, location))
    assert exchange.fault.kind is FaultKind.REDIRECT


async def test_a_loop_of_redirects_ends():
    """Three hops are followed, no more."""
    exchange, _, script = await asked(lambda call, n: redirected(307, f"/v1/{n}"))
    assert len(script.calls) == 4
    assert exchange.fault.kind is FaultKind.REDIRECT


# ---------------------------------------------------------------- shared waits, as they are shown


@pytest.mark.parametrize(
    ("answer", "why", "seconds"),
    [
        (refused(429, retry_after="58"), "429", 58),
        (refused(503, retry_after="7"), "503", 7),
        (refused(429, retry_after="3600"), "429", 60),
        (refused(429), "429", 0.25),
        (broken(), "connection", 0.25),
    ],
)
async def test_a_shared_wait_can_be_seen(answer, why, seconds):
    """While all requests are held back the client says for how long and why, and then no more."""
    client, _, time = scripted(lambda call, n: OK if n else answer, jitter=0.5)
    seen = []

    async def look():
        for _ in range(3):
            seen.append((client.held_s, client.held_why, client.waits))
            await time.sleep(seconds / 2)

    async def later():
        await asyncio.sleep(0)
        await look()

    await time.run(client.ask(builder()), later())
    assert seen[0] == (seconds, why, 1)
    assert seen[1] == (seconds / 2, why, 1)
    assert seen[2] == (0, "", 1)


async def test_many_refusals_at_once_are_one_wait():
    """Workers that all meet the same 429 begin one wait; the next refusal after it is another."""
    slow_down = refused(429, retry_after="5")
    client, _, time = scripted(lambda call, n: slow_down if n < 8 else OK, takes_s=1.0)
    await time.run(*(client.ask(builder(n)) for n in range(4)))
    assert client.waits == 2
    assert (client.held_s, client.held_why) == (0, "")


async def test_a_wait_that_is_not_shared_holds_nobody():
    """A server error without Retry-After is waited for by its own request alone."""
    client, _, time = scripted(lambda call, n: OK if n else refused(500))
    await time.run(client.ask(builder()))
    assert client.waits == 0


# ---------------------------------------------------------------- keys


async def test_the_key_goes_to_its_own_host_alone(monkeypatch, caplog):
    """A redirect to another port gets no request; no record, repr or log line holds the key."""
    caplog.set_level(logging.DEBUG)
    async with StubServer() as thief:
        target = f"{thief.url}/chat/completions"
        async with StubServer(answers.redirect(307, target)) as stub:
            transport = AiohttpTransport()
            endpoint = replace(ENDPOINT, url=stub.url, retries=0)
            client = EndpointClient(endpoint, transport=transport, observe=observe)
            exchange, observation, request = await client.ask(builder())
            await client.close()
            assert stub.seen[0].headers["Authorization"] == f"Bearer {KEY}"
        assert thief.seen == []
    shown = repr((exchange, observation, request, endpoint, client, transport, vars(transport)))
    assert KEY not in shown
    assert KEY not in caplog.text


async def test_a_key_that_a_server_quotes_is_cut_before_anything_sees_it():
    """A careless 401 that repeats the key leaves neither body, header nor problem with it."""
    body = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}}).encode()
    bad = Exchange(status=401, headers=(("x-echo", f"Bearer {KEY}"),), body=body)
    exchange, observation, _ = await asked(lambda call, n: bad)
    assert KEY not in repr((exchange, observation))
    assert b"***" in exchange.body


async def test_secret_headers_are_cut_like_the_key():
    """The value of a header that is named like a secret is one."""
    bad = Exchange(status=400, body=b'{"error":"bad azure-0123456789"}')
    exchange, _, script = await asked(
        lambda call, n: bad, key=None, headers={"api-key": "azure-0123456789", "X-Team": "parity"}
    )
    assert script.calls[0].headers["api-key"] == "azure-0123456789"
    assert "Authorization" not in script.calls[0].headers
    assert b"azure" not in exchange.body


async def test_headers_that_hold_secrets_are_cut_in_every_form():
    """A cookie's values, and headers that are called secret, are masked as a key is."""
    secrets = {"Cookie": "a=b; sid=cook/0123456", "X-Team": "team+0123456", "X-Plain": "plain/0123"}
    text = r"cook%2F0123456 team\u002B0123456 plain\/0123"
    bad = Exchange(
        status=400,
        headers=(("x-echo", "team%2B0123456"),),
        body=f'{{"error":"{text}"}}'.encode(),
        fault=Fault(FaultKind.CUT, "cut at cook&#47;0123456"),
    )
    exchange, _, _ = await asked(
        lambda call, n: bad, headers=secrets, secret_headers=frozenset({"X-Team"}), retries=0
    )
    assert exchange.body == rb'{"error":"*** *** plain\/0123"}'
    assert exchange.headers == (("x-echo", "***"),)
    assert exchange.fault.message == "cut at ***"


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer x"},
        {"Content-Length": "1"},
        {"host": "other.test"},
        {"X-A": "a\r\nX-B: b"},
        {"X A": "b"},
    ],
)
def test_headers_that_would_break_a_request_are_refused(headers):
    """What the run sets itself, a second key, and line breaks are errors from the start."""
    with pytest.raises(EndpointError) as caught:
        EndpointClient(
            replace(ENDPOINT, headers=headers),
            transport=Script(VirtualTime(), None),
            observe=observe,
        )
    assert caught.value.exit_code == 2


async def test_the_replica_is_read_from_its_header():
    """The response header that the endpoint names says which replica answered."""
    answer = replace(OK, headers=(("x-served-by", "gpu-3"),))
    exchange, observation, _ = await asked(lambda call, n: answer, replica_header="X-Served-By")
    assert exchange.replica == observation.replica == "gpu-3"
