"""One small request tells a wrong URL, key or model from a side that is down."""

from __future__ import annotations

import json
import socket
from dataclasses import replace

import pytest
from aiohttp import web

from denv.client.endpoint import EndpointClient
from denv.client.http import AiohttpTransport
from denv.client.preflight import Preflight, Unreachable, preflight
from denv.errors import EndpointError
from denv.observe import observe
from denv.records import Dialect, Endpoint, Secret
from tests.stubs import StubServer, answers

KEY = "sk-Secret-0123456789"


async def no_sleep(seconds: float) -> None:
    """Wait for nothing."""


async def checked(url: str, **changes):
    """Run the preflight of an endpoint at this URL."""
    endpoint = replace(Endpoint(url=url, model="stub", retries=1, name="stage"), **changes)
    client = EndpointClient(
        endpoint, transport=AiohttpTransport(), observe=observe, sleep=no_sleep, clock=Forward()
    )
    try:
        return await preflight(client)
    finally:
        await client.close()


class Forward:
    """A clock that jumps far ahead at each look, so that no wait stands for long."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1000
        return self.now


async def checked_against(handler, **changes):
    """Run the preflight against a stub of this behaviour."""
    async with StubServer(handler) as stub:
        return await checked(stub.url, **changes)


# ---------------------------------------------------------------- what is asked


async def test_one_small_request_is_asked():
    """A named model costs one chat request: Hello, 16 tokens, temperature 0, seed 0."""
    async with StubServer() as stub:
        got = await checked(stub.url)
        [seen] = stub.seen
    assert isinstance(got, Preflight)
    assert (got.model, got.served_models, got.warning) == ("stub", (), None)
    assert seen.json == {
        "model": "stub",
        "messages": [{"role": "user", "content": "Hello"}],
        "temperature": 0,
        "seed": 0,
        "stream": False,
        "max_tokens": 16,
    }


@pytest.mark.parametrize(
    ("shown", "read"),
    [("1.0", 1.0), (None, None), ("", None), ("warm", None), ("nan", None), ("0", None)],
)
async def test_a_side_may_say_that_it_samples(shown, read):
    """A header tells the temperature that a side samples at; what is no temperature is not."""

    def handler(request, n):
        async def answer(http, stub):
            headers = None if shown is None else {"denv-sampled": shown}
            return web.json_response(answers.completion("Hello"), headers=headers)

        return answer

    got = await checked_against(handler)
    assert isinstance(got, Preflight)
    assert got.sampled_at == read


async def test_the_only_model_is_found():
    """A model left out is the one that /models lists."""
    async with StubServer(models=["served"]) as stub:
        got = await checked(stub.url, model=None)
        assert stub.seen[-1].json["model"] == "served"
    assert (got.model, got.served_models) == ("served", ("served",))


async def test_several_models_must_be_chosen_from():
    """Two models are an error that names both; none is an error too."""
    async with StubServer(models=["a", "b"]) as stub:
        with pytest.raises(EndpointError, match="'a', 'b'"):
            await checked(stub.url, model=None)
        assert stub.chats == 0
    async with StubServer(models=[]) as stub:
        with pytest.raises(EndpointError, match="no model"):
            await checked(stub.url, model=None)


async def test_refused_fields_are_learnt():
    """A side that refuses seed is asked again without, and the dialect is given."""
    got = await checked_against(answers.refuses_fields("seed"))
    assert got.dialect == Dialect(dropped=frozenset({"seed"}))


async def test_the_engine_shows_itself():
    """llama.cpp names itself in the fingerprint of its build."""
    answer = {**answers.completion(), "system_fingerprint": "b6123-0a1b2c3d"}
    assert (await checked_against(answers.always(answer))).engine == "llama.cpp"


# ---------------------------------------------------------------- exit 2


@pytest.mark.parametrize(
    ("handler", "said"),
    [
        (answers.needs_key("right-key-1"), r"wrong key \(401\)"),
        (answers.always(lambda: answers.error(403, "not yours")), r"403.*not yours"),
        (answers.always(lambda: answers.error(402, "Insufficient Balance")), r"402.*Balance"),
        (answers.knows_model("other"), r"404.*`stub` does not exist"),
        (answers.always(lambda: answers.error(400, "Model Not Exist")), r"unknown model \(400\)"),
        (answers.html(200), "HTML instead of an API"),
        (answers.html(404), "HTML instead of an API"),
        (answers.body(b"ok", content_type="text/plain"), "not an API"),
        (answers.redirect(301, "https://a.test/v1/chat/completions?k=1"), "https://a.test/v1$"),
        (answers.redirect(307, "/v1/chat/completions/"), "redirects"),
    ],
)
async def test_what_waiting_does_not_mend_is_said_plainly(handler, said):
    """Key, path, model, redirect and web pages are usage errors that name side and fault."""
    with pytest.raises(EndpointError, match=said) as caught:
        await checked_against(handler, key=Secret(KEY))
    assert str(caught.value).startswith("stage: ")
    assert caught.value.exit_code == 2
    assert KEY not in str(caught.value)
    assert len(str(caught.value)) < 400


async def test_a_missing_key_is_not_a_wrong_one():
    """Where no key was given, a 401 says that one is needed."""
    with pytest.raises(EndpointError, match="a key is needed"):
        await checked_against(answers.needs_key("right-key-1"))


# ---------------------------------------------------------------- unreachable


async def test_a_closed_port_is_unreachable():
    """Nobody listening is a value: the verdict depends on which side it is."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    got = await checked(f"http://127.0.0.1:{port}/v1")
    assert isinstance(got, Unreachable)
    assert "Connection refused" in got.reason
    assert not got.rate_limited


@pytest.mark.parametrize("model", ["stub", None])
@pytest.mark.parametrize(
    "handler",
    [answers.failing(9), answers.html(502), answers.dropped(), answers.cut(), answers.body(b"")],
)
async def test_a_side_that_keeps_failing_is_unreachable(handler, model):
    """Server errors, also as web pages, and cut answers are no usage errors."""
    assert isinstance(await checked_against(handler, model=model), Unreachable)


async def test_a_side_that_recovers_is_reached():
    """One server error within the retries does not stop a run."""
    assert isinstance(await checked_against(answers.failing(1)), Preflight)


async def test_a_side_that_only_limits_is_told_apart():
    """429 to every try is unreachable for its rate, not for its absence."""
    got = await checked_against(answers.rate_limited(9))
    assert isinstance(got, Unreachable)
    assert got.rate_limited
    assert "429" in got.reason


# ---------------------------------------------------------------- goes on


@pytest.mark.parametrize(
    "handler",
    [
        answers.always(lambda: answers.error(400, "the chat template needs a system message")),
        answers.always(lambda: answers.error(500, "jinja: template raised")),
        answers.always(lambda: answers.error(400, "messages[0].content must be a list")),
        answers.always({"status": "ok"}),
    ],
)
async def test_a_refusal_of_the_small_request_is_a_warning(handler):
    """A side that answers, but not this, is left to its cases."""
    got = await checked_against(handler)
    assert isinstance(got, Preflight)
    assert "not answered" in str(got.warning)


async def test_json_that_is_labelled_as_a_page_is_no_page():
    """The body decides: a wrong content type alone does not stop a run."""
    raw = json.dumps(answers.completion()).encode()
    got = await checked_against(answers.body(raw, content_type="text/html"))
    assert got.warning is None


async def test_an_answer_without_text_is_an_answer():
    """A thinking model needs more than 16 tokens to say something; that is no warning."""
    answer = answers.completion(None, finish="length", reasoning_content="Let me think")
    got = await checked_against(answers.always(answer))
    assert got.warning is None


@pytest.mark.parametrize("raw", [b"[]", b"{}", b'{"data":{}}', b"nope", b'{"data":[{"id":7}]}'])
async def test_a_listing_that_cannot_be_read_asks_for_the_model(raw):
    """Whatever /models answers, the error says to name one."""
    async with StubServer() as stub:
        stub.listing = raw
        with pytest.raises(EndpointError, match=r"name (the model|one)|not an API"):
            await checked(stub.url, model=None)
