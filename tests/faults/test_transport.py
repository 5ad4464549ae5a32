"""Faults of the wire over real sockets: waits, cut streams, redirects, pages, refused fields."""

from __future__ import annotations

import json
import time
from email.utils import parsedate_to_datetime

import pytest

from denv.client import AiohttpTransport, EndpointClient
from denv.encode import encode
from denv.errors import EndpointError
from denv.observe import observe
from denv.records import Case, Contains, Endpoint, Secret
from tests import suites
from tests.client.virtual_time import FixedRandom, VirtualTime
from tests.faults.rows import faults
from tests.faults.serving import PREFLIGHT, chats, served
from tests.stubs import answers

FAULTS = faults()
WAITS = FAULTS["e-retry-after-forms"]
REDIRECT = FAULTS["e-redirect"]


def one(content="say ab", expect=None, **fields):
    """Give a suite of one case, as text."""
    return [json.dumps(suites.line("one", content, expect or {"contains": "ab"}, **fields))]


def after_preflight(*each, then=None):
    """Answer the preflight, then the cases one after the other, and the rest by ``then``."""
    asked = []

    def handler(request, n):
        if request["messages"][-1]["content"] == PREFLIGHT:
            return answers.completion("Hello")
        asked.append(n)
        behaviour = each[len(asked) - 1] if len(asked) <= len(each) else then or answers.echo()
        return behaviour(request, n)

    return handler


def refused(status, value):
    """Refuse with a Retry-After."""
    return lambda request, n: answers.error(status, "busy", headers={"Retry-After": value})


def tried(fault, name):
    """Give a stage's exchange of a fault by its try's name."""
    [found] = [one["stage"][0] for one in FAULTS[fault]["tries"] if one["name"] == name]
    return served(found)


# ---------------------------------------------------------------- Retry-After


@pytest.mark.parametrize("status", WAITS["statuses"])
@pytest.mark.parametrize(("value", "wait_s"), WAITS["waits"])
async def test_forms_of_retry_after(serve, status, value, wait_s):
    """Each form is waited for as long as it says, a day for a minute, junk for a back-off."""
    stub = await serve(answers.first(1, lambda: refused(status, value)(None, 0)))
    clock = VirtualTime()
    now = parsedate_to_datetime(WAITS["now"]).timestamp()
    client = EndpointClient(
        Endpoint(url=stub.url, retries=1),
        transport=AiohttpTransport(stub.url),
        observe=observe,
        clock=clock.clock,
        wall=lambda: now + clock.now,
        sleep=clock.sleep,
        rng=FixedRandom(0.5),
    )
    fields = {"messages": [{"role": "user", "content": "ab"}]}
    case = Case(id="one", index=0, line=1, fields=fields, check=Contains("ab"))

    def build(dialect):
        return encode(case, client.endpoint, model="m", dialect=dialect)

    [(_, seen, _)] = await clock.run(client.ask(build))
    await client.close()
    assert (seen.text, stub.chats) == ("ab", 2)
    [attempt] = seen.attempts
    if wait_s is None:
        assert 0 < attempt.waited_s <= 1.0
    else:
        assert wait_s <= attempt.waited_s <= 1.1 * wait_s
    assert ("asked to wait 86400 s" in attempt.problem) is (value == "86400")


async def test_wait_is_kept_by_a_run(serve, run):
    """A run waits as long as it was asked to, and a rate limit is no retry."""
    stage = await serve(after_preflight(refused(429, "1.5")))
    started = time.monotonic()
    _, document = await run(one(), stage, await serve(), stage_options={"retries": 2})
    assert time.monotonic() - started >= 1.5
    assert document["verdict"] == "pass"
    assert (document["stage"]["rate_limited"], document["stage"]["retried"]) == (1, 0)


# ---------------------------------------------------------------- asked again as a whole

BROKEN_STREAMS = [
    ("e-sse-error-midstream", "error frame"),
    ("e-sse-error-midstream", "error text"),
    ("e-sse-error-midstream", "finish reason error"),
    ("e-sse-error-midstream", "event error"),
    ("e-sse-eof-or-only-done", "half an answer"),
    ("e-sse-eof-or-only-done", "only DONE"),
    ("e-sse-eof-or-only-done", "half a call"),
]
BROKEN_BODIES = [
    ("e-non-json-and-cut-json", "page with 502"),
    ("e-non-json-and-cut-json", "cut JSON"),
    ("e-non-json-and-cut-json", "nothing"),
    ("e-non-json-and-cut-json", "fewer bytes than promised"),
]


@pytest.mark.parametrize(("fault", "name"), BROKEN_STREAMS)
async def test_broken_stream_is_asked_again(serve, run, fault, name):
    """What came before a stream broke is never an answer: it is asked again as a whole."""
    whole = answers.sse(
        [b'data: {"choices":[{"index":0,"delta":{"content":"ab"},"finish_reason":"stop"}]}\n\n']
    )
    stage = await serve(after_preflight(tried(fault, name), then=whole))
    _, document = await run(
        one(),
        stage,
        await serve(after_preflight(whole)),
        stage_options={"retries": 1},
        stream="yes",
    )
    [case] = document["cases"]
    assert (case["outcome"], case["stage"]["text"]) == ("pass", "ab")
    assert (len(chats(stage)), document["stage"]["retried"]) == (2, 1)


@pytest.mark.parametrize(("fault", "name"), BROKEN_BODIES)
async def test_broken_body_is_asked_again(serve, run, fault, name):
    """Pages of a gateway and bodies that end too early are asked for again."""
    stage = await serve(after_preflight(tried(fault, name)))
    _, document = await run(one(), stage, await serve(), stage_options={"retries": 1})
    assert document["cases"][0]["outcome"] == "pass"
    assert (len(chats(stage)), document["stage"]["retried"]) == (2, 1)


async def test_page_in_the_apis_place_is_not_asked_again(serve, run):
    """A page with status 200 is final for its case."""
    page = tried("e-non-json-and-cut-json", "page with 200")
    stage = await serve(after_preflight(page))
    _, document = await run(one(), stage, await serve(), stage_options={"retries": 3})
    [case] = document["cases"]
    assert (case["outcome"], case["cause"], len(chats(stage))) == ("fail", "contract", 1)


async def test_page_before_the_cases_is_an_error(serve, run):
    """Where a page answers the preflight no case is sent, and the error quotes it."""
    stage, reference = await serve(tried("e-non-json-and-cut-json", "page with 200")), await serve()
    with pytest.raises(EndpointError, match=r"(?s)HTML.*Sign in"):
        await run(one(), stage, reference)
    assert chats(stage) == chats(reference) == []


# ---------------------------------------------------------------- redirects


@pytest.mark.parametrize(("status", "target"), REDIRECT["redirects"])
async def test_redirect_before_the_cases_is_an_error(serve, run, status, target):
    """A base URL that redirects is named with its target, before any case is sent."""
    stage, reference = await serve(answers.redirect(status, target)), await serve()
    with pytest.raises(EndpointError, match=rf"redirects \({status}\) to .*example\.test/v1"):
        await run(one(), stage, reference)
    assert chats(stage) == chats(reference) == []


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_key_goes_to_no_other_host(serve, run, status):
    """A redirect in the middle of a run takes neither key nor request to another port."""
    other = await serve()
    away = answers.redirect(status, f"{other.url}/chat/completions")
    stage = await serve(after_preflight(away))
    options = {"key": Secret("sk-planted-0123456789abcdef"), "retries": 2}
    _, document = await run(one(), stage, await serve(), stage_options=options)
    [case] = document["cases"]
    assert (case["outcome"], case["cause"]) == ("fail", "availability")
    assert f"redirects ({status})" in case["reason"]
    assert (other.seen, len(chats(stage))) == ([], 1)


@pytest.mark.parametrize("status", [307, 308])
async def test_redirect_on_the_same_host_is_followed(serve, run, status):
    """307 and 308 to the same host and port keep method and body."""
    stage = await serve(after_preflight(answers.redirect(status, "/v1/chat/completions?again")))
    _, document = await run(one(), stage, await serve())
    assert document["verdict"] == "pass"
    first, second = chats(stage)
    assert (second.method, second.path) == ("POST", "/v1/chat/completions?again")
    assert second.body == first.body


# ---------------------------------------------------------------- refusals

LOGPROBS = {
    "content": [{"token": "ab", "logprob": -0.25, "bytes": [97, 98], "top_logprobs": []}],
}


def at_most(limit):
    """Take ``limit`` alternatives a token, and refuse more in the recorded words."""
    refusal = served(FAULTS["a-lp-top-limit-and-missing-sampled"]["refusal"])

    def handler(request, n):
        if request.get("top_logprobs", 0) > limit:
            return refusal(request, n)
        answer = answers.completion("ab")
        if request.get("logprobs"):
            answer["choices"][0]["logprobs"] = LOGPROBS
        return answer

    return handler


@pytest.mark.parametrize(
    ("limit", "sent", "left"), [(20, [20], 20), (5, [20, 5], 5), (0, [20, 5, None], None)]
)
async def test_fewer_alternatives_are_asked_for(serve, run, limit, sent, left):
    """A refused number of alternatives becomes 5, then none; that is noted and no failure."""
    stage, reference = await serve(at_most(limit)), await serve(at_most(20))
    lines = one(expect={"logprobs-close": {"tolerance": 0.15}})
    _, document = await run(lines, stage, reference, stage_options={"retries": 2})
    assert document["cases"][0]["outcome"] == "pass"
    assert [seen.json.get("top_logprobs") for seen in chats(stage)] == sent
    assert (document["stage"]["top_logprobs"], document["stage"]["retried"]) == (left, 0)
    assert document["reference"]["top_logprobs"] == 20


async def test_refused_logprobs_measure_nothing(serve, run):
    """A server that refuses logprobs altogether is asked without them: unmeasured."""
    refusal = served(FAULTS["a-lp-top-limit-and-missing-sampled"]["refusal"])

    def handler(request, n):
        return refusal(request, n) if "logprobs" in request else answers.completion("ab")

    lines = one(expect={"logprobs-close": {"tolerance": 0.15}})
    _, document = await run(lines, await serve(handler), await serve(at_most(20)))
    [case] = document["cases"]
    assert case["outcome"] == "unmeasured"
    assert document["stage"]["dropped_fields"] == ["logprobs"]


@pytest.mark.parametrize("fault", ["c-developer-role", "c-history-arguments"])
async def test_template_that_raises_is_asked_once_more(serve, run, fault):
    """A 5xx that names the template and repeats word for word is no outage: two requests do."""
    row = FAULTS[fault]
    line = {"id": "one", **row["case"]}
    raising = served(row["tries"][0]["stage"][0])
    stage = await serve(after_preflight(then=raising))
    right = lambda request, n: answers.completion("Bonjour 28")  # noqa: E731 - a stub's behaviour
    _, document = await run(
        [json.dumps(line)], stage, await serve(right), stage_options={"retries": 4}
    )
    [case] = document["cases"]
    assert (case["outcome"], case["cause"]) == ("fail", "template")
    assert len(chats(stage)) == 2


async def test_split_character_is_one_character(serve, run):
    """Bytes are put together before they are read, wherever the network cut them."""
    chunks = FAULTS["e-utf8-split-and-invalid"]["tries"][0]["stage"][0]["chunks_hex"]
    whole = b"".join(map(bytes.fromhex, chunks))
    single = answers.sse([bytes([byte]) for byte in whole])
    _, document = await run(
        one(expect={"equals": "你"}),
        await serve(after_preflight(single)),
        await serve(after_preflight(single)),
        stream="yes",
    )
    assert document["cases"][0]["outcome"] == "pass"
