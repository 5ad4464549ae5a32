"""The proxy injects what it is told and nothing else."""

import pytest

from denv.errors import HarnessError, UsageError
from denv.lab.faults import Faults, change_faults, faults_of, faulty, spoil
from tests.lab_servers import chat, get, post


def answer():
    """Give a completion as a server does."""
    entry = {"token": "Hi", "logprob": -0.5, "top_logprobs": [{"token": "Hi", "logprob": -0.5}]}
    choice = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": "Hi"},
        "logprobs": {"content": [entry]},
    }
    return {"choices": [choice]}


def test_no_fault_changes_nothing():
    """The default leaves an answer as it is."""
    spoiled = answer()
    spoil(spoiled, Faults())
    assert spoiled == answer()


def test_scaled_logprobs():
    """Every logprob, of the token and of its alternatives, is multiplied."""
    spoiled = answer()
    spoil(spoiled, Faults(logprob_scale=3.0))
    entry = spoiled["choices"][0]["logprobs"]["content"][0]
    assert (entry["logprob"], entry["top_logprobs"][0]["logprob"]) == (-1.5, -1.5)


def test_finish_reason_and_reasoning():
    """The finish reason is replaced, and thinking stands before the text."""
    spoiled = answer()
    spoil(spoiled, Faults(finish_reason="length", reasoning_in_content="Let me see."))
    choice = spoiled["choices"][0]
    assert choice["finish_reason"] == "length"
    assert choice["message"]["content"] == "<think>\nLet me see.\n</think>\n\nHi"


def test_answers_without_text_or_logprobs_are_spoiled_too():
    """Content and logprobs that are null are no obstacle."""
    spoiled = answer()
    spoiled["choices"][0] |= {"logprobs": None, "message": {"content": None}}
    spoil(spoiled, Faults(logprob_scale=2.0, reasoning_in_content="Hm."))
    assert spoiled["choices"][0]["message"]["content"].startswith("<think>")


async def test_base_must_be_an_api():
    """A base that does not end in /v1 is refused before anything is served."""
    with pytest.raises(HarnessError, match="ends in /v1"):
        async with faulty("http://127.0.0.1:1", Faults()):
            pass


@pytest.mark.lab
async def test_real_answers_pass_through(lab_server):
    """Without faults the proxy's answers are the server's own."""
    question, ask = "What is the capital of Germany?", {"logprobs": True, "top_logprobs": 2}
    async with faulty(lab_server.url, Faults()) as url:
        assert await chat(url, question, **ask) == await chat(lab_server.url, question, **ask)
        assert '"smollm2"' in await get(f"{url}/models")


@pytest.mark.lab
async def test_every_nth_request_fails(lab_server):
    """With ``error_every=2`` the second and fourth request are answered with a 500."""
    body = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}
    async with faulty(lab_server.url, Faults(error_every=2)) as url:
        statuses = [(await post(f"{url}/chat/completions", body))[0] for _ in range(4)]
    assert statuses == [200, 500, 200, 500]


@pytest.mark.lab
async def test_streams_are_refused_not_passed_unspoiled(lab_server):
    """A streamed answer would bear no fault, so it is a 400."""
    body = {"messages": [{"role": "user", "content": "Hi"}], "stream": True}
    async with faulty(lab_server.url, Faults(drop_tools=True)) as url:
        status, _ = await post(f"{url}/chat/completions", body)
    assert status == 400


@pytest.mark.lab
async def test_a_running_proxy_is_told_what_to_spoil(lab_server):
    """Faults begin and end while it runs; what it does not know is refused, and changes nothing."""
    body = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}
    async with faulty(lab_server.url, Faults()) as base:
        await change_faults(base, {"error_every": 1, "error_status": 503})
        with pytest.raises(UsageError, match="unknown fault 'set_on_fire'"):
            await change_faults(base, {"set_on_fire": True})
        assert (await post(f"{base}/chat/completions", body))[0] == 503
        await change_faults(base, {})
        assert (await post(f"{base}/chat/completions", body))[0] == 200


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ([], "a JSON object"),
        ({"drop_tools": 1}, "takes bool"),
        ({"error_every": True}, "takes int"),
    ],
)
def test_faults_are_read_strictly(wanted, said):
    """A value of another type is refused by its name."""
    with pytest.raises(UsageError, match=said):
        faults_of(wanted)


async def test_no_proxy_answers():
    """Telling nobody is a plain error."""
    with pytest.raises(UsageError, match="no proxy of the lab"):
        await change_faults("http://127.0.0.1:9/v1", {})
